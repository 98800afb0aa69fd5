// Dual coordinate descent for linear SVMs (Hsieh et al., ICML 2008), with shrinking.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "rng.hpp"
#include "rows.hpp"
#include "threads.hpp"

namespace maxmargin {

// What an epoch reads (the problem) and what it changes (the iterate).
struct DualProblem {
    const std::int64_t* index;  // sample i is row index[i] of X
    const double *y, *upper, *ridge, *sqnorm;
    double bias_weight;  // rho below: 0 without an intercept
};

struct DualIterate {
    double *a, *w, *bias;  // bias[0] = centre + rho sum_i a_i y_i
    std::int64_t* order;   // the active samples; shrunk ones wait behind them
    std::int64_t* n_active;
    double* violation;  // largest and smallest projected gradient of the epoch before
};

// One epoch over the active samples of
//
//   min_a  1/2 ||w||^2 + rho/2 (sum_i a_i y_i)^2 + centre sum_i a_i y_i + 1/2 sum_i ridge_i a_i^2 - sum_i a_i
//   s.t.   0 <= a_i <= upper_i,   w = sum_i a_i y_i x_i
//
// which is the SVM dual with its intercept's equality constraint held by an augmented Lagrangian (the centre
// is the multiplier, moved by the caller), or with a penalised intercept when the centre stays 0.
//
// In:   y in {-1, +1}; a feasible; w and bias as above
// Out:  a, w, bias, updated in place; order shuffled and shrunk; violation of this epoch
template <class Rows>
void dual_cd_epoch(const Rows& X, const DualProblem& problem, DualIterate it, Rng rng, const Poll& poll) {
    const double inf = std::numeric_limits<double>::infinity();
    const double most = it.violation[0] > 0 ? it.violation[0] : inf;
    const double least = it.violation[1] < 0 ? it.violation[1] : -inf;
    double largest = -inf, smallest = inf;
    std::int64_t n = *it.n_active;
    shuffle(it.order, std::size_t(n), rng);
    for (std::int64_t s = 0; s < n; ++s) {
        if (s % 256 == 0) poll();
        const std::int64_t i = it.order[s];
        const std::size_t row = std::size_t(problem.index[i]);
        const double y = problem.y[i], old = it.a[i], upper = problem.upper[i];
        const double gradient = y * (X.dot(row, it.w) + *it.bias) - 1.0 + problem.ridge[i] * old;
        if ((old == 0.0 && gradient > most) || (old == upper && gradient < least)) {
            std::swap(it.order[s--], it.order[--n]);
            continue;
        }
        const double projected = old == 0.0     ? std::min(gradient, 0.0)
                                 : old == upper ? std::max(gradient, 0.0)
                                                : gradient;
        largest = std::max(largest, projected);
        smallest = std::min(smallest, projected);
        if (projected == 0.0) continue;
        const double curvature = problem.sqnorm[i] + problem.bias_weight + problem.ridge[i];
        const double moved = curvature > 0.0 ? old - gradient / curvature : upper;
        const double now = std::clamp(moved, 0.0, upper);
        if (now == old) continue;
        it.a[i] = now;
        X.add_to(row, (now - old) * y, it.w);
        *it.bias += problem.bias_weight * (now - old) * y;
    }
    *it.n_active = n;
    it.violation[0] = largest;
    it.violation[1] = smallest;
}

}  // namespace maxmargin
