// The kernel SVM of one small column, without Python between its steps: smo.hpp has the problem,
// methods/kernel_svm/small_sets.py the method, whose steps are taken here in the same order with the same
// numbers. A column that needs anything else (a singular face, a gap that stays open) is left to that one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "maxmargin/core/threads.hpp"
#include "maxmargin/solvers/svm_gap.hpp"

namespace maxmargin {

struct ColumnRules {
    double tol, target;         // relative gap of the certificate, and that to which a column is optimised
    double polish_gap;          // relative gap to reach before the exact method starts
    double polish_at_once_gap;  // the same, for a column of at most max_polished_at_once samples
    double free_share, inner, negligible_rounding, double_errors;
    std::size_t min_block, blocks_per_problem, max_block;
    std::size_t rounds_per_step, max_iter, max_steps;
    std::size_t max_polished;          // samples of a column that is solved exactly
    std::size_t max_polished_at_once;  // samples of a column that needs no rounds before the exact method
    double seconds;
};

enum class ColumnEnd : std::uint8_t { cut, solved, left, late };

// Room for the kernel values of a column. Its pages are not touched before values are written: a column needs
// the rows of its support vectors, often few of many, and zeros for all of them would take longer than its
// steps.
class ValueRoom {
  public:
    void reserve(std::size_t n_values) {
        if (n_values <= capacity_) return;
        values_.reset();  // before the new ones, so that both are never held at once
        capacity_ = 0;
        values_ = std::make_unique_for_overwrite<double[]>(n_values);
        capacity_ = n_values;
    }
    double* data() { return values_.get(); }

  private:
    std::unique_ptr<double[]> values_;
    std::size_t capacity_ = 0;
};

// The memory of one column, reused for the next.
class SmallColumn {
  public:
    // Makes sure that kernel rows are in K, and returns their positions, which equal the sample numbers.
    using Fetch = std::function<std::vector<std::int64_t>(const std::vector<std::int64_t>& wanted)>;

    SmallColumn(bool squared, const ColumnRules& rules, int n_threads, const Poll& poll)
        : squared_(squared),
          rules_(rules),
          n_threads_(n_threads),
          poll_(poll),
          end_(Clock::now() + std::chrono::duration<double>(rules.seconds)) {}

    // Takes n samples, whose y, cost and length the caller writes before start().
    void resize(std::size_t n);
    double* y() { return y_.data(); }
    double* cost() { return cost_.data(); }
    double* length() { return length_.data(); }  // sqrt(k(x, x))
    double* K() { return K_.data(); }            // n x n

    // The bounds for the costs, and zero coefficients.
    void start();
    // The costs times `ratio`, and the best multiple of the coefficients: `moved` of path.py.
    void move(double ratio);
    // A column that is `left` keeps the coefficients that it has reached, and so does one whose time is up.
    ColumnEnd solve(const Fetch& fetch);

    std::size_t n() const { return n_; }
    std::size_t n_iter() const { return n_iter_; }
    std::size_t n_support() const;
    const std::vector<double>& a() const { return a_; }
    const Look& seen() const { return seen_; }
    double dual() const { return dual_; }
    double tiny() const { return tiny_; }
    double gap() const;  // relative

  private:
    using Clock = std::chrono::steady_clock;

    Samples samples();
    void set_bounds();
    bool late() const { return Clock::now() >= end_; }
    double target(bool polished) const;
    bool open(double target) const;
    bool advance(double target, const Fetch& fetch);
    bool good();
    double rounding();

    bool squared_;
    const ColumnRules& rules_;
    int n_threads_;
    const Poll& poll_;
    decltype(Clock::now() + std::chrono::duration<double>()) end_;  // may be infinite
    std::size_t n_ = 0, n_iter_ = 0;
    double tiny_ = 0.0, dual_ = 0.0;
    Look seen_{};
    std::vector<double> a_, g_, lower_, upper_, y_, cost_, length_;
    ValueRoom K_, block_;
    Residuals scratch_;
};

}  // namespace maxmargin
