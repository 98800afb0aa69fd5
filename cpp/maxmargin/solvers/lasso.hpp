// Coordinate descent for the lasso on the products of its features.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "maxmargin/core/threads.hpp"

namespace maxmargin {

// Up to n_epochs epochs of coordinate descent for
//
//   min_w  ||w||_1 + 1/2 w'Gw - q'w
//
// In:   G (k, k) symmetric, no entry of its diagonal negative; w; gradient = q - Gw
// Out:  w and gradient, updated in place. A coordinate's zero is exact. Ends early once no coordinate moves
//       the quadratic by more than `still`, and returns the largest such move of the last epoch.
inline double lasso_epochs(const double* G, std::size_t k, double* w, double* gradient, std::size_t n_epochs,
                           double still, const Poll& poll) {
    const std::size_t poll_every = 1 + (std::size_t(1) << 20) / std::max<std::size_t>(k, 1);
    double largest = 0.0;
    for (std::size_t epoch = 0; epoch < n_epochs; ++epoch) {
        largest = 0.0;
        for (std::size_t j = 0; j < k; ++j) {
            if (j % poll_every == 0) poll();
            const double* row = G + j * k;
            const double curvature = row[j], old = w[j];
            double now = 0.0;
            if (curvature > 0.0) {
                const double pull = gradient[j] + curvature * old;
                now = std::copysign(std::max(std::abs(pull) - 1.0, 0.0), pull) / curvature;
            }
            const double moved = now - old;
            if (moved == 0.0) continue;
            w[j] = now == 0.0 ? 0.0 : now;
            for (std::size_t i = 0; i < k; ++i) gradient[i] -= moved * row[i];
            largest = std::max(largest, curvature * moved * moved);
        }
        if (largest <= still) break;
    }
    return largest;
}

}  // namespace maxmargin
