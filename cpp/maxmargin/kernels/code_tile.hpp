// A tile of kernel values between rows on a common grid, from exact products of their codes: no centre, no
// cancellation, and exactly 1 for equal rows without recomputing them.
#pragma once

#include <cmath>
#include <vector>

#include "maxmargin/core/row_set.hpp"
#include "maxmargin/kernels/kernels.hpp"
#include "maxmargin/kernels/panel_products.hpp"

namespace maxmargin {

template <class T>
class CodeTile {
  public:
    CodeTile(const Kernel& kernel, const RowSet<T>& X, const RowSet<T>& Z, double step)
        : kernel_(kernel), X_(X), Z_(Z), step_(step), d_((X.n_cols() + 1) / 2 * 2) {}

    void compute(std::size_t x_first, std::size_t n, std::size_t z_first, std::size_t m, T* K,
                 std::size_t stride) {
        take_x(x_first, n);
        take_z(z_first, m);
        const CodeMap map = kernel_.kind == KernelKind::rbf ? CodeMap::rbf
                            : kernel_.of_squared_distance() ? CodeMap::distance
                                                            : CodeMap::product;
        // the root of a distance in steps cannot overflow, and the step goes into gamma
        const double scale = kernel_.of_distance() ? 1.0
                             : map == CodeMap::rbf ? step_ * step_ * kernel_.gamma
                                                   : step_ * step_;
        Kernel in_steps = kernel_;
        in_steps.gamma *= kernel_.of_distance() ? step_ : 1.0;
        walk_panels(PanelTile<Code>{x_.data(), n, panels_.data(), m, d_}, sums_, K, stride,
                    simd().code_products, [&](const PanelTask<Code, T>& task, std::size_t i, std::size_t j) {
                        simd().of<T>().panel_values(task, {map, scale, x2_.data() + i, z2_.data() + j});
                        if (map == CodeMap::rbf) return;
                        for (std::size_t r = 0; r < task.n; ++r) {
                            T* row = task.out + r * stride;
                            if (kernel_.of_distance()) simd().of<T>().root(row, task.m);
                            in_steps.map(row, task.m);
                        }
                    });
    }

  private:
    // Consecutive tiles often have the same rows z.
    void take_z(std::size_t first, std::size_t m) {
        if (first == z_first_ && !panels_.empty()) return;
        z_first_ = first;
        pack(Z_, first, m, z_, z2_);
        z2_.resize(m + panel_width<Code>, 0);
        panels_.resize(packed_size<Code>(m, d_));
        // a pair of codes is copied as one number
        pack_panels(reinterpret_cast<const Pair*>(z_.data()), m, d_ / 2,
                    reinterpret_cast<Pair*>(panels_.data()));
    }
    void take_x(std::size_t first, std::size_t n) {
        if (first == x_first_ && n == x2_.size()) return;
        x_first_ = first;
        pack(X_, first, n, x_, x2_);
    }

    void pack(const RowSet<T>& set, std::size_t first, std::size_t count, std::vector<Code>& codes,
              std::vector<std::int32_t>& norms) {
        const DenseRows<T>* dense = set.dense();
        codes.assign(count * d_, 0);
        norms.assign(count, 0);
        for (std::size_t i = 0; i < count; ++i) {
            Code* out = codes.data() + i * d_;
            if (dense)
                simd().of<T>().to_codes(dense->row(set.index(first + i)), step_, out, dense->n_cols);
            else
                set.for_each(first + i,
                             [&](std::size_t k, T x) { simd().of<T>().to_codes(&x, step_, out + k, 1); });
            for (std::size_t k = 0; k < d_; ++k) norms[i] += std::int32_t(out[k]) * out[k];
        }
    }

    struct Pair {
        Code first, second;
    };

    const Kernel& kernel_;
    const RowSet<T>&X_, &Z_;
    double step_;
    std::size_t d_, x_first_ = 0, z_first_ = 0;
    std::vector<Code> x_, z_, panels_;
    std::vector<std::int32_t> x2_, z2_, sums_;
};

}  // namespace maxmargin
