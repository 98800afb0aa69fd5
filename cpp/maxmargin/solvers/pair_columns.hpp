// The kernel SVMs of all pairs of small classes, in one call: smo.hpp has the problem of one pair,
// methods/kernel_svm/small_sets.py the method, whose steps are taken here in the same order with the same
// numbers. A pair that needs anything else (a singular face, a gap that stays open) is left to that one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "maxmargin/core/threads.hpp"
#include "maxmargin/kernels/kernel_rows.hpp"

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

struct PairRules {
    double tol, target;  // relative gap of the certificate, and that to which pairs are optimised
    double polish_gap;   // relative gap to reach before the exact method starts
    double free_share, inner, negligible_rounding, double_errors;
    std::size_t min_block, blocks_per_problem, max_block;
    std::size_t rounds_per_step, max_iter, max_steps, max_polished;
    std::size_t max_polished_at_once;  // samples of a pair that needs no rounds before the exact method
    double seconds;
};

enum class PairEnd : std::uint8_t { cut, solved, left, late };

// One entry for each pair (0, 1), (0, 2), ..., (1, 2), ...
struct PairResults {
    double* coef;  // (rows, n_classes - 1): of each row, against the other classes in ascending order
    double* intercept;
    double *first, *last;  // (pairs, 2): primal and violation at zero; (pairs, 4): primal, dual, violation,
                           // tiny at the end
    std::int32_t *n_iter, *n_support;
    float* seconds;
    std::uint8_t* end;
};

// A pair is `late` if its turn came after the time limit, and `cut` once `cancel` is set: both have zero
// coefficients, and `late` ones their first certificate.
void solve_pairs(const PairData& data, const PairRules& rules, const PairResults& results,
                 const volatile std::uint8_t* cancel, int n_threads, const Poll& poll);

}  // namespace maxmargin
