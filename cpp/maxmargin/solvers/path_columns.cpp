#include "maxmargin/solvers/path_columns.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

namespace maxmargin {
namespace {

using Clock = std::chrono::steady_clock;

struct Stopped {};  // thrown where `cancel` is set, or the caller's poll has thrown

// Copies the rows of K that a column asks for.
struct Gather {
    const PathData& data;
    std::span<const std::int64_t> index;
    double* rows;
    std::uint8_t* known;

    std::vector<std::int64_t> operator()(const std::vector<std::int64_t>& wanted) const {
        const std::size_t n = index.size();
        for (const std::int64_t i : wanted) {
            if (known[i]) continue;
            const double* from = data.K + std::size_t(index[std::size_t(i)]) * data.n;
            for (std::size_t j = 0; j < n; ++j) rows[std::size_t(i) * n + j] = from[index[j]];
            known[i] = 1;
        }
        return wanted;
    }
};

class PathColumn {
  public:
    PathColumn(const PathData& data, const ColumnRules& rules, const Poll& poll)
        : data_(data), column_(data.squared, rules, 1, poll) {}

    // Factor by factor, until one is not solved: the others stay `cut`.
    void solve(std::size_t t, const PathResults& to, const std::function<bool()>& late) {
        const std::size_t first = std::size_t(data_.starts[t]), n = std::size_t(data_.starts[t + 1]) - first,
                          m = data_.factors.size();
        const auto index = data_.index.subspan(first, n);
        column_.resize(n);
        known_.assign(n, 0);
        for (std::size_t k = 0; k < n; ++k) {
            column_.y()[k] = data_.y[first + k];
            column_.cost()[k] = data_.cost[first + k] * data_.factors[0];
            column_.length()[k] = std::sqrt(data_.K[std::size_t(index[k]) * (data_.n + 1)]);
        }
        column_.start();
        const Gather gather{data_, index, column_.K(), known_.data()};
        for (std::size_t v = 0; v < m; ++v) {
            const auto begun = Clock::now();
            if (v > 0) column_.move(data_.factors[v] / data_.factors[v - 1]);
            const ColumnEnd end = late() ? ColumnEnd::late : column_.solve(gather);
            to.end[t * m + v] = std::uint8_t(end);
            if (end != ColumnEnd::solved) return;
            for (std::size_t k = 0; k < n; ++k) to.coef[(first + k) * m + v] = column_.a()[k];
            to.intercept[t * m + v] = column_.seen().b, to.gap[t * m + v] = column_.gap();
            to.n_support[t * m + v] = std::int32_t(column_.n_support());
            to.seconds[t * m + v] = std::chrono::duration<double>(Clock::now() - begun).count();
        }
    }

  private:
    const PathData& data_;
    SmallColumn column_;
    std::vector<std::uint8_t> known_;
};

}  // namespace

void solve_paths(const PathData& data, const ColumnRules& rules, const PathResults& results,
                 const volatile std::uint8_t* cancel, int n_threads, const Poll& poll) {
    const auto deadline = Clock::now() + std::chrono::duration<double>(rules.seconds);
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> stopped{false};
    const Poll ask = [&] {  // on the caller's thread, which alone may poll
        try {
            if (poll) poll();
        } catch (...) {
            stopped = true;  // for the helpers, which are in the middle of their columns
            throw;
        }
    };
    const Poll unless_cancelled = [&] {
        if (*cancel || stopped) throw Stopped();
        if (std::this_thread::get_id() == caller) ask();
    };
    const auto solve = [&](std::size_t t) {
        try {
            unless_cancelled();
            PathColumn(data, rules, unless_cancelled).solve(t, results, [&] {
                return Clock::now() >= deadline;
            });
        } catch (const Stopped&) {  // what has not been solved stays `cut`
        }
    };
    Pool::instance().run(data.n_columns(), n_threads, solve, ask);
}

}  // namespace maxmargin
