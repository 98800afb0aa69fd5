// Rows of a data matrix, dense or CSR, behind one set of names, so that each algorithm is written once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "simd.hpp"

namespace maxmargin {

template <class T>
struct DenseRows {
    using value_type = T;
    const T* data;
    std::size_t n_rows, n_cols;

    const T* row(std::size_t i) const { return data + i * n_cols; }
    double dot(std::size_t i, const double* w) const { return simd().of<T>().dot(row(i), w, n_cols); }
    void add_to(std::size_t i, double a, double* w) const { simd().of<T>().axpy(a, row(i), w, n_cols); }
    double sqnorm(std::size_t i) const { return simd().of<T>().sqnorm(row(i), n_cols); }

    // visit(column, value) for the entries that are not zero, in column order
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

    double dot(std::size_t i, const double* w) const {
        double sum[4] = {};  // four sums, because one would wait for each addition to end
        Index p = indptr[i];
        for (const Index end = indptr[i + 1]; p < end; p += 4)
            for (Index lane = 0; lane < std::min<Index>(4, end - p); ++lane)
                sum[lane] += double(data[p + lane]) * w[indices[p + lane]];
        return (sum[0] + sum[2]) + (sum[1] + sum[3]);
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
