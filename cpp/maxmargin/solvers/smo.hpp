// The dual of kernel machines, solved by working sets:
//
//   max_a  sum_i a_i y_i - 1/2 a'(K + R) a - kink |a|_1   s.t.  sum_i a_i = const,  lower_i <= a_i <=
//   upper_i.
//
// A soft-margin SVM, signed so that targets appear in bounds only, has kink = 0, a_i y_i in [0, C_i] and R =
// 0 for the hinge, a_i y_i >= 0 and R = diag(1/C_i) for the squared hinge; svm_gap.hpp has the other losses.
// The gradient is g_i = y_i - f_i - R_ii a_i. The slope of a_i is g_i - kink where a_i grows from 0 or above,
// g_i + kink where it falls from 0 or below. A pair (i, j), where a_i may grow and a_j may fall and the slope
// of i is larger, is not optimal yet.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "maxmargin/core/simd.hpp"
#include "maxmargin/core/threads.hpp"

namespace maxmargin {

// A block of samples and their kernel matrix (n, n), with the ridge on its diagonal. On a piece, where no a_i
// has another sign or reaches 0, the kink is a part of the slope.
template <class T>
struct SmoBlock {
    const T* K;
    std::size_t n;
    double *a, *g;
    const double *lower, *upper;
    double kink = 0.0;

    double low(std::size_t i) const { return kink > 0.0 && a[i] > 0.0 ? 0.0 : lower[i]; }  // of the piece
    double high(std::size_t i) const { return kink > 0.0 && a[i] < 0.0 ? 0.0 : upper[i]; }
    bool is_free(std::size_t i) const {
        return a[i] > lower[i] && a[i] < upper[i] && (kink == 0.0 || a[i] != 0.0);
    }
    double slope(std::size_t i) const { return kink == 0.0 ? g[i] : g[i] - std::copysign(kink, a[i]); }
};

// The bounds of the current piece: those of the block where there is no kink.
template <class T>
class PieceBounds {
  public:
    explicit PieceBounds(const SmoBlock<T>& block) : block_(block) {}

    // Looks at the signs of a.
    void update() {
        if (block_.kink == 0.0) return;
        low_.resize(block_.n), high_.resize(block_.n);
        for (std::size_t i = 0; i < block_.n; ++i) low_[i] = block_.low(i), high_[i] = block_.high(i);
    }
    const double* lower() const { return block_.kink == 0.0 ? block_.lower : low_.data(); }
    const double* upper() const { return block_.kink == 0.0 ? block_.upper : high_.data(); }

  private:
    const SmoBlock<T>& block_;
    std::vector<double> low_, high_;
};

// sum_i |a_i| times the kink, relative to other coefficients.
inline double kink_growth(double kink, const double* a, const double* before, std::size_t n) {
    if (kink == 0.0) return 0.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) sum += std::abs(a[i]) - std::abs(before[i]);
    return kink * sum;
}

// Steps on a block until no pair violates optimality by more than `tolerance` or `max_steps` are taken.
template <class T>
SmoEnd smo_block(const SmoBlock<T>& block, double tolerance, std::size_t max_steps, const Poll& poll) {
    constexpr std::size_t VALUES_PER_POLL = 4'000'000;  // kernel values, some milliseconds
    const std::size_t n = block.n;
    const std::size_t steps_per_poll =
        std::max<std::size_t>(VALUES_PER_POLL / std::max<std::size_t>(n, 1), 1);
    std::vector<float> scratch(3 * n);
    std::vector<double> slopes(block.kink == 0.0 ? 0 : 2 * n);
    double* const rise = block.kink == 0.0 ? nullptr : slopes.data();
    double* const fall = block.kink == 0.0 ? nullptr : slopes.data() + n;
    SmoEnd end{0, 0.0, false};
    std::size_t steps = 0;
    do {
        const std::size_t now = std::min(steps_per_poll, max_steps - steps);
        end = simd().of<T>().smo({block.K, n, n, block.a, block.g, block.lower, block.upper, scratch.data(),
                                  scratch.data() + n, scratch.data() + 2 * n, tolerance, now, block.kink,
                                  rise, fall});
        steps += end.steps;
        poll();
        if (end.steps < now) break;
    } while (steps < max_steps);
    end.steps = steps;
    return end;
}

}  // namespace maxmargin
