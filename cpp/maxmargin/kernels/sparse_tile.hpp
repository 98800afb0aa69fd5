// A tile of products or L1 distances between sparse rows, by an inverted index over one side.
#pragma once

#include <cmath>
#include <vector>

#include "maxmargin/core/row_set.hpp"
#include "maxmargin/kernels/kernels.hpp"

namespace maxmargin {

// For each column, the entries of a block of rows.
class ColumnIndex {
  public:
    template <class T>
    void build(const RowSet<T>& set, std::size_t first, std::size_t count) {
        start_.assign(set.n_cols() + 2, 0);
        for (std::size_t j = 0; j < count; ++j)
            set.for_each(first + j, [&](std::size_t k, T) { ++start_[k + 2]; });
        for (std::size_t k = 2; k < start_.size(); ++k) start_[k] += start_[k - 1];
        entries_.resize(start_.back());
        // start_[k + 1] runs through column k's entries and ends where column k + 1 starts
        for (std::size_t j = 0; j < count; ++j)
            set.for_each(first + j, [&](std::size_t k, T value) {
                entries_[start_[k + 1]++] = {std::uint32_t(j), double(value)};
            });
    }
    template <class F>
    void for_each(std::size_t column, F&& visit) const {
        for (std::size_t p = start_[column]; p < start_[column + 1]; ++p)
            visit(entries_[p].row, entries_[p].value);
    }

  private:
    struct Entry {
        std::uint32_t row;
        double value;
    };
    std::vector<std::size_t> start_;
    std::vector<Entry> entries_;
};

// The contribution of one column to <x,z>, or to ||x|| + ||z|| - ||x - z|| in L1.
inline double common_product(double x, double z) { return x * z; }
inline double common_l1(double x, double z) {
    return (x < 0.0) == (z < 0.0) ? 2.0 * std::min(std::abs(x), std::abs(z)) : 0.0;
}

// Rows x_first.. of X against the indexed rows z_first.. of Z, in double whatever T is.
template <class T>
class SparseTile {
  public:
    // x_sizes, z_sizes: the squared norm or L1 norm of each row of the sets, needed for distances only
    SparseTile(const Kernel& kernel, const RowSet<T>& X, const RowSet<T>& Z, const double* x_sizes,
               const double* z_sizes)
        : kernel_(kernel), X_(X), Z_(Z), x_sizes_(x_sizes), z_sizes_(z_sizes) {}

    void compute(std::size_t x_first, std::size_t n, std::size_t z_first, std::size_t m, T* K,
                 std::size_t stride) {
        index_.build(Z_, z_first, m);
        meet_.resize(m);
        difference_.assign(X_.n_cols(), 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            T* row = K + i * stride;
            meet(x_first + i);
            if (kernel_.of_product())
                std::copy_n(meet_.data(), m, row);
            else
                distances(x_first + i, z_first, m, row);
            kernel_.map(row, m);
        }
    }

  private:
    bool l1() const { return kernel_.kind == KernelKind::laplacian; }

    void meet(std::size_t i) {
        std::fill(meet_.begin(), meet_.end(), 0.0);
        double* sums = meet_.data();
        X_.for_each(i, [&](std::size_t k, T x) {
            if (l1())
                index_.for_each(k, [&](std::uint32_t j, double z) { sums[j] += common_l1(double(x), z); });
            else
                index_.for_each(k,
                                [&](std::uint32_t j, double z) { sums[j] += common_product(double(x), z); });
        });
    }

    void distances(std::size_t i, std::size_t z_first, std::size_t m, T* out) {
        const double x_size = x_sizes_[i], *z_sizes = z_sizes_ + z_first, factor = l1() ? 1.0 : 2.0;
        const ExpansionLimits<double> limits = kernel_.limits<double>(X_.n_cols());
        for (std::size_t j = 0; j < m; ++j) {
            const double sizes = x_size + z_sizes[j], distance = sizes - factor * meet_[j];
            const double blurred = limits.root * sizes, square = blurred * blurred;
            const double close = sizes > limits.far_norms || !(square < limits.near) ? limits.near : square;
            const double least = limits.noise * sizes + close;
            const double known = distance > least ? distance : exact_distance(i, z_first + j);
            out[j] = T(kernel_.of_distance() ? std::sqrt(known) : known);
        }
    }

    // Writes x - z into a dense row of zeros, sums it, and clears it entry by entry.
    double exact_distance(std::size_t i, std::size_t j) {
        double* t = difference_.data();
        double sum = 0.0;
        X_.for_each(i, [&](std::size_t k, T x) { t[k] += double(x); });
        Z_.for_each(j, [&](std::size_t k, T z) { t[k] -= double(z); });
        const auto take = [&](std::size_t k, T) {
            sum += l1() ? std::abs(t[k]) : t[k] * t[k];
            t[k] = 0.0;
        };
        X_.for_each(i, take);
        Z_.for_each(j, take);
        return sum;
    }

    const Kernel& kernel_;
    const RowSet<T>&X_, &Z_;
    const double *x_sizes_, *z_sizes_;
    ColumnIndex index_;
    std::vector<double> meet_, difference_;
};

}  // namespace maxmargin
