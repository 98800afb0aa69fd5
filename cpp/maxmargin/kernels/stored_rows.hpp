// Operations on stored kernel rows: linear combinations and selections of entries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "maxmargin/core/simd.hpp"
#include "maxmargin/core/threads.hpp"

namespace maxmargin {

// Rows of one array, `stride` numbers apart, each at its slot.
template <class T>
struct StoredRows {
    T* values;
    std::size_t stride;

    T* operator[](std::int64_t slot) const { return values + std::size_t(slot) * stride; }
};

using Slots = std::span<const std::int64_t>;

// g[s] -= sum_r change[r] rows[which[r]][s]: updates gradients after coefficients have changed.
template <class T>
void subtract_rows(StoredRows<const T> rows, Slots which, const double* change, std::span<double> g,
                   int n_threads, const Poll& poll) {
    constexpr std::size_t ENTRIES_PER_TASK = 1024;  // of g, to stay in the L1 cache
    const auto body = [&](std::size_t task) {
        const std::size_t start = task * ENTRIES_PER_TASK,
                          count = std::min(ENTRIES_PER_TASK, g.size() - start);
        for (std::size_t r = 0; r < which.size(); ++r)
            if (change[r] != 0.0)
                simd().of<T>().axpy(-change[r], rows[which[r]] + start, g.data() + start, count);
    };
    Pool::instance().run((g.size() + ENTRIES_PER_TASK - 1) / ENTRIES_PER_TASK, n_threads, body, poll);
}

// Row which[r] keeps only its entries kept[0 .. counts[r]-1]; `kept` is ascending.
template <class T>
void compact_rows(StoredRows<T> rows, Slots which, const std::int64_t* counts, const std::int64_t* kept,
                  int n_threads, const Poll& poll) {
    constexpr std::size_t ROWS_PER_TASK = 16;
    const auto body = [&](std::size_t task) {
        const std::size_t end = std::min(which.size(), (task + 1) * ROWS_PER_TASK);
        for (std::size_t r = task * ROWS_PER_TASK; r < end; ++r) {
            T* row = rows[which[r]];
            for (std::size_t k = 0; k < std::size_t(counts[r]); ++k) row[k] = row[kept[k]];
        }
    };
    Pool::instance().run((which.size() + ROWS_PER_TASK - 1) / ROWS_PER_TASK, n_threads, body, poll);
}

// out[slots[i]][j] = rows[which[i]][columns[j]]; without slots, out[i][j].
template <class T>
void gather_rows(StoredRows<const T> rows, Slots which, Slots columns, StoredRows<T> out,
                 const std::int64_t* slots, int n_threads, const Poll& poll) {
    constexpr std::size_t ROWS_PER_TASK = 32;
    const auto body = [&](std::size_t task) {
        const std::size_t end = std::min(which.size(), (task + 1) * ROWS_PER_TASK);
        for (std::size_t i = task * ROWS_PER_TASK; i < end; ++i) {
            const T* row = rows[which[i]];
            T* target = out[slots ? slots[i] : std::int64_t(i)];
            for (std::size_t j = 0; j < columns.size(); ++j) target[j] = row[columns[j]];
        }
    };
    Pool::instance().run((which.size() + ROWS_PER_TASK - 1) / ROWS_PER_TASK, n_threads, body, poll);
}

}  // namespace maxmargin
