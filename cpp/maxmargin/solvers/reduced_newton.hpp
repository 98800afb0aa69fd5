// Newton's method for the coefficients of a fixed set of support vectors, all columns of a code at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "maxmargin/core/blas.hpp"
#include "maxmargin/solvers/reduced_rows.hpp"

namespace maxmargin {

// V (n_columns, b) and F = Phi V (n_columns, n) are the start and the end; primal and gap, (n_columns,), are
// outputs. The gap is ||grad P||^2 / (2 alpha).
struct NewtonPoint {
    double *V, *F, *primal, *gap;
};

template <class Loss, class T>
class ReducedNewton {
  public:
    ReducedNewton(const ReducedRows<T>& rows, NewtonPoint at, const Tasks& tasks)
        : rows_(rows),
          at_(at),
          tasks_(tasks),
          keeps_(rows.n_columns * rows.b * rows.b <= MAX_NUMBERS_IN_HESSIANS),
          gradient_(rows.n_columns * rows.b),
          hessians_(keeps_ ? rows.n_columns : 0),
          curvature_(keeps_ ? rows.n_columns : 0) {}

    // Steps until the gap is at most tol times the objective, or no step lowers it; the number of steps.
    int solve(double tol, int max_steps) {
        open_.resize(rows_.n_columns);
        std::iota(open_.begin(), open_.end(), std::size_t(0));
        for (int n_steps = 0;; ++n_steps) {
            evaluate();
            const double primal = std::accumulate(at_.primal, at_.primal + rows_.n_columns, 0.0);
            const double gap = std::accumulate(at_.gap, at_.gap + rows_.n_columns, 0.0);
            if (!(gap > tol * std::max(primal, 0.0)) || n_steps >= max_steps || rows_.b == 0) return n_steps;
            open_.clear();
            for (std::size_t t = 0; t < rows_.n_columns; ++t)
                if (at_.gap[t] > 0.01 * tol * std::max(at_.primal[t], 1e-300)) open_.push_back(t);
            find_steps();
            if (!line_search()) return n_steps;
        }
    }

  private:
    static constexpr std::size_t MAX_NUMBERS_IN_HESSIANS = std::size_t(1) << 25;  // stored, to be updated
    static constexpr std::size_t MIN_COLUMNS_TO_SHARE = 4;
    static constexpr int MAX_HALVINGS = 40;  // of a step in the line search

    // sums[k] = the sum over rows of f(k, row), for each open column.
    template <class F>
    void sum_over_rows(std::vector<double>& sums, const F& f) {
        const std::size_t n_blocks = rows_.n_blocks(), n_open = open_.size();
        std::vector<double> parts(n_open * n_blocks);
        tasks_.run(parts.size(), 8.0 * double(rows_.n * n_open), [&](std::size_t task) {
            const std::size_t k = task / n_blocks, first = (task % n_blocks) * rows_.BLOCK;
            const std::size_t last = std::min(first + rows_.BLOCK, rows_.n);
            double sum = 0.0;
            for (std::size_t i = first; i < last; ++i) sum += f(k, i);
            parts[task] = sum;
        });
        for (std::size_t k = 0; k < n_open; ++k)
            sums[k] = std::accumulate(parts.begin() + k * n_blocks, parts.begin() + (k + 1) * n_blocks, 0.0);
    }

    double half_norm(const double* v) const {
        double sum = 0.0;
        for (std::size_t j = 0; j < rows_.b; ++j) sum += v[j] * v[j];
        return 0.5 * rows_.alpha * sum;
    }

    // Objective, gradient and gap of the open columns.
    void evaluate() {
        const std::size_t n = rows_.n, b = rows_.b, n_open = open_.size();
        residuals_.resize(n_open * n);
        std::vector<double> losses(n_open);
        sum_over_rows(losses, [&](std::size_t k, std::size_t i) {
            const std::size_t at = open_[k] * n + i;
            const double m = rows_.y[at] * at_.F[at];
            residuals_[k * n + i] = T(rows_.cost[at] * rows_.y[at] * Loss::slope(m));
            return rows_.cost[at] * Loss::value(m);
        });
        const std::size_t n_blocks = rows_.n_blocks();
        std::vector<T> parts(n_blocks * n_open * b);
        if (b > 0) {
            tasks_.run(n_blocks, 2.0 * double(n * n_open * b), [&](std::size_t task) {
                const std::size_t first = task * rows_.BLOCK, m = std::min(rows_.BLOCK, n - first);
                char plain = 'N';
                int order = int(b), columns = int(n_open), inner = int(m), stride = int(rows_.stride),
                    ld = int(n);
                T one = 1, zero = 0;
                blas().gemm<T>()(&plain, &plain, &order, &columns, &inner, &one,
                                 const_cast<T*>(rows_.phi + first * rows_.stride), &stride,
                                 residuals_.data() + first, &ld, &zero, parts.data() + task * n_open * b,
                                 &order);
            });
        }
        for (std::size_t k = 0; k < n_open; ++k) {
            const std::size_t t = open_[k];
            double* g = gradient_.data() + t * b;
            double square = 0.0;
            for (std::size_t j = 0; j < b; ++j) {
                double sum = 0.0;
                for (std::size_t block = 0; block < n_blocks; ++block)
                    sum += double(parts[(block * n_open + k) * b + j]);
                g[j] = sum + rows_.alpha * at_.V[t * b + j];
                square += g[j] * g[j];
            }
            at_.primal[t] = losses[k] + half_norm(at_.V + t * b);
            at_.gap[t] = square / (2.0 * rows_.alpha);
        }
    }

    // Newton steps of the open columns, each from a Cholesky factorisation of its Hessian. Threads share the
    // columns; those of few columns share the rows of each.
    void find_steps() {
        const std::size_t b = rows_.b, n_open = open_.size();
        step_.resize(n_open * b);
        if (n_open < MIN_COLUMNS_TO_SHARE) {
            for (std::size_t k = 0; k < n_open; ++k) find_step(k, tasks_);
            return;
        }
        const Poll no_poll;
        const Tasks alone{1, no_poll};
        tasks_.run(n_open, double(b * b) * double(n_open * (rows_.n + b)),
                   [&](std::size_t k) { find_step(k, alone); });
    }

    void find_step(std::size_t k, const Tasks& tasks) {
        const std::size_t b = rows_.b;
        std::vector<double> own, factor(b * b);
        regularised_factor(hessian(open_[k], own, tasks), b, rows_.alpha, factor.data());
        double* x = step_.data() + k * b;
        for (std::size_t j = 0; j < b; ++j) x[j] = -gradient_[open_[k] * b + j];
        solve_factored(factor.data(), b, x);
    }

    // Phi' D Phi of a column; where few curvatures have changed, by adding and subtracting their rows.
    const double* hessian(std::size_t t, std::vector<double>& own, const Tasks& tasks) {
        const std::size_t n = rows_.n, b = rows_.b;
        std::vector<double> now(n), change(n);
        std::size_t n_active = 0, n_changed = 0;
        const bool known = keeps_ && !hessians_[t].empty();
        for (std::size_t i = 0; i < n; ++i) {
            now[i] = rows_.cost[t * n + i] * Loss::curvature(rows_.y[t * n + i] * at_.F[t * n + i]);
            change[i] = known ? now[i] - curvature_[t][i] : now[i];
            n_active += now[i] != 0.0, n_changed += change[i] != 0.0;
        }
        std::vector<double>& H = keeps_ ? hessians_[t] : own;
        if (!known || 2 * n_changed > n_active) {
            H.assign(b * b, 0.0);
            change = now;
        }
        std::vector<std::uint32_t> more, less;
        for (std::size_t i = 0; i < n; ++i)
            if (change[i] != 0.0) (change[i] > 0.0 ? more : less).push_back(std::uint32_t(i));
        rows_.add_hessian(more, change.data(), 1.0, H.data(), tasks);
        rows_.add_hessian(less, change.data(), -1.0, H.data(), tasks);
        if (keeps_) curvature_[t] = std::move(now);
        return H.data();
    }

    // Halve each open column's step until its objective falls; whether any column has moved.
    bool line_search() {
        const std::size_t n = rows_.n, b = rows_.b, n_open = open_.size();
        outputs_of_steps();
        std::vector<double> rate(n_open), slope(n_open), value(n_open), trial(b);
        for (std::size_t k = 0; k < n_open; ++k) {
            const double *g = gradient_.data() + open_[k] * b, *s = step_.data() + k * b;
            slope[k] = std::inner_product(g, g + b, s, 0.0);
            rate[k] = slope[k] < 0.0 ? 1.0 : 0.0;
        }
        bool moved = false, again = true;
        for (int halving = 0; again; ++halving) {
            sum_over_rows(value, [&](std::size_t k, std::size_t i) {
                const std::size_t at = open_[k] * n + i;
                return rows_.cost[at] *
                       Loss::value(rows_.y[at] * (at_.F[at] + rate[k] * double(moves_[k * n + i])));
            });
            moved = again = false;
            for (std::size_t k = 0; k < n_open; ++k) {
                const double before = at_.primal[open_[k]];
                for (std::size_t j = 0; j < b; ++j)
                    trial[j] = at_.V[open_[k] * b + j] + rate[k] * step_[k * b + j];
                value[k] += half_norm(trial.data());
                const double enough = before + 1e-4 * rate[k] * slope[k] + 1e-12 * std::abs(before);
                if (rate[k] > 0.0 && !(value[k] <= enough)) {
                    rate[k] = halving < MAX_HALVINGS ? 0.5 * rate[k] : 0.0;
                    again |= halving < MAX_HALVINGS;
                } else {
                    moved |= rate[k] > 0.0 && value[k] < before;
                }
            }
        }
        for (std::size_t k = 0; k < n_open; ++k) {
            for (std::size_t j = 0; j < b; ++j) at_.V[open_[k] * b + j] += rate[k] * step_[k * b + j];
            for (std::size_t i = 0; i < n; ++i)
                at_.F[open_[k] * n + i] += rate[k] * double(moves_[k * n + i]);
        }
        return moved;
    }

    // moves = Phi step for the open columns.
    void outputs_of_steps() {
        const std::size_t n = rows_.n, n_open = open_.size();
        moves_.resize(n_open * n);
        std::vector<T> step(step_.begin(), step_.begin() + n_open * rows_.b);
        tasks_.run(rows_.n_blocks(), 2.0 * double(n * n_open * rows_.b), [&](std::size_t task) {
            const std::size_t first = task * rows_.BLOCK, m = std::min(rows_.BLOCK, n - first);
            char transposed = 'T', plain = 'N';
            int order = int(m), columns = int(n_open), inner = int(rows_.b), stride = int(rows_.stride),
                ld = int(n);
            T one = 1, zero = 0;
            blas().gemm<T>()(&transposed, &plain, &order, &columns, &inner, &one,
                             const_cast<T*>(rows_.phi + first * rows_.stride), &stride, step.data(), &inner,
                             &zero, moves_.data() + first, &ld);
        });
    }

    const ReducedRows<T>& rows_;
    NewtonPoint at_;
    Tasks tasks_;
    bool keeps_;  // Hessians, from one step to the next
    std::vector<double> gradient_, step_;
    std::vector<std::vector<double>> hessians_, curvature_;  // by column; empty until first needed
    std::vector<std::size_t> open_;                          // the columns that a step is taken in
    std::vector<T> residuals_, moves_;                       // (n_open, n)
};

}  // namespace maxmargin
