// A tile of kernel values between packed rows: products in panels, then the map while they are still in
// registers or in cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "maxmargin/core/row_set.hpp"
#include "maxmargin/kernels/kernels.hpp"
#include "maxmargin/kernels/panel_products.hpp"

namespace maxmargin {

template <class T>
class DenseTile {
  public:
    // x_sizes, z_sizes: the squared norm of each row about the centre, needed for distances only
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
        take_z(z_first, m);
        if (kernel_.kind == KernelKind::laplacian) return laplacian(x, n, z_, m, K, stride);
        walk_panels(PanelTile<T>{x, n, panels_.data(), m, d_}, sums_, K, stride,
                    simd().of<T>().panel_products,
                    [&](const PanelTask<T>& task, std::size_t i, std::size_t j) {
                        finish_panels(task, x_first + i, j);
                    });
    }

  private:
    // Consecutive tiles often have the same rows z.
    void take_z(std::size_t first, std::size_t m) {
        if (first == z_first_ && z_) return;
        z_first_ = first;
        z_ = pack(Z_, first, m, centre_, z_buffer_);
        if (kernel_.of_squared_distance()) {
            z2_.assign(z_sizes_ + first, z_sizes_ + first + m);
            z2_max_ = m == 0 ? T(0) : *std::max_element(z2_.begin(), z2_.end());
            z2_.resize(m + panel_width<T>, T(0));
        }
        panels_.resize(packed_size<T>(m, d_));
        pack_panels(z_, m, d_, panels_.data());
    }

    void finish_panels(const PanelTask<T>& task, std::size_t i, std::size_t j) {
        if (kernel_.kind == KernelKind::rbf) return rbf_panels(task, i, j);
        simd().of<T>().panel_products(task);
        for (std::size_t r = 0; r < task.n; ++r) finish(i + r, j, task.m, task.out + r * task.stride);
    }

    void rbf_panels(const PanelTask<T>& task, std::size_t i, std::size_t j) {
        const double* x2 = x_sizes_ + i;
        const double norms = *std::max_element(x2, x2 + task.n) + double(z2_max_);
        const ExpansionLimits<T> limits = kernel_.limits<T>(d_);
        // a squared distance is at most twice the sum of the squared norms
        const bool plain = norms <= double(limits.far_norms) && 2.0 * kernel_.gamma * norms < 80.0;
        if (simd().of<T>().panel_rbf(task, {x2, z2_.data() + j, limits, kernel_.gamma, plain}))
            for (std::size_t r = 0; r < task.n; ++r)
                recompute(i + r, z_first_ + j, task.m, task.out + r * task.stride);
    }

    void laplacian(const T* x, std::size_t n, const T* z, std::size_t m, T* K, std::size_t stride) {
        for (std::size_t i = 0; i < n; ++i) {
            T* row = K + i * stride;
            for (std::size_t j = 0; j < m; ++j) row[j] = T(simd().of<T>().l1dist(x + i * d_, z + j * d_, d_));
            kernel_.map(row, m);
        }
    }

    // Turns products of row i with the rows j.. of the tile into values of kernels other than rbf.
    void finish(std::size_t i, std::size_t j, std::size_t count, T* row) {
        const SimdOps<T>& ops = simd().of<T>();
        if (kernel_.of_squared_distance()) {
            const bool marked = ops.expand(row, T(x_sizes_[i]), z2_.data() + j, kernel_.limits<T>(d_), count);
            if (kernel_.of_distance()) ops.root(row, count);
            if (marked) recompute(i, z_first_ + j, count, row);
        }
        kernel_.map(row, count);
    }

    // Recomputes marked distances from the original rows, because packing rounds them again; the other values
    // of an rbf row are mapped already.
    void recompute(std::size_t i, std::size_t z_first, std::size_t count, T* row) {
        const DenseRows<T>*x = X_.dense(), *z = Z_.dense();
        for (std::size_t j = next_marked(row, 0, count); j < count; j = next_marked(row, j + 1, count)) {
            const double square =
                x && z ? simd().of<T>().sqdist(x->row(X_.index(i)), z->row(Z_.index(z_first + j)), d_)
                       : unlike_sqdist(i, z_first + j);
            row[j] = T(kernel_.of_distance() ? std::sqrt(square) : square);
            if (kernel_.kind == KernelKind::rbf) kernel_.map(row + j, 1);
        }
    }

    // The first marked value from j on. Few are: eight are looked at together.
    static std::size_t next_marked(const T* row, std::size_t j, std::size_t count) {
        for (constexpr std::size_t TOGETHER = 8; j + TOGETHER <= count; j += TOGETHER) {
            int marked = 0;
            for (std::size_t k = 0; k < TOGETHER; ++k) marked += row[j + k] == T(-1);
            if (marked > 0) break;
        }
        while (j < count && row[j] != T(-1)) ++j;
        return j;
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
    std::size_t d_, z_first_ = 0;
    const T* z_ = nullptr;
    T z2_max_ = 0;
    std::vector<T> x_buffer_, z_buffer_, panels_, z2_, sums_;
    std::vector<double> difference_;
};

}  // namespace maxmargin
