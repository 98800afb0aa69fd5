// Data that are integer multiples of one step: pixels, counts, indicators. Their products are exact in
// integer arithmetic.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "maxmargin/core/row_set.hpp"
#include "maxmargin/core/threads.hpp"

namespace maxmargin {

// The largest code for which a squared distance, at most 4 d times its square, fits into 32 bits.
inline double largest_allowed_code(std::size_t d) {
    return std::min(32767.0, std::floor(std::sqrt(double(1 << 29) / double(std::max<std::size_t>(d, 1)))));
}

// The first row with an entry that is not an allowed multiple of the step; set.size if there is none.
template <class T>
std::size_t first_off_grid(const RowSet<T>& set, double step, int n_threads, const Poll& poll) {
    constexpr std::size_t ROWS_PER_TASK = 256;
    const double most = largest_allowed_code(set.n_cols());
    std::atomic<std::size_t> first{set.size};
    const auto body = [&](std::size_t task) {
        for (std::size_t i = task * ROWS_PER_TASK; i < std::min(first.load(), (task + 1) * ROWS_PER_TASK);
             ++i) {
            const std::span<const T> x = set.values(i);
            if (simd().of<T>().largest_code(x.data(), step, x.size()) <= most) continue;
            for (std::size_t known = first.load(); i < known && !first.compare_exchange_weak(known, i);) {
            }
        }
    };
    Pool::instance().run((set.size + ROWS_PER_TASK - 1) / ROWS_PER_TASK, n_threads, body, poll);
    return first.load();
}

template <class T>
bool on_grid(const RowSet<T>& set, double step, int n_threads, const Poll& poll) {
    return step > 0.0 && first_off_grid(set, step, n_threads, poll) == set.size;
}

// The smallest q up to `most` with q * ratio an integer, up to rounding, by continued fractions; 0 if there
// is none. A ratio this close to p / q, with q below 2^15, has p / q among its convergents.
inline double smallest_denominator(double ratio, double most) {
    constexpr double ROUNDING = 8.0 * std::numeric_limits<double>::epsilon();
    double rest = ratio, before = 0.0, q = 1.0;
    while (q <= most) {
        const double nearest = std::round(q * ratio);
        if (std::abs(q * ratio - nearest) <= ROUNDING * nearest) return q;
        const double fraction = rest - std::floor(rest);
        if (!(fraction > 0.0)) return 0.0;
        rest = 1.0 / fraction;
        before = std::exchange(q, std::floor(rest) * q + before);
    }
    return 0.0;
}

// The coarsest step for some sorted magnitudes: the largest of them divided by 1, 2, 3, ...; 0 if there is
// none. Any step is valid for an empty list. In double only multiples of one number need be tried.
template <class T>
double common_step(const std::vector<T>& sizes, std::size_t d) {
    if (sizes.empty()) return 1.0;
    const double most = largest_allowed_code(d), top = double(sizes.back());
    if (!std::isfinite(top)) return 0.0;
    const double first =
        std::is_same_v<T, double> ? smallest_denominator(double(sizes.front()) / top, most) : 1.0;
    for (double code = first; 0.0 < code && code <= most; code += first) {
        const auto fits = [&](T x) { return simd().of<T>().largest_code(&x, top / code, 1) <= most; };
        if (std::all_of(sizes.begin(), sizes.end(), fits)) return top / code;
    }
    return 0.0;
}

// The common step of all rows, 0 if there is none. A row that is off the current step is added to those from
// which the next, finer step is computed. For arbitrary real numbers the search ends after one row.
template <class T>
double grid_step(const RowSet<T>& set, int n_threads, const Poll& poll) {
    constexpr int MAX_ATTEMPTS = 16;  // 2^15 is the finest fraction
    std::vector<T> sizes;
    for (int attempt = 0; attempt < MAX_ATTEMPTS; ++attempt) {
        const double step = common_step(sizes, set.n_cols());
        if (step == 0.0) return 0.0;
        const std::size_t off = first_off_grid(set, step, n_threads, poll);
        if (off == set.size) return step;
        for (const T x : set.values(off))
            if (x != T(0)) sizes.push_back(std::abs(x));
        std::sort(sizes.begin(), sizes.end());
        sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    }
    return 0.0;
}

}  // namespace maxmargin
