// Projection onto a box and a fixed sum: coefficients of an SVM are in both.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace maxmargin {

// Some samples, and the bounds of all.
struct BoxedSamples {
    const double *lower, *upper;
    const std::vector<std::size_t>& free;

    // target_i = the point nearest to a_i + length step_i, for the free samples i, within their bounds and
    // with the sum of a. The entries of other samples are not touched.
    void project(const double* a, double length, const double* step, double* target) const {
        constexpr int MAX_BISECTIONS = 60;
        double sum = 0.0, low = 0.0, high = 0.0;
        for (const std::size_t i : free) {
            sum += a[i];
            low = std::min(low, length * step[i]), high = std::max(high, length * step[i]);
        }
        double shift = 0.0;
        const auto clipped = [&](std::size_t i) {
            return std::clamp(a[i] + length * step[i] - shift, lower[i], upper[i]);
        };
        for (int turn = 0; turn < MAX_BISECTIONS && high > low; ++turn) {
            double excess = -sum;
            for (const std::size_t i : free) excess += clipped(i);
            if (std::abs(excess) <= 1e-12 * std::abs(sum)) break;
            (excess > 0.0 ? low : high) = shift;
            shift = 0.5 * (low + high);
        }
        for (const std::size_t i : free) target[i] = clipped(i);
        settle(sum, target);
    }

  private:
    // Makes the targets sum to `sum` despite rounding, by the first sample with enough room.
    void settle(double sum, double* target) const {
        double rest = -sum;
        for (const std::size_t i : free) rest += target[i];
        for (const std::size_t i : free) {
            const double next = target[i] - rest;
            if (target[i] > lower[i] && target[i] < upper[i] && next > lower[i] && next < upper[i]) {
                target[i] = next;
                return;
            }
        }
    }
};

}  // namespace maxmargin
