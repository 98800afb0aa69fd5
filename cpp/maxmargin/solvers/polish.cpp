// Newton steps on the free samples of a face; a sample that reaches its bound, or the kink, is fixed, and the
// fixed sample that violates optimality most is freed.
#include "maxmargin/solvers/polish.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "maxmargin/core/blas.hpp"
#include "maxmargin/core/simd.hpp"

namespace maxmargin {
namespace {

template <class T>
class Face {
  public:
    Face(const Samples& start, const FaceRows<T>& rows)
        : start_(start),
          rows_(rows),
          n_(start.n),
          a_(start.a, start.a + n_),
          g_(n_),
          low_(start.lower, start.lower + n_),
          high_(start.upper, start.upper + n_),
          shift_(n_),
          free_(n_),
          known_(n_),
          s_(start) {
        s_.a = a_.data(), s_.g = g_.data();
        for (std::size_t i = 0; i < n_; ++i) free_[i] = s_.is_free(i), take_piece(i, a_[i] > 0.0);
    }

    bool solve(const std::function<bool()>& late) {
        Residuals scratch;
        renew();
        const double gap = look(s_, scratch).gap;
        Step step = Step::further;
        for (std::size_t k = 0; k < 4 * n_ && step == Step::further && !late(); ++k) step = advance();
        if (step == Step::optimal) {
            renew();
            step = advance();  // again, to correct the rounding of the first solution
        }
        if (step == Step::flat) return false;
        renew();
        if (!(look(s_, scratch).gap <= gap)) return false;
        std::copy(a_.begin(), a_.end(), start_.a);
        std::copy(g_.begin(), g_.end(), start_.g);
        return true;
    }

  private:
    enum class Step { further, optimal, flat };
    static constexpr double NONE = -std::numeric_limits<double>::infinity();
    static constexpr double ROUNDING = 64.0 * std::numeric_limits<double>::epsilon();

    // From now on a_i has this sign, or is 0. Without a kink there is only one piece.
    void take_piece(std::size_t i, bool positive) {
        if (s_.kink == 0.0) return;
        low_[i] = positive ? 0.0 : s_.lower[i], high_[i] = positive ? s_.upper[i] : 0.0;
        shift_[i] = positive ? s_.kink : -s_.kink;
    }

    const T* row(std::size_t i) const { return rows_.values + i * n_; }

    void need(const std::vector<std::int64_t>& which) {
        std::vector<std::int64_t> missing;
        for (const std::int64_t i : which)
            if (!known_[std::size_t(i)]) missing.push_back(i);
        if (missing.empty()) return;
        rows_.fetch(missing);
        for (const std::int64_t i : missing) {
            known_[std::size_t(i)] = 1;
            for (std::size_t j = 0; j < n_; ++j)
                largest_ = std::max(largest_, std::abs(double(row(std::size_t(i))[j])));
            largest_ =
                std::max(largest_, std::abs(double(row(std::size_t(i))[i]) + s_.ridge(std::size_t(i))));
        }
    }

    // g -= change (K + R)_i
    void subtract(std::size_t i, double change) {
        simd().of<T>().axpy(-change, row(i), g_.data(), n_);
        g_[i] -= change * s_.ridge(i);
    }

    void renew() {
        std::vector<std::int64_t> support;
        for (std::size_t i = 0; i < n_; ++i)
            if (a_[i] != 0.0) support.push_back(std::int64_t(i));
        need(support);
        std::copy_n(s_.y, n_, g_.begin());
        for (const std::int64_t i : support) subtract(std::size_t(i), a_[std::size_t(i)]);
    }

    // Moves to the optimum of the face or to its boundary.
    Step advance() {
        moving_.clear();
        for (std::size_t i = 0; i < n_; ++i)
            if (free_[i]) moving_.push_back(std::int64_t(i));
        const std::size_t m = moving_.size();
        if (m < 2) return release(level_of_few()) ? Step::optimal : Step::further;
        need(moving_);
        if (!find_direction()) return Step::flat;
        const auto [step, wall] = room();
        for (std::size_t k = 0; k < m; ++k) a_[std::size_t(moving_[k])] += step * direction_[k];
        if (wall < m) {
            const std::size_t i = std::size_t(moving_[wall]);
            a_[i] = direction_[wall] > 0.0 ? high_[i] : low_[i];
            free_[i] = 0;
        }
        for (std::size_t k = 0; k < m; ++k) subtract(std::size_t(moving_[k]), step * direction_[k]);
        return wall == m && release(direction_[m]) ? Step::optimal : Step::further;
    }

    // The step to the optimum of the face, followed by g there; false if K is singular.
    bool find_direction() {
        const std::size_t m = moving_.size(), side = m + 1;
        system_.assign(side * side, 0.0);
        double scale = 0.0, most = 0.0;
        for (std::size_t k = 0; k < m; ++k) {
            const T* K = row(std::size_t(moving_[k]));
            for (std::size_t l = 0; l < m; ++l) system_[k * side + l] = double(K[moving_[l]]);
            system_[k * side + k] += s_.ridge(std::size_t(moving_[k]));
            for (std::size_t l = 0; l < m; ++l) scale = std::max(scale, std::abs(system_[k * side + l]));
        }
        if (scale == 0.0) scale = 1.0;
        std::vector<double> right(side);
        for (std::size_t k = 0; k < m; ++k) {
            system_[k * side + m] = system_[m * side + k] = scale;
            right[k] = g_[std::size_t(moving_[k])] - shift_[std::size_t(moving_[k])];
            most = std::max(most, std::abs(right[k]));
        }
        direction_ = right;
        std::vector<double> factors = system_;
        if (!solve_system(factors.data(), side, direction_.data())) return false;
        for (std::size_t k = 0; k < side; ++k) {
            double left_over = right[k];
            for (std::size_t l = 0; l < side; ++l) left_over -= system_[k * side + l] * direction_[l];
            if (!(std::abs(left_over) <= 1e-12 * most)) return false;
        }
        double mean = 0.0;
        for (std::size_t k = 0; k < m; ++k) mean += direction_[k] / double(m);
        for (std::size_t k = 0; k < m; ++k) direction_[k] -= mean;  // sum 0 despite the solver's rounding
        direction_[m] *= scale;
        return true;
    }

    // The step length, at most 1, and the sample that reaches its bound; the number of free samples if none.
    std::pair<double, std::size_t> room() const {
        std::pair<double, std::size_t> first{1.0, moving_.size()};
        for (std::size_t k = 0; k < moving_.size(); ++k) {
            const std::size_t i = std::size_t(moving_[k]);
            if (direction_[k] == 0.0) continue;
            const double limit = direction_[k] > 0.0 ? high_[i] : low_[i];
            const double until = (limit - a_[i]) / direction_[k];
            if (until < first.first) first = {std::max(0.0, until), k};
        }
        return first;
    }

    // The slope of the one free sample: next to a kink, another level may free a sample that cannot move.
    double level_of_few() const {
        if (s_.kink == 0.0 || moving_.empty()) return level();
        return g_[std::size_t(moving_[0])] - shift_[std::size_t(moving_[0])];
    }

    // The midpoint between the slopes of the samples that may grow and of those that may fall.
    double level() const {
        double up = NONE, down = NONE;
        for (std::size_t i = 0; i < n_; ++i) {
            if (s_.may_grow(i)) up = std::max(up, s_.rise(i));
            if (s_.may_fall(i)) down = std::max(down, -s_.fall(i));
        }
        return up > NONE && down > NONE ? 0.5 * (up - down) : 0.0;
    }

    // Frees the sample that violates optimality most, or a pair if none is free; true if none does.
    bool release(double level) {
        std::pair<double, std::size_t> grow{NONE, n_}, fall{NONE, n_};
        std::size_t n_free = 0;
        double sum = 0.0;
        for (std::size_t i = 0; i < n_; ++i) {
            n_free += std::size_t(free_[i]), sum += std::abs(a_[i]);
            if (free_[i]) continue;
            if (s_.may_grow(i) && s_.rise(i) - level > grow.first) grow = {s_.rise(i) - level, i};
            if (s_.may_fall(i) && level - s_.fall(i) > fall.first) fall = {level - s_.fall(i), i};
        }
        const double least = ROUNDING * (std::max(1.0, s_.kink) + largest_ * sum);
        bool growing = grow.first > least, falling = fall.first > least;
        if (n_free + std::size_t(growing) + std::size_t(falling) < 2) return true;
        if (growing && falling && n_free >= 1) (grow.first >= fall.first ? falling : growing) = false;
        if (growing) free_[grow.second] = 1, take_piece(grow.second, a_[grow.second] >= 0.0);
        if (falling) free_[fall.second] = 1, take_piece(fall.second, a_[fall.second] > 0.0);
        return !growing && !falling;
    }

    Samples start_;
    const FaceRows<T>& rows_;
    std::size_t n_;
    std::vector<double> a_, g_, low_, high_, shift_;  // the bounds of each piece, and its part of the slope
    std::vector<double> system_, direction_;
    std::vector<char> free_, known_;
    std::vector<std::int64_t> moving_;
    double largest_ = 0.0;
    Samples s_;  // the current point
};

}  // namespace

bool polish(const Samples& samples, const FaceRows<float>& rows, const std::function<bool()>& late) {
    return Face<float>(samples, rows).solve(late);
}

bool polish(const Samples& samples, const FaceRows<double>& rows, const std::function<bool()>& late) {
    return Face<double>(samples, rows).solve(late);
}

}  // namespace maxmargin
