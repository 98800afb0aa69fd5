// Rounds on the active samples of a kernel SVM: smo.hpp has the problem, methods/kernel_svm/working_set.py
// the whole method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "maxmargin/core/threads.hpp"
#include "maxmargin/kernels/stored_rows.hpp"
#include "maxmargin/solvers/svm_gap.hpp"

namespace maxmargin {

struct RoundRules {
    std::size_t block, largest_block;
    double free_share;  // share of a block that free samples may fill
    std::size_t n_rounds;
    double inner;   // violation left in a block, relative to that of all samples
    double target;  // relative gap to reach
    double tiny;    // what counts as zero in it
    double seconds;
};

// The kernel rows of the samples, and room for the kernel matrix of the largest block.
template <class T>
struct WorkingRows {
    StoredRows<const T> rows;
    std::function<std::vector<std::int64_t>(const std::vector<std::int64_t>& block)> fetch;  // their slots
    T* block_memory;
};

struct RoundsEnd {
    std::size_t n_rounds;
    double dual;
    double moved;  // length of the path that f has taken
    bool stalled;
    std::size_t asked;  // rows, those of every block
};

// Up to n_rounds rounds, until the gap is at most `target` of the dual value, from coefficients whose dual
// value is `dual`. Compiled once, for float and double, in working_set.cpp.
template <class T>
RoundsEnd rounds(const Samples& samples, const WorkingRows<T>& working, const RoundRules& rules, double dual,
                 int n_threads, const Poll& poll);

extern template RoundsEnd rounds(const Samples&, const WorkingRows<float>&, const RoundRules&, double, int,
                                 const Poll&);
extern template RoundsEnd rounds(const Samples&, const WorkingRows<double>&, const RoundRules&, double, int,
                                 const Poll&);

}  // namespace maxmargin
