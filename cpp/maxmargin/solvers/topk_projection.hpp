// The projection that one sample's block of the top-k SVM asks for, by selection: no iteration, no QP solver.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace maxmargin {

// Numbers in descending order, sorted no further than they are asked for. The array given is reordered.
template <class T>
class Descending {
  public:
    Descending(T* values, std::size_t n) : values_(values), n_(n) {}
    std::size_t size() const { return n_; }
    double operator[](std::size_t p) {
        if (p >= n_sorted_) sort_beyond(p);
        return double(values_[p]);
    }
    double sum(std::size_t count) {
        double total = 0.0;
        for (std::size_t p = 0; p < count; ++p) total += (*this)[p];
        return total;
    }

  private:
    void sort_beyond(std::size_t p) {
        const std::size_t end = std::min(n_, std::max({p + 1, 2 * n_sorted_, std::size_t(4)}));
        T *first = values_ + n_sorted_, *last = values_ + n_;
        if (end - n_sorted_ <= MAX_INSERTION_SORTED) {
            select(first, values_ + end, last);
        } else {
            if (end < n_) std::nth_element(first, values_ + end, last, std::greater<T>());
            std::sort(first, values_ + end, std::greater<T>());
        }
        n_sorted_ = end;
    }

    // The largest numbers, in order, into [first, end): each of the others takes its place, or stays.
    static void select(T* first, T* end, T* last) {
        for (T* next = first + 1; next < last; ++next) {
            T* hole = std::min(next, end);
            if (next >= end && !(*next > *(end - 1))) continue;
            const T value = *next;
            if (next >= end) *next = *--hole;
            for (; hole > first && *(hole - 1) < value; --hole) *hole = *(hole - 1);
            *hole = value;
        }
    }

    static constexpr std::size_t MAX_INSERTION_SORTED = 16;
    T* values_;
    std::size_t n_, n_sorted_ = 0;
};

// Which constraint is at work on sigma: it is 0, in the cone, free between the kink and 1, or at one of
// these.
enum class Regime : std::uint8_t { zero, cone, free, fixed };

// u_j = clip(a_j - anchor - low, 0, height). The anchor is near the numbers that are cut, so that they keep
// their digits.
struct Clip {
    double low, height;
    Regime regime;
    double anchor = 0.0;
    double operator()(double a) const { return std::clamp((a - anchor) - low, 0.0, height); }
};

// The domain of the top-k hinge, for the classes other than the true one, with sigma = sum_j u_j:
//
//   U = { u >= 0, sigma <= 1, u_j <= min(1/k, sigma/kappa) },   kappa = k - 1, or k if the true class is
//                                                               left out of the top k
//
// (no sigma/kappa for kappa = 0). In a cone, sigma < kappa/k, the second bound holds; above it the first.
struct TopKDomain {
    std::size_t k;
    bool include;
    double rho = 1.0;

    std::size_t kappa() const { return include ? k - 1 : k; }
    double kink() const { return double(kappa()) / double(k); }
};

inline constexpr double NOWHERE = std::numeric_limits<double>::infinity();
inline constexpr double LARGEST_NUMBER = 1e300;  // sums of larger ones may not be finite

// The cut at which sum_j clip(a_j - t, 0, 1/k) = target + slope t. From above, p numbers are at 1/k and q - p
// between; the next to change is a_[q], which comes in, or a_[p], which comes to 1/k. Sums begin anew where
// none is between, without a slope from an `anchor`, so that numbers of any size keep their digits.
template <class T>
Clip box_cut(Descending<T>& a, std::size_t k, double target, double slope) {
    const std::size_t n = a.size();
    const double cap = 1.0 / double(k);
    const Regime regime = slope > 0.0 ? Regime::free : Regime::fixed;
    std::size_t p = 0, q = 0;
    double sum = 0.0, anchor = 0.0;
    for (;;) {
        if (p == q && q < n) sum = 0.0, anchor = slope > 0.0 ? 0.0 : a[q];
        const double enters = q < n ? a[q] - anchor : -NOWHERE;
        const double fills = p < q ? (a[p] - anchor) - cap : -NOWHERE;
        const double next = std::max(enters, fills), weight = double(q - p) + slope;
        const double above = double(p) / double(k) - target;
        if (weight > 0.0) {
            if (above + sum >= next * weight) return {(above + sum) / weight, cap, regime, anchor};
        } else if (above >= 0.0 || next == -NOWHERE) {
            return {next == -NOWHERE ? (a[n - 1] - anchor) - cap : next, cap, regime, anchor};
        }
        if (enters >= fills)
            sum += a[q++] - anchor;
        else
            sum -= a[p++] - anchor;
    }
}

// The minimiser over the cone 0 <= u_j <= sigma/kappa, from its sum of the kappa largest numbers, which is
// positive. psi(x) = sum_j max(0, a_j - x) + kappa x has its least value, that sum, between a_[kappa] and
// a_[kappa-1]; the interval [low, low + height] is where psi is at most a level L, and it is
// L / (kappa (1 + rho kappa)) long. The level is raised from kink to kink on either side until that holds.
template <class T>
Clip cone_cut(Descending<T>& a, const TopKDomain& domain, double top) {
    const std::size_t n = a.size(), kappa = domain.kappa();
    const double rate = 1.0 / (double(kappa) * (1.0 + domain.rho * double(kappa)));
    if (n == kappa) return {a[n - 1] - top * rate, top * rate, Regime::cone};
    if (a[kappa - 1] - a[kappa] >= top * rate) return {a[kappa], top * rate, Regime::cone};
    std::size_t p = kappa - 1, q = kappa + 1;
    double above = top - a[kappa - 1], all = top + a[kappa];  // sums of the p and of the q largest
    for (;;) {
        const double left = double(kappa - p), right = double(q - kappa);
        const double to_p = p > 0 ? above + left * a[p - 1] : NOWHERE;
        const double to_q = q < n ? all - right * a[q] : NOWHERE;
        const double level = (above / left + all / right) / (1.0 / left + 1.0 / right - rate);
        if (level <= std::min(to_p, to_q)) return {(all - level) / right, level * rate, Regime::cone};
        if (to_p <= to_q)
            above -= a[--p];
        else
            all += a[q++];
    }
}

// sum_j clip(a_j - rho sigma, 0, 1/k) at sigma = 1 and at the kink. Where that is above sigma, so is the sum
// of the minimiser with cap 1/k.
template <class T>
std::pair<double, double> sums_at_ends(const T* a, std::size_t n, const TopKDomain& domain) {
    const double cap = 1.0 / double(domain.k), one = domain.rho, kink = domain.rho * domain.kink();
    double at_one = 0.0, at_kink = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
        at_one += std::clamp(double(a[j]) - one, 0.0, cap);
        at_kink += std::clamp(double(a[j]) - kink, 0.0, cap);
    }
    return {at_one, at_kink};
}

// The cut for k = 1, where sigma <= 1 is the only bound: sum_j max(0, a_j - t) = min(t/rho, 1). The largest
// number alone gives a t that is not above it; the numbers above that one give a larger t, which leaves fewer
// of them, until none goes.
//
// In:   a, of which those above the cut are brought to the front; largest, which is positive
template <class T>
Clip single_cut(T* a, std::size_t n, double largest, double rho) {
    const double alone = largest / (1.0 + 1.0 / rho);
    double low = alone <= rho ? alone : largest - 1.0;
    for (std::size_t before = n + 1;;) {
        std::size_t count = 0;
        double sum = 0.0;
        for (std::size_t j = 0; j < std::min(before, n); ++j) {
            const T value = a[j];
            if (!(double(value) > low) && !(double(value) == largest)) continue;
            sum += double(value) - largest;
            std::swap(a[j], a[count++]);
        }
        const double q = double(count);
        const double free = (sum + q * largest) / (q + 1.0 / rho);
        const double fixed = (sum - 1.0) / q;  // from the largest
        if (count == before || count == 1) {
            if (free <= rho) return {free, 1.0, Regime::free};
            return {fixed, 1.0, Regime::fixed, largest};
        }
        low = std::max(low, free <= rho ? free : largest + fixed);
        before = count;
    }
}

// Whether all numbers are finite, and small enough for their sums to be so.
template <class T>
bool sums_are_finite(const T* a, std::size_t n) {
    bool fits = true;
    for (std::size_t j = 0; j < n; ++j) fits &= std::abs(double(a[j])) <= LARGEST_NUMBER;
    return fits;
}

// Given a, the u that minimises 1/2 ||u||^2 + rho/2 sigma^2 - <a, u> over U (rho = 1: the projection of one
// sample's dual variables). The value as a function of sigma is convex: a minimum within one of its two
// parts is the minimum, and what neither has is at the kink between them.
//
// In:   a, of at least kappa numbers; it is reordered
// Out:  the cut of u; where sums of a are not finite, one that makes every u NaN
template <class T>
Clip topk_cut(T* values, std::size_t n, const TopKDomain& domain) {
    if (!sums_are_finite(values, n)) return {std::nan(""), 0.0, Regime::zero};
    Descending<T> a(values, n);
    const std::size_t kappa = domain.kappa();
    const double top = domain.k > 1 ? a.sum(kappa) : double(*std::max_element(values, values + n));
    if (!(top > 0.0)) return {NOWHERE, 0.0, Regime::zero};
    if (domain.k == 1) return single_cut(values, n, top, domain.rho);
    if (domain.include) {
        const auto [at_one, at_kink] = sums_at_ends(values, n, domain);
        if (at_one > 1.0) return box_cut(a, domain.k, 1.0, 0.0);
        if (at_kink >= domain.kink()) return box_cut(a, domain.k, 0.0, 1.0 / domain.rho);
    }
    const Clip cone = cone_cut(a, domain, top);
    return double(kappa) * cone.height <= domain.kink() ? cone : box_cut(a, domain.k, domain.kink(), 0.0);
}

}  // namespace maxmargin
