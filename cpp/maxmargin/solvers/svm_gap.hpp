// The duality gap of a kernel machine at given coefficients and gradients, and its best intercept: smo.hpp
// has the dual; methods/kernel_svm/box_problem.py has the same formulas in NumPy.
//
// The loss of a sample with the residual r = y - f - b is, with R = 1/cost if `squared`, else 0,
//
//   max_a  a r - kink |a| - R a^2 / 2   over lower <= a <= upper,
//
// where the bounds of a squared loss count only if it is `bounded`: those of others are so wide that they
// only end the fit of an indefinite kernel.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace maxmargin {

struct Samples {
    std::size_t n;
    double *a, *g;
    const double *lower, *upper, *y, *cost;
    bool squared;
    double kink = 0.0;
    bool bounded = false;

    bool may_grow(std::size_t i) const { return a[i] < upper[i]; }
    bool may_fall(std::size_t i) const { return a[i] > lower[i]; }
    double ridge(std::size_t i) const { return squared ? 1.0 / cost[i] : 0.0; }
    double residual(std::size_t i) const { return g[i] + ridge(i) * a[i]; }  // y - f
    // The slopes of the dual where a_i grows and where it falls.
    double rise(std::size_t i) const { return kink == 0.0 ? g[i] : a[i] < 0.0 ? g[i] + kink : g[i] - kink; }
    double fall(std::size_t i) const { return kink == 0.0 ? g[i] : a[i] > 0.0 ? g[i] - kink : g[i] + kink; }
    bool is_free(std::size_t i) const { return may_grow(i) && may_fall(i) && (kink == 0.0 || a[i] != 0.0); }
};

// How far the samples are from optimal: the best intercept, the gap there, the largest violation of a pair.
struct Look {
    double b, gap, violation;
};

using Residuals =
    std::vector<std::pair<double, double>>;  // where the slope of each sample changes, and by how much

// `scratch` is overwritten; reuse it for frequent calls.
Look look(const Samples& samples, Residuals& scratch);

// The term of a sample in the gap, at its residual r = y - f - b.
inline double gap_term(const Samples& s, std::size_t i, double r) {
    const double a = s.a[i], cost = s.cost[i], rest = s.kink * std::abs(a);
    const double over = s.upper[i] > 0.0 ? std::max(0.0, r - s.kink) : 0.0;
    const double under = s.lower[i] < 0.0 ? std::max(0.0, -r - s.kink) : 0.0;
    if (!s.squared) return (over > 0.0 ? s.upper[i] * over : -s.lower[i] * under) - a * r + rest;
    const double missing = std::max(over, under), most = over > 0.0 ? s.upper[i] : -s.lower[i];
    const double loss = s.bounded && missing * cost > most ? most * (missing - 0.5 * most / cost)
                                                           : 0.5 * cost * missing * missing;
    return loss - a * r + 0.5 * a * a / cost + rest;
}

// The dual value, sum_i a_i (y_i + g_i) / 2 - kink |a|_1.
double dual_value(const Samples& samples);

}  // namespace maxmargin
