// Which samples are free, conjugate gradients on them, and the projection of their result.
#include "maxmargin/solvers/projected_cg.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "maxmargin/solvers/boxed_sum.hpp"

namespace maxmargin {
namespace {

using Vector = std::vector<double>;

double inner(const Vector& x, const Vector& z) {
    return std::inner_product(x.begin(), x.end(), z.begin(), 0.0);
}

// Nonlinear conjugate gradients (Polak and Ribiere), each step projected. `p` and `r` have an entry for every
// sample of the block, which is 0 unless the sample is free.
class Face {
  public:
    Face(const BoxedBlock& block, const CgRules& rules)
        : block_(block), rules_(rules), r_(block.n), p_(block.n), change_(block.n), product_(block.n) {}

    CgEnd solve() {
        CgEnd end{0, 0.0, false};
        for (;;) {
            end.violation = choose();
            end.n_products = n_products_;
            if (end.violation <= rules_.tolerance || free_.size() < 2 || done()) return end;
            const double slope = turn();
            if (!(slope > 0.0) || !(clipping_ ? advance_clipped() : advance(slope))) {
                end.stalled = true, end.n_products = n_products_;
                return end;
            }
        }
    }

  private:
    bool done() const { return n_products_ >= rules_.max_products || rules_.late(); }

    // The free samples: those within their bounds, and those at a bound whose gradient points inside.
    double choose() {
        double up = -std::numeric_limits<double>::infinity(), down = -up, level = 0.0;
        std::size_t n_inside = 0;
        for (std::size_t i = 0; i < block_.n; ++i) {
            const bool grows = block_.a[i]<block_.upper[i], falls = block_.a[i]> block_.lower[i];
            if (grows) up = std::max(up, block_.g[i]);
            if (falls) down = std::min(down, block_.g[i]);
            if (grows && falls) level += block_.g[i], ++n_inside;
        }
        level = n_inside > 0 ? level / double(n_inside) : 0.5 * (up + down);
        double largest = 0.0;  // residual of a sample within its bounds
        for (std::size_t i = 0; i < block_.n; ++i)
            if (block_.a[i] < block_.upper[i] && block_.a[i] > block_.lower[i])
                largest = std::max(largest, std::abs(block_.g[i] - level));
        free_.clear();
        for (std::size_t i = 0; i < block_.n; ++i) {
            const bool grows = block_.a[i]<block_.upper[i], falls = block_.a[i]> block_.lower[i];
            const double gain = grows ? block_.g[i] - level : level - block_.g[i];
            if (grows ? falls || gain > MIN_GAIN_TO_FREE * largest
                      : falls && gain > MIN_GAIN_TO_FREE * largest)
                free_.push_back(i);
        }
        return up > down ? up - down : 0.0;
    }

    void product() {
        block_.product(change_.data(), product_.data());
        ++n_products_;
    }

    // Makes the free entries of a vector sum to 0, and the others 0.
    void centre(Vector& x) const {
        double mean = 0.0;
        for (const std::size_t i : free_) mean += x[i] / double(free_.size());
        std::size_t k = 0;
        for (std::size_t i = 0; i < block_.n; ++i) {
            const bool is_free = k < free_.size() && free_[k] == i;
            x[i] = is_free ? x[i] - mean : 0.0;
            k += std::size_t(is_free);
        }
    }

    // The next direction p; returns its slope.
    double turn() {
        Vector r(block_.g, block_.g + block_.n);
        centre(r);
        const double square = inner(r, r);
        const double share = square_ > 0.0 ? std::max(0.0, (square - inner(r, r_)) / square_) : 0.0;
        for (std::size_t i = 0; i < block_.n; ++i) p_[i] = r[i] + share * p_[i];
        centre(p_);
        r_.swap(r), square_ = square;
        const double slope = inner(r_, p_);
        if (slope > 0.0) return slope;
        p_ = r_;
        return square;
    }

    // The optimal step along p; a projected one if it leaves the bounds.
    bool advance(double slope) {
        change_ = p_;
        product();
        const double curvature = inner(p_, product_);
        if (!(curvature > 0.0)) return false;
        length_ = slope / curvature;
        for (const std::size_t i : free_) {
            const double a = block_.a[i] + length_ * p_[i];
            if (a < block_.lower[i] || a > block_.upper[i]) return advance_clipped();
        }
        for (const std::size_t i : free_) block_.a[i] += length_ * p_[i];
        for (std::size_t i = 0; i < block_.n; ++i) block_.g[i] -= length_ * product_[i];
        return true;
    }

    // Projects a step of the last optimal length, and goes to its end or towards it as far as the objective
    // grows.
    bool advance_clipped() {
        for (int turn = 0; turn < MAX_SHORTER_STEPS; ++turn, length_ *= 0.25) {
            project();
            const double slope = inner(r_, change_);
            if (!(slope > 0.0)) continue;
            product();
            const double curvature = inner(change_, product_);
            if (!(curvature > 0.0)) return false;
            const double best = slope / curvature, part = std::min(best, 1.0);
            for (const std::size_t i : free_)
                block_.a[i] = part == 1.0 ? target_[i]
                                          : std::clamp(block_.a[i] + part * change_[i], block_.lower[i],
                                                       block_.upper[i]);
            for (std::size_t i = 0; i < block_.n; ++i) block_.g[i] -= part * product_[i];
            length_ *= std::min(best, 4.0);
            return true;
        }
        return false;
    }

    // target = a + length p projected onto the bounds and the sum of a; change = target - a.
    void project() {
        target_.assign(block_.a, block_.a + block_.n);
        BoxedSamples{block_.lower, block_.upper, free_}.project(block_.a, length_, p_.data(), target_.data());
        clipping_ = false;
        for (std::size_t i = 0; i < block_.n; ++i) {
            change_[i] = target_[i] - block_.a[i];
            clipping_ |=
                change_[i] != 0.0 && (target_[i] == block_.lower[i] || target_[i] == block_.upper[i]);
        }
    }

    static constexpr int MAX_SHORTER_STEPS = 6;
    static constexpr double MIN_GAIN_TO_FREE =
        0.3;  // of a sample at a bound, relative to the others' residuals

    const BoxedBlock& block_;
    const CgRules& rules_;
    Vector r_, p_, change_, product_, target_;
    std::vector<std::size_t> free_;
    std::size_t n_products_ = 0;
    double square_ = 0.0, length_ = 0.0;
    bool clipping_ = false;  // whether the last step reached a bound
};

}  // namespace

CgEnd projected_cg(const BoxedBlock& block, const CgRules& rules) { return Face(block, rules).solve(); }

}  // namespace maxmargin
