// Small kernel SVMs over one stored kernel matrix, each for several costs, in one call: the columns of all
// folds of a grid search. small_column.hpp solves one of them, methods/kernel_svm/path.py has the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "maxmargin/solvers/small_column.hpp"

namespace maxmargin {

// Column t has the samples starts[t] .. starts[t + 1] - 1; sample s is row index[s] of K.
struct PathData {
    const double* K;  // n x n
    std::size_t n;
    std::span<const std::int64_t> index, starts;
    const double *y, *cost;           // of each sample
    std::span<const double> factors;  // of the costs, in turn
    bool squared;

    std::size_t n_columns() const { return starts.size() - 1; }
};

// One entry for each column and factor.
struct PathResults {
    double* coef;                       // (samples, factors)
    double *intercept, *gap, *seconds;  // (columns, factors)
    std::int32_t* n_support;            // (columns, factors)
    std::uint8_t* end;                  // (columns, factors): of ColumnEnd; `cut` behind one not solved
};

void solve_paths(const PathData& data, const ColumnRules& rules, const PathResults& results,
                 const volatile std::uint8_t* cancel, int n_threads, const Poll& poll);

}  // namespace maxmargin
