// Kernel values of a few dense rows with many, and their product with a matrix. Each row z is read once:
// packing it, and its squared norm, would take longer than all that a few rows x need of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "maxmargin/core/row_set.hpp"
#include "maxmargin/core/threads.hpp"
#include "maxmargin/kernels/grouped_product.hpp"
#include "maxmargin/kernels/kernels.hpp"

namespace maxmargin {

constexpr std::size_t MAX_FEW_ROWS = 4;
constexpr double MAX_FEW_OPERATIONS =
    2e7;  // some milliseconds: more is shared by threads, and can be cancelled

template <class T>
class FewRows {
  public:
    // Whether X has few enough rows for a product with c columns.
    static bool are_few(const RowSet<T>& X, const RowSet<T>& Z, std::size_t c) {
        const double operations = double(X.size) * double(Z.size) * double(X.n_cols() + c);
        return X.size <= MAX_FEW_ROWS && operations <= MAX_FEW_OPERATIONS && X.dense() && Z.dense();
    }

    FewRows(const Kernel& kernel, const RowSet<T>& X, const RowSet<T>& Z)
        : kernel_(kernel), X_(X), Z_(Z), d_(X.n_cols()), K_(X.size * Z.size) {
        for (std::size_t i = 0; i < X.size; ++i) x_.insert(x_.end(), x(i), x(i) + d_);
    }

    // All kernel values, in blocks of rows z.
    void compute(int n_threads, const Poll& poll) {
        constexpr std::size_t ROWS_PER_TASK = 1024;
        const auto body = [&](std::size_t task) {
            const std::size_t first = task * ROWS_PER_TASK, end = std::min(Z_.size, first + ROWS_PER_TASK);
            for (std::size_t j = first; j < end; ++j)
                for (std::size_t i = 0; i < X_.size; ++i) K_[i * Z_.size + j] = measured(i, j);
            for (std::size_t i = 0; i < X_.size; ++i) {
                T* values = K_.data() + i * Z_.size + first;
                if (kernel_.of_distance()) simd().of<T>().root(values, end - first);
                kernel_.map(values, end - first);
            }
        };
        Pool::instance().run((Z_.size + ROWS_PER_TASK - 1) / ROWS_PER_TASK, n_threads, body, poll);
    }

    // R (X.size, c) = K A
    void multiply(const T* A, std::size_t c, T* R) const {
        std::vector<double> sums;
        for (std::size_t i = 0; i < X_.size; ++i) {
            const T* K = K_.data() + i * Z_.size;
            sums.assign(c, 0.0);
            if (c == 1)
                sums[0] = simd().of<T>().dot(A, std::vector<double>(K, K + Z_.size).data(), Z_.size);
            else
                add_rows(K, A, Z_.size, c, sums.data());
            std::copy(sums.begin(), sums.end(), R + i * c);
        }
    }

    void multiply(const GroupedMatrix<T>& A, T* R) const {
        std::vector<double> sums, row(A.n_columns);
        for (std::size_t i = 0; i < X_.size; ++i) {
            const T *K = K_.data() + i * Z_.size, *values = A.values;
            std::fill(row.begin(), row.end(), 0.0);
            for (std::size_t g = 0; g < A.n_groups; ++g) {
                const std::size_t first = std::size_t(A.starts[g]),
                                  count = std::size_t(A.starts[g + 1]) - first;
                const std::int64_t* columns = A.columns + A.column_starts[g];
                const std::size_t width = std::size_t(A.column_starts[g + 1] - A.column_starts[g]);
                sums.assign(width, 0.0);
                add_rows(K + first, values, count, width, sums.data());
                for (std::size_t k = 0; k < width; ++k) row[std::size_t(columns[k])] += sums[k];
                values += count * width;
            }
            std::copy(row.begin(), row.end(), R + i * A.n_columns);
        }
    }

  private:
    const T* x(std::size_t i) const { return X_.dense()->row(X_.index(i)); }

    // The product, squared distance or L1 distance of two rows.
    T measured(std::size_t i, std::size_t j) const {
        const SimdOps<T>& ops = simd().of<T>();
        const T* z = Z_.dense()->row(Z_.index(j));
        if (kernel_.of_product()) return T(ops.dot(z, x_.data() + i * d_, d_));
        return T(kernel_.of_squared_distance() ? ops.sqdist(x(i), z, d_) : ops.l1dist(x(i), z, d_));
    }

    // sums += K A for one row K of `count` values
    static void add_rows(const T* K, const T* A, std::size_t count, std::size_t c, double* sums) {
        for (std::size_t j = 0; j < count; ++j) simd().of<T>().axpy(double(K[j]), A + j * c, sums, c);
    }

    const Kernel& kernel_;
    const RowSet<T>&X_, &Z_;
    std::size_t d_;
    std::vector<T> K_;
    std::vector<double> x_;  // the rows x
};

}  // namespace maxmargin
