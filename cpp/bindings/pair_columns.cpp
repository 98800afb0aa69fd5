// Binding of the solver for all pairs of small classes.
#include "maxmargin/solvers/pair_columns.hpp"

#include "row_source.hpp"

using namespace maxmargin;
using namespace nb::literals;

// Classes have at least one row each; starts ascend from 0 to the number of rows.
static void check_starts(const In<std::int64_t, 1>& starts, std::size_t n_rows) {
    const std::size_t n = starts.shape(0);
    need(n >= 3 && starts.data()[0] == 0 && std::size_t(starts.data()[n - 1]) == n_rows, "classes and rows");
    for (std::size_t c = 0; c + 1 < n; ++c)
        need(starts.data()[c] < starts.data()[c + 1], "a class needs a row, and classes ascend");
}

static PairRules rules_of(const nb::dict& given) {
    const auto real = [&](const char* name) { return nb::cast<double>(given[name]); };
    const auto count = [&](const char* name) { return nb::cast<std::size_t>(given[name]); };
    const PairRules rules{real("tol"),
                          real("target"),
                          real("polish_gap"),
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
           const Out<std::int32_t, 1>& n_support, const Out<float, 1>& seconds,
           const Out<std::uint8_t, 1>& end, int n_threads, const In<std::uint8_t, 1>& cancel) {
            source.check(index);
            check_starts(starts, index.shape(0));
            const std::size_t n = index.shape(0), k = starts.shape(0) - 1, pairs = k * (k - 1) / 2;
            need(cost.shape(0) == n && length.shape(0) == n && cancel.shape(0) == 1,
                 "one cost and length per row, and a byte to cancel");
            need(coef.shape(0) == n && coef.shape(1) == k - 1, "a coefficient per row and other class");
            need(intercept.shape(0) == pairs && first.shape(0) == pairs && first.shape(1) == 2 &&
                     last.shape(0) == pairs && last.shape(1) == 4 && n_iter.shape(0) == pairs &&
                     n_support.shape(0) == pairs && seconds.shape(0) == pairs && end.shape(0) == pairs,
                 "one result per pair");
            const PairRules given = rules_of(rules);
            const KernelRows<double> rows = source.rows<double>();
            const PairData data{rows,
                                {index.data(), n},
                                {starts.data(), k + 1},
                                cost.data(),
                                length.data(),
                                squared,
                                nb::cast<std::size_t>(rules["max_eager_class"])};
            const PairResults results{coef.data(),   intercept.data(), first.data(),   last.data(),
                                      n_iter.data(), n_support.data(), seconds.data(), end.data()};
            nb::gil_scoped_release release;
            solve_pairs(data, given, results, cancel.data(), n_threads, python_poll());
        },
        "source"_a, "index"_a.noconvert(), "starts"_a.noconvert(), "cost"_a.noconvert(),
        "length"_a.noconvert(), "squared"_a, "rules"_a, "coef"_a.noconvert(), "intercept"_a.noconvert(),
        "first"_a.noconvert(), "last"_a.noconvert(), "n_iter"_a.noconvert(), "n_support"_a.noconvert(),
        "seconds"_a.noconvert(), "end"_a.noconvert(), "n_threads"_a, "cancel"_a.noconvert());
}
