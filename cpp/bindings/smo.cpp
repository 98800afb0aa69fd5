// Bindings of the working-set solver's native steps.
#include "maxmargin/smo.hpp"

#include <stdexcept>

#include "python.hpp"

using namespace maxmargin;
using namespace nb::literals;

static void need(bool fits, const char* what) {
    if (!fits) throw std::invalid_argument(std::string("the arrays do not fit each other: ") + what);
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
                 "a block");
            SmoEnd end;
            {
                nb::gil_scoped_release release;
                end = smo_block(K.data(), n, a.data(), g.data(), lower.data(), upper.data(), tolerance,
                                max_steps, python_poll(cancel.data()));
            }
            return nb::make_tuple(end.steps, end.violation, end.stalled);
        },
        "K"_a.noconvert(), "a"_a.noconvert(), "g"_a.noconvert(), "lower"_a.noconvert(), "upper"_a.noconvert(),
        "tolerance"_a, "max_steps"_a, "cancel"_a.noconvert());
    m.def(
        "subtract_rows",
        [](In<T, 2> rows, In<std::int64_t, 1> which, In<double, 1> change, Out<double, 1> g, int n_threads,
           In<std::uint8_t, 1> cancel) {
            need(change.shape(0) == which.shape(0) && g.shape(0) <= rows.shape(1), "rows and their changes");
            for (std::size_t r = 0; r < which.shape(0); ++r)
                need(which.data()[r] >= 0 && std::size_t(which.data()[r]) < rows.shape(0),
                     "a row that is none");
            nb::gil_scoped_release release;
            subtract_rows(rows.data(), rows.shape(1), which.data(), change.data(), which.shape(0), g.data(),
                          g.shape(0), n_threads, python_poll(cancel.data()));
        },
        "rows"_a.noconvert(), "which"_a.noconvert(), "change"_a.noconvert(), "g"_a.noconvert(), "n_threads"_a,
        "cancel"_a.noconvert());
    m.def(
        "compact_rows",
        [](Out<T, 2> rows, In<std::int64_t, 1> which, In<std::int64_t, 1> counts, In<std::int64_t, 1> kept,
           int n_threads, In<std::uint8_t, 1> cancel) {
            need(counts.shape(0) == which.shape(0), "rows and their lengths");
            for (std::size_t r = 0; r < which.shape(0); ++r)
                need(which.data()[r] >= 0 && std::size_t(which.data()[r]) < rows.shape(0) &&
                         counts.data()[r] >= 0 && std::size_t(counts.data()[r]) <= kept.shape(0),
                     "a row that is none");
            for (std::size_t k = 0; k < kept.shape(0); ++k)
                need(kept.data()[k] >= std::int64_t(k) && std::size_t(kept.data()[k]) < rows.shape(1),
                     "entries in ascending order");
            nb::gil_scoped_release release;
            compact_rows(rows.data(), rows.shape(1), which.data(), counts.data(), which.shape(0), kept.data(),
                         n_threads, python_poll(cancel.data()));
        },
        "rows"_a.noconvert(), "which"_a.noconvert(), "counts"_a.noconvert(), "kept"_a.noconvert(),
        "n_threads"_a, "cancel"_a.noconvert());
    m.def(
        "gather_block",
        [](In<T, 2> rows, In<std::int64_t, 1> which, In<std::int64_t, 1> columns, Out<T, 2> out,
           int n_threads, In<std::uint8_t, 1> cancel) {
            const std::size_t n = which.shape(0);
            need(columns.shape(0) == n && out.shape(0) == n && out.shape(1) == n, "a block");
            for (std::size_t r = 0; r < n; ++r)
                need(which.data()[r] >= 0 && std::size_t(which.data()[r]) < rows.shape(0) &&
                         columns.data()[r] >= 0 && std::size_t(columns.data()[r]) < rows.shape(1),
                     "a row or column that is none");
            nb::gil_scoped_release release;
            gather_block(rows.data(), rows.shape(1), which.data(), columns.data(), n, out.data(), n_threads,
                         python_poll(cancel.data()));
        },
        "rows"_a.noconvert(), "which"_a.noconvert(), "columns"_a.noconvert(), "out"_a.noconvert(),
        "n_threads"_a, "cancel"_a.noconvert());
}

void bind_smo(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}
