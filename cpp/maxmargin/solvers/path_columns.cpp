#include "maxmargin/solvers/path_columns.hpp"

#include <chrono>
#include <cmath>
#include <functional>
#include <vector>

namespace maxmargin {
namespace {

using Clock = std::chrono::steady_clock;

struct Stopped {};  // thrown where `cancel` is set

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

    ColumnEnd solve(std::size_t t, const PathResults& to, const std::function<bool()>& late) {
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
            if (late()) return ColumnEnd::late;
            const auto begun = Clock::now();
            if (v > 0) column_.move(data_.factors[v] / data_.factors[v - 1]);
            if (const ColumnEnd end = column_.solve(gather); end != ColumnEnd::solved) return end;
            for (std::size_t k = 0; k < n; ++k) to.coef[(first + k) * m + v] = column_.a()[k];
            to.intercept[t * m + v] = column_.seen().b, to.gap[t * m + v] = column_.gap();
            to.n_support[t * m + v] = std::int32_t(column_.n_support());
            to.seconds[t * m + v] = std::chrono::duration<double>(Clock::now() - begun).count();
        }
        return ColumnEnd::solved;
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
    const Poll unless_cancelled = [cancel] {
        if (*cancel) throw Stopped();
    };
    const auto solve = [&](std::size_t t) {
        try {
            unless_cancelled();
            PathColumn column(data, rules, unless_cancelled);
            results.end[t] = std::uint8_t(column.solve(t, results, [&] { return Clock::now() >= deadline; }));
        } catch (const Stopped&) {  // stays `cut`
        }
    };
    Pool::instance().run(data.n_columns(), n_threads, solve, poll);
}

}  // namespace maxmargin
