// LaSVM (Bordes, Ertekin, Weston & Bottou, JMLR 2005): an online SMO that keeps a set of samples, inserts one
// at a time (PROCESS) and drops those that no longer matter (REPROCESS). It works on the dual of the 1-norm
// SVM with a free intercept,
//
//   max_a  sum_i a_i y_i - 1/2 a'Ka   s.t.  sum_i a_i = 0,  lower_i <= a_i <= upper_i,
//   lower_i = min(0, C_i y_i),  upper_i = max(0, C_i y_i),     gradient g_i = y_i - sum_j a_j K_ij.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "maxmargin/core/threads.hpp"

namespace maxmargin {

// The samples held, in slots 0 .. size-1, with all kernel values between them.
template <class T>
struct Held {
    T* K;  // (stride, stride)
    std::size_t stride;
    double *a, *g, *y, *cost;
    std::int64_t* sample;
    std::int64_t* size;
    std::int64_t* n_support;               // those with a != 0
    std::vector<std::size_t> origin = {};  // within a block: where a slot's column of kernel values is

    double lower(std::size_t s) const { return std::min(0.0, cost[s] * y[s]); }
    double upper(std::size_t s) const { return std::max(0.0, cost[s] * y[s]); }
    T* row(std::size_t s) const { return K + s * stride; }
    std::size_t n() const { return std::size_t(*size); }
};

struct Pair {
    std::size_t up = SIZE_MAX, down = SIZE_MAX;  // a can grow at up, where g is largest, and fall at down
};

template <class T>
Pair most_violating(const Held<T>& held) {
    Pair pair;
    for (std::size_t s = 0; s < held.n(); ++s) {
        if (held.a[s] < held.upper(s) && (pair.up == SIZE_MAX || held.g[s] > held.g[pair.up])) pair.up = s;
        if (held.a[s] > held.lower(s) && (pair.down == SIZE_MAX || held.g[s] < held.g[pair.down]))
            pair.down = s;
    }
    return pair;
}

// The intercept: the middle of what the samples held allow.
template <class T>
double middle(const Held<T>& held) {
    const auto [up, down] = most_violating(held);
    if (up != SIZE_MAX && down != SIZE_MAX) return 0.5 * (held.g[up] + held.g[down]);
    return up != SIZE_MAX ? held.g[up] : down != SIZE_MAX ? held.g[down] : 0.0;
}

template <class T>
bool violates(const Held<T>& held, Pair pair, double tau) {
    return pair.up != SIZE_MAX && pair.down != SIZE_MAX && held.g[pair.up] - held.g[pair.down] > tau &&
           held.a[pair.up] < held.upper(pair.up) && held.a[pair.down] > held.lower(pair.down);
}

enum class Step { taken, none, full };

// The best step along a_up += x, a_down -= x, if the pair violates optimality by more than tau and at most
// max_support coefficients would then differ from 0.
template <class T>
Step pair_step(Held<T>& held, Pair pair, double tau, std::size_t max_support) {
    if (!violates(held, pair, tau)) return Step::none;
    const auto [i, j] = pair;
    const T *Ki = held.row(i), *Kj = held.row(j);
    const double curvature = double(Ki[i]) + double(Kj[j]) - 2.0 * double(Ki[j]);
    const double room_i = held.upper(i) - held.a[i], room_j = held.a[j] - held.lower(j);
    const double x = std::min({(held.g[i] - held.g[j]) / std::max(curvature, 1e-12), room_i, room_j});
    const double ai = x == room_i ? held.upper(i) : held.a[i] + x;
    const double aj = x == room_j ? held.lower(j) : held.a[j] - x;
    const auto before = (held.a[i] != 0.0) + (held.a[j] != 0.0), after = (ai != 0.0) + (aj != 0.0);
    if (std::size_t(*held.n_support + after - before) > max_support) return Step::full;
    if (ai == held.a[i] && aj == held.a[j]) return Step::none;  // smaller than rounding
    *held.n_support += after - before;
    held.a[i] = ai;
    held.a[j] = aj;
    for (std::size_t s = 0; s < held.n(); ++s) held.g[s] -= x * (double(Ki[s]) - double(Kj[s]));
    return Step::taken;
}

// Removes a slot by moving the last one into it.
template <class T>
void drop(Held<T>& held, std::size_t s) {
    const std::size_t last = held.n() - 1;
    if (s != last) {
        for (std::size_t r = 0; r < last; ++r) held.row(r)[s] = held.row(r)[last];
        std::copy_n(held.row(last), last, held.row(s));
        held.row(s)[s] = held.row(last)[last];
        for (double* of : {held.a, held.g, held.y, held.cost}) of[s] = of[last];
        held.sample[s] = held.sample[last];
        if (!held.origin.empty()) held.origin[s] = held.origin[last];
    }
    if (!held.origin.empty()) held.origin.pop_back();
    --*held.size;
}

// A step on the most violating pair; then samples without a coefficient leave if they cannot get one.
template <class T>
Step reprocess(Held<T>& held, double tau, std::size_t max_support) {
    const Step step = pair_step(held, most_violating(held), tau, max_support);
    if (step != Step::taken) return step;
    const Pair pair = most_violating(held);
    if (pair.up == SIZE_MAX || pair.down == SIZE_MAX) return step;
    const double largest = held.g[pair.up], smallest = held.g[pair.down];
    for (std::size_t s = held.n(); s-- > 0;)
        if (held.a[s] == 0.0 && (held.y[s] < 0.0 ? held.g[s] >= largest : held.g[s] <= smallest))
            drop(held, s);
    return step;
}

// Up to n_steps reprocessing steps; false once none is left to take.
template <class T>
bool reprocess_many(Held<T>& held, double tau, std::size_t max_support, std::size_t n_steps,
                    const Poll& poll) {
    for (std::size_t step = 0; step < n_steps; ++step) {
        poll();
        if (reprocess(held, tau, max_support) != Step::taken) return false;
    }
    return true;
}

// Samples that come together. Kernel values are known between them and the samples held when the block
// begins, in the order of their slots, then each other.
template <class T>
struct LasvmBlock {
    const T* K;  // (n, n_columns)
    std::size_t n, n_columns;
    const std::int64_t* sample;
    const double *y, *cost;
};

enum class Selection { random, active, gradient };

// g of a sample of the block: y - f without the intercept.
template <class T>
double gradient(const Held<T>& held, const LasvmBlock<T>& block, std::size_t c) {
    const T* K = block.K + c * block.n_columns;
    double f = 0.0;
    for (std::size_t s = 0; s < held.n(); ++s) f += held.a[s] * double(K[held.origin[s]]);
    return block.y[c] - f;
}

// Which of the samples first .. end-1 that are not held to insert; end if all are.
template <class T>
std::size_t choose(const Held<T>& held, const LasvmBlock<T>& block, std::size_t first, std::size_t end,
                   Selection selection) {
    const double b = selection == Selection::random ? 0.0 : middle(held);
    std::size_t best = end;
    double least = 0.0;
    for (std::size_t c = first; c < end; ++c) {
        if (std::find(held.sample, held.sample + held.n(), block.sample[c]) != held.sample + held.n())
            continue;
        if (selection == Selection::random) return c;
        const double f = block.y[c] - gradient(held, block, c) + b;
        const double score = selection == Selection::active ? std::abs(f) : block.y[c] * f;
        if (best == end || score < least) best = c, least = score;
    }
    return best;
}

// Insert a sample and take a step with it and its most violating partner. Without a step it leaves again, but
// not where its margin is violated: the intercept may have room, and another sample without a partner may
// come.
template <class T>
Step process(Held<T>& held, const LasvmBlock<T>& block, std::size_t c, double tau, std::size_t max_support) {
    const std::size_t s = held.n(), column = block.n_columns - block.n + c;
    const T* K = block.K + c * block.n_columns;
    const double g = gradient(held, block, c), b = middle(held);
    for (std::size_t r = 0; r < s; ++r) held.row(s)[r] = held.row(r)[s] = K[held.origin[r]];
    held.row(s)[s] = K[column];
    held.origin.push_back(column);
    held.a[s] = 0.0, held.g[s] = g, held.y[s] = block.y[c], held.cost[s] = block.cost[c];
    held.sample[s] = block.sample[c];
    ++*held.size;
    Pair pair = most_violating(held);
    (block.y[c] > 0.0 ? pair.up : pair.down) = s;
    const Step step = pair_step(held, pair, tau, max_support);
    const bool wrong = block.y[c] > 0.0 ? g > b + tau : g < b - tau;
    if (step == Step::full || (step == Step::none && s > 0 && !wrong)) drop(held, s);
    return step;
}

// Of each group of samples one is chosen and processed, and a reprocessing step taken.
//
// In:   held, with room for one sample more for each group; block
// Out:  held; true when a step would have gone beyond max_support
template <class T>
bool lasvm_block(Held<T>& held, const LasvmBlock<T>& block, std::size_t group, Selection selection,
                 double tau, std::size_t max_support, const Poll& poll) {
    held.origin.resize(held.n());
    for (std::size_t s = 0; s < held.n(); ++s) held.origin[s] = s;
    for (std::size_t first = 0; first < block.n; first += group) {
        poll();
        const std::size_t end = std::min(block.n, first + group);
        const std::size_t c = choose(held, block, first, end, selection);
        if (c == end) continue;
        if (process(held, block, c, tau, max_support) == Step::full) return true;
        if (reprocess(held, tau, max_support) == Step::full) return true;
    }
    return false;
}

}  // namespace maxmargin
