// Steps of a budgeted classifier: the first forgets, the scale folds, columns are kept apart, a poll can
// stop.
#include <cmath>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "maxmargin/solvers/backfit.hpp"
#include "maxmargin/solvers/losses.hpp"

using namespace maxmargin;

namespace {

constexpr std::size_t N_SUPPORT = 5, CAPACITY = 8, N_DRAWN = 7, N_COLUMNS = 2;
const double ALPHA = 0.5;

double kernel_value(std::size_t r, std::size_t j) { return 1.0 / (1.0 + double(r * 3 + j)); }
double target(std::size_t r, std::size_t c) { return r % 3 == c ? 0.0 : r % 2 ? 1.0 : -1.0; }

template <class T>
void test_against_the_formula(double scale, std::int64_t t) {
    std::vector<T> K;
    std::vector<double> y, a(CAPACITY), expected(CAPACITY);
    for (std::size_t r = 0; r < N_DRAWN; ++r) {
        for (std::size_t j = 0; j < N_SUPPORT; ++j) K.push_back(T(kernel_value(r, j)));
        for (std::size_t c = 0; c < N_COLUMNS; ++c) y.push_back(target(r, c));
    }
    for (std::size_t j = 0; j < N_SUPPORT; ++j)
        expected[j] = double(j) - 2.0, a[j] = expected[j] / scale;  // the coefficients are scale * a
    std::int64_t steps = t;
    for (std::size_t r = 0; r < N_DRAWN; ++r) {
        if (target(r, 1) == 0.0) continue;
        double f = 0.0;
        for (std::size_t j = 0; j < N_SUPPORT; ++j) f += expected[j] * double(K[r * N_SUPPORT + j]);
        const double u = -target(r, 1) * Squared::slope(target(r, 1) * f);
        for (std::size_t j = 0; j < N_SUPPORT; ++j)
            expected[j] = (1.0 - 1.0 / double(steps)) * expected[j] +
                          u / (ALPHA * double(steps)) * double(K[r * N_SUPPORT + j]);
        ++steps;
    }
    const DenseRows<T> rows{K.data(), N_DRAWN, N_SUPPORT};
    back_fit<Squared>(rows, y.data() + 1, N_COLUMNS, ALPHA, {a.data(), CAPACITY, scale, t}, [] {});
    CHECK(t == steps);
    CHECK(scale >= 1e-6);
    for (std::size_t j = 0; j < CAPACITY; ++j)
        CHECK(std::abs(scale * a[j] - expected[j]) <= 1e-9 * (1.0 + std::abs(expected[j])));
}

void test_joining() {
    std::vector<double> a{4.0, 2.0, 0.0};
    double scale = 0.5;
    std::int64_t t = 4;
    add_support(2, 1.0, -1.0, ALPHA, {a.data(), 3, scale, t});
    CHECK(t == 5 && scale * a[0] == 1.5 && scale * a[1] == 0.75 && scale * a[2] == -0.5);
    add_support(2, 0.0, 0.0, ALPHA, {a.data(), 3, scale, t});
    CHECK(t == 5 && scale * a[0] == 1.5);
    t = 1;
    add_support(1, 1.0, 1.0, ALPHA, {a.data(), 3, scale, t});
    CHECK(t == 2 && scale == 1.0 && a[0] == 0.0 && a[1] == 2.0 && a[2] == 0.0);
}

void test_a_poll_stops() {
    const std::vector<double> K(4, 1.0), y(4, 1.0);
    double a = 0.0, scale = 1.0;
    std::int64_t t = 1;
    bool stopped = false;
    try {
        back_fit<Hinge>(DenseRows<double>{K.data(), 4, 1}, y.data(), 1, ALPHA, {&a, 1, scale, t},
                        [] { throw std::runtime_error("stop"); });
    } catch (const std::runtime_error&) {
        stopped = true;
    }
    CHECK(stopped && t == 2);
}

}  // namespace

void test_backfit() {
    for (const double scale : {1.0, 1.1e-6})
        for (const std::int64_t t : {1, 2, 1000}) {
            test_against_the_formula<float>(scale, t);
            test_against_the_formula<double>(scale, t);
        }
    test_joining();
    test_a_poll_stops();
}
