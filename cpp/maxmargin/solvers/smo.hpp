// Soft-margin SVMs by working sets. The dual of one column, signed so that targets appear in bounds only:
//
//   max_a  sum_i a_i y_i - 1/2 a'(K + R) a   s.t.  sum_i a_i = 0,  lower_i <= a_i <= upper_i,
//
// with a_i y_i in [0, C_i] and R = 0 for the hinge, a_i y_i >= 0 and R = diag(1/C_i) for the squared hinge.
// Its gradient is g_i = y_i - f_i - R_ii a_i, and a pair (i, j) with g_i > g_j, where a_i may grow and a_j
// may fall, is not optimal yet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "maxmargin/core/simd.hpp"
#include "maxmargin/core/threads.hpp"

namespace maxmargin {

// One block, whose kernel matrix (ridge on its diagonal) is in memory, until no pair violates optimality by
// more than `tolerance` or `max_steps` are taken.
template <class T>
SmoEnd smo_block(const T* K, std::size_t n, double* a, double* g, const double* lower, const double* upper,
                 double tolerance, std::size_t max_steps, const Poll& poll) {
    constexpr std::size_t VALUES = 4'000'000;  // read between two polls, some milliseconds
    std::vector<float> scratch(3 * n);
    const std::size_t at_once = std::max<std::size_t>(VALUES / std::max<std::size_t>(n, 1), 1);
    SmoEnd end{0, 0.0, false};
    std::size_t steps = 0;
    do {
        const std::size_t now = std::min(at_once, max_steps - steps);
        end = simd().of<T>().smo({K, n, n, a, g, lower, upper, scratch.data(), scratch.data() + n,
                                  scratch.data() + 2 * n, tolerance, now});
        steps += end.steps;
        poll();
        if (end.steps < now) break;
    } while (steps < max_steps);
    end.steps = steps;
    return end;
}

// g[s] -= sum_r change[r] rows[r][s] for s < n: kernel rows of samples whose coefficients have changed.
template <class T>
void subtract_rows(const T* rows, std::size_t stride, const std::int64_t* which, const double* change,
                   std::size_t n_rows, double* g, std::size_t n, int n_threads, const Poll& poll) {
    constexpr std::size_t CHUNK = 1024;  // of g, in the first-level cache
    const auto body = [&](std::size_t task) {
        const std::size_t start = task * CHUNK, count = std::min(CHUNK, n - start);
        for (std::size_t r = 0; r < n_rows; ++r)
            if (change[r] != 0.0)
                simd().of<T>().axpy(-change[r], rows + std::size_t(which[r]) * stride + start, g + start,
                                    count);
    };
    Pool::instance().run((n + CHUNK - 1) / CHUNK, n_threads, body, poll);
}

// Row which[r] keeps, of its entries, the first counts[r] of those that `kept` names in ascending order.
template <class T>
void compact_rows(T* rows, std::size_t stride, const std::int64_t* which, const std::int64_t* counts,
                  std::size_t n_rows, const std::int64_t* kept, int n_threads, const Poll& poll) {
    constexpr std::size_t ROWS = 16;
    const auto body = [&](std::size_t task) {
        for (std::size_t r = task * ROWS; r < std::min(n_rows, (task + 1) * ROWS); ++r) {
            T* row = rows + std::size_t(which[r]) * stride;
            for (std::size_t k = 0; k < std::size_t(counts[r]); ++k) row[k] = row[kept[k]];
        }
    };
    Pool::instance().run((n_rows + ROWS - 1) / ROWS, n_threads, body, poll);
}

// out[slots[i]][j] = rows[which[i]][columns[j]]; without slots, out[i][j].
template <class T>
void gather_rows(const T* rows, std::size_t stride, const std::int64_t* which, std::size_t n_rows,
                 const std::int64_t* columns, std::size_t n_columns, T* out, std::size_t out_stride,
                 const std::int64_t* slots, int n_threads, const Poll& poll) {
    constexpr std::size_t ROWS = 32;
    const auto body = [&](std::size_t task) {
        for (std::size_t i = task * ROWS; i < std::min(n_rows, (task + 1) * ROWS); ++i) {
            const T* row = rows + std::size_t(which[i]) * stride;
            T* target = out + (slots ? std::size_t(slots[i]) : i) * out_stride;
            for (std::size_t j = 0; j < n_columns; ++j) target[j] = row[columns[j]];
        }
    };
    Pool::instance().run((n_rows + ROWS - 1) / ROWS, n_threads, body, poll);
}

// out (n, n): the kernel values between the samples of a block, from their rows; `columns` are ascending.
template <class T>
void gather_block(const T* rows, std::size_t stride, const std::int64_t* which, const std::int64_t* columns,
                  std::size_t n, T* out, int n_threads, const Poll& poll) {
    gather_rows(rows, stride, which, n, columns, n, out, n, nullptr, n_threads, poll);
}

}  // namespace maxmargin
