// X' diag(weight) X for chosen rows: the matrix of a Newton step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "blas.hpp"
#include "rows.hpp"
#include "threads.hpp"

namespace maxmargin {

inline constexpr std::size_t GRAM_TILE = 128;

// Adds rows index[from..to) of a dense matrix, gathered tile by tile, by BLAS in the matrix's own precision.
template <class T>
void add_rows_gram(const DenseRows<T>& X, const std::int64_t* index, const double* weight, std::size_t from,
                   std::size_t to, T* G) {
    std::vector<T> tile(GRAM_TILE * X.n_cols);
    for (std::size_t start = from; start < to; start += GRAM_TILE) {
        const std::size_t n = std::min(GRAM_TILE, to - start);
        for (std::size_t i = 0; i < n; ++i) {
            const T* x = X.row(std::size_t(index[start + i]));
            const T root = T(std::sqrt(weight[start + i]));
            for (std::size_t k = 0; k < X.n_cols; ++k) tile[i * X.n_cols + k] = root * x[k];
        }
        add_gram(tile.data(), G, n, X.n_cols);
    }
}

template <class T, class Index>
void add_rows_gram(const CsrRows<T, Index>& X, const std::int64_t* index, const double* weight,
                   std::size_t from, std::size_t to, double* G) {
    for (std::size_t i = from; i < to; ++i)
        X.for_each(std::size_t(index[i]), [&](std::size_t row, auto x) {
            X.for_each(std::size_t(index[i]), [&](std::size_t column, auto z) {
                G[row * X.n_cols + column] += weight[i] * double(x) * double(z);
            });
        });
}

template <class Rows>
struct GramValue {
    using type = double;
};
template <class T>
struct GramValue<DenseRows<T>> {
    using type = T;
};

// out (d, d), filled on both sides of the diagonal. The rows are split into parts fixed by the problem, each
// with a matrix of its own (few of them when d is large), added in order.
template <class Rows>
void rows_gram(const Rows& X, const std::int64_t* index, const double* weight, std::size_t n, double* out,
               int n_threads, const Poll& poll) {
    using V = typename GramValue<Rows>::type;
    const std::size_t d = X.n_cols, area = d * d;
    const std::size_t n_parts = n < 4 * GRAM_TILE ? 1 : d <= 1024 ? 4 : 2, n_slices = 8;
    std::vector<V> parts(n_parts * area, V(0));
    // A part is added in slices, one after the other, so that a cancel is seen between them.
    for (std::size_t slice = 0; slice < n_slices; ++slice)
        Pool::instance().run(
            n_parts, n_threads,
            [&](std::size_t part) {
                const std::size_t first = (part * n_slices + slice) * n / (n_parts * n_slices);
                const std::size_t last = (part * n_slices + slice + 1) * n / (n_parts * n_slices);
                add_rows_gram(X, index, weight, first, last, parts.data() + part * area);
            },
            poll);
    for (std::size_t row = 0; row < d; ++row)
        for (std::size_t column = 0; column <= row; ++column) {
            double sum = 0.0;
            for (std::size_t part = 0; part < n_parts; ++part)
                sum += double(parts[part * area + row * d + column]);
            out[row * d + column] = out[column * d + row] = sum;
        }
}

}  // namespace maxmargin
