// The kernel SVMs of all pairs of small classes, in one call; small_column.hpp solves one pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "maxmargin/kernels/kernel_rows.hpp"
#include "maxmargin/solvers/small_column.hpp"

namespace maxmargin {

// Rows sorted by class: those of class c are index[starts[c]] .. index[starts[c + 1] - 1] of the matrix.
struct PairData {
    const KernelRows<double>& source;
    std::span<const std::int64_t> index, starts;
    const double *cost, *length;  // of each row; length is sqrt(k(x, x))
    bool squared;
    std::size_t max_eager_class;  // rows of a class whose kernel values are all computed

    std::size_t n_classes() const { return starts.size() - 1; }
    bool is_small(std::size_t c) const { return size(c) <= max_eager_class; }
    bool eager(std::size_t i, std::size_t j) const { return is_small(i) && is_small(j); }
    std::size_t size(std::size_t c) const { return std::size_t(starts[c + 1] - starts[c]); }
};

// One entry for each pair (0, 1), (0, 2), ..., (1, 2), ...
struct PairResults {
    double* coef;  // (rows, n_classes - 1): of each row, against the other classes in ascending order
    double* intercept;
    double *first, *last;  // (pairs, 2): primal and violation at zero; (pairs, 4): primal, dual, violation,
                           // tiny at the end
    std::int32_t *n_iter, *n_support;
    std::int64_t* n_values;  // kernel values computed
    float* seconds;
    std::uint8_t* end;
};

// A pair is `late` if its turn came after the time limit, and `cut` once `cancel` is set: both have zero
// coefficients, and `late` ones their first certificate. One that is `left` has the coefficients that
// it has reached.
void solve_pairs(const PairData& data, const ColumnRules& rules, const PairResults& results,
                 const volatile std::uint8_t* cancel, int n_threads, const Poll& poll);

}  // namespace maxmargin
