// Classes are taken in groups. Where pairs are small, the kernel values of a group's rows with their own and
// all later rows are one panel, from which the matrix of each pair is gathered; a larger pair computes the
// rows that it needs.
#include "maxmargin/solvers/pair_columns.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "maxmargin/solvers/polish.hpp"
#include "maxmargin/solvers/working_set.hpp"

namespace maxmargin {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double EPS = std::numeric_limits<double>::epsilon();

struct Stopped {};  // thrown where `cancel` is set

// The memory of one pair, reused for the next.
class PairColumn {
  public:
    PairColumn(const PairData& data, const PairRules& rules, const Poll& poll)
        : data_(data), rules_(rules), poll_(poll) {}

    // Takes the rows of classes i and j. The caller fills K (n, n) of an eager pair.
    double* start(std::size_t i, std::size_t j) {
        const std::size_t n_first = data_.size(i);
        n_ = n_first + data_.size(j);
        for (auto* part : {&a_, &g_, &lower_, &upper_, &y_, &cost_}) part->assign(n_, 0.0);
        length_.resize(n_), index_.resize(n_);
        for (std::size_t k = 0; k < n_; ++k) {
            const std::size_t row =
                k < n_first ? std::size_t(data_.starts[i]) + k : std::size_t(data_.starts[j]) + k - n_first;
            cost_[k] = data_.cost[row], length_[k] = data_.length[row], index_[k] = data_.index[row];
        }
        total_ = std::accumulate(cost_.begin() + 1, cost_.end(), cost_[0]);
        for (std::size_t k = 0; k < n_; ++k) {
            const double largest = data_.squared ? 2.0 * std::sqrt(cost_[k]) * std::sqrt(total_) : cost_[k];
            g_[k] = y_[k] = k < n_first ? -1.0 : 1.0;
            (k < n_first ? lower_ : upper_)[k] = k < n_first ? -largest : largest;
        }
        tiny_ = total_ * (data_.squared ? 0.5 : 1.0) * EPS;
        K_.resize(n_ * n_), block_.resize(n_ * n_);
        known_.assign(n_, data_.eager(i, j));
        dual_ = 0.0;
        seen_ = look(samples(), scratch_);
        first_ = seen_;
        return K_.data();
    }

    PairEnd solve() {
        if (!std::isfinite(seen_.gap) || !(seen_.gap > rules_.tol * std::max(seen_.gap, tiny_)))
            return PairEnd::left;
        bool polished = n_ > rules_.max_polished;
        for (n_iter_ = 1;; ++n_iter_) {
            if (n_iter_ > rules_.max_iter) return PairEnd::left;
            const bool weary = !polished && n_iter_ > rules_.max_steps;
            if (open() && !weary) {
                const bool stalled = advance(rules_.target);
                if (open() && (polished || !stalled)) {
                    if (stalled || n_iter_ > rules_.max_steps) return PairEnd::left;
                    continue;
                }
            }
            if (!polished) {
                if (n_ > rules_.max_polished_at_once) advance(rules_.polish_gap);
                const FaceRows<double> rows{K_.data(), [this](const auto& which) { store()(which); }};
                if (!polish(samples(), rows, [this] { return poll_(), false; })) return PairEnd::left;
                seen_ = look(samples(), scratch_);
            }
            dual_ = dual_value(samples());
            return good() ? PairEnd::solved : PairEnd::left;
        }
    }

    void store_first(const PairResults& to, std::size_t t) const {
        to.intercept[t] = first_.b;
        to.first[2 * t] = first_.gap, to.first[2 * t + 1] = first_.violation;
        const double last[] = {first_.gap, 0.0, first_.violation, tiny_};
        std::copy_n(last, 4, to.last + 4 * t);
    }

    void store(const PairResults& to, std::size_t t, std::size_t i, std::size_t j) const {
        const std::size_t width = data_.n_classes() - 1, n_first = data_.size(i);
        to.intercept[t] = seen_.b;
        const double last[] = {dual_ + seen_.gap, std::max(dual_, 0.0), seen_.violation, tiny_};
        std::copy_n(last, 4, to.last + 4 * t);
        to.n_iter[t] = std::int32_t(n_iter_);
        to.n_support[t] =
            std::int32_t(std::count_if(a_.begin(), a_.end(), [](double a) { return a != 0.0; }));
        for (std::size_t k = 0; k < n_; ++k) {
            const std::size_t row =
                k < n_first ? std::size_t(data_.starts[i]) + k : std::size_t(data_.starts[j]) + k - n_first;
            to.coef[row * width + (k < n_first ? j - 1 : i)] = a_[k];
        }
    }

  private:
    Samples samples() {
        return {n_,        a_.data(),    g_.data(),    lower_.data(), upper_.data(),
                y_.data(), cost_.data(), data_.squared};
    }

    RowStore<double> store() { return {data_.source, index_, K_.data(), known_.data(), 1, poll_}; }

    bool open() const { return !(seen_.gap <= rules_.target * std::max(std::abs(dual_), tiny_)); }

    // Rounds until the gap is at most `target` of the dual value; true if nothing moved.
    bool advance(double target) {
        const std::size_t largest = std::min(n_, rules_.max_block);
        const std::size_t block =
            std::min(largest, std::max(rules_.min_block, n_ / rules_.blocks_per_problem));
        const WorkingRows<double> rows{{K_.data(), n_}, store(), block_.data()};
        const RoundRules round{block,  largest, rules_.free_share, rules_.rounds_per_step, rules_.inner,
                               target, tiny_,   rules_.seconds};
        const RoundsEnd end = rounds(samples(), rows, round, dual_, 1, poll_);
        dual_ = end.dual;
        seen_ = look(samples(), scratch_);
        return end.stalled;
    }

    // Whether the certificate is within the tolerance, by so much that rounding in double cannot matter.
    bool good() {
        const double primal = dual_ + seen_.gap, scale = std::max({std::abs(primal), std::abs(dual_), tiny_});
        if (!std::isfinite(primal) || !(scale > 0.0)) return false;
        const double gap = (primal - dual_) / scale;
        return -1e-10 < gap && gap <= rules_.tol && rounding() <= 0.5 * rules_.negligible_rounding * scale;
    }

    // double_rounding of methods/kernel_svm/rounding.py
    double rounding() {
        const Samples s = samples();
        double norm = 0.0, sum = 0.0, largest = 0.0, grown = 0.0, moved = 0.0;
        for (std::size_t k = 0; k < n_; ++k) {
            norm += a_[k] * a_[k] * length_[k] * length_[k];
            sum += a_[k], largest = std::max(largest, std::abs(g_[k]));
        }
        if (!(norm > 0.0)) return std::numeric_limits<double>::infinity();
        norm = std::sqrt(norm);
        for (std::size_t k = 0; k < n_; ++k) {
            const double width = EPS * (rules_.double_errors * norm * length_[k] + 1.0 + std::abs(seen_.b));
            const double r = s.residual(k) - seen_.b;
            grown += std::max(gap_term(s, k, r - width), gap_term(s, k, r + width)) - gap_term(s, k, r);
            moved += 0.5 * std::abs(a_[k]) * width;
        }
        return grown + moved + std::abs(sum) * (std::abs(seen_.b) + largest);
    }

    const PairData& data_;
    const PairRules& rules_;
    const Poll& poll_;
    std::size_t n_ = 0, n_iter_ = 0;
    double total_ = 0.0, tiny_ = 0.0, dual_ = 0.0;
    Look seen_{}, first_{};
    std::vector<double> a_, g_, lower_, upper_, y_, cost_, length_, K_, block_;
    std::vector<std::int64_t> index_;
    std::vector<std::uint8_t> known_;
    Residuals scratch_;
};

// Consecutive classes with enough rows for one product, and the kernel values of each class with itself.
class ClassGroups {
  public:
    explicit ClassGroups(const PairData& data) : data_(data), ends_{0}, own_(data.n_classes()) {
        constexpr std::size_t ROWS_PER_PANEL = 96;
        std::size_t rows = 0;
        for (std::size_t c = 0; c < data.n_classes(); ++c) {
            if (rows > 0 && !data.is_small(c)) ends_.push_back(c), rows = 0;
            rows += data.size(c);
            const bool last = c + 1 == data.n_classes();
            if (rows >= ROWS_PER_PANEL || last || !data.is_small(c)) ends_.push_back(c + 1), rows = 0;
        }
    }

    std::size_t count() const { return ends_.size() - 1; }
    std::size_t first(std::size_t group) const { return ends_[group]; }
    std::size_t last(std::size_t group) const { return ends_[group + 1]; }
    const double* own(std::size_t c) const { return own_[c].data(); }

    // The kernel values of each class of a group with itself, (size, size).
    void fill_own(std::size_t group) {
        for (std::size_t c = first(group); c < last(group) && data_.is_small(c); ++c) {
            own_[c].resize(data_.size(c) * data_.size(c));
            fill(c, c + 1, std::size_t(data_.starts[c + 1]), own_[c]);
        }
    }

    // The kernel values of the rows of classes from .. to-1 with the rows from their first one to `end`.
    void fill(std::size_t from, std::size_t to, std::size_t end, std::vector<double>& panel) const {
        const std::size_t begin = std::size_t(data_.starts[from]),
                          count = std::size_t(data_.starts[to]) - begin, width = end - begin;
        panel.resize(count * width);
        std::vector<std::int64_t> slots(count);
        std::iota(slots.begin(), slots.end(), 0);
        data_.source.fill(data_.index.subspan(begin, count), data_.index.subspan(begin, width), panel.data(),
                          width, slots.data(), 1, {});
    }

  private:
    const PairData& data_;
    std::vector<std::size_t> ends_;
    std::vector<std::vector<double>> own_;
};

// K of two classes: their own values, and those between them, `between` (size(i), stride).
void gather_pair(double* K, std::size_t n_first, std::size_t n_second, const double* first,
                 const double* second, const double* between, std::size_t stride) {
    const std::size_t n = n_first + n_second;
    for (std::size_t r = 0; r < n_first; ++r) {
        std::copy_n(first + r * n_first, n_first, K + r * n);
        std::copy_n(between + r * stride, n_second, K + r * n + n_first);
        for (std::size_t s = 0; s < n_second; ++s) K[(n_first + s) * n + r] = between[r * stride + s];
    }
    for (std::size_t s = 0; s < n_second; ++s)
        std::copy_n(second + s * n_second, n_second, K + (n_first + s) * n + n_first);
}

}  // namespace

void solve_pairs(const PairData& data, const PairRules& rules, const PairResults& results,
                 const volatile std::uint8_t* cancel, int n_threads, const Poll& poll) {
    const auto deadline = Clock::now() + std::chrono::duration<double>(rules.seconds);
    const std::size_t k = data.n_classes();
    const Poll unless_cancelled = [cancel] {
        if (*cancel) throw Stopped();
    };
    ClassGroups groups(data);
    Pool::instance().run(groups.count(), n_threads, [&](std::size_t group) { groups.fill_own(group); }, poll);
    const auto solve_group = [&](std::size_t group) {
        PairColumn column(data, rules, unless_cancelled);
        std::vector<double> panel;
        const std::size_t begin = std::size_t(data.starts[groups.first(group)]),
                          width = data.index.size() - begin;
        const bool late = Clock::now() >= deadline;
        if (!late && data.is_small(groups.first(group)))
            groups.fill(groups.first(group), groups.last(group), data.index.size(), panel);
        for (std::size_t i = groups.first(group); i < groups.last(group); ++i)
            for (std::size_t j = i + 1; j < k; ++j) {
                const std::size_t t = i * (2 * k - i - 1) / 2 + j - i - 1;
                unless_cancelled();
                const auto start = Clock::now();
                double* K = column.start(i, j);
                column.store_first(results, t);
                if (late || start >= deadline) {
                    results.end[t] = std::uint8_t(PairEnd::late);
                    continue;
                }
                const std::size_t place =
                    (std::size_t(data.starts[i]) - begin) * width + std::size_t(data.starts[j]) - begin;
                if (data.eager(i, j))
                    gather_pair(K, data.size(i), data.size(j), groups.own(i), groups.own(j),
                                panel.data() + place, width);
                const PairEnd end = column.solve();
                if (end == PairEnd::solved) column.store(results, t, i, j);
                results.seconds[t] = std::chrono::duration<float>(Clock::now() - start).count();
                results.end[t] = std::uint8_t(end);
            }
    };
    const auto until_cancelled = [&](std::size_t group) {
        try {
            solve_group(group);
        } catch (const Stopped&) {  // what has not been solved stays `cut`
        }
    };
    Pool::instance().run(groups.count(), n_threads, until_cancelled, poll);
}

}  // namespace maxmargin
