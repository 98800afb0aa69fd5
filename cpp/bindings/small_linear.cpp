// The binding of small linear SVMs, all columns of a code in one call.
#include "maxmargin/solvers/small_columns.hpp"
#include "python.hpp"

using namespace maxmargin;
using namespace nb::literals;

using Index = In<std::int64_t, 1>;

static void need_starts(const SmallSet& set, std::size_t n_classes, std::size_t total) {
    std::vector<std::size_t> counts(n_classes);
    for (std::size_t i = 0; i < set.n; ++i) ++counts[std::size_t(set.labels[i])];
    for (std::size_t column = 0; column < set.n_columns; ++column) {
        std::size_t n = 0;
        for (std::size_t c = 0; c < n_classes; ++c)
            if (set.code[c * set.n_columns + column] != 0) n += counts[c];
        const std::int64_t start = set.starts[column];
        need(n > 0 && start >= 0 && std::size_t(start) <= total && n <= total - std::size_t(start),
             "each column needs its samples' places in the state");
    }
}

void bind_small_linear(nb::module_& m) {
    m.def(
        "small_columns",
        [](const Matrix& X, Index index, Index labels, In<double, 1> cost, In<std::int8_t, 2> code,
           Index starts, bool hinge, bool free_intercept, bool penalised, Out<double, 2> coef,
           Out<double, 2> numbers, Out<double, 1> anchor, Out<double, 1> dual_share,
           Out<std::int64_t, 1> ends, Out<std::int64_t, 1> n_checks, Out<double, 3> checks, double tol,
           std::size_t max_iter, std::size_t max_steps, double max_seconds, In<std::uint8_t, 1> cancel,
           int n_threads) {
            const std::size_t n = index.shape(0), k = code.shape(1);
            need_below(index, X.n_rows(), "index");
            need_below(labels, code.shape(0), "labels");
            need(labels.shape(0) == n && cost.shape(0) == n && starts.shape(0) == k && ends.shape(0) == k &&
                     n_checks.shape(0) == k && checks.shape(0) == k && checks.shape(1) == max_steps + 1 &&
                     checks.shape(2) == 5 && coef.shape(0) == k && coef.shape(1) == X.n_cols() + 1 &&
                     numbers.shape(0) == k && numbers.shape(1) == 5 && anchor.shape(0) == dual_share.shape(0),
                 "one label and cost per sample, one state and report per column");
            const SmallSet set{index.data(),  labels.data(), cost.data(),    n,        code.data(), k,
                               starts.data(), hinge,         free_intercept, penalised};
            need_starts(set, code.shape(0), anchor.shape(0));
            const SmallStates states{coef.data(), numbers.data(), anchor.data(), dual_share.data()};
            const SmallReports reports{ends.data(), n_checks.data(), checks.data(), checks.shape(1)};
            using Clock = std::chrono::steady_clock;
            const double capped = std::min(max_seconds, 1e9);
            const SmallRules rules{tol, max_iter, max_steps, cancel.data(),
                                   Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                      std::chrono::duration<double>(capped))};
            nb::gil_scoped_release released;
            X.visit([&](const auto& rows) {
                small_columns(rows, set, states, reports, rules, n_threads, python_poll(cancel));
            });
        },
        "X"_a, "index"_a.noconvert(), "labels"_a.noconvert(), "cost"_a.noconvert(), "code"_a.noconvert(),
        "starts"_a.noconvert(), "hinge"_a, "free_intercept"_a, "penalised"_a, "coef"_a.noconvert(),
        "numbers"_a.noconvert(), "anchor"_a.noconvert(), "dual_share"_a.noconvert(), "ends"_a.noconvert(),
        "n_checks"_a.noconvert(), "checks"_a.noconvert(), "tol"_a, "max_iter"_a, "max_steps"_a,
        "max_seconds"_a, "cancel"_a.noconvert(), "n_threads"_a);
}
