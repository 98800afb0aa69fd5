// Bindings of the baselines' native steps.
#include <nanobind/stl/string_view.h>

#include <stdexcept>
#include <string>

#include "maxmargin/solvers/lasvm.hpp"
#include "maxmargin/solvers/losses.hpp"
#include "maxmargin/solvers/online.hpp"
#include "python.hpp"

using namespace maxmargin;
using namespace nb::literals;

using Index = In<std::int64_t, 1>;
using Counts = Out<std::int64_t, 1>;
using Numbers = Out<double, 1>;
using Cancel = In<std::uint8_t, 1>;

template <class T>
static void bind_online(nb::module_& m) {
    m.def(
        "online_block",
        [](std::string_view loss, double alpha, std::uint64_t seed, In<T, 2> K, Index pool,
           In<double, 2> targets, In<double, 1> weight, Out<double, 2> outputs, Counts column_of,
           Out<double, 2> coef, Numbers time, Numbers sqnorm, Numbers suffered, Numbers seen, Counts slots,
           Counts n_support, Counts n_updates, Cancel cancel) {
            const std::size_t n = pool.shape(0), n_targets = targets.shape(1), budget = slots.shape(0);
            need(K.shape(0) == n && K.shape(1) >= n && targets.shape(0) == n && weight.shape(0) == n &&
                     outputs.shape(0) == n && outputs.shape(1) == n_targets && coef.shape(1) == n_targets,
                 "the samples of a block");
            need(time.shape(0) == n_targets && sqnorm.shape(0) == n_targets &&
                     suffered.shape(0) == n_targets && seen.shape(0) == n_targets,
                 "one number per target is needed");
            need(column_of.shape(0) == budget && n_support.shape(0) == 1 && n_updates.shape(0) == 1 &&
                     std::size_t(*n_support.data()) <= budget,
                 "the support vectors");
            need_below(pool, coef.shape(0), "pool");
            need_below(slots.data(), std::size_t(*n_support.data()), coef.shape(0), "slots");
            need_below(column_of.data(), std::size_t(*n_support.data()), K.shape(1), "column_of");
            const OnlineBlock<T> block{
                K.data(),       n,        K.shape(1), pool.data(), targets.data(), weight.data(),
                outputs.data(), n_targets};
            const OnlineRule rule{alpha, budget, seed, column_of.data()};
            const OnlineModel model{coef.data(), time.data(),  sqnorm.data(),    suffered.data(),
                                    seen.data(), slots.data(), n_support.data(), n_updates.data()};
            nb::gil_scoped_release released;
            visit_loss(loss,
                       [&](auto of) { online_block<decltype(of)>(block, rule, model, python_poll(cancel)); });
        },
        "loss"_a, "alpha"_a, "seed"_a, "K"_a.noconvert(), "pool"_a.noconvert(), "targets"_a.noconvert(),
        "weight"_a.noconvert(), "outputs"_a.noconvert(), "column_of"_a.noconvert(), "coef"_a.noconvert(),
        "time"_a.noconvert(), "sqnorm"_a.noconvert(), "suffered"_a.noconvert(), "seen"_a.noconvert(),
        "slots"_a.noconvert(), "n_support"_a.noconvert(), "n_updates"_a.noconvert(), "cancel"_a.noconvert());
}

// The arrays of the samples held; max_support = 0 stands for no limit.
template <class T>
static Held<T> held_of(const Out<T, 2>& K, const Out<double, 2>& numbers, const Counts& sample,
                       const Counts& counts) {
    const std::size_t room = K.shape(0);
    need(K.shape(1) == room && numbers.shape(0) == 4 && numbers.shape(1) == room && sample.shape(0) == room &&
             counts.shape(0) == 2 && 0 <= counts.data()[1] && counts.data()[1] <= counts.data()[0] &&
             std::size_t(counts.data()[0]) <= room,
         "K and the numbers of the samples held must have equal room");
    double* of = numbers.data();
    return {K.data(),         room, of, of + room, of + 2 * room, of + 3 * room, sample.data(), counts.data(),
            counts.data() + 1};
}

static std::size_t limit(std::size_t max_support) { return max_support == 0 ? SIZE_MAX : max_support; }

static Selection selection_of(std::string_view name) {
    if (name == "random") return Selection::random;
    if (name == "active") return Selection::active;
    if (name == "gradient") return Selection::gradient;
    throw std::invalid_argument("selection must be 'random', 'active' or 'gradient'; got '" +
                                std::string(name) + "'.");
}

template <class T>
static void bind_lasvm(nb::module_& m) {
    m.def(
        "lasvm_block",
        [](std::string_view selection, std::size_t group, double tau, std::size_t max_support, In<T, 2> Kb,
           Index block_sample, In<double, 1> block_y, In<double, 1> block_cost, Out<T, 2> K,
           Out<double, 2> numbers, Counts sample, Counts counts, Cancel cancel) {
            Held<T> held = held_of<T>(K, numbers, sample, counts);
            const std::size_t n = block_sample.shape(0);
            need(group > 0 && held.n() + n / group + (n % group != 0) <= held.stride, "room for the block");
            need(Kb.shape(0) == n && Kb.shape(1) == held.n() + n && block_y.shape(0) == n &&
                     block_cost.shape(0) == n,
                 "the samples of a block");
            const LasvmBlock<T> block{Kb.data(),        n, Kb.shape(1), block_sample.data(), block_y.data(),
                                      block_cost.data()};
            const Selection how = selection_of(selection);
            nb::gil_scoped_release released;
            return lasvm_block(held, block, group, how, tau, limit(max_support), python_poll(cancel));
        },
        "selection"_a, "group"_a, "tau"_a, "max_support"_a, "Kb"_a.noconvert(), "block_sample"_a.noconvert(),
        "block_y"_a.noconvert(), "block_cost"_a.noconvert(), "K"_a.noconvert(), "numbers"_a.noconvert(),
        "sample"_a.noconvert(), "counts"_a.noconvert(), "cancel"_a.noconvert());
    m.def(
        "lasvm_reprocess",
        [](double tau, std::size_t max_support, std::size_t n_steps, Out<T, 2> K, Out<double, 2> numbers,
           Counts sample, Counts counts, Cancel cancel) {
            Held<T> held = held_of<T>(K, numbers, sample, counts);
            nb::gil_scoped_release released;
            return reprocess_many(held, tau, limit(max_support), n_steps, python_poll(cancel));
        },
        "tau"_a, "max_support"_a, "n_steps"_a, "K"_a.noconvert(), "numbers"_a.noconvert(),
        "sample"_a.noconvert(), "counts"_a.noconvert(), "cancel"_a.noconvert());
}

void bind_baselines(nb::module_& m) {
    bind_online<float>(m);
    bind_online<double>(m);
    bind_lasvm<float>(m);
    bind_lasvm<double>(m);
}
