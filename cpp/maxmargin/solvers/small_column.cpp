#include "maxmargin/solvers/small_column.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "maxmargin/solvers/polish.hpp"
#include "maxmargin/solvers/working_set.hpp"

namespace maxmargin {
namespace {

constexpr double EPS = std::numeric_limits<double>::epsilon();
constexpr double AT_BOUND = 1e-12;  // a coefficient so near to the new bound, and at the old one, is moved

}  // namespace

void SmallColumn::resize(std::size_t n) {
    n_ = n;
    for (auto* part : {&a_, &g_, &lower_, &upper_, &y_, &cost_, &length_}) part->assign(n_, 0.0);
    K_.reserve(n_ * n_), block_.reserve(n_ * n_);
}

Samples SmallColumn::samples() {
    return {n_, a_.data(), g_.data(), lower_.data(), upper_.data(), y_.data(), cost_.data(), squared_};
}

void SmallColumn::set_bounds() {
    const double total = std::accumulate(cost_.begin() + 1, cost_.end(), cost_[0]);
    for (std::size_t k = 0; k < n_; ++k) {
        const double largest = squared_ ? 2.0 * std::sqrt(cost_[k]) * std::sqrt(total) : cost_[k];
        lower_[k] = y_[k] < 0.0 ? -largest : 0.0, upper_[k] = y_[k] < 0.0 ? 0.0 : largest;
    }
    tiny_ = total * (squared_ ? 0.5 : 1.0) * EPS;
}

void SmallColumn::start() {
    set_bounds();
    std::fill(a_.begin(), a_.end(), 0.0);
    g_ = y_;
    dual_ = 0.0;
    seen_ = look(samples(), scratch_);
}

void SmallColumn::move(double ratio) {
    const std::vector<double> old_lower = lower_, old_upper = upper_;
    double gain = 0.0, curvature = 0.0;
    for (std::size_t k = 0; k < n_; ++k) {
        const double shrunk = squared_ ? a_[k] * a_[k] * (1.0 / ratio - 1.0) / cost_[k] : 0.0;
        gain += a_[k] * y_[k], curvature += a_[k] * (y_[k] - g_[k]) + shrunk;
    }
    const double t = curvature > 0.0 ? std::min(ratio, gain / curvature) : ratio;
    for (std::size_t k = 0; k < n_; ++k) g_[k] = t * (y_[k] - samples().residual(k));  // t f
    for (double& cost : cost_) cost *= ratio;
    set_bounds();
    for (std::size_t k = 0; k < n_; ++k) {
        double scaled = std::clamp(t * a_[k], lower_[k], upper_[k]);
        const auto near = [&](double bound) {
            return std::abs(scaled - bound) <= AT_BOUND * std::abs(bound);
        };
        if (a_[k] == old_lower[k] && near(lower_[k])) scaled = lower_[k];
        if (a_[k] == old_upper[k] && near(upper_[k])) scaled = upper_[k];
        a_[k] = scaled;
        g_[k] = y_[k] - g_[k] - samples().ridge(k) * scaled;
    }
    dual_ = t * gain - 0.5 * t * t * curvature;
    seen_ = look(samples(), scratch_);
}

ColumnEnd SmallColumn::solve(const Fetch& fetch) {
    if (!std::isfinite(seen_.gap)) return ColumnEnd::left;
    bool polished = n_ > rules_.max_polished;
    for (n_iter_ = 1;; ++n_iter_) {
        if (n_iter_ > rules_.max_iter || late()) return ColumnEnd::left;
        const bool weary = !polished && n_iter_ > rules_.max_steps;
        if (const double gap = target(polished); open(gap) && !weary) {
            const bool stalled = advance(gap, fetch);
            if (open(gap) && (polished || !stalled)) {
                if (stalled || n_iter_ > rules_.max_steps) return ColumnEnd::left;
                continue;
            }
        }
        if (!polished) {
            if (n_ > rules_.max_polished_at_once) advance(rules_.polish_gap, fetch);
            const FaceRows<double> rows{K_.data(), [&](const auto& which) { fetch(which); }};
            if (!polish(samples(), rows, [this] { return poll_(), late(); })) return ColumnEnd::left;
            seen_ = look(samples(), scratch_);
        }
        dual_ = dual_value(samples());
        return good() ? ColumnEnd::solved : ColumnEnd::left;
    }
}

std::size_t SmallColumn::n_support() const {
    return std::size_t(std::count_if(a_.begin(), a_.end(), [](double a) { return a != 0.0; }));
}

double SmallColumn::gap() const {
    return seen_.gap / std::max({std::abs(dual_ + seen_.gap), std::abs(dual_), tiny_});
}

// The relative gap to reach by rounds; tiny columns leave the rest to the exact method.
double SmallColumn::target(bool polished) const {
    const bool at_once = !polished && n_ <= rules_.max_polished_at_once;
    return at_once ? std::max(rules_.target, rules_.polish_at_once_gap) : rules_.target;
}

bool SmallColumn::open(double target) const {
    return !(seen_.gap <= target * std::max(std::abs(dual_), tiny_));
}

// Rounds until the gap is at most `target` of the dual value; true if nothing moved.
bool SmallColumn::advance(double target, const Fetch& fetch) {
    const std::size_t largest = std::min(n_, rules_.max_block);
    const std::size_t block = std::min(largest, std::max(rules_.min_block, n_ / rules_.blocks_per_problem));
    const WorkingRows<double> rows{{K_.data(), n_}, fetch, block_.data()};
    const double seconds = std::chrono::duration<double>(end_ - Clock::now()).count();
    const RoundRules round{block, largest, rules_.free_share, rules_.rounds_per_step, rules_.inner, target,
                           tiny_, seconds};
    const RoundsEnd end = rounds(samples(), rows, round, dual_, n_threads_, poll_);
    dual_ = end.dual;
    seen_ = look(samples(), scratch_);
    return end.stalled;
}

// Whether the certificate is within the tolerance, by so much that rounding in double cannot matter.
bool SmallColumn::good() {
    const double primal = dual_ + seen_.gap, scale = std::max({std::abs(primal), std::abs(dual_), tiny_});
    if (!std::isfinite(primal) || !(scale > 0.0)) return false;
    const double gap = (primal - dual_) / scale;
    return -1e-10 < gap && gap <= rules_.tol && rounding() <= 0.5 * rules_.negligible_rounding * scale;
}

// double_rounding of methods/kernel_svm/rounding.py
double SmallColumn::rounding() {
    const Samples s = samples();
    double norm = 0.0, sum = 0.0, largest = 0.0, grown = 0.0, moved = 0.0;
    for (std::size_t k = 0; k < n_; ++k) {
        norm += a_[k] * a_[k] * length_[k] * length_[k];
        sum += a_[k], largest = std::max(largest, std::abs(g_[k]));
    }
    if (!(norm > 0.0)) return std::numeric_limits<double>::infinity();
    norm = std::sqrt(norm);
    for (std::size_t k = 0; k < n_; ++k) {
        const double width = EPS * (rules_.double_errors * norm * length_[k] + 1.0 + std::abs(seen_.b));
        const double r = s.residual(k) - seen_.b;
        grown += std::max(gap_term(s, k, r - width), gap_term(s, k, r + width)) - gap_term(s, k, r);
        moved += 0.5 * std::abs(a_[k]) * width;
    }
    return grown + moved + std::abs(sum) * (std::abs(seen_.b) + largest);
}

}  // namespace maxmargin
