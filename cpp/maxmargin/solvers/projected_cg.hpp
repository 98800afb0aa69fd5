// Conjugate gradients on the free samples of a block, for blocks on which pairs are too slow: smo.hpp has the
// problem. Each step maximises the objective over the free samples, ignoring their bounds, projects the
// result onto the bounds, and goes along the line to it as far as the objective grows (Moré and Toraldo, SIAM
// J. Optimization 1991, with one equality constraint).
#pragma once

#include <cstddef>
#include <functional>

namespace maxmargin {

// In:   a within its bounds, g its gradient
// Out:  a with the same sum, g its gradient
struct BoxedBlock {
    std::size_t n;
    double *a, *g;
    const double *lower, *upper;
    std::function<void(const double* x, double* out)> product;  // (K + R) x
};

struct CgRules {
    double tolerance;          // largest violation left
    std::size_t max_products;  // of the matrix with a vector
    std::function<bool()> late;
};

struct CgEnd {
    std::size_t n_products;
    double violation;
    bool stalled;  // no step increased the objective
};

CgEnd projected_cg(const BoxedBlock& block, const CgRules& rules);

}  // namespace maxmargin
