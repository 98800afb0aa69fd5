// Bindings of the solvers for many small columns: all pairs of classes, and all folds along a path of costs.
#include "maxmargin/solvers/pair_columns.hpp"

#include "maxmargin/solvers/path_columns.hpp"
#include "row_source.hpp"

using namespace maxmargin;
using namespace nb::literals;

// Parts have at least one row each; starts ascend from 0 to the number of rows.
static void check_starts(const In<std::int64_t, 1>& starts, std::size_t n_rows) {
    const std::size_t n = starts.shape(0);
    need(n >= 2 && starts.data()[0] == 0 && std::size_t(starts.data()[n - 1]) == n_rows, "parts and rows");
    for (std::size_t c = 0; c + 1 < n; ++c)
        need(starts.data()[c] < starts.data()[c + 1], "a part needs a row, and parts ascend");
}

static ColumnRules rules_of(const nb::dict& given) {
    const auto real = [&](const char* name) { return nb::cast<double>(given[name]); };
    const auto count = [&](const char* name) { return nb::cast<std::size_t>(given[name]); };
    const ColumnRules rules{real("tol"),
                            real("target"),
                            real("polish_gap"),
                            real("polish_at_once_gap"),
                            real("free_share"),
                            real("inner"),
                            real("negligible_rounding"),
                            real("double_errors"),
                            count("min_block"),
                            count("blocks_per_problem"),
                            count("max_block"),
                            count("rounds_per_step"),
                            count("max_iter"),
                            count("max_steps"),
                            count("max_polished"),
                            count("max_polished_at_once"),
                            real("seconds")};
    need(rules.min_block >= 2 && rules.max_block >= 2 && rules.blocks_per_problem > 0 &&
             0.0 < rules.free_share && rules.free_share < 1.0,
         "a block needs 2 to max_block samples, and a free share in (0, 1)");
    return rules;
}

void bind_pair_columns(nb::module_& m) {
    m.def(
        "svm_pairs",
        [](const RowSource& source, const In<std::int64_t, 1>& index, const In<std::int64_t, 1>& starts,
           const In<double, 1>& cost, const In<double, 1>& length, bool squared, const nb::dict& rules,
           const Out<double, 2>& coef, const Out<double, 1>& intercept, const Out<double, 2>& first,
           const Out<double, 2>& last, const Out<std::int32_t, 1>& n_iter,
           const Out<std::int32_t, 1>& n_support, const Out<std::int64_t, 1>& n_values,
           const Out<float, 1>& seconds, const Out<std::uint8_t, 1>& end, int n_threads,
           const In<std::uint8_t, 1>& cancel) {
            source.check(index);
            check_starts(starts, index.shape(0));
            need(starts.shape(0) >= 3, "two classes");
            const std::size_t n = index.shape(0), k = starts.shape(0) - 1, pairs = k * (k - 1) / 2;
            need(cost.shape(0) == n && length.shape(0) == n && cancel.shape(0) == 1,
                 "one cost and length per row, and a byte to cancel");
            need(coef.shape(0) == n && coef.shape(1) == k - 1, "a coefficient per row and other class");
            need(intercept.shape(0) == pairs && first.shape(0) == pairs && first.shape(1) == 2 &&
                     last.shape(0) == pairs && last.shape(1) == 4 && n_iter.shape(0) == pairs &&
                     n_support.shape(0) == pairs && n_values.shape(0) == pairs && seconds.shape(0) == pairs &&
                     end.shape(0) == pairs,
                 "one result per pair");
            const ColumnRules given = rules_of(rules);
            const KernelRows<double> rows = source.rows<double>();
            const PairData data{rows,
                                {index.data(), n},
                                {starts.data(), k + 1},
                                cost.data(),
                                length.data(),
                                squared,
                                nb::cast<std::size_t>(rules["max_eager_class"])};
            const PairResults results{coef.data(),     intercept.data(), first.data(),
                                      last.data(),     n_iter.data(),    n_support.data(),
                                      n_values.data(), seconds.data(),   end.data()};
            nb::gil_scoped_release release;
            solve_pairs(data, given, results, cancel.data(), n_threads, python_poll());
        },
        "source"_a, "index"_a.noconvert(), "starts"_a.noconvert(), "cost"_a.noconvert(),
        "length"_a.noconvert(), "squared"_a, "rules"_a, "coef"_a.noconvert(), "intercept"_a.noconvert(),
        "first"_a.noconvert(), "last"_a.noconvert(), "n_iter"_a.noconvert(), "n_support"_a.noconvert(),
        "n_values"_a.noconvert(), "seconds"_a.noconvert(), "end"_a.noconvert(), "n_threads"_a,
        "cancel"_a.noconvert());
    m.def(
        "svm_paths",
        [](const In<double, 2>& K, const In<std::int64_t, 1>& index, const In<std::int64_t, 1>& starts,
           const In<double, 1>& y, const In<double, 1>& cost, const In<double, 1>& factors, bool squared,
           const nb::dict& rules, const Out<double, 2>& coef, const Out<double, 2>& intercept,
           const Out<double, 2>& gap, const Out<std::int32_t, 2>& n_support, const Out<double, 2>& seconds,
           const Out<std::uint8_t, 2>& end, int n_threads, const In<std::uint8_t, 1>& cancel) {
            const std::size_t n = index.shape(0), n_factors = factors.shape(0);
            check_starts(starts, n);
            const std::size_t columns = starts.shape(0) - 1;
            need(K.shape(0) == K.shape(1), "a square kernel matrix");
            need_below(index, K.shape(0), "a list of rows");
            need(y.shape(0) == n && cost.shape(0) == n && cancel.shape(0) == 1 && n_factors > 0,
                 "one target and cost per sample, a factor, and a byte to cancel");
            need(coef.shape(0) == n && coef.shape(1) == n_factors, "a coefficient per sample and factor");
            for (const auto shape :
                 {intercept.shape(0), gap.shape(0), n_support.shape(0), seconds.shape(0), end.shape(0)})
                need(shape == columns, "one result per column");
            for (const auto shape :
                 {intercept.shape(1), gap.shape(1), n_support.shape(1), seconds.shape(1), end.shape(1)})
                need(shape == n_factors, "one result per factor");
            const ColumnRules given = rules_of(rules);
            const PathData data{
                K.data(), K.shape(0),  {index.data(), n},           {starts.data(), columns + 1},
                y.data(), cost.data(), {factors.data(), n_factors}, squared};
            const PathResults results{coef.data(),    intercept.data(), gap.data(),
                                      seconds.data(), n_support.data(), end.data()};
            nb::gil_scoped_release release;
            solve_paths(data, given, results, cancel.data(), n_threads, python_poll());
        },
        "K"_a.noconvert(), "index"_a.noconvert(), "starts"_a.noconvert(), "y"_a.noconvert(),
        "cost"_a.noconvert(), "factors"_a.noconvert(), "squared"_a, "rules"_a, "coef"_a.noconvert(),
        "intercept"_a.noconvert(), "gap"_a.noconvert(), "n_support"_a.noconvert(), "seconds"_a.noconvert(),
        "end"_a.noconvert(), "n_threads"_a, "cancel"_a.noconvert());
}
