// Online kernel methods: the kernel perceptron, with and without a budget, and kernel Pegasos.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "maxmargin/core/rng.hpp"
#include "maxmargin/core/threads.hpp"

namespace maxmargin {

// The next n samples of a stream. Kernel values are known between them and n_columns points: all that may
// leave the support set, then the samples themselves in their order.
template <class T>
struct OnlineBlock {
    const T* K;  // (n, n_columns)
    std::size_t n, n_columns;
    const std::int64_t* pool;  // (n): where in the pool of all points the samples are
    const double* targets;     // (n, n_targets): y, entries -1, 0, +1
    const double* weight;      // (n)
    double* outputs;           // (n, n_targets): without a budget, g before the first sample
    std::size_t n_targets;
};

struct OnlineRule {
    double alpha;             // f = g / (alpha time); 0: f = g
    std::size_t budget;       // 0: none
    std::uint64_t seed;       // for drawing the support vector to remove
    std::int64_t* column_of;  // (budget): a support vector's column of K
};

// The model g_t(x) = sum_j coef[j][t] k(x, x_j) over a pool of points, and what was met on the way.
struct OnlineModel {
    double* coef;             // (n_pool, n_targets)
    double *time, *sqnorm;    // (n_targets): weight of the samples met, ever; ||g_t||^2 where no one leaves
    double *suffered, *seen;  // (n_targets): losses before the updates, and weights, since they were set to 0
    std::int64_t* slots;      // (budget): the pool numbers of the support vectors
    std::int64_t* n_support;  // of the slots, so many are taken
    std::int64_t* n_updates;  // samples that changed the model, ever: the counter of the random numbers
};

// After an update of sample i: what it adds to the outputs of those that follow.
template <class T>
void add_to_outputs(const OnlineBlock<T>& block, std::size_t i, const double* change) {
    const std::size_t column = block.n_columns - block.n + i;
    for (std::size_t later = i + 1; later < block.n; ++later) {
        const double k = double(block.K[later * block.n_columns + column]);
        double* g = block.outputs + later * block.n_targets;
        for (std::size_t t = 0; t < block.n_targets; ++t) g[t] += k * change[t];
    }
}

// With a budget, outputs are summed afresh: nothing of removed support vectors may remain, not even
// a rounding error, or an output that is 0 could seem to have a sign.
template <class T>
void sum_outputs(const OnlineBlock<T>& block, const OnlineRule& rule, OnlineModel model, std::size_t i) {
    double* g = block.outputs + i * block.n_targets;
    std::fill_n(g, block.n_targets, 0.0);
    for (std::size_t slot = 0; slot < std::size_t(*model.n_support); ++slot) {
        const double k = double(block.K[i * block.n_columns + std::size_t(rule.column_of[slot])]);
        const double* coef = model.coef + std::size_t(model.slots[slot]) * block.n_targets;
        for (std::size_t t = 0; t < block.n_targets; ++t) g[t] += k * coef[t];
    }
}

// Sample i takes a slot: a free one, or that of a support vector drawn at random, which leaves the model.
template <class T>
void take_slot(const OnlineBlock<T>& block, const OnlineRule& rule, OnlineModel model, std::size_t i) {
    std::size_t slot = std::size_t(*model.n_support);
    if (slot < rule.budget) {
        ++*model.n_support;
    } else {
        slot = Rng(rule.seed, std::uint64_t(*model.n_updates)).below(rule.budget);
        std::fill_n(model.coef + std::size_t(model.slots[slot]) * block.n_targets, block.n_targets, 0.0);
    }
    model.slots[slot] = block.pool[i];
    rule.column_of[slot] = std::int64_t(block.n_columns - block.n + i);
}

// Sample by sample, and for each target t with y != 0, with w the sample's weight and m = y f_t(x):
//
//   g_t += w u k(x, .),   u = -y slope(m),   time_t += w,   f_t = g_t / (alpha time_t), or g_t if alpha is 0
//
// With alpha > 0 that is f = (1 - eta alpha) f + eta u k(x, .), eta = 1 / (alpha time): Pegasos, its
// shrinking in closed form. A sample whose u is 0 for every target changes nothing but the times.
//
// In:   outputs as above; column_of and slots agree
// Out:  model, outputs and column_of, updated in place
template <class Loss, class T>
void online_block(const OnlineBlock<T>& block, const OnlineRule& rule, OnlineModel model, const Poll& poll) {
    std::vector<double> change(block.n_targets);
    for (std::size_t i = 0; i < block.n; ++i) {
        poll();
        if (rule.budget > 0) sum_outputs(block, rule, model, i);
        const double *g = block.outputs + i * block.n_targets, *target = block.targets + i * block.n_targets;
        const double w = block.weight[i], self = double(block.K[(i + 1) * block.n_columns - block.n + i]);
        double* coef = model.coef + std::size_t(block.pool[i]) * block.n_targets;
        bool updates = false, known = false;
        for (std::size_t t = 0; t < block.n_targets; ++t) {
            known |= coef[t] != 0.0;
            change[t] = 0.0;
            if (target[t] == 0.0) continue;
            const double scale = rule.alpha == 0.0 ? 1.0 : rule.alpha * model.time[t];
            const double m = scale > 0.0 ? target[t] * g[t] / scale : 0.0;
            model.suffered[t] += w * Loss::value(m);
            model.seen[t] += w;
            model.time[t] += w;
            change[t] = -w * target[t] * Loss::slope(m);
            updates |= change[t] != 0.0;
        }
        if (!updates) continue;
        if (rule.budget > 0 && !known) take_slot(block, rule, model, i);
        ++*model.n_updates;
        for (std::size_t t = 0; t < block.n_targets; ++t) {
            model.sqnorm[t] += change[t] * (2.0 * g[t] + change[t] * self);
            coef[t] += change[t];
        }
        if (rule.budget == 0) add_to_outputs(block, i, change.data());
    }
}

}  // namespace maxmargin
