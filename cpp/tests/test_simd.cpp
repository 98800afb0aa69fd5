// The loops against libm, at every length up to a few vectors: the tails are where they read too far.
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "maxmargin/core/simd.hpp"

using namespace maxmargin;

template <class T>
static void test_maps(double tolerance) {
    const SimdOps<T>& ops = simd().of<T>();
    for (std::size_t n = 0; n < 70; ++n) {
        std::vector<T> x(n), e(n), t(n), p(n);
        for (std::size_t k = 0; k < n; ++k) x[k] = t[k] = p[k] = T(0.7) * T(k) - T(20);
        ops.exp(x.data(), e.data(), n);
        ops.tanh(t.data(), 0.1, 0.2, n);
        ops.power(p.data(), 0.5, 1.0, 3.0, n);
        for (std::size_t k = 0; k < n; ++k) {
            CHECK(std::abs(double(e[k]) / std::exp(double(x[k])) - 1.0) < tolerance);
            CHECK(std::abs(double(t[k]) - std::tanh(0.1 * double(x[k]) + 0.2)) < tolerance);
            CHECK(std::abs(double(p[k]) - std::pow(0.5 * double(x[k]) + 1.0, 3.0)) < tolerance * 2000.0);
        }
    }
    T squares[] = {T(4), T(-1), T(0), T(2)};  // -1 marks what is to be recomputed
    ops.root(squares, 4);
    CHECK(squares[0] == T(2) && squares[1] == T(-1) && squares[2] == T(0) && squares[3] == std::sqrt(T(2)));
    const T odd[] = {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(), T(-1e30),
                     T(1e30)};
    T out[4];
    ops.exp(odd, out, 4);
    CHECK(std::isnan(out[0]) && std::isinf(out[1]) && out[2] == T(0) && std::isinf(out[3]));
}

template <class T>
static void test_sums() {
    const SimdOps<T>& ops = simd().of<T>();
    for (std::size_t n = 0; n < 70; ++n) {
        std::vector<T> x(n), z(n);
        double squares = 0.0, l1 = 0.0;
        for (std::size_t k = 0; k < n; ++k) {
            x[k] = T(k % 7), z[k] = T(k % 5);
            squares += double(x[k] - z[k]) * double(x[k] - z[k]);
            l1 += std::abs(double(x[k] - z[k]));
        }
        CHECK(ops.sqdist(x.data(), z.data(), n) == squares);
        CHECK(ops.l1dist(x.data(), z.data(), n) == l1);
        CHECK(ops.sqdist(x.data(), x.data(), n) == 0.0);
    }
}

// Sums over short rows are the tree over all 16 lanes, of which those beyond the row are 0: bit for bit.
template <class T>
static void test_short_sums() {
    const SimdOps<T>& ops = simd().of<T>();
    for (std::size_t n = 0; n < 24; ++n)
        for (unsigned draw = 0; draw < 64; ++draw) {
            std::vector<T> x(n), z(n, T(0));
            double lanes[16] = {};
            for (std::size_t k = 0; k < n; ++k) {
                const unsigned some = (draw + 1) * 2654435761u * unsigned(k + 1);
                x[k] = T(double(some % 9973) / 7.0) * T(some % 3 ? 1 : 1e9) * T(draw % 5 ? 1 : 0);
                lanes[k % 16] += double(x[k]);
            }
            for (std::size_t half = 8; half > 0; half /= 2)
                for (std::size_t k = 0; k < half; ++k) lanes[k] += lanes[k + half];
            const double sum = ops.l1dist(x.data(), z.data(), n);
            CHECK(std::bit_cast<std::uint64_t>(sum) == std::bit_cast<std::uint64_t>(lanes[0]));
        }
}

void test_simd() {
    test_short_sums<float>();
    test_short_sums<double>();
    test_maps<float>(1e-6);
    test_maps<double>(1e-14);
    test_sums<float>();
    test_sums<double>();
}
