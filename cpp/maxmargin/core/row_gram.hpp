// (X - 1 centre')' diag(weight) (X - 1 centre') for selected rows: the matrix of a Newton step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "maxmargin/core/blas.hpp"
#include "maxmargin/core/rows.hpp"
#include "maxmargin/core/threads.hpp"

namespace maxmargin {

inline constexpr std::size_t GRAM_TILE = 128;

// Adds rows index[from..to) of a dense matrix: gathers them tile by tile and calls BLAS in their precision.
template <class T>
void add_rows_gram(const DenseRows<T>& X, const std::int64_t* index, const double* weight,
                   const double* centre, std::size_t from, std::size_t to, T* G) {
    std::vector<T> tile(GRAM_TILE * X.n_cols);
    for (std::size_t start = from; start < to; start += GRAM_TILE) {
        const std::size_t n = std::min(GRAM_TILE, to - start);
        for (std::size_t i = 0; i < n; ++i) {
            const T* x = X.row(std::size_t(index[start + i]));
            if (start + i + ROWS_PREFETCHED < to) X.prefetch(std::size_t(index[start + i + ROWS_PREFETCHED]));
            const double root = std::sqrt(weight[start + i]);
            for (std::size_t k = 0; k < X.n_cols; ++k)
                tile[i * X.n_cols + k] = T(root * (double(x[k]) - centre[k]));
        }
        add_gram(tile.data(), G, n, X.n_cols);
    }
}

// Sparse rows are used in place, without becoming dense.
template <class T, class Index>
void add_rows_gram(const CsrRows<T, Index>& X, const std::int64_t* index, const double* weight, const double*,
                   std::size_t from, std::size_t to, double* G) {
    for (std::size_t i = from; i < to; ++i)
        X.for_each(std::size_t(index[i]), [&](std::size_t row, auto x) {
            X.for_each(std::size_t(index[i]), [&](std::size_t column, auto z) {
                G[row * X.n_cols + column] += weight[i] * double(x) * double(z);
            });
        });
}

// Subtracts the square of the centre where that is still to be done: not for dense rows, but for sparse ones,
// whose centre must be their weighted mean (or 0).
template <class T>
double still_off(const DenseRows<T>&, double) {
    return 0.0;
}
template <class T, class Index>
double still_off(const CsrRows<T, Index>&, double total_weight) {
    return total_weight;
}

template <class Rows>
struct GramValue {
    using type = double;
};
template <class T>
struct GramValue<DenseRows<T>> {
    using type = T;
};

// Fills out (d, d) on both sides of the diagonal. Weights are divided by the largest, so that float does not
// overflow. The problem determines how the rows are split into parts, each with its own matrix (few if d is
// large), which are added in order. A part is added in slices, and cancellation is checked between slices.
template <class Rows>
void rows_gram(const Rows& X, const std::int64_t* index, const double* weight, std::size_t n,
               const double* centre, double* out, int n_threads, const Poll& poll) {
    using V = typename GramValue<Rows>::type;
    const std::size_t d = X.n_cols, area = d * d;
    const std::size_t n_parts = n < 4 * GRAM_TILE ? 1 : d <= 1024 ? 4 : 2;
    const std::size_t n_slices = 1 + n / n_parts * area / (std::size_t(1) << 29);
    std::vector<double> scaled(weight, weight + n);
    const double largest = n > 0 ? std::max(*std::max_element(weight, weight + n), 1e-300) : 1.0;
    double total = 0.0;
    for (double& value : scaled) total += (value /= largest);
    std::vector<V> parts(n_parts * area, V(0));
    for (std::size_t slice = 0; slice < n_slices; ++slice)
        Pool::instance().run(
            n_parts, n_threads,
            [&](std::size_t part) {
                const std::size_t first = (part * n_slices + slice) * n / (n_parts * n_slices);
                const std::size_t last = (part * n_slices + slice + 1) * n / (n_parts * n_slices);
                add_rows_gram(X, index, scaled.data(), centre, first, last, parts.data() + part * area);
            },
            poll);
    const double off = still_off(X, total);
    for (std::size_t row = 0; row < d; ++row)
        for (std::size_t column = 0; column <= row; ++column) {
            double sum = -off * centre[row] * centre[column];
            for (std::size_t part = 0; part < n_parts; ++part)
                sum += double(parts[part * area + row * d + column]);
            out[row * d + column] = out[column * d + row] = largest * sum;
        }
}

}  // namespace maxmargin
