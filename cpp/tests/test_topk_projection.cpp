// The projection of the top-k hinge against all vertices of its domain, and sweeps over dense and sparse rows
// against each other.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "check.hpp"
#include "maxmargin/solvers/topk_sweep.hpp"

using namespace maxmargin;

namespace {

double drawn(std::size_t i) { return std::sin(12.9898 * double(i) + 0.7) * 1.9; }

// The largest number that g'v reaches at a vertex v: 0, or 1/k at kappa to k of the classes.
double best_vertex(std::vector<double> g, const TopKDomain& domain) {
    std::sort(g.begin(), g.end(), std::greater<>());
    double best = 0.0, sum = 0.0;
    for (std::size_t count = 1; count <= std::min(domain.k, g.size()); ++count) {
        sum += g[count - 1];
        if (count >= std::max<std::size_t>(domain.kappa(), 1)) best = std::max(best, sum / double(domain.k));
    }
    return best;
}

// u is in the domain, and no vertex is better along the slope at u.
template <class T>
void test_minimiser(const std::vector<T>& a, const TopKDomain& domain) {
    std::vector<T> sorted = a;
    const Clip clip = topk_cut(sorted.data(), sorted.size(), domain);
    std::vector<double> u, slope;
    double sigma = 0.0, along = 0.0, size = 1.0, most = 0.0;
    for (const T x : a) u.push_back(clip(double(x))), sigma += u.back(), most = std::max(most, u.back());
    for (std::size_t j = 0; j < a.size(); ++j) {
        slope.push_back(double(a[j]) - u[j] - domain.rho * sigma);
        along += slope[j] * u[j];
        size = std::max(size, std::abs(double(a[j])));
        CHECK(u[j] >= 0.0);
    }
    CHECK(sigma <= 1.0 + 1e-12);
    CHECK(most <= 1.0 / double(domain.k) + 1e-12);
    if (domain.kappa() > 0) CHECK(most <= sigma / double(domain.kappa()) + 1e-12);
    CHECK(best_vertex(slope, domain) - along <= 1e-12 * size);
}

template <class T>
void test_minimisers() {
    std::size_t draw = 0;
    for (std::size_t n : {1u, 2u, 3u, 5u, 8u, 40u})
        for (std::size_t k = 1; k <= n + 1; k += n < 10 ? 1 : 7)
            for (bool include : {true, false}) {
                if (!include && k > n) continue;
                for (double rho : {0.3, 1.0, 2.5})
                    for (double scale : {1e-30, 0.05, 0.4, 1.0, 5.0, 1e9}) {
                        std::vector<T> a(n);
                        for (T& x : a) x = T(scale * drawn(++draw));
                        test_minimiser(a, {k, include, rho});
                        for (T& x : a) x = T(scale * std::round(drawn(++draw)));  // ties
                        test_minimiser(a, {k, include, rho});
                        std::fill(a.begin(), a.end(), T(scale));
                        test_minimiser(a, {k, include, rho});
                    }
            }
}

// Numbers that are not finite, or whose sums are not, end in NaN and not beyond the array.
void test_what_is_not_finite() {
    for (double bad : {NOWHERE, -NOWHERE, std::nan(""), 1.7e308})
        for (std::size_t k = 1; k <= 3; ++k)
            for (bool include : {true, false}) {
                std::vector<double> a{bad, 1.0, 2.0};
                const Clip clip = topk_cut(a.data(), a.size(), {k, include});
                for (const double x : a) CHECK(std::isnan(clip(x)));
            }
}

void test_selection() {
    for (std::size_t n : {1u, 4u, 5u, 9u, 33u, 200u}) {
        std::vector<double> values(n), sorted;
        for (std::size_t i = 0; i < n; ++i) values[i] = std::round(3.0 * drawn(i + n));
        sorted = values;
        std::sort(sorted.begin(), sorted.end(), std::greater<>());
        Descending<double> a(values.data(), n);
        for (std::size_t p = 0; p < n; p += 3) CHECK(a[p] == sorted[p]);
        for (std::size_t p = 0; p < n; ++p) CHECK(a[p] == sorted[p]);
    }
}

template <class T>
void naive_gemm(char*, char* tb, int* m, int* n, int* k, T* alpha, T* a, int* lda, T* b, int* ldb, T* beta,
                T* c, int* ldc) {
    for (int j = 0; j < *n; ++j)
        for (int i = 0; i < *m; ++i) {
            T sum = 0;
            for (int l = 0; l < *k; ++l)
                sum += a[l * *lda + i] * (*tb == 'T' ? b[l * *ldb + j] : b[j * *ldb + l]);
            c[j * *ldc + i] = *alpha * sum + *beta * c[j * *ldc + i];
        }
}

void naive_syrk(char*, char*, int* n, int* k, double* alpha, double* a, int* lda, double* beta, double* c,
                int* ldc) {
    for (int j = 0; j < *n; ++j)
        for (int i = 0; i <= j; ++i) {
            double sum = 0;
            for (int l = 0; l < *k; ++l) sum += a[i * *lda + l] * a[j * *lda + l];
            c[j * *ldc + i] = *alpha * sum + *beta * c[j * *ldc + i];
        }
}

// Samples, and what a sweep changes.
struct Sweep {
    static constexpr std::size_t n = 70, d = 9, m = 6;
    std::vector<double> X, cost, sqnorm, A, gaps, W, offset;
    std::vector<std::int64_t> index, labels, order;
    std::vector<std::uint8_t> moved;

    Sweep()
        : X(n * d),
          cost(n, 0.3),
          sqnorm(n, 1.0),
          A(n * m),
          gaps(n),
          W(d * m),
          offset(m),
          index(n),
          labels(n),
          order(n),
          moved(n) {
        for (std::size_t i = 0; i < n; ++i) {
            index[i] = std::int64_t(i), labels[i] = std::int64_t(i * 5 % m);
            order[i] = std::int64_t(i * 33 % n);
            for (std::size_t f = 0; f < d; ++f) {
                X[i * d + f] = (i + f) % 4 == 0 ? 0.0 : drawn(i * d + f);
                sqnorm[i] += X[i * d + f] * X[i * d + f];
            }
        }
    }

    template <class Rows>
    void run(const Rows& rows, const TopKDomain& domain, TopKMethod method, std::size_t count) {
        const TopKProblem problem{domain, m, labels.data(), cost.data(), sqnorm.data(), 1.0};
        TopKStep step(problem, method);
        const TopKIterate it{A.data(), gaps.data(), moved.data()};
        for (int epoch = 0; epoch < 3; ++epoch)
            topk_sweep(rows, index.data(), problem, step, it, {W.data(), offset.data()}, order.data(), count,
                       [] {});
    }

    // sum_i c_i a_{i,y} - 1/2 ||W||^2
    double dual() const {
        double value = 0.0;
        for (std::size_t i = 0; i < n; ++i) value += cost[i] * A[i * m + std::size_t(labels[i])];
        for (const double w : W) value -= 0.5 * w * w;
        for (const double b : offset) value -= 0.5 * b * b;
        return value;
    }
};

// Tiles leave what steps one by one leave, and W is that of A.
void test_sweep(const TopKDomain& domain) {
    Sweep dense, sparse;
    std::vector<double> data;
    std::vector<std::int32_t> columns, ends{0};
    for (std::size_t i = 0; i < Sweep::n; ++i) {
        for (std::size_t f = 0; f < Sweep::d; ++f)
            if (dense.X[i * Sweep::d + f] != 0.0)
                data.push_back(dense.X[i * Sweep::d + f]), columns.push_back(std::int32_t(f));
        ends.push_back(std::int32_t(data.size()));
    }
    const DenseRows<double> rows{dense.X.data(), Sweep::n, Sweep::d};
    const CsrRows<double, std::int32_t> csr{data.data(), columns.data(), ends.data(), Sweep::n, Sweep::d};
    dense.run(rows, domain, TopKMethod::exact, Sweep::n);
    sparse.run(csr, domain, TopKMethod::exact, Sweep::n);
    for (std::size_t p = 0; p < dense.A.size(); ++p) CHECK(std::abs(dense.A[p] - sparse.A[p]) <= 1e-9);
    for (std::size_t p = 0; p < dense.W.size(); ++p) CHECK(std::abs(dense.W[p] - sparse.W[p]) <= 1e-9);
    std::vector<double> W(Sweep::d * Sweep::m);
    for (std::size_t i = 0; i < Sweep::n; ++i)
        for (std::size_t f = 0; f < Sweep::d; ++f)
            for (std::size_t j = 0; j < Sweep::m; ++j)
                W[f * Sweep::m + j] += dense.cost[i] * dense.X[i * Sweep::d + f] * dense.A[i * Sweep::m + j];
    for (std::size_t p = 0; p < W.size(); ++p) CHECK(std::abs(W[p] - dense.W[p]) <= 1e-10);
    CHECK(dense.dual() > 0.0);
    Sweep exact, vertex;
    exact.run(rows, domain, TopKMethod::exact, 1);
    vertex.run(rows, domain, TopKMethod::frank_wolfe, 1);
    CHECK(exact.dual() >= vertex.dual() - 1e-12 && vertex.dual() > 0.0);  // of one block
}

}  // namespace

void test_topk_projection() {
    test_minimisers<double>();
    test_minimisers<float>();
    test_selection();
    test_what_is_not_finite();
    const Blas before = blas();
    blas().dgemm = naive_gemm<double>, blas().dsyrk = naive_syrk;
    for (std::size_t k : {1u, 2u, 5u})
        for (bool include : {true, false}) test_sweep({k, include});
    blas() = before;
}
