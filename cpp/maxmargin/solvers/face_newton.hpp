// Newton steps on the free samples of a block, where pairs take too many: smo.hpp has the problem.
//
// With the samples at a bound or at the kink fixed, the optimum of the free ones is one linear system. A step
// towards it that leaves the bounds is projected onto them; of some projected steps of different length, the
// one that increases the objective most is taken.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "maxmargin/core/blas.hpp"
#include "maxmargin/core/simd.hpp"
#include "maxmargin/solvers/boxed_sum.hpp"
#include "maxmargin/solvers/smo.hpp"

namespace maxmargin {

// In:   a within its bounds, g its gradient
// Out:  a with the same sum, g its gradient
template <class T>
class FaceNewton {
  public:
    explicit FaceNewton(const SmoBlock<T>& block) : block_(block), bounds_(block) {}

    // Finds the free samples; returns how many there are.
    std::size_t choose() {
        free_.clear();
        for (std::size_t i = 0; i < block_.n; ++i)
            if (block_.is_free(i)) free_.push_back(i);
        bounds_.update();
        return free_.size();
    }

    // A step of the samples that `choose` found; returns how much the objective has grown, 0 if there is
    // none.
    double step() {
        if (free_.size() < 2 || free_.size() > MAX_SAMPLES || !find_direction()) return 0.0;
        Trial best;
        double length = 1.0;
        for (int turn = 0; turn < MAX_LENGTHS; ++turn, length *= LENGTH_FACTOR) {
            Trial next = attempt(length);
            if (next.gain > best.gain)
                std::swap(best, next);
            else if (best.gain > 0.0)
                break;
            if (best.whole) break;
        }
        if (best.gain > 0.0) take(best);
        return best.gain;
    }

  private:
    // A projected step: its end and the gradient's change on the way there, of which `part` is taken.
    struct Trial {
        double gain = 0.0, part = 0.0;
        bool whole = false;  // nothing was clipped
        std::vector<double> target, product;
    };

    bool find_direction() {
        const std::size_t m = free_.size();
        double largest = 0.0;
        for (const std::size_t i : free_)
            largest = std::max(largest, std::abs(double(block_.K[i * block_.n + i])));
        double ridge = std::numeric_limits<T>::epsilon() * std::sqrt(double(m)) * largest;
        for (int turn = 0; turn < MAX_RIDGES; ++turn, ridge *= 100.0) {
            system_.resize(m * m);
            for (std::size_t k = 0; k < m; ++k) {
                const T* row = block_.K + free_[k] * block_.n;
                for (std::size_t l = 0; l <= k; ++l) system_[k * m + l] = double(row[free_[l]]);
                system_[k * m + k] += ridge;
            }
            if (cholesky(system_.data(), m)) return solve();
        }
        return false;
    }

    // The step to the optimum of the free samples, whose entries sum to 0.
    bool solve() {
        const std::size_t m = free_.size();
        std::vector<double> own(m), ones(m, 1.0);
        for (std::size_t k = 0; k < m; ++k) own[k] = block_.slope(free_[k]);
        solve_factored(system_.data(), m, own.data());
        solve_factored(system_.data(), m, ones.data());
        const double level =
            std::accumulate(own.begin(), own.end(), 0.0) / std::accumulate(ones.begin(), ones.end(), 0.0);
        direction_.assign(block_.n, 0.0);
        for (std::size_t k = 0; k < m; ++k) direction_[free_[k]] = own[k] - level * ones[k];
        return std::isfinite(level);
    }

    Trial attempt(double length) {
        Trial trial;
        trial.target.assign(block_.a, block_.a + block_.n);
        const double *lower = bounds_.lower(), *upper = bounds_.upper();
        BoxedSamples{lower, upper, free_}.project(block_.a, length, direction_.data(), trial.target.data());
        trial.product.assign(block_.n, 0.0);
        trial.whole = length == 1.0;
        double slope = 0.0, curvature = 0.0;
        for (const std::size_t i : free_) {
            const double change = trial.target[i] - block_.a[i];
            slope += block_.slope(i) * change;
            trial.whole &= trial.target[i] > lower[i] && trial.target[i] < upper[i];
        }
        if (!(slope > 0.0)) return trial;
        for (const std::size_t i : free_)
            if (const double change = trial.target[i] - block_.a[i]; change != 0.0)
                simd().of<T>().axpy(change, block_.K + i * block_.n, trial.product.data(), block_.n);
        for (const std::size_t i : free_) curvature += (trial.target[i] - block_.a[i]) * trial.product[i];
        trial.part = curvature > slope ? slope / curvature : 1.0;
        trial.gain = trial.part * (slope - 0.5 * trial.part * curvature);
        return trial;
    }

    void take(const Trial& trial) {
        for (const std::size_t i : free_) {
            const double a = block_.a[i] + trial.part * (trial.target[i] - block_.a[i]);
            block_.a[i] =
                trial.part == 1.0 ? trial.target[i] : std::clamp(a, bounds_.lower()[i], bounds_.upper()[i]);
        }
        for (std::size_t i = 0; i < block_.n; ++i) block_.g[i] -= trial.part * trial.product[i];
    }

    static constexpr std::size_t MAX_SAMPLES = 1536;  // whose matrix in double takes 19 MB
    static constexpr int MAX_LENGTHS = 6, MAX_RIDGES = 3;
    static constexpr double LENGTH_FACTOR = 0.25;

    const SmoBlock<T>& block_;
    PieceBounds<T> bounds_;
    std::vector<std::size_t> free_;
    std::vector<double> system_, direction_;
};

}  // namespace maxmargin
