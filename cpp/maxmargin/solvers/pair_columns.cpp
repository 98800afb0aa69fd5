// Classes are taken in groups. Where pairs are small, the kernel values of a group's rows with their own and
// all later rows are one panel, from which the matrix of each pair is gathered; a larger pair computes the
// rows that it needs.
#include "maxmargin/solvers/pair_columns.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

namespace maxmargin {
namespace {

using Clock = std::chrono::steady_clock;

struct Stopped {};  // thrown where `cancel` is set

// The column of one pair, with the rows of its two classes in turn.
class PairColumn {
  public:
    PairColumn(const PairData& data, const ColumnRules& rules, int n_threads, const Poll& poll)
        : data_(data), n_threads_(n_threads), poll_(poll), column_(data.squared, rules, n_threads, poll) {}

    // Takes the rows of classes i and j. The caller fills K (n, n) of an eager pair.
    double* start(std::size_t i, std::size_t j) {
        first_class_ = i, second_class_ = j;
        const std::size_t n_first = data_.size(i), n = n_first + data_.size(j);
        column_.resize(n), index_.resize(n);
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t row = row_of(k);
            column_.cost()[k] = data_.cost[row], column_.length()[k] = data_.length[row];
            column_.y()[k] = k < n_first ? -1.0 : 1.0, index_[k] = data_.index[row];
        }
        known_.assign(n, data_.eager(i, j));
        column_.start();
        first_ = column_.seen();
        return column_.K();
    }

    ColumnEnd solve() {
        if (!(first_.gap > column_.tiny())) return ColumnEnd::left;
        return column_.solve(
            RowStore<double>{data_.source, index_, column_.K(), known_.data(), n_threads_, poll_});
    }

    void store_first(const PairResults& to, std::size_t t) const {
        to.intercept[t] = first_.b;
        to.first[2 * t] = first_.gap, to.first[2 * t + 1] = first_.violation;
        const double last[] = {first_.gap, 0.0, first_.violation, column_.tiny()};
        std::copy_n(last, 4, to.last + 4 * t);
    }

    void store(const PairResults& to, std::size_t t) const {
        const Look seen = column_.seen();
        to.intercept[t] = seen.b;
        const double last[] = {column_.dual() + seen.gap, std::max(column_.dual(), 0.0), seen.violation,
                               column_.tiny()};
        std::copy_n(last, 4, to.last + 4 * t);
        to.n_support[t] = std::int32_t(column_.n_support());
        to.n_values[t] = std::int64_t(known_.size()) * std::count(known_.begin(), known_.end(), 1);
    }

    void store_point(const PairResults& to, std::size_t t) const {
        const std::size_t width = data_.n_classes() - 1, n_first = data_.size(first_class_);
        to.n_iter[t] = std::int32_t(column_.n_iter());
        for (std::size_t k = 0; k < column_.n(); ++k)
            to.coef[row_of(k) * width + (k < n_first ? second_class_ - 1 : first_class_)] = column_.a()[k];
    }

  private:
    std::size_t row_of(std::size_t k) const {
        const std::size_t n_first = data_.size(first_class_);
        return k < n_first ? std::size_t(data_.starts[first_class_]) + k
                           : std::size_t(data_.starts[second_class_]) + k - n_first;
    }

    const PairData& data_;
    int n_threads_;
    const Poll& poll_;
    SmallColumn column_;
    std::size_t first_class_ = 0, second_class_ = 0;
    Look first_{};
    std::vector<std::int64_t> index_;
    std::vector<std::uint8_t> known_;
};

// Columns that are not in use, for the next group of classes: their pages are mapped already.
class SpareColumns {
  public:
    SpareColumns(const PairData& data, const ColumnRules& rules, int n_threads, const Poll& poll)
        : data_(data), rules_(rules), n_threads_(n_threads), poll_(poll) {}

    std::unique_ptr<PairColumn> take() {
        const std::lock_guard lock(mutex_);
        if (spare_.empty()) return std::make_unique<PairColumn>(data_, rules_, n_threads_, poll_);
        auto column = std::move(spare_.back());
        spare_.pop_back();
        return column;
    }
    void give_back(std::unique_ptr<PairColumn> column) {
        const std::lock_guard lock(mutex_);
        spare_.push_back(std::move(column));
    }

  private:
    const PairData& data_;
    const ColumnRules& rules_;
    int n_threads_;
    const Poll& poll_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<PairColumn>> spare_;
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

void solve_pairs(const PairData& data, const ColumnRules& rules, const PairResults& results,
                 const volatile std::uint8_t* cancel, int n_threads, const Poll& poll) {
    const auto deadline = Clock::now() + std::chrono::duration<double>(rules.seconds);
    const std::size_t k = data.n_classes();
    const bool alone = k == 2;  // one column, on the caller's thread: it alone may poll and use other threads
    const Poll unless_cancelled = [&] {
        if (*cancel) throw Stopped();
        if (alone && poll) poll();
    };
    ClassGroups groups(data);
    Pool::instance().run(groups.count(), n_threads, [&](std::size_t group) { groups.fill_own(group); }, poll);
    SpareColumns spare(data, rules, alone ? n_threads : 1, unless_cancelled);
    const auto solve_group = [&](std::size_t group) {
        if (groups.first(group) + 1 == k) return;  // the last class: its pairs belong to the others
        auto owned = spare.take();
        PairColumn& column = *owned;
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
                    results.end[t] = std::uint8_t(ColumnEnd::late);
                    continue;
                }
                const std::size_t place =
                    (std::size_t(data.starts[i]) - begin) * width + std::size_t(data.starts[j]) - begin;
                if (data.eager(i, j))
                    gather_pair(K, data.size(i), data.size(j), groups.own(i), groups.own(j),
                                panel.data() + place, width);
                const ColumnEnd end = column.solve();
                if (end == ColumnEnd::solved) column.store(results, t);
                column.store_point(results, t);
                results.seconds[t] = std::chrono::duration<float>(Clock::now() - start).count();
                results.end[t] = std::uint8_t(end);
            }
        spare.give_back(std::move(owned));
    };
    const auto until_cancelled = [&](std::size_t group) {
        try {
            solve_group(group);
        } catch (const Stopped&) {  // what has not been solved stays `cut`
        }
    };
    Pool::instance().run(groups.count(), alone ? 1 : n_threads, until_cancelled, poll);
}

}  // namespace maxmargin
