// The duality gap of a kernel SVM at given coefficients and gradients, and its best intercept: smo.hpp has
// the problem; methods/kernel_svm/problem.py (gap) and intercept.py (b) have the same formulas in NumPy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace maxmargin {

struct Samples {
    std::size_t n;
    double *a, *g;
    const double *lower, *upper, *y, *cost;
    bool squared;

    bool may_grow(std::size_t i) const { return a[i] < upper[i]; }
    bool may_fall(std::size_t i) const { return a[i] > lower[i]; }
    double ridge(std::size_t i) const { return squared ? 1.0 / cost[i] : 0.0; }
    double residual(std::size_t i) const { return g[i] + ridge(i) * a[i]; }  // y - f
};

// How far the samples are from optimal: the best intercept, the gap there, the largest violation of a pair.
struct Look {
    double b, gap, violation;
};

using Residuals = std::vector<std::pair<double, double>>;  // y - f and the cost of each sample

// `scratch` is overwritten; reuse it for frequent calls.
Look look(const Samples& samples, Residuals& scratch);

// The term of a sample in the gap, at its residual r = y - f - b.
inline double gap_term(const Samples& s, std::size_t i, double r) {
    const double missing = std::max(0.0, s.y[i] * r);
    return s.squared ? 0.5 * s.cost[i] * missing * missing - s.a[i] * r + 0.5 * s.a[i] * s.a[i] / s.cost[i]
                     : s.cost[i] * missing - s.a[i] * r;
}

// The dual value, sum_i a_i (y_i + g_i) / 2.
double dual_value(const Samples& samples);

}  // namespace maxmargin
