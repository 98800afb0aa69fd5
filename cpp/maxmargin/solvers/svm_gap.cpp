// The best intercept is a weighted median of residuals (hinge) or a zero of a bent line (squared hinge).
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

// The zero of a slope that grows by the weight of each sample at its residual, from that residual on.
double bent_zero(Residuals& residuals, double weight, double moment) {
    std::sort(residuals.begin(), residuals.end());
    double before = residuals.front().first;
    for (const auto& [r, cost] : residuals) {
        if (weight * r - moment >= 0.0) return weight > 0.0 ? moment / weight : 0.5 * (before + r);
        weight += cost, moment += cost * r, before = r;
    }
    return weight > 0.0 ? moment / weight : before;
}

// The largest g of the samples that may grow and the smallest of those that may fall.
struct Ends {
    double up = -std::numeric_limits<double>::infinity(), down = std::numeric_limits<double>::infinity();

    explicit Ends(const Samples& s) {
        for (std::size_t i = 0; i < s.n; ++i) {
            if (s.may_grow(i)) up = std::max(up, s.g[i]);
            if (s.may_fall(i)) down = std::min(down, s.g[i]);
        }
    }
    bool apart() const { return std::isfinite(up) && std::isfinite(down) && up > down; }
};

double best_intercept(const Samples& s, const Ends& ends, Residuals& residuals) {
    double positive = 0.0, moment = 0.0, total = 0.0, sum = 0.0, below = 0.0;
    // The slope of the hinge's gap is negative below the one end and positive above the other.
    const bool between = !s.squared && ends.apart();
    residuals.clear();
    for (std::size_t i = 0; i < s.n; ++i) {
        const double r = s.residual(i);
        total += s.cost[i], sum += s.a[i];
        if (s.y[i] > 0.0) positive += s.cost[i], moment += s.cost[i] * r;
        if (between && r < ends.down)
            below += s.cost[i];
        else if (!between || r <= ends.up)
            residuals.emplace_back(r, s.squared && s.y[i] > 0.0 ? -s.cost[i] : s.cost[i]);
    }
    if (s.squared) return bent_zero(residuals, positive, moment - sum);
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
    return 0.5 * sum;
}

}  // namespace maxmargin
