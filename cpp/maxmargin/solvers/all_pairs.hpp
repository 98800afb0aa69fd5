// Sweeps of the all-pairs M-SVM: exact steps for one sample's pairs at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "maxmargin/core/simd.hpp"
#include "maxmargin/core/threads.hpp"

namespace maxmargin {

struct PairsProblem {
    const double* K;  // n x n
    std::size_t n, n_classes;
    const std::int64_t* labels;
    const double* cost;
    double weight;  // rho below
};

struct PairsIterate {
    double* a;     // n x n_classes, 0 at the own class
    double* F;     // n_classes x n, the outputs (K B)'
    double* bias;  // centre + rho sum_i B_i
};

// Given t and u, the p that minimises 1/2 (sum p)^2 + 1/2 ||p||^2 - t'p over 0 <= p <= u: p = clip(t - q, 0,
// u) with q = sum p, the root of a decreasing piecewise linear function. The own class, with t = -inf, stays
// 0.
inline void pairs_step(const double* t, double u, std::size_t n, double* p) {
    double low = 0.0, high = 0.0, q = 0.0;
    for (std::size_t g = 0; g < n; ++g) {
        high += std::clamp(t[g], 0.0, u);
        q += p[g];
    }
    q = std::clamp(q, low, high);
    for (int round = 0; round < 200; ++round) {
        double sum = 0.0, slope = 1.0;
        for (std::size_t g = 0; g < n; ++g) {
            const double free = t[g] - q;
            sum += std::clamp(free, 0.0, u);
            slope += free > 0.0 && free < u;
        }
        (sum > q ? low : high) = q;
        double next = q + (sum - q) / slope;
        if (next == q) break;
        if (!(next > low && next < high)) next = 0.5 * (low + high);  // Newton's steps may go in a circle
        if (std::abs(next - q) <= 1e-15 * high) break;
        q = next;
    }
    for (std::size_t g = 0; g < n; ++g) p[g] = std::clamp(t[g] - q, 0.0, u);
}

// One sweep, over the samples of `order`, of
//
//   max_a  sum_ig a_ig - 1/2 sum_g B_g' K B_g - centre' S - rho/2 ||S||^2,   S = sum_i B_i,
//   s.t.   0 <= a_ig <= cost_i,   B_ig = [g = y_i] sum_h a_ih - a_ig,
//
// the dual with its equations S = 0 held by an augmented Lagrangian.
//
// In:   a feasible; F and bias as above
// Out:  a, F, bias, updated in place
inline void pairs_sweep(const PairsProblem& problem, PairsIterate it, const std::int64_t* order,
                        std::size_t n_order, const Poll& poll) {
    const std::size_t n = problem.n, n_classes = problem.n_classes;
    std::vector<double> t(n_classes), p(n_classes);
    for (std::size_t s = 0; s < n_order; ++s) {
        if (s % 64 == 0) poll();
        const std::size_t i = std::size_t(order[s]), y = std::size_t(problem.labels[i]);
        double* a = it.a + i * n_classes;
        const double curvature = std::max(problem.K[i * n + i] + problem.weight, 1e-290);
        double mass = 0.0;
        for (std::size_t g = 0; g < n_classes; ++g) mass += a[g];
        const double own = it.F[y * n + i] + it.bias[y];
        for (std::size_t g = 0; g < n_classes; ++g) {  // what the other samples leave to this one
            const double shortfall = 1.0 - own + it.F[g * n + i] + it.bias[g];
            t[g] = g == y ? -std::numeric_limits<double>::infinity() : shortfall / curvature + mass + a[g];
            p[g] = a[g];
        }
        pairs_step(t.data(), problem.cost[i], n_classes, p.data());
        double change = 0.0;
        for (std::size_t g = 0; g < n_classes; ++g) {
            const double less = a[g] - p[g];
            change -= less;
            if (less == 0.0) continue;
            a[g] = p[g];
            simd().of<double>().axpy(less, problem.K + i * n, it.F + g * n, n);
            it.bias[g] += problem.weight * less;
        }
        if (change == 0.0) continue;
        simd().of<double>().axpy(change, problem.K + i * n, it.F + y * n, n);
        it.bias[y] += problem.weight * change;
    }
}

}  // namespace maxmargin
