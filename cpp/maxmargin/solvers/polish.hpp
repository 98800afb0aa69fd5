// Small kernel SVMs to machine precision: the primal active-set method of methods/kernel_svm/polish.py, in
// the same order, for faces that have one optimum. Flat faces are left to that one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "maxmargin/solvers/svm_gap.hpp"

namespace maxmargin {

// The kernel rows of n samples: row i is at values[i * n] once fetch({i}) has been called.
template <class T>
struct FaceRows {
    const T* values;
    std::function<void(const std::vector<std::int64_t>& which)> fetch;
};

// Replaces coefficients and gradients by those of the optimum, or of the best point before late(). Returns
// false and changes nothing if a face is singular or no better point is found.
bool polish(const Samples& samples, const FaceRows<float>& rows, const std::function<bool()>& late);
bool polish(const Samples& samples, const FaceRows<double>& rows, const std::function<bool()>& late);

}  // namespace maxmargin
