// Sweeps of the top-k SVM: steps of topk.hpp for one sample after the other, at the speed of matrix products.
#pragma once

#include <algorithm>
#include <vector>

#include "maxmargin/core/blas.hpp"
#include "maxmargin/core/rows.hpp"
#include "maxmargin/core/threads.hpp"
#include "maxmargin/solvers/topk.hpp"

namespace maxmargin {

// W (n_features, n_classes) and the scores' offset, constant times the sum of all coefficients.
struct TopKModel {
    double *W, *offset;
};

// Steps for the samples of a tile, in its order and as often as asked, each with the scores that the steps
// before it leave. Gaps are those of the first pass, and a sample has moved if it has in any.
//
// In:   Z (size, n_classes), their scores; G (size, size), products of their rows, at or below the diagonal
// Out:  A; change (size, n_classes) += that of the coefficients c_i a_i; Z is scratch
inline void topk_tile(TopKStep& step, const TopKIterate& it, const std::int64_t* which, std::size_t size,
                      const double* G, double* Z, double* change, std::size_t m, std::size_t n_passes) {
    for (std::size_t pass = 0; pass < n_passes; ++pass)
        for (std::size_t s = 0; s < size; ++s) {
            const std::size_t i = std::size_t(which[s]);
            const double gap = it.gaps[i];
            const std::uint8_t moved_before = it.moved[i];
            const TopKChange* moved = step(i, Z + s * m, it);
            if (pass > 0) it.gaps[i] = gap, it.moved[i] |= moved_before;
            if (!moved) continue;
            moved->add_to(change + s * m, 1.0);
            if (pass + 1 < n_passes)
                for (std::size_t r = 0; r <= s; ++r) moved->add_to(Z + r * m, G[s * size + r]);
            for (std::size_t r = s + 1; r < size; ++r) moved->add_to(Z + r * m, G[r * size + s]);
        }
}

inline void add_rows(const double* rows, std::size_t n, std::size_t m, double factor, double* sum) {
    for (std::size_t s = 0; s < n; ++s)
        for (std::size_t j = 0; j < m; ++j) sum[j] += factor * rows[s * m + j];
}

// Z += X W for some rows.
template <class T>
void add_scores(const DenseRows<T>& X, const std::int64_t* which, std::size_t n, const double* W, double* Z,
                std::size_t m) {
    std::vector<double> rows(n * X.n_cols);
    for (std::size_t s = 0; s < n; ++s)
        std::copy_n(X.row(std::size_t(which[s])), X.n_cols, rows.begin() + s * X.n_cols);
    add_product(rows.data(), W, Z, n, X.n_cols, m);
}

template <class T, class Index>
void add_scores(const CsrRows<T, Index>& X, const std::int64_t* which, std::size_t n, const double* W,
                double* Z, std::size_t m) {
    for (std::size_t s = 0; s < n; ++s)
        X.for_each(std::size_t(which[s]), [&](std::size_t feature, T x) {
            simd().of<double>().axpy(double(x), W + feature * m, Z + s * m, m);
        });
}

// Dense rows in tiles: scores and products before the steps of a tile, W after them.
template <class T>
void topk_sweep(const DenseRows<T>& X, const std::int64_t* index, const TopKProblem& problem, TopKStep& step,
                const TopKIterate& it, TopKModel model, const std::int64_t* order, std::size_t n_order,
                const Poll& poll) {
    const std::size_t m = problem.n_classes, d = X.n_cols, tile = d < 48 ? 16 : 32;
    std::vector<double> rows(tile * d), G(tile * tile), Z(tile * m), change(tile * m);
    for (std::size_t first = 0; first < n_order; first += tile) {
        poll();
        const std::size_t size = std::min(tile, n_order - first);
        for (std::size_t s = 0; s < size; ++s) {
            const T* x = X.row(std::size_t(index[order[first + s]]));
            std::copy(x, x + d, rows.begin() + s * d);
            std::copy(model.offset, model.offset + m, Z.begin() + s * m);
            if (first + size + s < n_order) {
                const std::size_t next = std::size_t(order[first + size + s]);
                X.prefetch(std::size_t(index[next]));
                prefetch(it.A + next * m, m);
            }
        }
        std::fill(G.begin(), G.end(), problem.constant);
        std::fill(change.begin(), change.end(), 0.0);
        add_row_gram(rows.data(), G.data(), size, d);
        add_product(rows.data(), model.W, Z.data(), size, d, m);
        topk_tile(step, it, order + first, size, G.data(), Z.data(), change.data(), m, d < 48 ? 1 : 2);
        add_transposed_product(rows.data(), change.data(), model.W, size, d, m);
        add_rows(change.data(), size, m, problem.constant, model.offset);
    }
}

// Sparse rows one by one: the scores and the change touch the rows of W that a row of X has entries for.
template <class T, class Index>
void topk_sweep(const CsrRows<T, Index>& X, const std::int64_t* index, const TopKProblem& problem,
                TopKStep& step, const TopKIterate& it, TopKModel model, const std::int64_t* order,
                std::size_t n_order, const Poll& poll) {
    const std::size_t m = problem.n_classes;
    std::vector<double> z(m);
    for (std::size_t s = 0; s < n_order; ++s) {
        if (s % 16 == 0) poll();
        const std::size_t i = std::size_t(order[s]), row = std::size_t(index[i]);
        std::copy(model.offset, model.offset + m, z.begin());
        add_scores(X, index + i, 1, model.W, z.data(), m);
        const TopKChange* moved = step(i, z.data(), it);
        if (!moved) continue;
        X.for_each(row, [&](std::size_t feature, T x) { moved->add_to(model.W + feature * m, double(x)); });
        if (problem.constant != 0.0) moved->add_to(model.offset, problem.constant);
    }
}

// Every sample's gap at fresh scores, without a step. Samples come in blocks fixed by the problem.
template <class Rows>
void topk_look(const Rows& X, const std::int64_t* index, const TopKProblem& problem, const TopKIterate& it,
               TopKModel model, std::size_t n, int n_threads, const Poll& poll) {
    const std::size_t m = problem.n_classes, size = 64;
    Pool::instance().run((n + size - 1) / size, n_threads,
                         [&](std::size_t block) {
                             const std::size_t first = block * size, count = std::min(size, n - first);
                             TopKStep step(problem, TopKMethod::none);
                             std::vector<double> Z(count * m);
                             for (std::size_t s = 0; s < count; ++s)
                                 std::copy_n(model.offset, m, Z.begin() + s * m);
                             add_scores(X, index + first, count, model.W, Z.data(), m);
                             for (std::size_t s = 0; s < count; ++s) step(first + s, Z.data() + s * m, it);
                         },
                         poll);
}

// For every sample the a that maximises a_y - <a, z> - tau/2 ||a - centre||^2 over its domain: what a step of
// curvature tau gives from the centre, at scores Z (n, n_classes).
//
// Out:  A; value, the maximum; faces (n, n_classes), how a moves with z: entries marked 1 by the same amount
// less
//       their mean, those marked 2 in the proportions that the cone holds them in, others not
inline void topk_prox(const TopKProblem& problem, const double* centre, const double* Z, double tau,
                      std::size_t n, double* A, double* value, std::uint8_t* faces, int n_threads,
                      const Poll& poll) {
    const std::size_t m = problem.n_classes, size = 256;
    Pool::instance().run(
        (n + size - 1) / size, n_threads,
        [&](std::size_t block) {
            std::vector<double> sorted(m), target(m);
            for (std::size_t i = block * size; i < std::min(n, (block + 1) * size); ++i) {
                const std::size_t y = std::size_t(problem.labels[i]);
                const double *z = Z + i * m, *c = centre + i * m;
                double* a = A + i * m;
                std::uint8_t* face = faces + i * m;
                for (std::size_t j = 0; j < m; ++j) target[j] = (c[y] - c[j]) + (1.0 + z[j] - z[y]) / tau;
                std::copy(target.begin(), target.end(), sorted.begin());
                sorted[y] = sorted[m - 1];
                const Clip clip = topk_cut(sorted.data(), m - 1, problem.domain);
                double sum = 0.0, total = 0.0;
                for (std::size_t j = 0; j < m; ++j) {
                    if (j == y) continue;
                    const double u = clip(target[j]);
                    sum += u;
                    total += u * (1.0 + z[j] - z[y]) - 0.5 * tau * (u + c[j]) * (u + c[j]);
                    a[j] = -u;
                    face[j] = u <= 0.0 ? 0 : u < clip.height ? 1 : clip.regime == Regime::cone ? 2 : 0;
                }
                a[y] = sum;
                face[y] = clip.regime == Regime::free ? 1 : clip.regime == Regime::cone ? 2 : 0;
                value[i] = total - 0.5 * tau * (sum - c[y]) * (sum - c[y]);
            }
        },
        poll);
}

}  // namespace maxmargin
