// Products of selected rows with dense vectors, in double; the problem determines the split into blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "maxmargin/core/rows.hpp"
#include "maxmargin/core/threads.hpp"

namespace maxmargin {

inline constexpr std::size_t MAX_BLOCKS = 16;

inline std::size_t block_size(std::size_t n, std::size_t smallest) {
    return std::max(smallest, (n + MAX_BLOCKS - 1) / MAX_BLOCKS);
}

// out = X[index] W', for W of shape (n_vectors, n_cols) and out of shape (n, n_vectors).
template <class Rows>
void rows_dot(const Rows& X, const std::int64_t* index, std::size_t n, const double* W, std::size_t n_vectors,
              double* out, int n_threads, const Poll& poll) {
    const std::size_t size = 256;
    Pool::instance().run((n + size - 1) / size, threads_for(X.n_values() * n_vectors, n_threads),
                         [&](std::size_t block) {
                             const std::size_t end = std::min(n, (block + 1) * size);
                             for (std::size_t i = block * size; i < end; ++i) {
                                 if (i + ROWS_PREFETCHED < end)
                                     X.prefetch(std::size_t(index[i + ROWS_PREFETCHED]));
                                 for (std::size_t t = 0; t < n_vectors; ++t)
                                     out[i * n_vectors + t] = X.dot(std::size_t(index[i]), W + t * X.n_cols);
                             }
                         },
                         poll);
}

// out = sum_i u_i X[index_i]; rows with u_i = 0 are skipped. Blocks are summed separately and added in order.
template <class Rows>
void rows_sum(const Rows& X, const std::int64_t* index, std::size_t n, const double* u, double* out,
              int n_threads, const Poll& poll) {
    const std::size_t size = block_size(n, 1024), n_blocks = (n + size - 1) / size, d = X.n_cols;
    std::vector<double> partial(n_blocks * d, 0.0);
    Pool::instance().run(
        n_blocks, threads_for(X.n_values(), n_threads),
        [&](std::size_t block) {
            const std::size_t end = std::min(n, (block + 1) * size);
            for (std::size_t i = block * size; i < end; ++i) {
                if (i + ROWS_PREFETCHED < end && u[i + ROWS_PREFETCHED] != 0.0)
                    X.prefetch(std::size_t(index[i + ROWS_PREFETCHED]));
                if (u[i] == 0.0) continue;
                X.add_to(std::size_t(index[i]), u[i], partial.data() + block * d);
            }
        },
        poll);
    std::fill_n(out, d, 0.0);
    for (std::size_t block = 0; block < n_blocks; ++block)
        for (std::size_t k = 0; k < d; ++k) out[k] += partial[block * d + k];
}

template <class Rows>
void rows_sqnorm(const Rows& X, const std::int64_t* index, std::size_t n, double* out, int n_threads,
                 const Poll& poll) {
    const std::size_t size = 4096;
    Pool::instance().run((n + size - 1) / size, threads_for(X.n_values(), n_threads),
                         [&](std::size_t block) {
                             const std::size_t end = std::min(n, (block + 1) * size);
                             for (std::size_t i = block * size; i < end; ++i) {
                                 if (i + ROWS_PREFETCHED < end)
                                     X.prefetch(std::size_t(index[i + ROWS_PREFETCHED]));
                                 out[i] = X.sqnorm(std::size_t(index[i]));
                             }
                         },
                         poll);
}

}  // namespace maxmargin
