// Dual coordinate descent for linear SVMs (Hsieh et al., ICML 2008), with shrinking.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "maxmargin/core/rng.hpp"
#include "maxmargin/core/rows.hpp"
#include "maxmargin/core/threads.hpp"

namespace maxmargin {

// What an epoch reads (the problem) and what it changes (the iterate).
struct DualProblem {
    const std::int64_t* index;  // sample i is row index[i] of X
    const double *y, *wanted, *upper, *ridge, *sqnorm;
    double bias_weight;  // rho below: 0 without an intercept
};

struct DualIterate {
    double *a, *w, *bias;  // bias[0] = centre + rho sum_i a_i y_i
    std::int64_t* order;   // the active samples, ascending, followed by the shrunk ones
    std::int64_t* n_active;
    double* violation;  // largest and smallest projected gradient of the epoch before
};

// The active samples in front, in ascending order; shrunk ones, marked by ~i during the epoch, behind them.
inline std::int64_t compact(std::int64_t* order, std::size_t n) {
    const auto shrunk = std::stable_partition(order, order + n, [](std::int64_t i) { return i >= 0; });
    for (auto* i = shrunk; i != order + n; ++i) *i = ~*i;
    return shrunk - order;
}

// Blocks of neighbouring samples are drawn in groups, and the samples of a group are shuffled: as good as a
// random order for convergence (blocks visited one by one are not), several times as fast to read.
inline constexpr std::size_t SAMPLES_PER_BLOCK = 8, BLOCKS_PER_GROUP = 32;

// What a sample adds to the duality gap: c loss(m) + c conjugate(-a / c) + a m, for its gradient in the dual.
// The hinge has an upper bound c, the squared hinge a ridge 1 / c.
inline double gap_of_sample(double gradient, double a, double upper, double ridge) {
    if (ridge == 0.0) return gradient * (gradient < 0.0 ? a - upper : a);
    return gradient < ridge * a ? 0.5 * gradient * gradient / ridge : a * (gradient - 0.5 * ridge * a);
}

// One epoch over the active samples of
//
//   min_a  1/2 ||w||^2 + rho/2 (sum_i a_i y_i)^2 + centre sum_i a_i y_i + 1/2 sum_i ridge_i a_i^2
//         - sum_i wanted_i a_i
//   s.t.   0 <= a_i <= upper_i,   w = sum_i a_i y_i x_i
//
// which is the SVM dual with its intercept's equality constraint held by an augmented Lagrangian (the centre
// is the multiplier, moved by the caller), or with a penalised intercept when the centre stays 0. The
// margin that ends a loss is wanted_i: 1 in classification.
//
// In:   y in {-1, +1}; a feasible; w and bias as above
// Out:  a, w, bias, updated in place; order shrunk; violation of this epoch. Blocks of neighbouring samples
//       come in random order. The result estimates the duality gap from the margins at each visit.
template <class Rows>
double dual_cd_epoch(const Rows& X, const DualProblem& problem, DualIterate it, Rng rng, const Poll& poll) {
    const double inf = std::numeric_limits<double>::infinity();
    const double most = it.violation[0] > 0 ? it.violation[0] : inf;
    const double least = it.violation[1] < 0 ? it.violation[1] : -inf;
    double largest = -inf, smallest = inf, gap = 0.0;
    const std::size_t n = std::size_t(*it.n_active);
    std::vector<std::size_t> blocks((n + SAMPLES_PER_BLOCK - 1) / SAMPLES_PER_BLOCK);
    std::iota(blocks.begin(), blocks.end(), std::size_t(0));
    shuffle(blocks.data(), blocks.size(), rng);
    const auto visit = [&](std::int64_t& entry) {
        const std::int64_t i = entry;
        const std::size_t row = std::size_t(problem.index[i]);
        const double y = problem.y[i], old = it.a[i], upper = problem.upper[i];
        const double gradient =
            y * (X.dot(row, it.w) + *it.bias) - problem.wanted[i] + problem.ridge[i] * old;
        if ((old == 0.0 && gradient > most) || (old == upper && gradient < least)) {
            entry = ~i;
            return;
        }
        const double projected = old == 0.0     ? std::min(gradient, 0.0)
                                 : old == upper ? std::max(gradient, 0.0)
                                                : gradient;
        largest = std::max(largest, projected);
        smallest = std::min(smallest, projected);
        if (projected == 0.0) return;
        gap += gap_of_sample(gradient, old, upper, problem.ridge[i]);
        const double curvature = problem.sqnorm[i] + problem.bias_weight + problem.ridge[i];
        const double moved = curvature > 0.0 ? old - gradient / curvature : upper;
        const double now = std::clamp(moved, 0.0, upper);
        if (now == old) return;
        it.a[i] = now;
        X.add_to(row, (now - old) * y, it.w);
        *it.bias += problem.bias_weight * (now - old) * y;
    };
    std::vector<std::int64_t*> group;
    for (std::size_t first = 0; first < blocks.size(); first += BLOCKS_PER_GROUP) {
        poll();
        group.clear();
        for (std::size_t b = first; b < std::min(blocks.size(), first + BLOCKS_PER_GROUP); ++b)
            for (std::size_t s = blocks[b] * SAMPLES_PER_BLOCK;
                 s < std::min(n, (blocks[b] + 1) * SAMPLES_PER_BLOCK); ++s)
                group.push_back(it.order + s);
        shuffle(group.data(), group.size(), rng);
        for (std::size_t s = 0; s < group.size(); ++s) {
            if (s + ROWS_PREFETCHED < group.size())
                X.prefetch(std::size_t(problem.index[*group[s + ROWS_PREFETCHED]]));
            visit(*group[s]);
        }
    }
    *it.n_active = compact(it.order, n);
    it.violation[0] = largest;
    it.violation[1] = smallest;
    return gap;
}

struct DualProgress {
    std::uint64_t n_epochs;
    double gap;  // relative, estimated in the last epoch
};

// Epochs first, first + 1, ..., at most n_epochs of them, until the estimated relative gap is small enough.
template <class Rows>
DualProgress dual_cd_epochs(const Rows& X, const DualProblem& problem, DualIterate it, std::size_t n,
                            std::uint64_t seed, std::uint64_t first, std::uint64_t n_epochs, double enough,
                            const Poll& poll) {
    DualProgress progress{0, std::numeric_limits<double>::infinity()};
    while (progress.n_epochs < n_epochs && !(progress.gap <= enough)) {
        const double gap = dual_cd_epoch(X, problem, it, Rng(seed, first + progress.n_epochs++), poll);
        double dual = 0.0;
        for (std::size_t i = 0; i < n; ++i)
            dual += it.a[i] * (problem.wanted[i] - 0.5 * problem.ridge[i] * it.a[i]);
        dual -= 0.5 * simd().f64.sqnorm(it.w, X.n_cols);
        progress.gap = dual > 0.0 ? gap / (dual + gap) : 1.0;
    }
    return progress;
}

}  // namespace maxmargin
