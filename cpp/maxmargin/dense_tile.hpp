// A tile of kernel values between packed rows: a BLAS product, then the map while the tile is in cache.
#pragma once

#include <vector>

#include "blas.hpp"
#include "kernels.hpp"
#include "row_set.hpp"

namespace maxmargin {

template <class T>
class DenseTile {
  public:
    DenseTile(const Kernel& kernel, const RowSet<T>& X, const RowSet<T>& Z, const double* centre)
        : kernel_(kernel), X_(X), Z_(Z), centre_(centre), d_(X.n_cols()) {}

    void compute(std::size_t x_first, std::size_t n, std::size_t z_first, std::size_t m, T* K, std::size_t stride) {
        const T* x = pack(X_, x_first, n, centre_, x_buffer_);
        const T* z = pack(Z_, z_first, m, centre_, z_buffer_);
        if (kernel_.kind == KernelKind::laplacian) return laplacian(x, n, z, m, K, stride);
        product(x, z, K, n, m, d_, stride);
        if (kernel_.of_squared_distance()) return distances(x_first, x, n, z_first, z, m, K, stride);
        for (std::size_t i = 0; i < n; ++i) kernel_.map(K + i * stride, m);
    }

  private:
    void laplacian(const T* x, std::size_t n, const T* z, std::size_t m, T* K, std::size_t stride) {
        for (std::size_t i = 0; i < n; ++i) {
            T* row = K + i * stride;
            for (std::size_t j = 0; j < m; ++j) row[j] = T(simd().of<T>().l1dist(x + i * d_, z + j * d_, d_));
            kernel_.map(row, m);
        }
    }

    void distances(std::size_t x_first, const T* x, std::size_t n, std::size_t z_first, const T* z, std::size_t m,
                   T* K, std::size_t stride) {
        x2_.resize(n);
        z2_.resize(m);
        packed_sqnorms(X_, x_first, n, x, x2_.data());
        packed_sqnorms(Z_, z_first, m, z, z2_.data());
        const ExpansionLimits<T> limits = kernel_.limits<T>(d_);
        for (std::size_t i = 0; i < n; ++i) {
            T* row = K + i * stride;
            if (simd().of<T>().expand(row, x2_[i], z2_.data(), limits, m)) recompute(x_first + i, z_first, m, row);
            kernel_.map(row, m);
        }
    }

    // The marked distances, from the rows as they were given: the packed ones have been rounded once more.
    void recompute(std::size_t i, std::size_t z_first, std::size_t m, T* row) {
        const DenseRows<T>*x = X_.dense(), *z = Z_.dense();
        for (std::size_t j = 0; j < m; ++j) {
            if (row[j] != T(-1)) continue;
            if (x && z)
                row[j] = T(simd().of<T>().sqdist(x->row(X_.index(i)), z->row(Z_.index(z_first + j)), d_));
            else row[j] = T(unlike_sqdist(i, z_first + j));
        }
    }

    double unlike_sqdist(std::size_t i, std::size_t j) {
        difference_.assign(d_, 0.0);
        X_.for_each(i, [&](std::size_t k, T x) { difference_[k] += double(x); });
        Z_.for_each(j, [&](std::size_t k, T z) { difference_[k] -= double(z); });
        return simd().f64.sqnorm(difference_.data(), d_);
    }

    const Kernel& kernel_;
    const RowSet<T>&X_, &Z_;
    const double* centre_;
    std::size_t d_;
    std::vector<T> x_buffer_, z_buffer_, x2_, z2_;
    std::vector<double> difference_;
};

}  // namespace maxmargin
