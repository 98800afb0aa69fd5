// Soft-margin SVMs by working sets. The dual of one column, signed so that targets appear in bounds only:
//
//   max_a  sum_i a_i y_i - 1/2 a'(K + R) a   s.t.  sum_i a_i = 0,  lower_i <= a_i <= upper_i,
//
// with a_i y_i in [0, C_i] and R = 0 for the hinge, a_i y_i >= 0 and R = diag(1/C_i) for the squared hinge.
// Its gradient is g_i = y_i - f_i - R_ii a_i, and a pair (i, j) with g_i > g_j, where a_i may grow and a_j
// may fall, is not optimal yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "maxmargin/core/simd.hpp"
#include "maxmargin/core/threads.hpp"

namespace maxmargin {

// A block of samples and their kernel matrix (n, n), with the ridge on its diagonal.
template <class T>
struct SmoBlock {
    const T* K;
    std::size_t n;
    double *a, *g;
    const double *lower, *upper;
};

// Steps on a block until no pair violates optimality by more than `tolerance` or `max_steps` are taken.
template <class T>
SmoEnd smo_block(const SmoBlock<T>& block, double tolerance, std::size_t max_steps, const Poll& poll) {
    constexpr std::size_t VALUES_PER_POLL = 4'000'000;  // kernel values, some milliseconds
    const std::size_t n = block.n;
    const std::size_t steps_per_poll =
        std::max<std::size_t>(VALUES_PER_POLL / std::max<std::size_t>(n, 1), 1);
    std::vector<float> scratch(3 * n);
    SmoEnd end{0, 0.0, false};
    std::size_t steps = 0;
    do {
        const std::size_t now = std::min(steps_per_poll, max_steps - steps);
        end = simd().of<T>().smo({block.K, n, n, block.a, block.g, block.lower, block.upper, scratch.data(),
                                  scratch.data() + n, scratch.data() + 2 * n, tolerance, now});
        steps += end.steps;
        poll();
        if (end.steps < now) break;
    } while (steps < max_steps);
    end.steps = steps;
    return end;
}

}  // namespace maxmargin
