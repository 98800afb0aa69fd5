// Sums of column outputs over the entries of a code, which decoders compare.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "maxmargin/core/threads.hpp"

namespace maxmargin {

// S[g] = sum_t c_gt f_t for each row f of F (n, n_columns) and a code c (n_classes, n_columns) of -1, 0, +1,
// in double-double precision (Dekker 1971), in column order; and V[g] = sum_t c_gt sign(f_t), exactly.
//
// In:   F, code
// Out:  high, low, votes (n, n_classes): the sums S, their rounding errors, and V
//
// For high and low, rows above 2^1000 are first scaled by a power of two, so a sum never overflows.
class CodeSums {
  public:
    CodeSums(const std::int8_t* code, std::size_t n_classes, std::size_t n_columns)
        : n_classes_(n_classes), n_columns_(n_columns), starts_{0} {
        for (std::size_t t = 0; t < n_columns; ++t) {
            for (std::size_t g = 0; g < n_classes; ++g)
                if (const std::int8_t entry = code[g * n_columns + t]) entries_.push_back({g, double(entry)});
            starts_.push_back(entries_.size());
        }
    }

    // The code of all pairs (0, 1), (0, 2), ..., (1, 2), ...: the first class is -1, the second +1.
    explicit CodeSums(std::size_t n_classes)
        : n_classes_(n_classes), n_columns_(n_classes * (n_classes - 1) / 2), starts_{0} {
        for (std::size_t i = 0; i < n_classes; ++i)
            for (std::size_t j = i + 1; j < n_classes; ++j) {
                entries_.push_back({i, -1.0}), entries_.push_back({j, 1.0});
                starts_.push_back(entries_.size());
            }
    }

    void operator()(const double* F, std::size_t n, double* high, double* low, double* votes,
                    const Poll& poll) const {
        std::vector<Lanes> sums(n_classes_);
        for (std::size_t first = 0; first < n; first += ROWS_PER_BLOCK) {
            const std::size_t count = std::min(ROWS_PER_BLOCK, n - first), out = first * n_classes_;
            add_columns(F + first * n_columns_, count, sums);
            for (std::size_t i = 0; i < count; ++i)
                for (std::size_t g = 0; g < n_classes_; ++g) {
                    const Lanes& s = sums[g];
                    const std::size_t at = out + i * n_classes_ + g;
                    high[at] = s.high[i] + s.low[i];
                    low[at] = s.low[i] - (high[at] - s.high[i]);
                    votes[at] = s.votes[i];
                }
            if (poll) poll();
        }
    }

  private:
    static constexpr std::size_t ROWS_PER_BLOCK = 32;  // so that loops vectorise and sums stay in cache

    struct Entry {
        std::size_t g;
        double sign;
    };
    struct Lanes {
        double high[ROWS_PER_BLOCK], low[ROWS_PER_BLOCK], votes[ROWS_PER_BLOCK];
    };

    void add_columns(const double* F, std::size_t count, std::vector<Lanes>& sums) const {
        double scale[ROWS_PER_BLOCK], f[ROWS_PER_BLOCK] = {}, sign[ROWS_PER_BLOCK] = {};
        for (std::size_t i = 0; i < count; ++i) scale[i] = scale_of(F + i * n_columns_);
        sums.assign(n_classes_, Lanes{});
        for (std::size_t t = 0; t < n_columns_; ++t) {
            for (std::size_t i = 0; i < count; ++i) {
                const double value = F[i * n_columns_ + t];
                f[i] = value * scale[i];
                sign[i] = value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : value;  // NaN stays NaN
            }
            for (std::size_t e = starts_[t]; e < starts_[t + 1]; ++e)
                add(entries_[e].sign, f, sign, sums[entries_[e].g]);
        }
    }

    static void add(double c, const double* __restrict f, const double* __restrict sign,
                    Lanes& __restrict s) {
        for (std::size_t i = 0; i < ROWS_PER_BLOCK; ++i) {
            const double term = c * f[i], total = s.high[i] + term, carried = total - s.high[i];
            s.low[i] += (s.high[i] - (total - carried)) + (term - carried);
            s.high[i] = total;
            s.votes[i] += c * sign[i];
        }
    }

    double scale_of(const double* f) const {
        bool huge = false;
        for (std::size_t t = 0; t < n_columns_; ++t) huge |= std::abs(f[t]) >= 0x1p1000;
        if (!huge) return 1.0;
        double largest = 0.0;
        for (std::size_t t = 0; t < n_columns_; ++t) largest = std::max(largest, std::abs(f[t]));
        return std::isfinite(largest) ? std::ldexp(1.0, 1000 - std::ilogb(largest) - 1) : 1.0;
    }

    std::size_t n_classes_, n_columns_;
    std::vector<std::size_t> starts_;
    std::vector<Entry> entries_;
};

// Whether the scores of a row have no ties and are in the order of (first, second). `order` is scratch. A few
// classes are compared in pairs, which takes less than sorting them; a NaN is in no order.
inline bool is_ordered(const double* scores, const double* first, const double* second,
                       std::vector<std::size_t>& order) {
    constexpr std::size_t MAX_CLASSES_IN_PAIRS = 6;
    const std::size_t n = order.size();
    const auto rises = [&](std::size_t i, std::size_t j) {
        return scores[j] > scores[i] &&
               (first[j] > first[i] || (first[j] == first[i] && second[j] > second[i]));
    };
    if (std::any_of(scores, scores + n, [](double score) { return std::isnan(score); })) return false;
    if (n <= MAX_CLASSES_IN_PAIRS) {
        bool all = true;
        for (std::size_t j = 1; j < n; ++j)
            for (std::size_t i = 0; i < j; ++i) all &= rises(i, j) || rises(j, i);
        return all;
    }
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::size_t i, std::size_t j) { return scores[i] < scores[j]; });
    for (std::size_t k = 1; k < n; ++k)
        if (!rises(order[k - 1], order[k])) return false;
    return true;
}

}  // namespace maxmargin
