// The best intercept is a weighted median of residuals, or for squared losses a zero of a bent line.
#include "maxmargin/solvers/svm_gap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace maxmargin {
namespace {

// The middle of all b at which the costs of the residuals up to b first reach `wanted`: a weighted median.
double weighted_median(Residuals& residuals, double wanted, double flat) {
    auto first = residuals.begin(), last = residuals.end();
    double below = 0.0;
    while (last - first > 1) {
        const auto middle = first + (last - first) / 2;
        std::nth_element(first, middle, last);
        const double left =
            std::accumulate(first, middle, 0.0, [](double sum, const auto& r) { return sum + r.second; });
        if (below + left >= wanted - flat)
            last = middle;
        else
            below += left, first = middle;
    }
    const double low = first->first, reached = below + first->second;
    const auto next = std::min_element(first + 1, residuals.end());
    if (reached > wanted + flat || next == residuals.end()) return low;
    return 0.5 * (low + next->first);
}

// The zero of a slope that grows by the weight of each sample at its residual, from that residual on. Where
// it can be flat in the middle, a weight may be rounding alone, and the zero must stay between its
// neighbours.
double bent_zero(Residuals& residuals, double weight, double moment, bool flat) {
    std::sort(residuals.begin(), residuals.end());
    double before = residuals.front().first;
    for (const auto& [r, cost] : residuals) {
        if (weight * r - moment >= 0.0) {
            const double zero = weight > 0.0 ? moment / weight : 0.5 * (before + r);
            return flat ? std::clamp(zero, before, r) : zero;
        }
        weight += cost, moment += cost * r, before = r;
    }
    return weight > 0.0 ? moment / weight : before;
}

// The largest slope of the samples that may grow and the smallest of those that may fall.
struct Ends {
    double up = -std::numeric_limits<double>::infinity(), down = std::numeric_limits<double>::infinity();

    explicit Ends(const Samples& s) {
        for (std::size_t i = 0; i < s.n; ++i) {
            if (s.may_grow(i)) up = std::max(up, s.rise(i));
            if (s.may_fall(i)) down = std::min(down, s.fall(i));
        }
    }
    bool apart() const { return std::isfinite(up) && std::isfinite(down) && up > down; }
};

double best_intercept(const Samples& s, const Ends& ends, Residuals& residuals) {
    double positive = 0.0, moment = 0.0, total = 0.0, sum = 0.0, below = 0.0;
    // The slope of the gap is negative below the one end and positive above the other.
    const bool between = !s.squared && ends.apart();
    bool two_sided = false;
    residuals.clear();
    const auto bend = [&](double r, double weight) {
        if (between && r < ends.down)
            below += weight;
        else if (!between || r <= ends.up)
            residuals.emplace_back(r, weight);
    };
    for (std::size_t i = 0; i < s.n; ++i) {
        const double r = s.residual(i), over = r - s.kink, under = r + s.kink, cost = s.cost[i];
        const bool above = s.upper[i] > 0.0, beneath = s.lower[i] < 0.0;
        total += cost, sum += s.a[i], two_sided |= above && beneath;
        if (!s.squared) {
            if (above) positive += s.upper[i], bend(over, s.upper[i]);
            if (beneath) bend(under, -s.lower[i]);
            continue;
        }
        if (above && s.bounded)
            moment += s.upper[i], bend(over - s.upper[i] / cost, cost);
        else if (above)
            positive += cost, moment += cost * over;
        if (above) bend(over, -cost);
        if (beneath) bend(under, cost);
        if (beneath && s.bounded) bend(under - s.lower[i] / cost, -cost);
    }
    if (residuals.empty()) return 0.0;
    if (s.squared) return bent_zero(residuals, positive, moment - sum, two_sided);
    return weighted_median(residuals, positive - sum - below,
                           64.0 * std::numeric_limits<double>::epsilon() * total);
}

}  // namespace

Look look(const Samples& s, Residuals& scratch) {
    const Ends ends(s);
    Look seen{s.n > 0 ? best_intercept(s, ends, scratch) : 0.0, 0.0, 0.0};
    for (std::size_t i = 0; i < s.n; ++i) seen.gap += gap_term(s, i, s.residual(i) - seen.b);
    if (ends.apart()) seen.violation = ends.up - ends.down;
    return seen;
}

double dual_value(const Samples& s) {
    double sum = 0.0;
    for (std::size_t i = 0; i < s.n; ++i) sum += s.a[i] * (s.y[i] + s.g[i]);
    if (s.kink == 0.0) return 0.5 * sum;
    double size = 0.0;
    for (std::size_t i = 0; i < s.n; ++i) size += std::abs(s.a[i]);
    return 0.5 * sum - s.kink * size;
}

}  // namespace maxmargin
