// Kernel rows that are computed when they are asked for, rounds that ask for them, and the exact finish.
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "maxmargin/core/blas.hpp"
#include "maxmargin/kernels/kernel_rows.hpp"
#include "maxmargin/solvers/polish.hpp"
#include "maxmargin/solvers/working_set.hpp"
#include "naive_cholesky.hpp"

using namespace maxmargin;

namespace {

constexpr std::size_t N_ALL = 150;

template <class T>
struct Points {
    std::size_t d;
    std::vector<T> X;

    explicit Points(std::size_t n_features) : d(n_features), X(N_ALL * n_features) {
        for (std::size_t k = 0; k < X.size(); ++k) X[k] = T(std::sin(1.3 * double(k) + 0.1 * double(k % 7)));
    }
    KernelRows<T> rows() const {
        RowSet<T> all;
        all.rows = DenseRows<T>{X.data(), N_ALL, d};
        all.size = N_ALL;
        return {{KernelKind::rbf, 0.7 / double(d), 0.0, 0.0}, all, nullptr, 0.0};
    }
    double value(std::int64_t i, std::int64_t j) const {
        double square = 0.0;
        for (std::size_t k = 0; k < d; ++k)
            square += std::pow(double(X[std::size_t(i) * d + k]) - double(X[std::size_t(j) * d + k]), 2);
        return std::exp(-0.7 / double(d) * square);
    }
};

// Every other slot, and more columns than the rows have: what is not asked for stays as it is.
template <class T>
void test_fill(std::size_t d, std::size_t n_which, std::size_t n_others) {
    const Points<T> points(d);
    const std::size_t stride = n_others + 3;
    std::vector<std::int64_t> which(n_which), others(n_others), slots(n_which);
    for (std::size_t i = 0; i < n_which; ++i)
        which[i] = std::int64_t(7 * i % N_ALL), slots[i] = std::int64_t(2 * (n_which - 1 - i));
    for (std::size_t j = 0; j < n_others; ++j) others[j] = std::int64_t((11 * j + 5) % N_ALL);
    std::vector<T> rows(2 * n_which * stride, T(-1));
    points.rows().fill(which, others, rows.data(), stride, slots.data(), 2, [] {});
    for (std::size_t i = 0; i < n_which; ++i)
        for (std::size_t j = 0; j < stride; ++j) {
            const T value = rows[std::size_t(slots[i]) * stride + j];
            if (j < n_others)
                CHECK(std::abs(double(value) - points.value(which[i], others[j])) < 1e-5);
            else
                CHECK(value == T(-1));
            CHECK(rows[std::size_t(slots[i] + 1) * stride + j] == T(-1));
        }
}

// Elimination with the largest pivots, for LAPACK's; A is symmetric, so its order does not matter.
void naive_gesv(int* order, int*, double* A, int*, int*, double* b, int*, int* info) {
    const std::size_t n = std::size_t(*order);
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t best = k;
        for (std::size_t i = k; i < n; ++i)
            if (std::abs(A[i * n + k]) > std::abs(A[best * n + k])) best = i;
        if (A[best * n + k] == 0.0) {
            *info = int(k) + 1;
            return;
        }
        for (std::size_t j = 0; j < n; ++j) std::swap(A[k * n + j], A[best * n + j]);
        std::swap(b[k], b[best]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const double factor = A[i * n + k] / A[k * n + k];
            for (std::size_t j = k; j < n; ++j) A[i * n + j] -= factor * A[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) b[k] -= A[k * n + j] * b[j];
        b[k] /= A[k * n + k];
    }
}

template <class T>
void test_rounds_on_a_store(std::size_t n) {
    const Points<T> points(3);
    const KernelRows<T> source = points.rows();
    std::vector<std::int64_t> index(n);
    std::vector<double> a(n), g(n), lower(n), upper(n), y(n), cost(n, 2.0);
    for (std::size_t i = 0; i < n; ++i) {
        index[i] = std::int64_t((3 * i + 1) % N_ALL);
        y[i] = g[i] = i % 3 == 0 ? 1.0 : -1.0;
        (y[i] > 0.0 ? upper : lower)[i] = 2.0 * y[i];
    }
    std::vector<T> rows(n * n, T(-1)), K(n * n);
    std::vector<std::uint8_t> known(n);
    const Poll poll = [] {};
    const RowStore<T> store{source, index, rows.data(), known.data(), 1, poll};
    const Samples samples{n, a.data(), g.data(), lower.data(), upper.data(), y.data(), cost.data(), false};
    const RoundRules rules{std::min<std::size_t>(n, 8), n, 0.7, 1000, 0.02, 1e-6, 1e-12, 60.0};
    const RoundsEnd end = rounds<T>(samples, {{rows.data(), n}, store, K.data()}, rules, 0.0, 1, poll);
    CHECK(!end.stalled && end.asked >= std::size_t(std::accumulate(known.begin(), known.end(), 0)));
    double dual = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        double f = 0.0;
        for (std::size_t j = 0; j < n; ++j) f += a[j] * points.value(index[i], index[j]);
        CHECK(std::abs(g[i] - (y[i] - f)) < 1e-4);
        CHECK(a[i] == 0.0 || known[i] == 1);
        CHECK(known[i] == 1 || rows[i * n] == T(-1));
        dual += 0.5 * a[i] * (y[i] + g[i]);
    }
    Residuals scratch;
    CHECK(look(samples, scratch).gap <= 1e-6 * std::abs(end.dual));
    CHECK(std::abs(dual - end.dual) <= 1e-9 * std::abs(dual));
    const FaceRows<T> face_rows{rows.data(), store};
    if (!polish(samples, face_rows, [] { return false; })) return;  // flat in single precision
    CHECK(look(samples, scratch).gap <= 1e-12 * double(n));
    for (std::size_t i = 0; i < n; ++i) CHECK(lower[i] <= a[i] && a[i] <= upper[i]);
}

template <class T>
void test_all() {
    for (const std::size_t d : {1, 16, 70})
        for (const std::size_t n_which : {1, 5, 16, 100}) test_fill<T>(d, n_which, 130);
    for (const std::size_t n : {2, 9, 40, 140}) test_rounds_on_a_store<T>(n);
}

}  // namespace

void test_kernel_rows() {
    blas().dgesv = naive_gesv, blas().dpotrf = naive_potrf, blas().dpotrs = naive_potrs;
    test_all<float>();
    test_all<double>();
}
