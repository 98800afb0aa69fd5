// The Newton method of methods/linear/newton.py for problems that fit a cache: one column from start to end,
// on dense rows in double that were copied into place. A penalised intercept is a feature of value 1 here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace maxmargin {

struct SmallProblem {
    const double *X, *y, *cost;  // X (n, d), row-major
    std::size_t n, d;
    bool hinge, free_intercept;
};

// All that the iteration remembers from one call to the next.
struct SmallState {
    double *w, *anchor, *dual_share;
    double b, sharpness, best_dual, tiny;  // tiny: what counts as 0 beside the objective
    std::size_t n_iter;
    bool started, in_middle;  // in_middle: b is the middle of all best intercepts
};

enum class SmallEnd : int { open, converged, stalled, inexact };  // inexact: rounding shows in the gap

struct SmallCheck {
    std::size_t n_iter, n_support;
    double primal, dual, seconds;
};

struct SmallRules {
    double tol;
    std::size_t max_iter, max_steps;
    const volatile std::uint8_t* cancel;
    std::chrono::steady_clock::time_point deadline;
};

// Certificates and steps in turn, up to a certificate after which no step is allowed. Where the state ends is
// where another call begins, with the same bits as if there had been one.
//
// In:   at least one y of each sign; w, anchor and dual_share 0 if the state is not started
// Out:  the state; the checks of this call
SmallEnd small_newton(const SmallProblem& problem, SmallState& state, const SmallRules& rules,
                      std::vector<SmallCheck>& checks);

}  // namespace maxmargin
