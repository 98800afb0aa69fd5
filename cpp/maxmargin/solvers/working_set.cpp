// A round: choose a block of samples, solve it with its kernel matrix in cache, and update the gradients of
// all samples.
#include "maxmargin/solvers/working_set.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "maxmargin/solvers/extrapolation.hpp"
#include "maxmargin/solvers/face_newton.hpp"
namespace maxmargin {
namespace {

using Clock = std::chrono::steady_clock;
using Deadline = decltype(Clock::now() + std::chrono::duration<double>());  // may be infinite

// Positions of the block's samples in ascending order: all free ones if possible, because they compensate for
// the others, and from both sides those that violate optimality most.
std::vector<std::int64_t> choose_block(const Samples& s, const RoundRules& rules) {
    std::vector<std::int64_t> block(s.n);
    std::iota(block.begin(), block.end(), 0);
    std::vector<char> chosen(s.n, 0);
    std::size_t n_free = 0;
    for (std::size_t i = 0; i < s.n; ++i) {
        const bool is_free = s.is_free(i);
        chosen[i] = is_free;
        n_free += std::size_t(is_free);
    }
    const std::size_t size =
        std::clamp(std::size_t(double(n_free) / rules.free_share), rules.block, rules.largest_block);
    if (s.n <= size) return block;
    if (double(n_free) > rules.free_share * double(size) + 1.0 || n_free + 2 > size) {
        n_free = 0;
        std::fill(chosen.begin(), chosen.end(), 0);
    }
    const std::size_t half = (size - n_free) / 2;
    std::vector<std::pair<double, std::int64_t>> side;
    for (const bool growing : {true, false}) {
        side.clear();
        for (std::size_t i = 0; i < s.n; ++i)
            if (!chosen[i] && (growing ? s.may_grow(i) : s.may_fall(i)))
                side.emplace_back(growing ? -s.rise(i) : s.fall(i), std::int64_t(i));
        if (half < side.size())
            std::nth_element(side.begin(), side.begin() + std::ptrdiff_t(half), side.end());
        for (std::size_t k = 0; k < std::min(half, side.size()); ++k) chosen[std::size_t(side[k].second)] = 1;
    }
    std::erase_if(block, [&](std::int64_t i) { return !chosen[std::size_t(i)]; });
    return block;
}

// The variables of the chosen samples, and how far each has moved.
struct Block {
    std::vector<std::int64_t> positions;
    std::vector<double> a, g, lower, upper, change;

    std::size_t size() const { return positions.size(); }

    void copy_from(const Samples& s, std::vector<std::int64_t> chosen) {
        positions = std::move(chosen);
        const std::size_t q = size();
        a.resize(q), g.resize(q), lower.resize(q), upper.resize(q), change.resize(q);
        for (std::size_t k = 0; k < q; ++k) {
            const std::size_t i = std::size_t(positions[k]);
            a[k] = s.a[i], g[k] = s.g[i], lower[k] = s.lower[i], upper[k] = s.upper[i];
        }
    }
    void copy_to(Samples& s) const {
        for (std::size_t k = 0; k < size(); ++k) s.a[positions[k]] = a[k], s.g[positions[k]] = g[k];
    }
};

// Optimises pairs until the tolerance or the deadline, which is checked between slices. Where pairs take many
// steps, a larger violation is left, because the next block will differ, and two kinds of steps come between
// the pairs: leaps along the last moves, after as many pairs as there are samples, and Newton steps on the
// free samples, after as many pairs as take three times as long, and more rarely where pairs gain more.
template <class T>
class BlockSolver {
  public:
    BlockSolver(Block& block, const T* K, double kink, const Poll& poll)
        : block_(block),
          poll_(poll),
          q_(block.size()),
          task_{K, q_, block.a.data(), block.g.data(), block.lower.data(), block.upper.data(), kink},
          newton_(task_),
          extrapolation_(task_),
          a_(block.a),
          g_(block.g),
          next_newton_(pause()),
          next_leap_(q_) {}

    void solve(double tolerance, Deadline deadline) {
        run(tolerance, deadline);
        extrapolation_.finish();
    }

  private:
    void run(double tolerance, Deadline deadline) {
        const std::size_t max_steps = MAX_STEPS_PER_SAMPLE * q_, patience = PATIENCE_PER_SAMPLE * q_;
        for (std::size_t steps = 0; steps < max_steps && Clock::now() < deadline;) {
            const bool patient = steps < patience;
            const std::size_t end =
                std::min({max_steps, next_newton_, next_leap_, patient ? patience : max_steps});
            const std::size_t slice = std::clamp<std::size_t>(VALUES_PER_SLICE / q_, 1, end - steps);
            const SmoEnd part =
                smo_block(task_, (patient ? 1.0 : IMPATIENT_FACTOR) * tolerance, slice, poll_);
            steps += part.steps;
            if (part.steps < slice || part.stalled) return;
            if (steps >= next_leap_) {
                extrapolation_.after_slice();
                next_leap_ = steps + q_;
            }
            if (steps >= next_newton_) newton_step(steps);
        }
    }

    void newton_step(std::size_t steps) {
        extrapolation_.forget();
        double by_pairs = 0.0;
        for (std::size_t k = 0; k < q_; ++k) by_pairs += 0.5 * (block_.a[k] - a_[k]) * (block_.g[k] + g_[k]);
        by_pairs -= kink_growth(task_.kink, task_.a, a_.data(), q_);
        newton_.choose();
        wait_ = newton_.step() < by_pairs ? 2.0 * wait_ : std::max(1.0, 0.5 * wait_);
        a_ = block_.a, g_ = block_.g;
        next_newton_ = steps + std::size_t(wait_ * double(pause()));
    }

    // The number of pairs between Newton steps: three times as many as take the time of one.
    std::size_t pause() {
        const double m = double(newton_.choose());
        return std::size_t(std::max(double(MIN_PAUSE_PER_SAMPLE * q_), 0.05 * m * m * m / double(q_)));
    }

    static constexpr std::size_t MAX_STEPS_PER_SAMPLE = 100, VALUES_PER_SLICE = 8'000'000;
    static constexpr std::size_t PATIENCE_PER_SAMPLE = 5, MIN_PAUSE_PER_SAMPLE = 5;
    static constexpr double IMPATIENT_FACTOR = 15.0;  // by which the tolerance grows

    Block& block_;
    const Poll& poll_;
    std::size_t q_;
    SmoBlock<T> task_;
    FaceNewton<T> newton_;
    Extrapolation<T> extrapolation_;
    std::vector<double> a_, g_;  // after the last Newton step
    double wait_ = 1.0;
    std::size_t next_newton_, next_leap_;
};

// Applies the solution of a block to the dual value and the path length; false if nothing moved.
bool note_changes(const Samples& s, Block& block, RoundsEnd& end) {
    bool moved = false;
    double square = 0.0;
    for (std::size_t k = 0; k < block.size(); ++k) {
        const std::size_t i = std::size_t(block.positions[k]);
        block.change[k] = block.a[k] - s.a[i];
        moved |= block.change[k] != 0.0;
        end.dual += 0.5 * block.change[k] * (s.g[i] + block.g[k]);
        square += block.change[k] * (s.g[i] - block.g[k]);
    }
    for (std::size_t k = 0; s.kink > 0.0 && k < block.size(); ++k)
        end.dual -= s.kink * (std::abs(block.a[k]) - std::abs(s.a[block.positions[k]]));
    if (moved) end.moved += std::sqrt(std::max(square, 0.0));
    return moved;
}

}  // namespace

template <class T>
RoundsEnd rounds(const Samples& samples, const WorkingRows<T>& working, const RoundRules& rules, double dual,
                 int n_threads, const Poll& poll) {
    const Deadline deadline = Clock::now() + std::chrono::duration<double>(rules.seconds);
    Samples s = samples;
    T* K = working.block_memory;
    Block block;
    Residuals scratch;
    RoundsEnd end{0, dual, 0.0, false, 0};
    Look seen = look(s, scratch);
    for (; end.n_rounds < rules.n_rounds; ++end.n_rounds) {
        if (seen.gap <= rules.target * std::max(std::abs(end.dual), rules.tiny) || Clock::now() >= deadline)
            break;
        block.copy_from(s, choose_block(s, rules));
        const std::size_t q = block.size();
        const std::vector<std::int64_t> slots = working.fetch(block.positions);
        end.asked += q;
        gather_rows<T>(working.rows, slots, block.positions, {K, q}, nullptr, n_threads, poll);
        for (std::size_t k = 0; k < q; ++k) K[k * q + k] += T(s.ridge(std::size_t(block.positions[k])));
        BlockSolver<T>(block, K, s.kink, poll).solve(rules.inner * seen.violation, deadline);
        if (!note_changes(s, block, end)) {
            end.stalled = true;
            break;
        }
        subtract_rows<T>(working.rows, slots, block.change.data(), {s.g, s.n}, n_threads, poll);
        block.copy_to(s);
        seen = look(s, scratch);
    }
    return end;
}

template RoundsEnd rounds(const Samples&, const WorkingRows<float>&, const RoundRules&, double, int,
                          const Poll&);
template RoundsEnd rounds(const Samples&, const WorkingRows<double>&, const RoundRules&, double, int,
                          const Poll&);

}  // namespace maxmargin
