// Steps for one sample's dual variables of the top-k SVM
//
//   max_A  sum_i c_i a_{i,y_i} - 1/2 ||W||^2,   W = sum_i c_i x_i a_i',   -a_i in the domain of Phi*,
//
// that is a_ij = -u_j for j != y_i and a_{i,y_i} = sum_j u_j, with u in the set of topk_projection.hpp. At
// scores z = W'x_i, with t_j = 1 + z_j - z_y and the curvature c_i ||x_i||^2, changing u by delta gains
//
//   c_i ( <t, delta> - curvature / 2 ( ||delta||^2 + (sum delta)^2 ) ).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "maxmargin/core/simd.hpp"
#include "maxmargin/solvers/topk_projection.hpp"

namespace maxmargin {

inline constexpr double MIN_CURVATURE_SHARE = 1e-4;  // of the steepest slope

enum class TopKMethod { exact, frank_wolfe, none };

struct TopKProblem {
    TopKDomain domain;
    std::size_t n_classes;
    const std::int64_t* labels;
    const double *cost, *sqnorm;  // c_i, and ||x_i||^2 with the constant
    double constant;              // what an intercept adds to every product of two rows
    double passed_over = 0.0;     // gaps that are not worth a step
};

struct TopKIterate {
    double* A;            // n x n_classes
    double* gaps;         // Phi(z) - <t, u> of each sample when it was last visited, before its step
    std::uint8_t* moved;  // whether that step changed anything
};

// The change of one sample's coefficients c_i a_i, and the classes where it is not 0.
struct TopKChange {
    std::vector<double> values;
    std::vector<std::size_t> classes;
    std::size_t count = 0;

    explicit TopKChange(std::size_t n_classes) : values(n_classes), classes(n_classes) {}

    // row += factor * values
    void add_to(double* row, double factor) const {
        if (8 * count < values.size() || count <= 4)
            for (std::size_t p = 0; p < count; ++p) row[classes[p]] += factor * values[classes[p]];
        else
            simd().of<double>().axpy(factor, values.data(), row, values.size());
    }
};

class TopKStep {
  public:
    TopKStep(const TopKProblem& problem, TopKMethod method)
        : problem_(problem),
          method_(method),
          t_(problem.n_classes),
          u_(problem.n_classes),
          sorted_(problem.n_classes),
          top_(problem.domain.k),
          change_(problem.n_classes) {}

    // A step for sample i at scores z. The change, or null where there is none.
    const TopKChange* operator()(std::size_t i, const double* z, const TopKIterate& it) {
        const std::size_t m = problem_.n_classes, y = std::size_t(problem_.labels[i]);
        double* a = it.A + i * m;
        const double base = z[y] - 1.0;
        double inner = a[y];  // less t_y a_y, t_y being 1 so far
        for (std::size_t j = 0; j < m; ++j) {
            t_[j] = z[j] - base;
            inner -= t_[j] * a[j];
        }
        t_[y] = 0.0;
        const double loss = problem_.domain.k == 1 ? largest() : mean_of_largest(y);
        it.gaps[i] = loss - inner;
        if (method_ == TopKMethod::none) return nullptr;
        it.moved[i] = 0;
        if (it.gaps[i] <= problem_.passed_over) return nullptr;
        const double curvature = std::max(problem_.cost[i] * problem_.sqnorm[i], 1e-290);
        if (method_ == TopKMethod::exact)
            to_optimum(a, y, curvature);
        else
            towards_vertex(a, y, curvature, loss);
        it.moved[i] = apply(a, y, problem_.cost[i]);
        return it.moved[i] ? &change_ : nullptr;
    }

  private:
    // The loss Phi for k = 1; t_y is 0. It stays in top_, as below.
    double largest() {
        double most = 0.0;
        for (std::size_t j = 0; j < problem_.n_classes; ++j) most = t_[j] > most ? t_[j] : most;
        return top_[0] = most;
    }

    // The loss Phi. The k largest t stay in top_, the least of them last; 0 is one of them, for the true
    // class, if it may be.
    double mean_of_largest(std::size_t y) {
        if (problem_.domain.k <= MAX_INSERTION_SORTED)
            insert_largest(y);
        else
            select_largest(y);
        double sum = 0.0;
        for (const double t : top_) sum += t;
        return std::max(0.0, sum / double(problem_.domain.k));
    }

    void insert_largest(std::size_t y) {
        const std::size_t k = problem_.domain.k;
        std::fill(top_.begin(), top_.end(), -NOWHERE);
        if (problem_.domain.include) top_[0] = 0.0;
        for (std::size_t j = 0; j < problem_.n_classes; ++j) {
            if (!(t_[j] > top_[k - 1]) || j == y) continue;
            std::size_t p = k - 1;
            for (; p > 0 && top_[p - 1] < t_[j]; --p) top_[p] = top_[p - 1];
            top_[p] = t_[j];
        }
    }

    void select_largest(std::size_t y) {
        const auto before = [](double s, double t) { return s > t || (t != t && s == s); };  // NaN comes last
        std::copy(t_.begin(), t_.end(), sorted_.begin());
        sorted_[y] = problem_.domain.include ? 0.0 : -NOWHERE;
        const auto last = sorted_.begin() + std::ptrdiff_t(problem_.domain.k) - 1;
        std::nth_element(sorted_.begin(), last, sorted_.end(), before);
        std::copy(sorted_.begin(), last + 1, top_.begin());
    }

    // The best u. Where the gain is all but linear in u, and quite so for a row of zeros, it is taken to bend
    // a little more than it does: u is of size 1, and would be lost next to t / curvature.
    void to_optimum(const double* a, std::size_t y, double curvature) {
        const std::size_t m = problem_.n_classes;
        double most = 0.0, least = 0.0;
        for (const double t : t_) most = t > most ? t : most, least = t < least ? t : least;
        const double inverse = 1.0 / std::max(curvature, MIN_CURVATURE_SHARE * std::max(most, -least));
        const double own = a[y];
        for (std::size_t j = 0; j < m; ++j) sorted_[j] = u_[j] = (own - a[j]) + t_[j] * inverse;
        sorted_[y] = sorted_[m - 1];
        const Clip clip = topk_cut(sorted_.data(), m - 1, problem_.domain);
        for (std::size_t j = 0; j < m; ++j) u_[j] = clip(u_[j]);
        u_[y] = 0.0;
    }

    // The best u on the way to the vertex of U at which <t, u> is largest: 1/k at the k largest t, of equal
    // ones the first, or 0.
    void towards_vertex(const double* a, std::size_t y, double curvature, double loss) {
        const std::size_t m = problem_.n_classes, k = problem_.domain.k;
        const double least = top_[k - 1];
        std::size_t ties = 0;  // how many of those equal to the least are among the k
        for (const double t : top_) ties += t == least;
        if (problem_.domain.include && least == 0.0) --ties;  // the true class is one
        double slope = 0.0, sqnorm = 0.0, sum = 0.0;
        for (std::size_t j = 0; j < m; ++j) {
            bool in = loss > 0.0 && j != y && t_[j] >= least;
            if (in && t_[j] == least) in = ties > 0 && ties-- > 0;
            const double vertex = in ? 1.0 / double(k) : 0.0;
            const double along = j == y ? 0.0 : vertex + a[j];
            slope += t_[j] * along;
            sqnorm += along * along;
            sum += along;
            u_[j] = along;
        }
        const double bend = curvature * (sqnorm + sum * sum);
        const double length = bend > 0.0 ? std::clamp(slope / bend, 0.0, 1.0) : 0.0;
        for (std::size_t j = 0; j < m; ++j) u_[j] = j == y ? 0.0 : std::max(0.0, length * u_[j] - a[j]);
    }

    // From a to what u_ says, unless all of it is rounding.
    bool apply(double* a, std::size_t y, double cost) {
        const std::size_t m = problem_.n_classes;
        double total = 0.0, farthest = 0.0;
        for (std::size_t j = 0; j < m; ++j) total += u_[j];
        u_[y] = -total;
        for (std::size_t j = 0; j < m; ++j) {
            u_[j] = -u_[j] - a[j];
            farthest = std::max(farthest, std::abs(u_[j]));
        }
        if (farthest <= 1e-15 * std::max(total, a[y])) return false;
        std::size_t count = 0;
        for (std::size_t j = 0; j < m; ++j) {
            change_.values[j] = cost * u_[j];
            change_.classes[count] = j;
            count += u_[j] != 0.0;
            a[j] += u_[j];
        }
        change_.count = count;
        return true;
    }

    static constexpr std::size_t MAX_INSERTION_SORTED =
        16;  // up to this many numbers are sorted by insertion
    const TopKProblem& problem_;
    TopKMethod method_;
    std::vector<double> t_, u_, sorted_, top_;
    TopKChange change_;
};

}  // namespace maxmargin
