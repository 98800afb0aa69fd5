// Leaps along the last moves of a block, where pairs take too many steps: smo.hpp has the problem.
//
// Pairs soon settle the directions in which the objective bends most, and then creep along the others, slice
// after slice in nearly the same direction. The best point on the line of the last slices is known without
// further products, because their gradients are. It is projected onto the bounds, which disturbs the settled
// directions; the next slice of pairs repairs that. A leap that has not paid off by then is taken back.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "maxmargin/core/simd.hpp"
#include "maxmargin/solvers/boxed_sum.hpp"
#include "maxmargin/solvers/smo.hpp"

namespace maxmargin {

// In:   a within its bounds, g its gradient
// Out:  a with the same sum, g its gradient
template <class T>
class Extrapolation {
  public:
    explicit Extrapolation(const SmoBlock<T>& block) : block_(block), bounds_(block) {}

    // After a slice of pairs: judges the last leap; if there was none, leaps along the move of this slice.
    void after_slice() {
        if (leapt_) judge();
        if (rest_ > 0) {
            --rest_;
            return;
        }
        if (is_known_ && leap()) {
            leapt_ = true, is_known_ = false;
            return;
        }
        start_.copy_from(block_);
        is_known_ = true;
    }

    // Takes back a leap that has not paid off: the last call on a block.
    void finish() {
        if (leapt_ && !(before_.gain(block_) >= 0.0)) before_.copy_to(block_);
        leapt_ = false;
    }

    // The point has moved by other means than pairs.
    void forget() { finish(), is_known_ = false; }

  private:
    struct Point {
        std::vector<double> a, g;

        void copy_from(const SmoBlock<T>& block) {
            a.assign(block.a, block.a + block.n), g.assign(block.g, block.g + block.n);
        }
        void copy_to(const SmoBlock<T>& block) const {
            std::copy(a.begin(), a.end(), block.a), std::copy(g.begin(), g.end(), block.g);
        }
        // How much more the objective is at the block's point.
        double gain(const SmoBlock<T>& block) const {
            double sum = 0.0;
            for (std::size_t k = 0; k < block.n; ++k) sum += (block.a[k] - a[k]) * (block.g[k] + g[k]);
            return 0.5 * sum - kink_growth(block.kink, block.a, a.data(), block.n);
        }
    };

    // A leap pays off if it gains more than the slice of pairs before it, whose time it takes.
    void judge() {
        leapt_ = false;
        const double gain = before_.gain(block_);
        pause_ = gain >= slice_gain_ ? pause_ / 2 : std::min(2 * pause_ + 1, MAX_PAUSE);
        rest_ = pause_;
        if (!(gain >= 0.0)) before_.copy_to(block_);
    }

    bool leap() {
        const std::size_t n = block_.n;
        double slope = 0.0, curvature = 0.0;
        for (std::size_t k = 0; k < n; ++k) {
            const double move = block_.a[k] - start_.a[k];
            slope += move * (block_.a[k] != 0.0 ? block_.slope(k) : block_.g[k]);
            curvature += move * (start_.g[k] - block_.g[k]);
        }
        const double length = slope / curvature;
        if (!(slope > 0.0 && curvature > 0.0 && std::isfinite(length))) return false;
        before_.copy_from(block_);
        slice_gain_ = start_.gain(block_);
        return go(length);
    }

    // False if the bounds leave no point with the sum of a.
    bool go(double length) {
        const std::size_t n = block_.n;
        std::vector<std::size_t> free;
        std::vector<double> move(n), target(before_.a);
        for (std::size_t k = 0; k < n; ++k) {
            if (block_.is_free(k)) free.push_back(k);
            move[k] = block_.a[k] - start_.a[k];
        }
        bounds_.update();
        BoxedSamples{bounds_.lower(), bounds_.upper(), free}.project(before_.a.data(), length, move.data(),
                                                                     target.data());
        double drift = 0.0, size = 0.0;
        for (const std::size_t k : free) drift += target[k] - block_.a[k], size += std::abs(target[k]);
        if (!(std::abs(drift) <= MAX_DRIFT * size)) return false;
        for (const std::size_t k : free)
            if (const double change = target[k] - block_.a[k]; change != 0.0) {
                simd().of<T>().axpy(-change, block_.K + k * n, block_.g, n);
                block_.a[k] = target[k];
            }
        return true;
    }

    static constexpr int MAX_PAUSE = 16;
    static constexpr double MAX_DRIFT = 1e-14;  // of the sum, relative to the sum of magnitudes

    const SmoBlock<T>& block_;
    PieceBounds<T> bounds_;
    Point start_, before_;  // of the last slice, and of the last leap
    bool is_known_ = false, leapt_ = false;
    double slice_gain_ = 0.0;
    int rest_ = 0, pause_ = 0;  // slices to wait, now and after the next leap
};

}  // namespace maxmargin
