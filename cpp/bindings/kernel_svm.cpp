// Bindings of the working-set solver's native steps.
#include <chrono>

#include "maxmargin/kernels/packed_matrix.hpp"
#include "maxmargin/kernels/stored_rows.hpp"
#include "maxmargin/solvers/polish.hpp"
#include "maxmargin/solvers/projected_cg.hpp"
#include "maxmargin/solvers/smo.hpp"
#include "maxmargin/solvers/working_set.hpp"
#include "row_source.hpp"

using namespace maxmargin;
using namespace nb::literals;

using Variables = Out<double, 1>;
using Bounds = In<double, 1>;

static Slots slots_of(const In<std::int64_t, 1>& which) { return {which.data(), which.shape(0)}; }

static Samples samples_of(const Variables& a, const Variables& g, const Bounds& lower, const Bounds& upper,
                          const Bounds& y, const Bounds& cost, bool squared, double kink = 0.0,
                          bool bounded = false) {
    const std::size_t n = a.shape(0);
    need(g.shape(0) == n && lower.shape(0) == n && upper.shape(0) == n && y.shape(0) == n &&
             cost.shape(0) == n,
         "one number per sample is needed");
    need(kink >= 0.0, "a kink of at least 0 is needed");
    return {n, a.data(), g.data(), lower.data(), upper.data(), y.data(), cost.data(), squared, kink, bounded};
}

// The slots of the rows of some samples, for which Python is asked; called without the GIL.
static std::vector<std::int64_t> call_fetch(const nb::callable& fetch,
                                            const std::vector<std::int64_t>& wanted, std::size_t n_rows) {
    nb::gil_scoped_acquire gil;
    auto* copy = new std::vector<std::int64_t>(wanted);
    nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
    const nb::object answer =
        fetch(nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(copy->data(), {copy->size()}, owner));
    const auto found = nb::cast<In<std::int64_t, 1>>(answer);
    need(found.shape(0) == wanted.size(), "one slot per row of the block is needed");
    std::vector<std::int64_t> slots(found.data(), found.data() + found.shape(0));
    for (const std::int64_t slot : slots)
        need(slot >= 0 && std::size_t(slot) < n_rows, "a row number is out of range");
    return slots;
}

template <class T>
static void check_rounds(const Samples& samples, std::size_t row_length, const Out<T, 1>& scratch,
                         const RoundRules& rules) {
    need(samples.n <= row_length, "samples and their rows");
    need(rules.largest_block > 0 && scratch.shape(0) / rules.largest_block >= rules.largest_block,
         "room for a block");
    need(2 <= rules.block && rules.block <= rules.largest_block && 0.0 < rules.free_share &&
             rules.free_share < 1.0,
         "a block needs 2 to largest_block samples, and a free share in (0, 1)");
}

template <class T>
static void bind(nb::module_& m) {
    m.def(
        "smo_block",
        [](In<T, 2> K, Out<double, 1> a, Out<double, 1> g, In<double, 1> lower, In<double, 1> upper,
           double tolerance, std::size_t max_steps, In<std::uint8_t, 1> cancel) {
            const std::size_t n = a.shape(0);
            need(n > 0 && K.shape(0) == n && K.shape(1) == n && g.shape(0) == n && lower.shape(0) == n &&
                     upper.shape(0) == n,
                 "K must be square, with one row per sample of the block");
            SmoEnd end;
            {
                nb::gil_scoped_release release;
                const SmoBlock<T> block{K.data(), n, a.data(), g.data(), lower.data(), upper.data()};
                end = smo_block(block, tolerance, max_steps, python_poll(cancel));
            }
            return nb::make_tuple(end.steps, end.violation, end.stalled);
        },
        "K"_a.noconvert(), "a"_a.noconvert(), "g"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(),
        "tolerance"_a, "max_steps"_a, "cancel"_a.noconvert());
    m.def(
        "subtract_rows",
        [](In<T, 2> rows, In<std::int64_t, 1> which, In<double, 1> change, Out<double, 1> g, int n_threads,
           In<std::uint8_t, 1> cancel) {
            need(change.shape(0) == which.shape(0) && g.shape(0) <= rows.shape(1),
                 "one change per row is needed, and rows at least as long as g");
            for (std::size_t r = 0; r < which.shape(0); ++r)
                need(which.data()[r] >= 0 && std::size_t(which.data()[r]) < rows.shape(0),
                     "a row number is out of range");
            nb::gil_scoped_release release;
            subtract_rows<T>({rows.data(), rows.shape(1)}, slots_of(which), change.data(),
                             {g.data(), g.shape(0)}, n_threads, python_poll(cancel));
        },
        "rows"_a.noconvert(), "which"_a.noconvert(), "change"_a.noconvert(), "g"_a.noconvert(), "n_threads"_a,
        "cancel"_a.noconvert());
    m.def(
        "gather_rows",
        [](In<T, 2> K, In<std::int64_t, 1> which, In<std::int64_t, 1> columns, Out<T, 2> rows,
           In<std::int64_t, 1> slots, std::size_t first, int n_threads, In<std::uint8_t, 1> cancel) {
            need(slots.shape(0) == which.shape(0) && first <= rows.shape(1) &&
                     columns.shape(0) <= rows.shape(1) - first,
                 "rows and their places");
            for (std::size_t r = 0; r < which.shape(0); ++r)
                need(
                    std::size_t(which.data()[r]) < K.shape(0) && std::size_t(slots.data()[r]) < rows.shape(0),
                    "a row number is out of range");
            for (std::size_t j = 0; j < columns.shape(0); ++j)
                need(std::size_t(columns.data()[j]) < K.shape(1), "a column number is out of range");
            nb::gil_scoped_release release;
            gather_rows<T>({K.data(), K.shape(1)}, slots_of(which), slots_of(columns),
                           {rows.data() + first, rows.shape(1)}, slots.data(), n_threads,
                           python_poll(cancel));
        },
        "K"_a.noconvert(), "which"_a.noconvert(), "columns"_a.noconvert(), "rows"_a.noconvert(),
        "slots"_a.noconvert(), "first"_a, "n_threads"_a, "cancel"_a.noconvert());
    m.def(
        "compact_rows",
        [](Out<T, 2> rows, In<std::int64_t, 1> which, In<std::int64_t, 1> counts, In<std::int64_t, 1> kept,
           int n_threads, In<std::uint8_t, 1> cancel) {
            need(counts.shape(0) == which.shape(0), "one length per row is needed");
            for (std::size_t r = 0; r < which.shape(0); ++r)
                need(which.data()[r] >= 0 && std::size_t(which.data()[r]) < rows.shape(0) &&
                         counts.data()[r] >= 0 && std::size_t(counts.data()[r]) <= kept.shape(0),
                     "a row number is out of range");
            for (std::size_t k = 0; k < kept.shape(0); ++k)
                need(kept.data()[k] >= std::int64_t(k) && std::size_t(kept.data()[k]) < rows.shape(1),
                     "kept entries must be ascending and within the rows");
            nb::gil_scoped_release release;
            compact_rows<T>({rows.data(), rows.shape(1)}, slots_of(which), counts.data(), kept.data(),
                            n_threads, python_poll(cancel));
        },
        "rows"_a.noconvert(), "which"_a.noconvert(), "counts"_a.noconvert(), "kept"_a.noconvert(),
        "n_threads"_a, "cancel"_a.noconvert());
    m.def(
        "svm_rounds",
        [](In<T, 2> rows, Out<T, 1> scratch, const Variables& a, const Variables& g, const Bounds& lower,
           const Bounds& upper, const Bounds& y, const Bounds& cost, bool squared, std::size_t block,
           std::size_t largest_block, double free_share, std::size_t n_rounds, double inner, double target,
           double tiny, double seconds, double dual, nb::callable fetch, int n_threads,
           In<std::uint8_t, 1> cancel, double kink, bool bounded) {
            const Samples samples = samples_of(a, g, lower, upper, y, cost, squared, kink, bounded);
            const RoundRules rules{block, largest_block, free_share, n_rounds, inner, target, tiny, seconds};
            check_rounds<T>(samples, rows.shape(1), scratch, rules);
            const auto fetch_slots = [&](const std::vector<std::int64_t>& wanted) {
                return call_fetch(fetch, wanted, rows.shape(0));
            };
            RoundsEnd end;
            {
                nb::gil_scoped_release release;
                const WorkingRows<T> working{{rows.data(), rows.shape(1)}, fetch_slots, scratch.data()};
                end = rounds(samples, working, rules, dual, n_threads, python_poll(cancel));
            }
            return nb::make_tuple(end.n_rounds, end.dual, end.moved, end.stalled, end.asked);
        },
        "rows"_a.noconvert(), "scratch"_a.noconvert(), "a"_a.noconvert(), "g"_a.noconvert(),
        "lower"_a.noconvert(), "upper"_a.noconvert(), "y"_a.noconvert(), "cost"_a.noconvert(), "squared"_a,
        "block"_a, "largest_block"_a, "free_share"_a, "n_rounds"_a, "inner"_a, "target"_a, "tiny"_a,
        "seconds"_a, "dual"_a, "fetch"_a, "n_threads"_a, "cancel"_a.noconvert(), "kink"_a = 0.0,
        "bounded"_a = false);
    m.def(
        "pack_rows",
        [](Out<std::int16_t, 1> values, std::size_t n, double largest, In<T, 2> K, std::size_t first) {
            need(values.shape(0) >= PackedMatrix::packed_size(n) && first < n && K.shape(0) <= n - first,
                 "room for the packed matrix");
            const std::size_t panel = first / PackedMatrix::PANEL_ROWS;
            need(K.shape(1) == std::min(n, (panel + 1) * PackedMatrix::PANEL_ROWS) &&
                     (first + K.shape(0) + PackedMatrix::PANEL_ROWS - 1) / PackedMatrix::PANEL_ROWS <=
                         panel + 1,
                 "rows of one panel, up to its end");
            nb::gil_scoped_release release;
            PackedMatrix(values.data(), n, largest).store(K.data(), K.shape(0), K.shape(1), first);
        },
        "values"_a.noconvert(), "n"_a, "largest"_a, "K"_a.noconvert(), "first"_a);
    // known[i]: row i is there; fetch(which) sees to others
    m.def(
        "svm_polish",
        [](In<T, 2> rows, In<std::uint8_t, 1> known, const Variables& a, const Variables& g,
           const Bounds& lower, const Bounds& upper, const Bounds& y, const Bounds& cost, bool squared,
           double seconds, const nb::callable& fetch, In<std::uint8_t, 1> cancel, double kink, bool bounded) {
            using Clock = std::chrono::steady_clock;
            const Samples samples = samples_of(a, g, lower, upper, y, cost, squared, kink, bounded);
            need(rows.shape(0) == samples.n && rows.shape(1) == samples.n && known.shape(0) == samples.n,
                 "one row per sample is needed");
            const auto fetch_missing = [&](const std::vector<std::int64_t>& wanted) {
                std::vector<std::int64_t> missing;
                for (const std::int64_t i : wanted)
                    if (!known.data()[i]) missing.push_back(i);
                if (!missing.empty()) call_fetch(fetch, missing, samples.n);
            };
            nb::gil_scoped_release release;
            const Poll poll = python_poll(cancel);
            const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
            const FaceRows<T> face_rows{rows.data(), fetch_missing};
            return polish(samples, face_rows, [&] {
                poll();
                return Clock::now() >= deadline;
            });
        },
        "rows"_a.noconvert(), "known"_a.noconvert(), "a"_a.noconvert(), "g"_a.noconvert(),
        "lower"_a.noconvert(), "upper"_a.noconvert(), "y"_a.noconvert(), "cost"_a.noconvert(), "squared"_a,
        "seconds"_a, "fetch"_a, "cancel"_a.noconvert(), "kink"_a = 0.0, "bounded"_a = false);
    // svm_rounds for samples whose rows, each at its own place, are computed by `source`; index: which of its
    m.def(
        "svm_small_rounds",
        [](Out<T, 2> rows, Out<T, 1> scratch, const Variables& a, const Variables& g, const Bounds& lower,
           const Bounds& upper, const Bounds& y, const Bounds& cost, bool squared, std::size_t block,
           std::size_t largest_block, double free_share, std::size_t n_rounds, double inner, double target,
           double tiny, double seconds, double dual, const RowSource& source, In<std::int64_t, 1> index,
           Out<std::uint8_t, 1> known, int n_threads, In<std::uint8_t, 1> cancel, double kink, bool bounded) {
            const Samples samples = samples_of(a, g, lower, upper, y, cost, squared, kink, bounded);
            const RoundRules rules{block, largest_block, free_share, n_rounds, inner, target, tiny, seconds};
            check_rounds<T>(samples, rows.shape(1), scratch, rules);
            need(rows.shape(0) == samples.n && rows.shape(1) == samples.n && index.shape(0) == samples.n &&
                     known.shape(0) == samples.n,
                 "one row per sample is needed");
            source.check(index);
            const KernelRows<T> kernel_rows = source.rows<T>();
            RoundsEnd end;
            {
                nb::gil_scoped_release release;
                const Poll poll = python_poll(cancel);
                const RowStore<T> store{
                    kernel_rows, {index.data(), index.shape(0)}, rows.data(), known.data(), n_threads, poll};
                const WorkingRows<T> working{{rows.data(), rows.shape(1)}, store, scratch.data()};
                end = rounds(samples, working, rules, dual, n_threads, poll);
            }
            return nb::make_tuple(end.n_rounds, end.dual, end.moved, end.stalled, end.asked);
        },
        "rows"_a.noconvert(), "scratch"_a.noconvert(), "a"_a.noconvert(), "g"_a.noconvert(),
        "lower"_a.noconvert(), "upper"_a.noconvert(), "y"_a.noconvert(), "cost"_a.noconvert(), "squared"_a,
        "block"_a, "largest_block"_a, "free_share"_a, "n_rounds"_a, "inner"_a, "target"_a, "tiny"_a,
        "seconds"_a, "dual"_a, "source"_a, "index"_a.noconvert(), "known"_a.noconvert(), "n_threads"_a,
        "cancel"_a.noconvert(), "kink"_a = 0.0, "bounded"_a = false);
}

void bind_kernel_svm(nb::module_& m) {
    m.def(
        "svm_dual",
        [](const Variables& a, const Variables& g, const Bounds& y, double kink) {
            return dual_value(samples_of(a, g, y, y, y, y, false, kink));
        },
        "a"_a.noconvert(), "g"_a.noconvert(), "y"_a.noconvert(), "kink"_a = 0.0);
    m.def(
        "svm_look",
        [](const Variables& a, const Variables& g, const Bounds& lower, const Bounds& upper, const Bounds& y,
           const Bounds& cost, bool squared, double kink, bool bounded) {
            const Samples samples = samples_of(a, g, lower, upper, y, cost, squared, kink, bounded);
            Residuals scratch;
            const Look seen = look(samples, scratch);
            return nb::make_tuple(seen.b, seen.gap, seen.violation);
        },
        "a"_a.noconvert(), "g"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(), "y"_a.noconvert(),
        "cost"_a.noconvert(), "squared"_a, "kink"_a = 0.0, "bounded"_a = false);
    m.def("packed_size", &PackedMatrix::packed_size, "n"_a);
    m.attr("PACKED_PANEL_ROWS") = PackedMatrix::PANEL_ROWS;
    m.def(
        "svm_packed_block",
        [](Out<std::int16_t, 1> values, double largest, const Variables& a, const Variables& g,
           const Bounds& lower, const Bounds& upper, const Bounds& ridge, double tolerance,
           std::size_t max_products, double seconds, int n_threads, In<std::uint8_t, 1> cancel) {
            using Clock = std::chrono::steady_clock;
            const std::size_t n = a.shape(0);
            need(n > 0 && g.shape(0) == n && lower.shape(0) == n && upper.shape(0) == n &&
                     ridge.shape(0) == n && values.shape(0) >= PackedMatrix::packed_size(n),
                 "one number per sample and room for the packed matrix");
            CgEnd end;
            {
                nb::gil_scoped_release release;
                const Poll poll = python_poll(cancel);
                const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
                PackedMatrix K(values.data(), n, largest);
                K.finish();
                BoxedBlock block{n, a.data(), g.data(), lower.data(), upper.data(), {}};
                block.product = [&](const double* x, double* out) {
                    K.product(x, out, n_threads, poll);
                    for (std::size_t i = 0; i < n; ++i) out[i] += ridge.data()[i] * x[i];
                };
                end = projected_cg(block, {tolerance, max_products, [&] {
                                               poll();
                                               return Clock::now() >= deadline;
                                           }});
            }
            return nb::make_tuple(end.n_products, end.violation, end.stalled);
        },
        "values"_a.noconvert(), "largest"_a, "a"_a.noconvert(), "g"_a.noconvert(), "lower"_a.noconvert(),
        "upper"_a.noconvert(), "ridge"_a.noconvert(), "tolerance"_a, "max_products"_a, "seconds"_a,
        "n_threads"_a, "cancel"_a.noconvert());
    bind<float>(m);
    bind<double>(m);
}
