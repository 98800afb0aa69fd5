// Steps in the coefficients of a budgeted kernel classifier (Algorithms 1 and 2 of Blondel, Seki, Uehara).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "maxmargin/core/rows.hpp"
#include "maxmargin/core/threads.hpp"

namespace maxmargin {

// The coefficients of one column, kept as scale times v, and the number t of its next update.
struct ScaledCoef {
    double* v;
    std::size_t capacity;  // entries of v; those beyond the support vectors are 0
    double& scale;
    std::int64_t& t;

    // a = (1 - 1/t) a, which is 1 - eta alpha, in time that does not depend on the size of a; t moves on. The
    // factor is exactly 0 at t = 1. The scale returns into v long before it could underflow, or v overflow.
    void shrink() {
        constexpr double MIN_SCALE = 1e-6;
        scale *= double(t - 1) / double(t);
        ++t;
        if (scale >= MIN_SCALE) return;
        for (std::size_t j = 0; j < capacity; ++j) v[j] *= scale;
        scale = 1.0;
    }
};

// A step in which support vector j joins, a = (1 - eta alpha) a, a_j = eta u; none where y = 0.
inline void add_support(std::size_t j, double y, double u, double alpha, ScaledCoef coef) {
    if (y == 0.0) return;
    const double eta = 1.0 / (alpha * double(coef.t));
    coef.shrink();
    coef.v[j] = eta * u / coef.scale;
}

// One step of column c for each drawn sample r that takes part in it (y_rc is not 0), in order:
//
//   f = sum_j a_j K_rj;   u = -y loss'(y f);   eta = 1 / (alpha t)
//   a = (1 - eta alpha) a + eta u K_r;   t = t + 1
//
// In:   K (n_drawn, n_support), kernel values of the samples against the support vectors; targets y in
//       {-1, 0, +1}, (n_drawn, n_columns), of which this is one column
// Out:  coef, updated in place
template <class Loss, class T>
void back_fit(const DenseRows<T>& K, const double* y, std::size_t n_columns, double alpha, ScaledCoef coef,
              const Poll& poll) {
    for (std::size_t r = 0; r < K.n_rows; ++r) {
        const double target = y[r * n_columns];
        if (target == 0.0) continue;
        const double f = coef.scale * K.dot(r, coef.v), u = -target * Loss::slope(target * f);
        const double eta = 1.0 / (alpha * double(coef.t));
        coef.shrink();
        if (u != 0.0) K.add_to(r, eta * u / coef.scale, coef.v);
        poll();
    }
}

}  // namespace maxmargin
