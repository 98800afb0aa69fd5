// Row products, fingerprints, and epochs of dual coordinate descent whose bounds meet.
#include <cmath>
#include <vector>

#include "check.hpp"
#include "maxmargin/core/hash_rows.hpp"
#include "maxmargin/core/row_gram.hpp"
#include "maxmargin/core/row_products.hpp"
#include "maxmargin/solvers/dual_cd.hpp"
#include "maxmargin/solvers/hinge_round.hpp"
#include "maxmargin/solvers/lasso.hpp"

using namespace maxmargin;

template <class T>
static void naive_syrk(char*, char*, int* n, int* k, T* alpha, T* a, int* lda, T* beta, T* c, int* ldc) {
    for (int j = 0; j < *n; ++j)
        for (int i = 0; i <= j; ++i) {
            T sum = 0;
            for (int l = 0; l < *k; ++l) sum += a[l * *lda + i] * a[l * *lda + j];
            c[j * *ldc + i] = *alpha * sum + *beta * c[j * *ldc + i];
        }
}

// The same numbers twice: dense rows, and CSR rows with one explicit zero in each.
struct Both {
    std::size_t n, d;
    std::vector<double> dense, values;
    std::vector<std::int64_t> indices, indptr{0}, index;

    Both(std::size_t n_rows, std::size_t n_cols) : n(n_rows), d(n_cols), dense(n * d) {
        Rng rng(1, 2);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < d; ++k) {
                if (rng.below(3) != 0) dense[i * d + k] = double(rng.below(200)) / 100.0 - 1.0;
                if (dense[i * d + k] == 0.0 && k != i % d) continue;
                values.push_back(dense[i * d + k]);
                indices.push_back(std::int64_t(k));
            }
            indptr.push_back(std::int64_t(values.size()));
            index.push_back(std::int64_t((i * 7) % n));
        }
    }
    DenseRows<double> as_dense() const { return {dense.data(), n, d}; }
    CsrRows<double, std::int64_t> as_csr() const {
        return {values.data(), indices.data(), indptr.data(), n, d};
    }
};

static bool close(const std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!(std::abs(a[i] - b[i]) <= 1e-12 * (1.0 + std::abs(b[i])))) return false;
    return a.size() == b.size();
}

static void test_products() {
    const Both data(2501, 9);
    const std::vector<double> zero(data.d, 0.0);
    std::vector<double> w(data.d), u(data.n), dots[2], sums[2], grams[2];
    for (std::size_t k = 0; k < data.d; ++k) w[k] = 1.0 / double(k + 1);
    for (std::size_t i = 0; i < data.n; ++i) u[i] = double(i % 5);
    const auto fill = [&](const auto& rows, int which) {
        dots[which].resize(data.n), sums[which].resize(data.d), grams[which].resize(data.d * data.d);
        rows_dot(rows, data.index.data(), data.n, w.data(), 1, dots[which].data(), 2, {});
        rows_sum(rows, data.index.data(), data.n, u.data(), sums[which].data(), 2, {});
        rows_gram(rows, data.index.data(), u.data(), data.n, zero.data(), grams[which].data(), 2, {});
    };
    fill(data.as_dense(), 0);
    fill(data.as_csr(), 1);
    CHECK(close(dots[0], dots[1]));
    CHECK(close(sums[0], sums[1]));
    CHECK(close(grams[0], grams[1]));
    double trace = 0.0, expected = 0.0;
    for (std::size_t k = 0; k < data.d; ++k) trace += grams[0][k * data.d + k];
    for (std::size_t i = 0; i < data.n; ++i)
        expected += u[i] * data.as_dense().sqnorm(std::size_t(data.index[i]));
    CHECK(std::abs(trace - expected) <= 1e-9 * expected);
    rows_sum(data.as_dense(), data.index.data(), 0, u.data(), sums[0].data(), 2, {});
    CHECK(close(sums[0], std::vector<double>(data.d, 0.0)));
}

static void test_fingerprints() {
    const Both data(300, 9);
    std::vector<std::uint64_t> dense(300), csr(300);
    hash_rows(data.as_dense(), dense.data(), 2, {});
    hash_rows(data.as_csr(), csr.data(), 1, {});
    CHECK(dense == csr);
    CHECK(rows_equal(data.as_csr(), 4, 4) && !rows_equal(data.as_csr(), 4, 5));
}

static void test_descent() {
    const Both data(400, 9);
    const std::size_t n = data.n;
    std::vector<double> y(n), wanted(n, 1.0), upper(n, 2.0), ridge(n, 0.0), sqnorm(n), a(n), w(data.d),
        bias(1), violation{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    std::vector<std::int64_t> order(n), n_active{std::int64_t(n)};
    for (std::size_t i = 0; i < n; ++i) {
        order[i] = std::int64_t(i);
        y[i] = data.dense[std::size_t(data.index[i]) * data.d] + 0.3 > 0 ? 1.0 : -1.0;
    }
    rows_sqnorm(data.as_csr(), data.index.data(), n, sqnorm.data(), 2, {});
    const DualProblem problem{data.index.data(), y.data(), wanted.data(), upper.data(), ridge.data(),
                              sqnorm.data(),     1.0};
    for (std::uint64_t epoch = 0; epoch < 3000; ++epoch) {
        if (epoch % 20 == 0) {  // everybody again
            for (std::size_t i = 0; i < n; ++i) order[i] = std::int64_t(i);
            n_active[0] = std::int64_t(n);
        }
        dual_cd_epoch(data.as_csr(), problem,
                      {a.data(), w.data(), bias.data(), order.data(), n_active.data(), violation.data()},
                      Rng(3, epoch), [] {});
    }
    double norm = bias[0] * bias[0], dual = 0.0, primal = 0.0;
    for (double x : w) norm += x * x;
    for (std::size_t i = 0; i < n; ++i) {
        CHECK(a[i] >= 0.0 && a[i] <= 2.0);
        dual += a[i];
        const double score = data.as_csr().dot(std::size_t(data.index[i]), w.data()) + bias[0];
        primal += 2.0 * std::max(0.0, 1.0 - y[i] * score);
    }
    primal += 0.5 * norm, dual -= 0.5 * norm;
    CHECK(dual <= primal * (1 + 1e-12) && primal - dual <= 1e-4 * primal);
}

static void test_round() {
    const std::vector<double> y{1, 1, -1}, cost{1, 2, 3}, anchor{0, 0.5, 0.1}, scores{0.3, 2.0, -0.4};
    const HingeRound round{y.data(), cost.data(), anchor.data(), 5.0, true, 3};
    const double b = best_intercept(round, scores.data(), 100.0);
    double balance = 0.0;
    for (std::size_t i = 0; i < 3; ++i)
        balance += cost[i] * y[i] * std::clamp(anchor[i] + 5.0 * (1.0 - y[i] * (scores[i] + b)), 0.0, 1.0);
    CHECK(std::abs(balance) < 1e-12);
}

static void test_lasso() {
    const std::vector<double> G{2.0, 1.0, 0.5, 1.0, 2.0, 0.0, 0.5, 0.0, 0.0}, q{5.0, 0.5, 3.0};
    std::vector<double> w(3), gradient = q;
    w[2] = 1.0;  // of a feature without curvature, which goes to 0
    for (std::size_t i = 0; i < 3; ++i) gradient[i] -= G[i * 3 + 2];
    CHECK(lasso_epochs(G.data(), 3, w.data(), gradient.data(), 1000, 1e-30, [] {}) <= 1e-30);
    CHECK(w[0] > 0.0 && w[2] == 0.0);
    for (std::size_t i = 0; i < 2; ++i) {
        double slope = q[i];
        for (std::size_t j = 0; j < 3; ++j) slope -= G[i * 3 + j] * w[j];
        CHECK(std::abs(slope - gradient[i]) < 1e-12);
        CHECK(w[i] == 0.0 ? std::abs(slope) <= 1.0 + 1e-12
                          : std::abs(slope - std::copysign(1.0, w[i])) < 1e-9);
    }
}

void test_linear() {
    blas().ssyrk = naive_syrk<float>, blas().dsyrk = naive_syrk<double>;
    test_products();
    test_fingerprints();
    test_descent();
    test_round();
    test_lasso();
}
