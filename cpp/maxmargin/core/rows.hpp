// Rows of a dense or CSR data matrix behind one interface, so that each algorithm is written once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "maxmargin/core/simd.hpp"

namespace maxmargin {

inline constexpr std::size_t ROWS_PREFETCHED = 6;  // how far ahead rows in arbitrary order are prefetched

// Prefetches n values, at most a few cache lines: the hardware prefetcher continues from there.
template <class T>
void prefetch(const T* first, std::size_t n) {
#if defined(__GNUC__) || defined(__clang__)
    const char *at = reinterpret_cast<const char*>(first), *end = reinterpret_cast<const char*>(first + n);
    for (int line = 0; line < 16 && at < end; ++line, at += 64) __builtin_prefetch(at);
#endif
}

// The threads for one pass over some values: waking another takes longer than reading a few of them.
inline constexpr std::size_t MIN_SHARED_VALUES = std::size_t(1) << 17;

inline int threads_for(std::size_t n_values, int n_threads) {
    return n_values < MIN_SHARED_VALUES ? 1 : n_threads;
}

template <class T>
struct DenseRows {
    using value_type = T;
    const T* data;
    std::size_t n_rows, n_cols;

    std::size_t n_values() const { return n_rows * n_cols; }
    const T* row(std::size_t i) const { return data + i * n_cols; }
    std::span<const T> values(std::size_t i) const { return {row(i), n_cols}; }
    void prefetch(std::size_t i) const { maxmargin::prefetch(row(i), n_cols); }
    double dot(std::size_t i, const double* w) const { return simd().of<T>().dot(row(i), w, n_cols); }
    void add_to(std::size_t i, double a, double* w) const { simd().of<T>().axpy(a, row(i), w, n_cols); }
    double sqnorm(std::size_t i) const { return simd().of<T>().sqnorm(row(i), n_cols); }

    // Calls visit(column, value) for the non-zero entries, in column order.
    template <class F>
    void for_each(std::size_t i, F&& visit) const {
        const T* x = row(i);
        for (std::size_t k = 0; k < n_cols; ++k)
            if (x[k] != T(0)) visit(k, x[k]);
    }
};

template <class T, class Index>
struct CsrRows {
    using value_type = T;
    const T* data;
    const Index *indices, *indptr;
    std::size_t n_rows, n_cols;

    std::size_t n_values() const { return std::size_t(indptr[n_rows]); }
    std::span<const T> values(std::size_t i) const {
        return {data + indptr[i], std::size_t(indptr[i + 1] - indptr[i])};
    }
    void prefetch(std::size_t i) const {
        const std::size_t n = std::size_t(indptr[i + 1] - indptr[i]);
        maxmargin::prefetch(data + indptr[i], n);
        maxmargin::prefetch(indices + indptr[i], n);
    }
    double dot(std::size_t i, const double* w) const {
        // Four sums, because a single one would be limited by the latency of an addition.
        double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
        const T* x = data + indptr[i];
        const Index* k = indices + indptr[i];
        std::size_t n = std::size_t(indptr[i + 1] - indptr[i]);
        for (; n >= 4; n -= 4, x += 4, k += 4) {
            s0 += double(x[0]) * w[k[0]];
            s1 += double(x[1]) * w[k[1]];
            s2 += double(x[2]) * w[k[2]];
            s3 += double(x[3]) * w[k[3]];
        }
        for (; n > 0; --n, ++x, ++k) s0 += double(*x) * w[*k];
        return (s0 + s2) + (s1 + s3);
    }
    void add_to(std::size_t i, double a, double* w) const {
        for (Index p = indptr[i]; p < indptr[i + 1]; ++p) w[indices[p]] += a * double(data[p]);
    }
    double sqnorm(std::size_t i) const {
        return simd().of<T>().sqnorm(data + indptr[i], std::size_t(indptr[i + 1] - indptr[i]));
    }
    template <class F>
    void for_each(std::size_t i, F&& visit) const {
        for (Index p = indptr[i]; p < indptr[i + 1]; ++p)
            if (data[p] != T(0)) visit(std::size_t(indices[p]), data[p]);
    }
};

}  // namespace maxmargin
