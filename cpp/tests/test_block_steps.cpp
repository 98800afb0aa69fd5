// Steps of many samples at once: projection, Newton steps, conjugate gradients, the packed kernel matrix.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "check.hpp"
#include "maxmargin/core/blas.hpp"
#include "maxmargin/kernels/packed_matrix.hpp"
#include "maxmargin/solvers/boxed_sum.hpp"
#include "maxmargin/solvers/extrapolation.hpp"
#include "maxmargin/solvers/face_newton.hpp"
#include "maxmargin/solvers/projected_cg.hpp"
#include "maxmargin/solvers/smo.hpp"
#include "naive_cholesky.hpp"

using namespace maxmargin;

namespace {

using Vector = std::vector<double>;

double point(std::size_t i) { return 3.0 * std::sin(1.7 * double(i) + 0.3); }
double target(std::size_t i) { return (i * 7) % 3 == 0 ? 1.0 : -1.0; }

template <class T>
std::vector<T> kernel(std::size_t n, double gamma) {
    std::vector<T> K(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            K[i * n + j] = T(std::exp(-gamma * std::pow(point(i) - point(j), 2)));
    return K;
}

// A block that starts at a tenth of the way from 0 to some bounds, all samples free.
template <class T>
struct Start {
    std::size_t n;
    std::vector<T> K;
    Vector a, g, lower, upper;

    Start(std::size_t n_samples, double C, double gamma) : n(n_samples), K(kernel<T>(n, gamma)), a(n), g(n) {
        lower.assign(n, -C), upper.assign(n, C);
        for (std::size_t i = 0; i + 1 < n; i += 2) a[i] = 0.1 * C, a[i + 1] = -0.1 * C;
        for (std::size_t i = 0; i < n; ++i) g[i] = target(i) - output(i);
    }
    double output(std::size_t i) const {
        double f = 0.0;
        for (std::size_t j = 0; j < n; ++j) f += a[j] * double(K[i * n + j]);
        return f;
    }
    double dual() const {
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) sum += a[i] * (target(i) - 0.5 * output(i));
        return sum;
    }
    SmoBlock<T> block() { return {K.data(), n, a.data(), g.data(), lower.data(), upper.data()}; }

    // The gradient belongs to the coefficients, and these are in their box and have their sum.
    void check(double C) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            CHECK(std::abs(g[i] - (target(i) - output(i))) <= 1e-10 * (1.0 + C * double(n)));
            CHECK(lower[i] <= a[i] && a[i] <= upper[i]);
            sum += a[i];
        }
        CHECK(std::abs(sum) <= 1e-10 * C * double(n));
    }
};

// Without a bound in the way, one step makes all gradients equal.
void test_newton_reaches_the_optimum_of_a_face(std::size_t n) {
    Start<double> start(n, 1e6, 4.0);
    for (std::size_t i = 0; i < n; ++i) start.K[i * n + i] += 0.1;
    for (std::size_t i = 0; i < n; ++i) start.a[i] = 0.0, start.g[i] = target(i);
    const SmoBlock<double> block = start.block();
    FaceNewton<double> newton(block);
    CHECK(newton.choose() == n);
    const double gain = newton.step();
    start.check(1.0);
    const auto [least, most] = std::minmax_element(start.g.begin(), start.g.end());
    CHECK(*most - *least <= 1e-10);
    CHECK(std::abs(gain - start.dual()) <= 1e-10 * double(n));
}

// A step that bounds cut keeps what must hold, and gains what it says.
template <class T>
void test_newton_steps_never_lose(std::size_t n, double C, double gamma) {
    Start<T> start(n, C, gamma);
    const SmoBlock<T> block = start.block();
    FaceNewton<T> newton(block);
    for (int turn = 0; turn < 5; ++turn) {
        const double before = start.dual();
        newton.choose();
        const double gain = newton.step(), after = start.dual();
        CHECK(gain >= 0.0);
        CHECK(std::abs(after - before - gain) <= 1e-9 * (1.0 + std::abs(before) + std::abs(after)));
        start.check(C);
    }
}

// Pairs and Newton steps in turn end at the optimum that pairs alone reach.
void test_newton_steps_between_pairs(std::size_t n, double C) {
    Start<double> alone(n, C, 1.0), mixed(n, C, 1.0);
    smo_block(alone.block(), 1e-9, 10'000'000, [] {});
    const SmoBlock<double> block = mixed.block();
    FaceNewton<double> newton(block);
    std::size_t steps = 0;
    for (int turn = 0; turn < 10'000; ++turn) {
        const SmoEnd end = smo_block(block, 1e-9, n, [] {});
        steps += end.steps;
        if (end.steps < n) break;
        newton.choose(), newton.step();
    }
    mixed.check(C);
    CHECK(std::abs(mixed.dual() - alone.dual()) <= 1e-7 * std::abs(alone.dual()));
}

void test_newton_declines() {
    Start<double> indefinite(6, 10.0, 1.0);
    for (std::size_t i = 0; i < 6; ++i) indefinite.K[i * 6 + i] = -1.0;
    const Vector before = indefinite.a;
    const SmoBlock<double> block = indefinite.block();
    FaceNewton<double> newton(block);
    CHECK(newton.choose() == 6 && newton.step() == 0.0 && indefinite.a == before);
    Start<double> bound(6, 10.0, 1.0);
    for (std::size_t i = 0; i < 6; ++i) bound.lower[i] = bound.upper[i] = bound.a[i];
    const SmoBlock<double> fixed = bound.block();
    FaceNewton<double> nobody(fixed);
    CHECK(nobody.choose() == 0 && nobody.step() == 0.0);
}

// Pairs and leaps in turn end at the optimum that pairs alone reach, with fewer pairs where those creep.
template <class T>
void test_leaps_between_pairs(std::size_t n, double C, double gamma, bool fewer) {
    Start<T> alone(n, C, gamma), mixed(n, C, gamma);
    const std::size_t by_pairs = smo_block(alone.block(), 1e-6, 10'000'000, [] {}).steps;
    const SmoBlock<T> block = mixed.block();
    Extrapolation<T> leaps(block);
    std::size_t steps = 0;
    for (int turn = 0; turn < 100'000; ++turn) {
        const SmoEnd end = smo_block(block, 1e-6, n, [] {});
        steps += end.steps;
        if (end.steps < n) break;
        leaps.after_slice();
    }
    leaps.finish();
    mixed.check(C);
    CHECK(std::abs(mixed.dual() - alone.dual()) <= 1e-5 * std::abs(alone.dual()));
    if (fewer) CHECK(2 * steps < by_pairs);
}

// However the slices end, no point that is kept is worse than the one before the last leap.
void test_leaps_never_lose(std::size_t n, double C, double gamma, std::size_t slice) {
    Start<double> start(n, C, gamma);
    double before = start.dual();
    for (int turn = 0; turn < 20; ++turn) {
        const SmoBlock<double> block = start.block();
        Extrapolation<double> leaps(block);
        for (int part = 0; part <= turn; ++part) smo_block(block, 0.0, slice, [] {}), leaps.after_slice();
        leaps.finish();
        start.check(C);
        const double after = start.dual();
        CHECK(after >= before - 1e-9 * (1.0 + std::abs(before)));
        before = after;
    }
}

// The nearest point has one shift for all samples within their bounds, which those at a bound exceed.
void test_projection_is_the_nearest_point(std::size_t n, double length) {
    Vector a(n), step(n), lower(n, -1.0), upper(n, 2.0), found(n, 7.0);
    std::vector<std::size_t> some;
    double sum = 0.0, projected = 0.0, low = -1e300, high = 1e300;
    for (std::size_t i = 0; i < n; ++i) {
        a[i] = 0.3 * point(i) - 0.05, step[i] = point(5 * i + 2);
        a[i] = std::clamp(a[i], lower[i], upper[i]);
        if (i % 4 != 1) some.push_back(i), sum += a[i];
    }
    BoxedSamples{lower.data(), upper.data(), some}.project(a.data(), length, step.data(), found.data());
    for (const std::size_t i : some) {
        const double shift = a[i] + length * step[i] - found[i];
        projected += found[i];
        CHECK(lower[i] <= found[i] && found[i] <= upper[i]);
        if (found[i] < upper[i]) low = std::max(low, shift);
        if (found[i] > lower[i]) high = std::min(high, shift);
    }
    CHECK(low <= high + 1e-9 * (1.0 + length));
    CHECK(std::abs(projected - sum) <= 1e-10 * double(n));
    for (std::size_t i = 1; i < n; i += 4) CHECK(found[i] == 7.0);
}

// Conjugate gradients and pairs have the same optimum.
void test_conjugate_gradients_agree_with_pairs(std::size_t n, double C) {
    Start<double> pairs(n, C, 1.0), conjugate(n, C, 1.0);
    for (Start<double>* start : {&pairs, &conjugate})
        for (std::size_t i = 0; i < n; ++i) {
            start->K[i * n + i] += 0.05;
            start->g[i] -= 0.05 * start->a[i];
        }
    smo_block(pairs.block(), 1e-9, 10'000'000, [] {});
    const auto product = [&](const double* x, double* out) {
        for (std::size_t i = 0; i < n; ++i)
            out[i] = std::inner_product(x, x + n, conjugate.K.data() + i * n, 0.0);
    };
    const CgEnd end = projected_cg(
        {n, conjugate.a.data(), conjugate.g.data(), conjugate.lower.data(), conjugate.upper.data(), product},
        {1e-7, 100'000, [] { return false; }});
    CHECK(end.violation <= 1e-7 || end.stalled);
    conjugate.check(C);
    CHECK(std::abs(conjugate.dual() - pairs.dual()) <= 1e-6 * (1.0 + std::abs(pairs.dual())));
}

void test_products_of_a_packed_matrix(std::size_t n) {
    const Vector K = kernel<double>(n, 0.3);
    std::vector<std::int16_t> values(PackedMatrix::packed_size(n), std::int16_t(99));
    PackedMatrix packed(values.data(), n, 1.0);
    for (std::size_t first = 0; first < n; first += PackedMatrix::PANEL_ROWS) {
        const std::size_t end = std::min(n, first + PackedMatrix::PANEL_ROWS);
        Vector rows;
        for (std::size_t i = first; i < end; ++i)
            rows.insert(rows.end(), K.begin() + std::ptrdiff_t(i * n),
                        K.begin() + std::ptrdiff_t(i * n + end));
        packed.store(rows.data(), end - first, end, first);
    }
    packed.finish();
    Vector x(n), one(n), four(n);
    double size = 0.0;
    for (std::size_t i = 0; i < n; ++i) x[i] = point(3 * i + 1), size += std::abs(x[i]);
    packed.product(x.data(), one.data(), 1, [] {});
    packed.product(x.data(), four.data(), 4, [] {});
    CHECK(one == four);
    for (std::size_t i = 0; i < n; ++i) {
        const double exact = std::inner_product(x.begin(), x.end(), K.begin() + std::ptrdiff_t(i * n), 0.0);
        CHECK(std::abs(one[i] - exact) <= size * (0.5 / 32767.0 + 1e-6));
    }
}

}  // namespace

void test_block_steps() {
    const Blas before = blas();
    blas().dpotrf = naive_potrf, blas().dpotrs = naive_potrs;
    for (const std::size_t n : {2, 3, 9, 40}) {
        test_newton_reaches_the_optimum_of_a_face(n);
        for (const double C : {0.1, 1.0, 1e4})
            for (const double gamma : {0.01, 1.0, 50.0}) {
                test_newton_steps_never_lose<float>(n, C, gamma);
                test_newton_steps_never_lose<double>(n, C, gamma);
            }
        for (const double C : {0.5, 100.0}) {
            test_newton_steps_between_pairs(n, C);
            test_leaps_between_pairs<float>(n, C, 1.0, false);
            test_leaps_between_pairs<double>(n, C, 1.0, false);
            test_conjugate_gradients_agree_with_pairs(n, C);
        }
        for (const double length : {0.0, 0.01, 1.0, 1e3}) test_projection_is_the_nearest_point(n, length);
    }
    test_newton_declines();
    test_leaps_between_pairs<double>(50, 1e4, 10.0, true);
    for (const std::size_t slice : {1, 7, 50}) test_leaps_never_lose(50, 1e4, 1.0, slice);
    for (const std::size_t n : {1, 255, 256, 257, 700}) test_products_of_a_packed_matrix(n);
    blas() = before;
}
