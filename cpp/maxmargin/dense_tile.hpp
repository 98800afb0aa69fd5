// A tile of kernel values between packed rows: products by BLAS, or by panels where features are few, then
// the map while they are in cache.
#pragma once

#include <vector>

#include "blas.hpp"
#include "kernels.hpp"
#include "row_set.hpp"

namespace maxmargin {

template <class T>
class DenseTile {
  public:
    static constexpr std::size_t FEW_FEATURES = 64;  // where BLAS and the panels take equally long

    // x_sizes, z_sizes: for each row of the sets its squared norm about the centre, where distances are asked
    // for
    DenseTile(const Kernel& kernel, const RowSet<T>& X, const RowSet<T>& Z, const double* x_sizes,
              const double* z_sizes, const double* centre)
        : kernel_(kernel),
          X_(X),
          Z_(Z),
          x_sizes_(x_sizes),
          z_sizes_(z_sizes),
          centre_(centre),
          d_(X.n_cols()) {}

    void compute(std::size_t x_first, std::size_t n, std::size_t z_first, std::size_t m, T* K,
                 std::size_t stride) {
        const T* x = pack(X_, x_first, n, centre_, x_buffer_);
        const T* z = pack(Z_, z_first, m, centre_, z_buffer_);
        if (kernel_.kind == KernelKind::laplacian) return laplacian(x, n, z, m, K, stride);
        if (kernel_.of_squared_distance()) z2_.assign(z_sizes_ + z_first, z_sizes_ + z_first + m);
        if (d_ > FEW_FEATURES)
            product(x, z, K, n, m, d_, stride);
        else
            pack_panels(z, m, d_, panels_);
        for (std::size_t i = 0; i < n; ++i) {
            T* row = K + i * stride;
            if (d_ <= FEW_FEATURES &&
                i % 4 == 0)  // the next four rows, mapped while they are in the first cache
                simd().of<T>().panel_products(x + i * d_, std::min<std::size_t>(4, n - i), panels_.data(), m,
                                              d_, row, stride);
            finish(x_first + i, z_first, m, row);
        }
    }

  private:
    void laplacian(const T* x, std::size_t n, const T* z, std::size_t m, T* K, std::size_t stride) {
        for (std::size_t i = 0; i < n; ++i) {
            T* row = K + i * stride;
            for (std::size_t j = 0; j < m; ++j) row[j] = T(simd().of<T>().l1dist(x + i * d_, z + j * d_, d_));
            kernel_.map(row, m);
        }
    }

    void finish(std::size_t i, std::size_t z_first, std::size_t m, T* row) {
        if (!kernel_.of_squared_distance())
            kernel_.map(row, m);
        else if (from_products(row, T(x_sizes_[i]), m))
            recompute(i, z_first, m, row);
    }

    // The whole way from products to values in one pass; true if some are marked -1 and must be recomputed.
    bool from_products(T* row, T x2, std::size_t m) {
        const SimdOps<T>& ops = simd().of<T>();
        const ExpansionLimits<T> limits = kernel_.limits<T>(d_);
        return kernel_.kind == KernelKind::rbf ? ops.expand_exp(row, x2, z2_.data(), limits, kernel_.gamma, m)
                                               : ops.expand(row, x2, z2_.data(), limits, m);
    }

    // The marked values, from the rows as they were given: the packed ones have been rounded once more.
    void recompute(std::size_t i, std::size_t z_first, std::size_t m, T* row) {
        const DenseRows<T>*x = X_.dense(), *z = Z_.dense();
        for (std::size_t j = 0; j < m; ++j) {
            if (row[j] != T(-1)) continue;
            row[j] = T(x && z ? simd().of<T>().sqdist(x->row(X_.index(i)), z->row(Z_.index(z_first + j)), d_)
                              : unlike_sqdist(i, z_first + j));
            kernel_.map(row + j, 1);
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
    const double *x_sizes_, *z_sizes_, *centre_;
    std::size_t d_;
    std::vector<T> x_buffer_, z_buffer_, panels_, z2_;
    std::vector<double> difference_;
};

}  // namespace maxmargin
