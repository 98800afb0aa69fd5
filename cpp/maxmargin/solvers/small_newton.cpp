// The implementation of small_newton.hpp.
#include "maxmargin/solvers/small_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "maxmargin/core/blas.hpp"
#include "maxmargin/core/rng.hpp"
#include "maxmargin/core/simd.hpp"
#include "maxmargin/solvers/hinge_round.hpp"

namespace maxmargin {
namespace {

class SmallNewton {
  public:
    SmallNewton(const SmallProblem& problem, SmallState& state)
        : p_(problem),
          s_(state),
          scores_(p_.n),
          along_(p_.n),
          shares_(p_.n),
          feasible_(p_.n),
          dual_w_(p_.d),
          gradient_(p_.d),
          step_(p_.d),
          mean_(p_.d) {
        double largest = 0.0, total = 0.0;
        for (std::size_t i = 0; i < p_.n; ++i) {
            largest = std::max(largest, simd().f64.sqnorm(row(i), p_.d));
            total += p_.cost[i];
        }
        largest_norm_ = std::sqrt(largest);
        if (p_.d <= MAX_FEATURES_BY_COLUMN && p_.n >= 4 * p_.d) {
            features_.resize(p_.n * p_.d);
            for (std::size_t i = 0; i < p_.n; ++i)
                for (std::size_t k = 0; k < p_.d; ++k) features_[k * p_.n + i] = row(i)[k];
        }
        s_.tiny = total * (p_.hinge ? 1.0 : 0.5) * EPS;
    }

    SmallEnd run(const SmallRules& rules, std::vector<SmallCheck>& checks) {
        const auto start = std::chrono::steady_clock::now();
        if (!s_.started && !start_from_sample(rules) && p_.hinge) start_by_descent();
        multiply(s_.w, scores_);
        if (s_.started)
            evaluate();
        else
            settle();
        s_.started = true;
        for (std::size_t step = 0;; ++step) {
            Bounds bounds = certified();
            if (within(bounds, rules.tol) && p_.free_intercept && !s_.in_middle) {
                s_.b = middle_intercept();
                s_.in_middle = true;
                evaluate();
                bounds = certified();
            }
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
            checks.push_back({s_.n_iter, bounds.n_support, bounds.primal, s_.best_dual, took.count()});
            if (bounds.inexact) return SmallEnd::inexact;
            if (within(bounds, rules.tol)) return SmallEnd::converged;
            if (step == rules.max_steps || s_.n_iter >= rules.max_iter || *rules.cancel ||
                std::chrono::steady_clock::now() >= rules.deadline)
                return SmallEnd::open;
            if (!advance(bounds.primal - bounds.dual)) return SmallEnd::stalled;
            ++s_.n_iter;
        }
    }

  private:
    static constexpr double EPS = std::numeric_limits<double>::epsilon();
    static constexpr double MARGIN_ROUNDING = 4 * EPS, MAX_UNSEEN_ROUNDING = 1e-9, MAX_ROUNDING_IN_GAP = 0.01;
    static constexpr double FIRST_SHARPNESS = 0.5, SHARPNESS_AFTER_SAMPLE = 2.0, SHARPNESS_GROWTH = 5.0;
    static constexpr double MAX_SHARPNESS = 1e13, ROUND_ERROR_SHARE = 0.1, SAMPLE_TOL = 0.01;
    static constexpr std::size_t SAMPLE_DIVISOR = 8, MIN_SAMPLE = 1000;
    static constexpr std::size_t MAX_FEATURES_BY_COLUMN = 32;  // rows as short as this are slow to multiply
    static constexpr std::uint64_t DESCENT_EPOCHS = 10;
    static constexpr double DESCENT_RHO = 0.01;               // as FIRST_RHO in dual_cd.py
    static constexpr double SHARPNESS_AFTER_DESCENT = 100.0;  // divided by the mean cost and squared norm

    struct Bounds {
        double primal, dual;
        std::size_t n_support;
        bool inexact;
    };

    const double* row(std::size_t i) const { return p_.X + i * p_.d; }
    double dot(const std::vector<double>& u, const double* v) const {
        return simd().f64.dot(v, u.data(), u.size());
    }
    HingeRound round() const { return {p_.y, p_.cost, s_.anchor, s_.sharpness, p_.hinge, p_.n}; }
    double top() const { return p_.hinge ? 1.0 : std::numeric_limits<double>::infinity(); }
    double share_at(std::size_t i, double b) const {
        const double z = 1.0 - p_.y[i] * (scores_[i] + b);
        const double raw = p_.hinge ? s_.anchor[i] + s_.sharpness * z : z;
        return std::min(std::max(raw, 0.0), top());
    }
    double curvature(std::size_t i) const {
        const bool curved = shares_[i] > 0.0 && shares_[i] < top();
        return curved ? p_.cost[i] * (p_.hinge ? s_.sharpness : 1.0) : 0.0;
    }
    bool within(const Bounds& bounds, double tol) const {
        const bool provisional =
            s_.n_iter == 0 && std::all_of(s_.w, s_.w + p_.d, [](double x) { return x == 0.0; });
        const double scale = std::max({std::abs(bounds.primal), std::abs(s_.best_dual), s_.tiny});
        return !provisional && bounds.primal - s_.best_dual <= tol * scale;
    }

    void multiply(const double* v, std::vector<double>& out) {
        if (features_.empty()) {
            for (std::size_t i = 0; i < p_.n; ++i) out[i] = simd().f64.dot(row(i), v, p_.d);
            return;
        }
        std::fill(out.begin(), out.end(), 0.0);
        for (std::size_t k = 0; k < p_.d; ++k)
            simd().f64.axpy(v[k], features_.data() + k * p_.n, out.data(), p_.n);
    }
    void combine(const std::vector<double>& shares, std::vector<double>& out) {
        if (features_.empty()) {
            std::fill(out.begin(), out.end(), 0.0);
            for (std::size_t i = 0; i < p_.n; ++i)
                if (shares[i] != 0.0)
                    simd().f64.axpy(p_.cost[i] * shares[i] * p_.y[i], row(i), out.data(), p_.d);
            return;
        }
        for (std::size_t i = 0; i < p_.n; ++i) along_[i] = p_.cost[i] * shares[i] * p_.y[i];
        for (std::size_t k = 0; k < p_.d; ++k) out[k] = dot(along_, features_.data() + k * p_.n);
    }

    // The solution for the first rows, a random sample in canonical order, where there are many.
    bool start_from_sample(const SmallRules& rules) {
        s_.sharpness = FIRST_SHARPNESS;
        const std::size_t n = p_.n / SAMPLE_DIVISOR;
        const auto differs = [&](double y) { return y != p_.y[0]; };
        if (n < 4 * p_.d || n < MIN_SAMPLE || std::none_of(p_.y, p_.y + n, differs)) return false;
        double all = 0.0, some = 0.0;
        for (std::size_t i = 0; i < p_.n; ++i) (i < n ? some : all) += p_.cost[i];
        std::vector<double> cost(p_.cost, p_.cost + n), anchor(n), share(n);
        for (double& c : cost) c *= (some + all) / some;
        SmallState state{s_.w, anchor.data(), share.data(), 0.0, 0.0, s_.best_dual, 0.0, 0, false, false};
        SmallRules rough = rules;
        rough.tol = SAMPLE_TOL, rough.max_iter /= 2, rough.max_steps = rough.max_iter;
        std::vector<SmallCheck> checks;
        SmallNewton({p_.X, p_.y, cost.data(), n, p_.d, p_.hinge, p_.free_intercept}, state)
            .run(rough, checks);
        s_.b = state.b, s_.n_iter = state.n_iter, s_.sharpness = SHARPNESS_AFTER_SAMPLE;
        multiply(s_.w, scores_);
        for (std::size_t i = 0; p_.hinge && i < p_.n; ++i)
            s_.anchor[i] = std::clamp(s_.sharpness * (1.0 - p_.y[i] * (scores_[i] + s_.b)), 0.0, 1.0);
        return true;
    }

    // A few epochs of dual coordinate descent (dual_cd.hpp), which find most bounded multipliers: the shares
    // that the first round starts from.
    void start_by_descent() {
        std::vector<double>& sqnorms = along_;
        double mean = 0.0, cost = 0.0;
        for (std::size_t i = 0; i < p_.n; ++i) {
            mean += (sqnorms[i] = simd().f64.sqnorm(row(i), p_.d)) / double(p_.n);
            cost += p_.cost[i] / double(p_.n);
        }
        const double rho =
            p_.free_intercept ? std::max(DESCENT_RHO * mean, 1.0 / (cost * double(p_.n))) : 0.0;
        double* a = s_.anchor;
        std::vector<std::size_t> order(p_.n);
        std::iota(order.begin(), order.end(), std::size_t(0));
        for (std::uint64_t epoch = 0; epoch < DESCENT_EPOCHS; ++epoch) {
            Rng rng(0, epoch);
            shuffle(order.data(), p_.n, rng);
            for (const std::size_t i : order) {
                const double gradient = p_.y[i] * (simd().f64.dot(row(i), s_.w, p_.d) + s_.b) - 1.0;
                if ((a[i] == 0.0 && gradient >= 0.0) || (a[i] == 1.0 && gradient <= 0.0)) continue;
                const double curvature = p_.cost[i] * (sqnorms[i] + rho);
                const double now = curvature > 0.0 ? std::clamp(a[i] - gradient / curvature, 0.0, 1.0) : 1.0;
                const double change = p_.cost[i] * (now - a[i]) * p_.y[i];
                a[i] = now;
                if (change == 0.0) continue;
                simd().f64.axpy(change, row(i), s_.w, p_.d);
                s_.b += rho * change;
            }
            double s = 0.0;
            for (std::size_t i = 0; i < p_.n; ++i) s += p_.cost[i] * a[i] * p_.y[i];
            s_.b += rho * s;
        }
        s_.sharpness = mean > 0.0 ? SHARPNESS_AFTER_DESCENT / (cost * mean) : FIRST_SHARPNESS;
    }

    void settle() {
        if (p_.free_intercept) s_.b = best_intercept(round(), scores_.data(), s_.b);
        evaluate();
    }
    double imbalance_at(double b) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < p_.n; ++i) sum += p_.cost[i] * share_at(i, b) * p_.y[i];
        return sum;
    }
    // The middle of the intercepts at which the shares balance; b itself if they do not quite.
    double middle_intercept() const {
        if (imbalance_at(s_.b) != 0.0) return s_.b;
        const double width = p_.hinge ? 1.0 / s_.sharpness : 0.0;
        double low = s_.b, high = s_.b, left = s_.b, right = s_.b;
        for (std::size_t i = 0; i < p_.n; ++i) {
            low = std::min(low, p_.y[i] - scores_[i] - width);
            high = std::max(high, p_.y[i] - scores_[i] + width);
        }
        for (int halving = 0; halving < 60; ++halving) {
            const double before = 0.5 * (low + left), after = 0.5 * (right + high);
            (imbalance_at(before) == 0.0 ? left : low) = before;
            (imbalance_at(after) == 0.0 ? right : high) = after;
        }
        return 0.5 * (left + right);
    }

    // Shares, and the gradient in w, at the scores and the intercept; b gets one more step in the shares,
    // since sharp rounds need more digits than it has.
    void evaluate() {
        double imbalance = 0.0, total = 0.0;
        for (std::size_t i = 0; i < p_.n; ++i) {
            shares_[i] = share_at(i, s_.b);
            imbalance += p_.cost[i] * shares_[i] * p_.y[i];
            total += curvature(i);
        }
        if (p_.free_intercept && total > 0.0)
            for (std::size_t i = 0; i < p_.n; ++i) {
                const double finer = p_.y[i] * curvature(i) / p_.cost[i] * (imbalance / total);
                shares_[i] = std::min(std::max(shares_[i] - finer, 0.0), top());
            }
        combine(shares_, dual_w_);
        for (std::size_t k = 0; k < p_.d; ++k) gradient_[k] = s_.w[k] - dual_w_[k];
    }

    // Both bounds at the current point, as MarginProblem.certificate computes them; the shares of the best
    // dual bound are stored.
    Bounds certified() {
        const bool balanced = balance();
        if (!balanced) combine(feasible_, step_);
        const std::vector<double>& dual_w = balanced ? dual_w_ : step_;
        const double w_sq = simd().f64.sqnorm(s_.w, p_.d);
        const double size = largest_norm_ * std::sqrt(w_sq) + std::abs(s_.b) + 1.0;
        const double error = MARGIN_ROUNDING * size;
        double losses = 0.0, slopes = 0.0, linear = 0.0, weighted = 0.0, imbalance = 0.0;
        std::size_t n_support = 0;
        for (std::size_t i = 0; i < p_.n; ++i) {
            const double c = p_.cost[i], z = 1.0 - p_.y[i] * (scores_[i] + s_.b), v = feasible_[i];
            const double loss = std::max(z, 0.0);
            losses += c * (p_.hinge ? loss : 0.5 * loss * loss);
            if (z > -error) slopes += c * (p_.hinge ? 1.0 : z + error);
            linear += c * (p_.hinge ? v : v - 0.5 * v * v);
            weighted += c * v;
            imbalance += c * v * p_.y[i];
            n_support += v != 0.0;
        }
        const double rounding = error * slopes;
        const double primal = 0.5 * w_sq + losses;
        const double dual = linear - 0.5 * simd().f64.sqnorm(dual_w.data(), p_.d);
        const double lost =
            size * (MARGIN_ROUNDING * weighted + (p_.free_intercept ? std::abs(imbalance) : 0.0));
        const double nearest = std::max(dual, s_.best_dual);
        const double unseen =
            std::max(MAX_UNSEEN_ROUNDING * primal, MAX_ROUNDING_IN_GAP * (primal - nearest));
        const Bounds bounds{primal, dual - rounding - lost, n_support, p_.hinge && rounding > unseen};
        if (bounds.dual >= s_.best_dual) {
            s_.best_dual = bounds.dual;
            std::copy(feasible_.begin(), feasible_.end(), s_.dual_share);
        }
        return bounds;
    }

    // The nearest dual feasible shares: the heavier side is scaled down. True if nothing had to be.
    bool balance() {
        feasible_ = shares_;
        if (!p_.free_intercept) return true;
        double positive = 0.0, negative = 0.0;
        for (std::size_t i = 0; i < p_.n; ++i)
            (p_.y[i] > 0.0 ? positive : negative) += p_.cost[i] * shares_[i];
        if (std::abs(positive - negative) <= 64 * EPS * (positive + negative)) return true;
        const double heavier = positive > negative ? 1.0 : -1.0;
        const double factor = std::min(positive, negative) / std::max(positive, negative);
        for (std::size_t i = 0; i < p_.n; ++i)
            if (p_.y[i] == heavier) feasible_[i] *= factor;
        return false;
    }

    // One Newton step, in the next round if the current one is solved; false if none is possible.
    bool advance(double gap) {
        if (p_.hinge && round_is_solved(gap)) {
            if (s_.sharpness >= MAX_SHARPNESS) return false;
            std::copy(shares_.begin(), shares_.end(), s_.anchor);
            s_.sharpness *= SHARPNESS_GROWTH;
            settle();
        }
        const double step_b = direction();
        multiply(step_.data(), along_);
        for (double& value : along_) value += step_b;
        std::vector<double>& at = feasible_;  // scratch: scores with the intercept
        for (std::size_t i = 0; i < p_.n; ++i) at[i] = scores_[i] + s_.b;
        const double t =
            step_length(round(), at.data(), along_.data(), false, dot(step_, s_.w), dot(step_, step_.data()));
        for (std::size_t k = 0; k < p_.d; ++k) s_.w[k] += t * step_[k];
        s_.b += t * step_b;
        const std::vector<double> before = p_.hinge ? std::vector<double>() : gradient_;
        s_.in_middle = false;
        multiply(s_.w, scores_);
        settle();
        return p_.hinge || t >= EPS || before != gradient_;
    }

    bool round_is_solved(double gap) const {
        const double rounding = s_.tiny + EPS * dot(dual_w_, dual_w_.data());
        return 0.5 * dot(gradient_, gradient_.data()) <= std::max(ROUND_ERROR_SHARE * gap, rounding);
    }

    // step_ and the step of b: the minimum of the round's quadratic. The system has the order of the features
    // or of the curved rows, whichever costs less. A free intercept is eliminated by centring the rows.
    double direction() {
        which_.clear();
        double total = 0.0, gradient_b = 0.0;
        for (std::size_t i = 0; i < p_.n; ++i) {
            gradient_b -= p_.cost[i] * shares_[i] * p_.y[i];
            if (curvature(i) > 0.0) {
                which_.push_back(i);
                total += curvature(i);
            }
        }
        const bool centred = p_.free_intercept && !which_.empty();
        std::fill(mean_.begin(), mean_.end(), 0.0);
        if (centred)
            for (std::size_t i : which_) simd().f64.axpy(curvature(i) / total, row(i), mean_.data(), p_.d);
        for (std::size_t k = 0; k < p_.d; ++k)
            step_[k] = -(gradient_[k] - (centred ? gradient_b : 0.0) * mean_[k]);
        if (which_.empty()) return 0.0;
        gather_curved();
        const double n = double(which_.size()), d = double(p_.d);
        if (n * d * d + d * d * d / 3 <= n * n * d + n * n * n / 3)
            solve_by_features();
        else
            solve_by_rows();
        return centred ? -gradient_b / total - dot(mean_, step_.data()) : 0.0;
    }

    void gather_curved() {
        curved_.resize(which_.size() * p_.d);
        for (std::size_t c = 0; c < which_.size(); ++c) {
            const double *x = row(which_[c]), root = std::sqrt(curvature(which_[c]));
            for (std::size_t k = 0; k < p_.d; ++k) curved_[c * p_.d + k] = root * (x[k] - mean_[k]);
        }
    }
    void solve_by_features() {
        matrix_.assign(p_.d * p_.d, 0.0);
        add_gram(curved_.data(), matrix_.data(), which_.size(), p_.d);
        for (std::size_t k = 0; k < p_.d; ++k) matrix_[k * (p_.d + 1)] += 1.0;
        if (cholesky(matrix_.data(), p_.d)) solve_factored(matrix_.data(), p_.d, step_.data());
    }
    // By the Woodbury identity.
    void solve_by_rows() {
        const std::size_t n = which_.size();
        matrix_.assign(n * n, 0.0);
        add_row_gram(curved_.data(), matrix_.data(), n, p_.d);
        images_.resize(n);
        for (std::size_t c = 0; c < n; ++c) images_[c] = dot(step_, curved_.data() + c * p_.d);
        for (std::size_t c = 0; c < n; ++c) matrix_[c * (n + 1)] += 1.0;
        if (cholesky(matrix_.data(), n)) solve_factored(matrix_.data(), n, images_.data());
        for (std::size_t c = 0; c < n; ++c)
            simd().f64.axpy(-images_[c], curved_.data() + c * p_.d, step_.data(), p_.d);
    }

    const SmallProblem p_;
    SmallState& s_;
    std::vector<double> scores_, along_, shares_, feasible_, dual_w_, gradient_, step_, mean_;
    std::vector<double> curved_, matrix_, images_;
    std::vector<double> features_;    // the rows once more, feature by feature, if there are few features
    std::vector<std::size_t> which_;  // the curved rows
    double largest_norm_ = 0.0;
};

}  // namespace

SmallEnd small_newton(const SmallProblem& problem, SmallState& state, const SmallRules& rules,
                      std::vector<SmallCheck>& checks) {
    return SmallNewton(problem, state).run(rules, checks);
}

}  // namespace maxmargin
