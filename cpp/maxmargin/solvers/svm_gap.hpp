// The duality gap of a kernel SVM at given coefficients and gradients, and its best intercept: smo.hpp has
// the problem; methods/kernel_svm/problem.py (gap) and intercept.py (b) have the same formulas in NumPy.
#pragma once

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

}  // namespace maxmargin
