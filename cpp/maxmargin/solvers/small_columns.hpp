// All columns of a code as small linear SVMs, side by side: the rows of each are copied into place and
// solved.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "maxmargin/core/rows.hpp"
#include "maxmargin/core/threads.hpp"
#include "maxmargin/solvers/small_newton.hpp"

namespace maxmargin {

// The samples of all columns, and for each column where its samples start in the arrays of the state.
struct SmallSet {
    const std::int64_t *index, *labels;  // sample i is row index[i] of X and has class labels[i]
    const double* cost;
    std::size_t n;
    const std::int8_t* code;  // (n_classes, n_columns): the targets of a class; 0 leaves it out
    std::size_t n_columns;
    const std::int64_t* starts;
    bool hinge, free_intercept, penalised;
};

// A state for each column: w and b (n_columns, n_features + 1), numbers (n_columns, 5): sharpness, best dual
// bound, steps, 1 if it has started (2 if b is in the middle), and tiny; anchors and dual shares of the
// samples of all columns.
struct SmallStates {
    double *coef, *numbers, *anchor, *dual_share;
};

// What each column reports: an end, the number of checks, and the checks (n_columns, max_checks, 5): step,
// primal, dual, seconds, support vectors.
struct SmallReports {
    std::int64_t *ends, *n_checks;
    double* checks;
    std::size_t max_checks;
};

// The samples in double, with a feature of value 1 where the intercept is penalised.
template <class Rows>
std::vector<double> small_rows(const Rows& X, const SmallSet& set) {
    const std::size_t width = X.n_cols + std::size_t(set.penalised);
    std::vector<double> out(set.n * width, 0.0);
    for (std::size_t i = 0; i < set.n; ++i) {
        double* x = out.data() + i * width;
        X.for_each(std::size_t(set.index[i]), [&](std::size_t k, auto value) { x[k] = double(value); });
        if (set.penalised) x[X.n_cols] = 1.0;
    }
    return out;
}

inline void solve_small_column(const std::vector<double>& rows, std::size_t d, const SmallSet& set,
                               const SmallStates& states, const SmallReports& reports,
                               const SmallRules& rules, std::size_t column) {
    const std::size_t width = d + std::size_t(set.penalised), start = std::size_t(set.starts[column]);
    std::vector<double> X, y, cost;
    for (std::size_t i = 0; i < set.n; ++i) {
        const std::int8_t target = set.code[std::size_t(set.labels[i]) * set.n_columns + column];
        if (target == 0) continue;
        y.push_back(target);
        cost.push_back(set.cost[i]);
    }
    const bool all = y.size() == set.n;
    if (!all) X.reserve(y.size() * width);
    for (std::size_t i = 0; !all && i < set.n; ++i)
        if (set.code[std::size_t(set.labels[i]) * set.n_columns + column] != 0)
            X.insert(X.end(), rows.begin() + i * width, rows.begin() + (i + 1) * width);
    double *coef = states.coef + column * (d + 1), *numbers = states.numbers + column * 5;
    std::vector<double> w(coef, coef + width);
    const bool counted = numbers[2] >= 0.0 && numbers[2] < 1e15;
    SmallState state{w.data(),
                     states.anchor + start,
                     states.dual_share + start,
                     coef[d],
                     numbers[0],
                     numbers[1],
                     0.0,
                     counted ? std::size_t(numbers[2]) : 0,
                     numbers[3] != 0.0,
                     numbers[3] == 2.0};
    if (set.penalised) state.b = 0.0;
    std::vector<SmallCheck> checks;
    const SmallProblem problem{
        all ? rows.data() : X.data(), y.data(), cost.data(), y.size(), width, set.hinge, set.free_intercept};
    const SmallEnd end = small_newton(problem, state, rules, checks);
    std::copy(w.begin(), w.begin() + d, coef);
    coef[d] = set.penalised ? w[d] : state.b;
    numbers[0] = state.sharpness, numbers[1] = state.best_dual;
    numbers[2] = double(state.n_iter), numbers[3] = state.in_middle ? 2.0 : 1.0;
    numbers[4] = state.tiny;
    reports.ends[column] = std::int64_t(end);
    const std::size_t shown = std::min(checks.size(), reports.max_checks);
    reports.n_checks[column] = std::int64_t(shown);
    for (std::size_t c = 0; c < shown; ++c) {
        const SmallCheck& check = checks[checks.size() - shown + c];
        double* out = reports.checks + (column * reports.max_checks + c) * 5;
        out[0] = double(check.n_iter), out[1] = check.primal, out[2] = check.dual;
        out[3] = check.seconds, out[4] = double(check.n_support);
    }
}

template <class Rows>
void small_columns(const Rows& X, const SmallSet& set, const SmallStates& states, const SmallReports& reports,
                   const SmallRules& rules, int n_threads, const Poll& poll) {
    const std::vector<double> rows = small_rows(X, set);
    Pool::instance().run(
        set.n_columns, n_threads,
        [&](std::size_t column) { solve_small_column(rows, X.n_cols, set, states, reports, rules, column); },
        poll);
}

}  // namespace maxmargin
