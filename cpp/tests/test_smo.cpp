// The loops of the working-set solver at every length up to a few vectors, against plain ones.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "maxmargin/kernels/stored_rows.hpp"
#include "maxmargin/solvers/smo.hpp"

using namespace maxmargin;

namespace {

double point(std::size_t i) { return std::sin(1.7 * double(i) + 0.3); }
double target(std::size_t i) { return (i * 7) % 3 == 0 ? 1.0 : -1.0; }

template <class T>
std::vector<T> kernel(std::size_t n, double ridge) {
    std::vector<T> K(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            K[i * n + j] = T(std::exp(-std::pow(point(i) - point(j), 2)) + (i == j ? ridge : 0.0));
    return K;
}

// The gradient belongs to the coefficients, these are in their box and have their sum, and no pair is left.
template <class T>
void test_a_block_is_optimal(std::size_t n, double C, double ridge) {
    const std::vector<T> K = kernel<T>(n, ridge);
    std::vector<double> a(n), g(n), lower(n), upper(n);
    for (std::size_t i = 0; i < n; ++i)
        g[i] = target(i), (target(i) > 0.0 ? upper : lower)[i] = C * target(i);
    const SmoEnd end =
        smo_block<T>({K.data(), n, a.data(), g.data(), lower.data(), upper.data()}, 1e-4, 100'000, [] {});
    double sum = 0.0, most = -1e300, least = 1e300;
    for (std::size_t i = 0; i < n; ++i) {
        double f = 0.0;
        for (std::size_t j = 0; j < n; ++j) f += a[j] * double(K[i * n + j]);
        CHECK(std::abs(g[i] - (target(i) - f)) <= 1e-9);
        CHECK(lower[i] <= a[i] && a[i] <= upper[i]);
        sum += a[i];
        if (a[i] < upper[i]) most = std::max(most, g[i]);
        if (a[i] > lower[i]) least = std::min(least, g[i]);
    }
    CHECK(std::abs(sum) <= 1e-11 * C * double(n));
    CHECK(end.stalled || most - least <= 1e-4 * (1.0 + 1e-6));
    CHECK(end.steps < 100'000);
}

// With a kink: no pair is left whose slopes differ, and the gradient belongs to the coefficients.
template <class T>
void test_a_block_with_a_kink_is_optimal(std::size_t n, double C, double kink) {
    const std::vector<T> K = kernel<T>(n, 0.0);
    std::vector<double> a(n), g(n), lower(n, -C), upper(n, C);
    for (std::size_t i = 0; i < n; ++i) g[i] = 2.0 * point(3 * i);
    const SmoBlock<T> block{K.data(), n, a.data(), g.data(), lower.data(), upper.data(), kink};
    const SmoEnd end = smo_block<T>(block, 1e-4, 100'000, [] {});
    double sum = 0.0, most = -1e300, least = 1e300;
    std::size_t n_zero = 0;
    for (std::size_t i = 0; i < n; ++i) {
        double f = 0.0;
        for (std::size_t j = 0; j < n; ++j) f += a[j] * double(K[i * n + j]);
        CHECK(std::abs(g[i] - (2.0 * point(3 * i) - f)) <= 1e-9);
        CHECK(lower[i] <= a[i] && a[i] <= upper[i]);
        CHECK(block.is_free(i) == (std::abs(a[i]) < C && a[i] != 0.0));
        sum += a[i], n_zero += a[i] == 0.0;
        if (a[i] < upper[i]) most = std::max(most, g[i] + (a[i] < 0.0 ? kink : -kink));
        if (a[i] > lower[i]) least = std::min(least, g[i] + (a[i] > 0.0 ? -kink : kink));
    }
    CHECK(std::abs(sum) <= 1e-11 * C * double(n));
    CHECK(end.stalled || most - least <= 1e-4 * (1.0 + 1e-6));
    CHECK(kink < 2.0 || n_zero == n);  // no two targets differ by more than twice the kink
}

// The first pair: the largest g, wherever it is, and the partner that gains most.
template <class T>
void test_the_first_pair(std::size_t n, std::size_t up, std::size_t down) {
    std::vector<T> K(n * n);
    for (std::size_t i = 0; i < n; ++i) K[i * n + i] = T(1);
    std::vector<double> a(n), g(n), lower(n, -1.0), upper(n, 1.0);
    g[up] = 0.5, g[down] = -0.25;
    const SmoEnd end =
        smo_block<T>({K.data(), n, a.data(), g.data(), lower.data(), upper.data()}, 1e-9, 1, [] {});
    CHECK(end.steps == 1);
    for (std::size_t i = 0; i < n; ++i) CHECK(a[i] == (i == up ? 0.375 : i == down ? -0.375 : 0.0));
    CHECK(std::abs(g[up] - 0.125) < 1e-15 && std::abs(g[down] - 0.125) < 1e-15);
}

template <class T>
void test_rows(std::size_t n) {
    const std::size_t stride = n + 3, n_rows = 37;
    std::vector<T> rows(n_rows * stride), block(n * n);
    for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = T(point(k));
    std::vector<std::int64_t> which(n), columns(n);
    std::vector<double> change(n), g(n, 1.0), expected(n, 1.0);
    for (std::size_t r = 0; r < n; ++r)
        which[r] = std::int64_t((5 * r) % n_rows), columns[r] = std::int64_t(r + 1), change[r] = point(r + 9);
    const StoredRows<const T> stored{rows.data(), stride};
    gather_rows<T>(stored, which, columns, {block.data(), n}, nullptr, 2, [] {});
    subtract_rows<T>(stored, which, change.data(), g, 2, [] {});
    for (std::size_t r = 0; r < n; ++r)
        for (std::size_t s = 0; s < n; ++s) {
            CHECK(block[r * n + s] == rows[std::size_t(which[r]) * stride + s + 1]);
            expected[s] -= change[r] * double(rows[std::size_t(which[r]) * stride + s]);
        }
    for (std::size_t s = 0; s < n; ++s) CHECK(std::abs(g[s] - expected[s]) < 1e-13);
    std::vector<std::int64_t> every(n_rows), counts(n_rows), kept;
    for (std::size_t k = 0; k < stride; k += 2) kept.push_back(std::int64_t(k));
    for (std::size_t r = 0; r < n_rows; ++r)
        every[r] = std::int64_t(r), counts[r] = std::int64_t(r % (kept.size() + 1));
    std::vector<T> before = rows;
    compact_rows<T>({rows.data(), stride}, every, counts.data(), kept.data(), 2, [] {});
    for (std::size_t r = 0; r < n_rows; ++r)
        for (std::size_t k = 0; k < std::size_t(counts[r]); ++k)
            CHECK(rows[r * stride + k] == before[r * stride + 2 * k]);
}

template <class T>
void test_all() {
    for (std::size_t n = 1; n <= 40; ++n) {
        for (const double C : {0.01, 1.0, 50.0}) {
            test_a_block_is_optimal<T>(n, C, 0.0);
            test_a_block_is_optimal<T>(n, C, 0.5);
            test_a_block_with_a_kink_is_optimal<T>(n, C, 0.1);
            test_a_block_with_a_kink_is_optimal<T>(n, C, 2.0);
        }
        for (std::size_t up = 0; up < n; ++up)
            if (n > 1)
                test_the_first_pair<T>(n, up,
                                       (up + 1 + n / 2) % n == up ? (up + 1) % n : (up + 1 + n / 2) % n);
        test_rows<T>(n);
    }
}

}  // namespace

void test_smo() {
    test_all<float>();
    test_all<double>();
}
