// Features of rows for a fixed set of support vectors, and the Hessians of a loss over them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "maxmargin/core/blas.hpp"
#include "maxmargin/core/threads.hpp"

namespace maxmargin {

// Runs body(task) for the tasks 0 .. n-1, of so many operations in all.
struct Tasks {
    int n_threads;
    const Poll& poll;
    static constexpr double MIN_OPERATIONS_TO_THREAD = 2e6;

    void run(std::size_t n, double work, const std::function<void(std::size_t)>& body) const {
        Pool::instance().run(n, work < MIN_OPERATIONS_TO_THREAD ? 1 : n_threads, body, poll);
    }
};

// The problem of column t over v in R^b:  min  sum_i c_ti loss(y_ti f_i) + alpha/2 ||v||^2,  f = Phi v.
template <class T>
struct ReducedRows {
    const T* phi;  // (n, stride), of which the first b columns are used
    std::size_t n, stride, b, n_columns;
    const double *y, *cost;  // (n_columns, n)
    double alpha;

    static constexpr std::size_t BLOCK = 2048;  // rows in a task; fixed, so that the order of sums is
    std::size_t n_blocks() const { return (n + BLOCK - 1) / BLOCK; }

    // H += sign Phi' diag(|weight|) Phi over the given rows; as in add_gram, only at or below the diagonal.
    void add_hessian(const std::vector<std::uint32_t>& rows, const double* weight, double sign, double* H,
                     const Tasks& tasks) const {
        constexpr std::size_t AT_A_TIME = 8;  // blocks whose sums are in memory
        const std::size_t n_parts = (rows.size() + BLOCK - 1) / BLOCK,
                          at_a_time = std::min(n_parts, AT_A_TIME);
        std::vector<T> parts(at_a_time * b * b);
        for (std::size_t done = 0; done < n_parts; done += at_a_time) {
            const std::size_t some = std::min(at_a_time, n_parts - done);
            tasks.run(some, double(some * BLOCK * b * b), [&](std::size_t k) {
                const std::size_t first = (done + k) * BLOCK;
                gram(rows.data() + first, std::min(BLOCK, rows.size() - first), weight,
                     parts.data() + k * b * b);
            });
            for (std::size_t k = 0; k < some; ++k)
                for (std::size_t i = 0; i < b; ++i)
                    for (std::size_t j = 0; j <= i; ++j)
                        H[i * b + j] += sign * double(parts[(k * b + i) * b + j]);
        }
    }

  private:
    void gram(const std::uint32_t* rows, std::size_t count, const double* weight, T* G) const {
        std::vector<T> block(count * b);
        for (std::size_t i = 0; i < count; ++i) {
            const T root = T(std::sqrt(std::abs(weight[rows[i]])));
            const T* from = phi + rows[i] * stride;
            for (std::size_t j = 0; j < b; ++j) block[i * b + j] = root * from[j];
        }
        add_gram(block.data(), G, count, b);
    }
};

// The Cholesky factor of H + alpha I, in the triangle of add_gram; rounding may need a little more than
// alpha.
inline void regularised_factor(const double* H, std::size_t b, double alpha, double* factor) {
    double largest = 0.0;
    for (std::size_t j = 0; j < b; ++j) largest = std::max(largest, H[j * b + j]);
    for (double ridge = alpha; std::isfinite(ridge);
         ridge = std::max({10.0 * ridge, 1e-7 * largest, 1e-300})) {
        std::copy(H, H + b * b, factor);
        for (std::size_t j = 0; j < b; ++j) factor[j * b + j] += ridge;
        if (cholesky(factor, b)) return;
    }
    throw std::invalid_argument("a Hessian has entries that are not finite");
}

// Half of the inverse of each column's Hessian in the coefficients a = L^{-T} v:  half_t = C_t^{-1} L^{-1},
// (n_columns, b, b), where Phi' D_t Phi + alpha I = C_t C_t' at the outputs F (n_columns, n).
template <class Loss, class T>
void inverse_halves(const ReducedRows<T>& rows, const double* F, const double* inverse_of_L, double* halves,
                    const Tasks& tasks) {
    const std::size_t n = rows.n, b = rows.b;
    const Poll no_poll;
    tasks.run(rows.n_columns, double(b * b) * double(rows.n_columns * (n + b)), [&](std::size_t t) {
        std::vector<double> curvature(n), H(b * b, 0.0), factor(b * b);
        std::vector<std::uint32_t> active;
        for (std::size_t i = 0; i < n; ++i) {
            curvature[i] = rows.cost[t * n + i] * Loss::curvature(rows.y[t * n + i] * F[t * n + i]);
            if (curvature[i] != 0.0) active.push_back(std::uint32_t(i));
        }
        rows.add_hessian(active, curvature.data(), 1.0, H.data(), Tasks{1, no_poll});
        regularised_factor(H.data(), b, rows.alpha, factor.data());
        double* half = halves + t * b * b;
        std::copy(inverse_of_L, inverse_of_L + b * b, half);
        solve_triangle(factor.data(), b, half, b);
    });
}

}  // namespace maxmargin
