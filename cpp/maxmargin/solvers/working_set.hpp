// Rounds on the active samples of a kernel SVM: smo.hpp has the problem, solvers/working_set.py the whole
// method.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "maxmargin/solvers/smo.hpp"

namespace maxmargin {

struct Samples {
    std::size_t n;
    double *a, *g;
    const double *lower, *upper, *y, *cost;
    bool squared;

    bool may_grow(std::size_t i) const { return a[i] < upper[i]; }
    bool may_fall(std::size_t i) const { return a[i] > lower[i]; }
    double ridge(std::size_t i) const { return squared ? 1.0 / cost[i] : 0.0; }
    double residual(std::size_t i) const { return g[i] + ridge(i) * a[i]; }  // y - f
};

// How far the samples are from optimal: solvers/svm_problem.py has the formulas, in the same order.
struct Look {
    double b, gap, violation;
};

// The middle of all b at which the costs of the residuals up to b first reach `wanted`: a weighted median.
inline double weighted_median(std::vector<std::pair<double, double>>& residuals, double wanted, double flat) {
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
inline double bent_zero(std::vector<std::pair<double, double>>& residuals, double weight, double moment) {
    std::sort(residuals.begin(), residuals.end());
    double before = residuals.front().first;
    for (const auto& [r, cost] : residuals) {
        if (weight * r - moment >= 0.0) return weight > 0.0 ? moment / weight : 0.5 * (before + r);
        weight += cost, moment += cost * r, before = r;
    }
    return weight > 0.0 ? moment / weight : before;
}

// The largest g of those that may grow and the least of those that may fall.
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

inline double best_intercept(const Samples& s, const Ends& ends,
                             std::vector<std::pair<double, double>>& residuals) {
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

inline Look look(const Samples& s, std::vector<std::pair<double, double>>& scratch) {
    const Ends ends(s);
    Look seen{s.n > 0 ? best_intercept(s, ends, scratch) : 0.0, 0.0, 0.0};
    for (std::size_t i = 0; i < s.n; ++i) {
        const double r = s.residual(i) - seen.b, missing = std::max(0.0, s.y[i] * r);
        seen.gap += s.squared
                        ? 0.5 * s.cost[i] * missing * missing - s.a[i] * r + 0.5 * s.a[i] * s.a[i] / s.cost[i]
                        : s.cost[i] * missing - s.a[i] * r;
    }
    if (ends.apart()) seen.violation = ends.up - ends.down;
    return seen;
}

struct RoundRules {
    std::size_t block, largest_block;
    double free_share;  // of a block, up to which free samples fill it
    std::size_t n_rounds;
    double inner;   // share of the violation to which a block is solved
    double target;  // relative gap to reach
    double tiny;    // and what counts as zero in it
    double seconds;
};

// Positions of samples in ascending order: all free ones if that is possible, because they make good what
// others do, and from either end those that violate optimality most.
inline std::vector<std::int64_t> choose_block(const Samples& s, const RoundRules& rules) {
    std::vector<std::int64_t> block(s.n);
    std::iota(block.begin(), block.end(), 0);
    std::vector<char> chosen(s.n, 0);
    std::size_t n_free = 0;
    for (std::size_t i = 0; i < s.n; ++i) n_free += chosen[i] = s.may_grow(i) && s.may_fall(i);
    const std::size_t size =
        std::clamp(std::size_t(double(n_free) / rules.free_share), rules.block, rules.largest_block);
    if (s.n <= size) return block;
    if (double(n_free) > rules.free_share * double(size) + 1.0 || n_free + 2 > size) {
        n_free = 0;
        std::fill(chosen.begin(), chosen.end(), 0);
    }
    const std::size_t half = (size - n_free) / 2;
    std::vector<std::pair<double, std::int64_t>> side;
    for (const bool growing : {true, false}) {
        side.clear();
        for (std::size_t i = 0; i < s.n; ++i)
            if (!chosen[i] && (growing ? s.may_grow(i) : s.may_fall(i)))
                side.emplace_back(growing ? -s.g[i] : s.g[i], std::int64_t(i));
        if (half < side.size())
            std::nth_element(side.begin(), side.begin() + std::ptrdiff_t(half), side.end());
        for (std::size_t k = 0; k < std::min(half, side.size()); ++k) chosen[std::size_t(side[k].second)] = 1;
    }
    std::erase_if(block, [&](std::int64_t i) { return !chosen[std::size_t(i)]; });
    return block;
}

struct RoundsEnd {
    std::size_t n_rounds;
    double dual;
    double moved;  // length of the path that f has taken
    bool stalled;
    std::size_t asked;  // rows, those of every block
};

// Up to n_rounds rounds, until the gap is at most `target` of the dual value. K has room for the largest
// block. fetch(block) gives the slots of
// the rows of these samples.
template <class T, class Fetch>
RoundsEnd rounds(Samples s, const T* rows, std::size_t stride, T* K, const RoundRules& rules, double dual,
                 const Fetch& fetch, int n_threads, const Poll& poll) {
    using Clock = std::chrono::steady_clock;
    constexpr std::size_t STEPS = 100,
                          SLICE = 8'000'000;  // steps per sample; kernel values between two polls
    const auto deadline = Clock::now() + std::chrono::duration<double>(rules.seconds);
    std::vector<std::pair<double, double>> scratch;
    std::vector<double> a, g, lower, upper, change;
    RoundsEnd end{0, dual, 0.0, false, 0};
    Look seen = look(s, scratch);
    for (; end.n_rounds < rules.n_rounds; ++end.n_rounds) {
        if (seen.gap <= rules.target * std::max(std::abs(end.dual), rules.tiny) || Clock::now() >= deadline)
            break;
        const std::vector<std::int64_t> block = choose_block(s, rules);
        const std::size_t q = block.size();
        const std::vector<std::int64_t> slots = fetch(block);
        end.asked += q;
        gather_block(rows, stride, slots.data(), block.data(), q, K, n_threads, poll);
        a.resize(q), g.resize(q), lower.resize(q), upper.resize(q), change.resize(q);
        for (std::size_t k = 0; k < q; ++k) {
            const std::size_t i = std::size_t(block[k]);
            K[k * q + k] += T(s.ridge(i));
            a[k] = s.a[i], g[k] = s.g[i], lower[k] = s.lower[i], upper[k] = s.upper[i];
        }
        for (std::size_t steps = 0; steps < STEPS * q && Clock::now() < deadline;) {
            const std::size_t at_once = std::clamp<std::size_t>(SLICE / q, 1, STEPS * q - steps);
            const SmoEnd part = smo_block(K, q, a.data(), g.data(), lower.data(), upper.data(),
                                          rules.inner * seen.violation, at_once, poll);
            steps += part.steps;
            if (part.steps < at_once || part.stalled) break;
        }
        bool moved = false;
        double square = 0.0;
        for (std::size_t k = 0; k < q; ++k) {
            const std::size_t i = std::size_t(block[k]);
            change[k] = a[k] - s.a[i];
            moved |= change[k] != 0.0;
            end.dual += 0.5 * change[k] * (s.g[i] + g[k]);
            square += change[k] * (s.g[i] - g[k]);
        }
        if (!moved) {
            end.stalled = true;
            break;
        }
        end.moved += std::sqrt(std::max(square, 0.0));
        subtract_rows(rows, stride, slots.data(), change.data(), q, s.g, s.n, n_threads, poll);
        for (std::size_t k = 0; k < q; ++k) s.a[block[k]] = a[k], s.g[block[k]] = g[k];
        seen = look(s, scratch);
    }
    return end;
}

}  // namespace maxmargin
