// The piecewise quadratic function of one round of solvers/newton.py, along two lines: in the intercept, and
// in the direction of a step. Both are found by safeguarded Newton steps on a piecewise linear derivative.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "maxmargin/core/simd.hpp"

namespace maxmargin {

// share_i(z) = clip(anchor_i + sharpness z, 0, 1) for the hinge, max(z, 0) for the squared hinge.
struct HingeRound {
    const double *y, *cost, *anchor;
    double sharpness;
    bool hinge;
    std::size_t n;
};

// The sums of shares at t and b.
inline ShareSums shares_at(const HingeRound& round, const double* scores, const double* along, double t,
                           double b) {
    const double inf = std::numeric_limits<double>::infinity();
    return simd().weighted_shares({round.y, round.cost, round.hinge ? round.anchor : nullptr, scores, along,
                                   round.hinge ? round.sharpness : 1.0, round.hinge ? 1.0 : inf, t, b,
                                   round.n});
}

// The b where sum_i cost_i y_i share_i(1 - y_i (score_i + b)), which falls as b grows, is 0.
//
// In:   scores; start, a guess; at least one y of each sign
// Out:  b; where the sum is 0 on an interval, some point of it
inline double best_intercept(const HingeRound& round, const double* scores, double start) {
    const double width = round.hinge ? 1.0 / round.sharpness : 0.0;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t i = 0; i < round.n; ++i) {
        low = std::min(low, round.y[i] - scores[i] - width);
        high = std::max(high, round.y[i] - scores[i] + width);
    }
    double b = std::clamp(start, low, high);
    for (int step = 0; step < 200; ++step) {
        const auto [value, slope, size] = shares_at(round, scores, nullptr, 0.0, b);
        if (std::abs(value) <= std::numeric_limits<double>::epsilon() * size) return b;
        (value > 0.0 ? low : high) = b;
        const double newton = b - value / slope;
        const double next = slope < 0.0 && low < newton && newton < high ? newton : 0.5 * (low + high);
        const double unit =
            4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(low), std::abs(high));
        if (high - low <= unit || next == b) return next;
        b = next;
    }
    return b;
}

// A t > 0 where the derivative of the round's function along a step has fallen to a tenth of that at 0; 1
// whenever that will do. Without the losses the derivative is linear + t quadratic. A free intercept follows
// the step: at each t it is the best one, so that the search does not depend on where the origin is.
//
// In:   scores (with the intercept) at t = 0, and their change along the step
inline double step_length(const HingeRound& round, const double* scores, const double* along,
                          bool free_intercept, double linear, double quadratic) {
    std::vector<double> moved(free_intercept ? round.n : 0);
    double b = 0.0;
    const auto derivative = [&](double t) -> ShareSums {
        if (free_intercept) {
            for (std::size_t i = 0; i < round.n; ++i) moved[i] = scores[i] + t * along[i];
            b = best_intercept(round, moved.data(), b);
        }
        const auto [value, slope, size] = shares_at(round, scores, along, t, b);
        return {linear + t * quadratic - value, quadratic - slope, size};
    };
    const double enough = 0.1 * std::abs(derivative(0.0).value);
    double low = 0.0, high = std::numeric_limits<double>::infinity(), t = 1.0;
    // A direction that is far too long needs more halvings: without any move the next step would be the same.
    for (int trial = 0; trial < 60 || (low == 0.0 && trial < 400); ++trial) {
        const ShareSums sums = derivative(t);
        const double value = sums.value, slope = sums.slope;
        if (std::abs(value) <= enough || !std::isfinite(value)) return t;
        (value < 0.0 ? low : high) = t;
        const double newton = t - value / slope;
        const double next = std::isinf(high) ? 2.0 * t : 0.5 * (low + high);
        t = trial % 2 == 0 && low < newton && newton < high ? newton : next;
    }
    return low;
}

}  // namespace maxmargin
