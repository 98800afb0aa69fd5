// Bindings of sums over rows and of the linear solvers' native steps.
#include <nanobind/stl/pair.h>

#include <stdexcept>
#include <string>

#include "maxmargin/core/hash_rows.hpp"
#include "maxmargin/core/row_gram.hpp"
#include "maxmargin/core/row_products.hpp"
#include "maxmargin/solvers/dual_cd.hpp"
#include "maxmargin/solvers/hinge_round.hpp"
#include "maxmargin/solvers/lasso.hpp"
#include "python.hpp"

using namespace maxmargin;
using namespace nb::literals;

using Index = In<std::int64_t, 1>;
using Cancel = In<std::uint8_t, 1>;

static void need_rows(const Matrix& X, const Index& index) { need_below(index, X.n_rows(), "index"); }

static HingeRound round_of(const In<double, 1>& y, const In<double, 1>& cost, const In<double, 1>& anchor,
                           double sharpness, bool hinge, const In<double, 1>& scores) {
    const std::size_t n = y.shape(0);
    need(cost.shape(0) == n && anchor.shape(0) == n && scores.shape(0) == n,
         "one number per sample is needed");
    return {y.data(), cost.data(), anchor.data(), sharpness, hinge, n};
}

static void bind_searches(nb::module_& m) {
    m.def(
        "best_intercept",
        [](In<double, 1> y, In<double, 1> cost, In<double, 1> anchor, double sharpness, bool hinge,
           In<double, 1> scores, double start) {
            const HingeRound round = round_of(y, cost, anchor, sharpness, hinge, scores);
            nb::gil_scoped_release released;
            return best_intercept(round, scores.data(), start);
        },
        "y"_a.noconvert(), "cost"_a.noconvert(), "anchor"_a.noconvert(), "sharpness"_a, "hinge"_a,
        "scores"_a.noconvert(), "start"_a);
    m.def(
        "step_length",
        [](In<double, 1> y, In<double, 1> cost, In<double, 1> anchor, double sharpness, bool hinge,
           In<double, 1> scores, In<double, 1> along, bool free_intercept, double linear, double quadratic) {
            const HingeRound round = round_of(y, cost, anchor, sharpness, hinge, scores);
            need(along.shape(0) == round.n, "one change per sample is needed");
            nb::gil_scoped_release released;
            return step_length(round, scores.data(), along.data(), free_intercept, linear, quadratic);
        },
        "y"_a.noconvert(), "cost"_a.noconvert(), "anchor"_a.noconvert(), "sharpness"_a, "hinge"_a,
        "scores"_a.noconvert(), "along"_a.noconvert(), "free_intercept"_a, "linear"_a, "quadratic"_a);
}

static void bind_lasso(nb::module_& m) {
    m.def(
        "lasso_epochs",
        [](In<double, 2> G, Out<double, 1> w, Out<double, 1> gradient, std::size_t n_epochs, double still,
           Cancel cancel) {
            const std::size_t k = G.shape(0);
            need(G.shape(1) == k && w.shape(0) == k && gradient.shape(0) == k,
                 "G must be square, with one row per entry of w and of the gradient");
            nb::gil_scoped_release released;
            return lasso_epochs(G.data(), k, w.data(), gradient.data(), n_epochs, still, python_poll(cancel));
        },
        "G"_a.noconvert(), "w"_a.noconvert(), "gradient"_a.noconvert(), "n_epochs"_a, "still"_a,
        "cancel"_a.noconvert());
}

void bind_linear(nb::module_& m) {
    m.def(
        "hash_rows",
        [](const Matrix& X, Out<std::uint64_t, 1> out, int n_threads) {
            need(out.shape(0) == X.n_rows(), "one fingerprint a row");
            nb::gil_scoped_release released;
            X.visit([&](const auto& rows) { hash_rows(rows, out.data(), n_threads, python_poll()); });
        },
        "X"_a, "out"_a.noconvert(), "n_threads"_a);
    m.def(
        "rows_equal",
        [](const Matrix& X, Index left, Index right, Out<bool, 1> out) {
            need_rows(X, left);
            need_rows(X, right);
            need(left.shape(0) == right.shape(0) && left.shape(0) == out.shape(0),
                 "left, right and out must have the same length");
            X.visit([&](const auto& rows) {
                for (std::size_t p = 0; p < left.shape(0); ++p)
                    out.data()[p] =
                        rows_equal(rows, std::size_t(left.data()[p]), std::size_t(right.data()[p]));
            });
        },
        "X"_a, "left"_a.noconvert(), "right"_a.noconvert(), "out"_a.noconvert());
    m.def(
        "rows_dot",
        [](const Matrix& X, Index index, In<double, 2> W, Out<double, 2> out, int n_threads, Cancel cancel) {
            need_rows(X, index);
            need(W.shape(1) == X.n_cols() && out.shape(0) == index.shape(0) && out.shape(1) == W.shape(0),
                 "vectors as long as the rows");
            nb::gil_scoped_release released;
            X.visit([&](const auto& rows) {
                rows_dot(rows, index.data(), index.shape(0), W.data(), W.shape(0), out.data(), n_threads,
                         python_poll(cancel));
            });
        },
        "X"_a, "index"_a.noconvert(), "W"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a,
        "cancel"_a.noconvert());
    m.def(
        "rows_sum",
        [](const Matrix& X, Index index, In<double, 1> u, Out<double, 1> out, int n_threads, Cancel cancel) {
            need_rows(X, index);
            need(u.shape(0) == index.shape(0) && out.shape(0) == X.n_cols(), "one coefficient a row");
            nb::gil_scoped_release released;
            X.visit([&](const auto& rows) {
                rows_sum(rows, index.data(), index.shape(0), u.data(), out.data(), n_threads,
                         python_poll(cancel));
            });
        },
        "X"_a, "index"_a.noconvert(), "u"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a,
        "cancel"_a.noconvert());
    m.def(
        "rows_gram",
        [](const Matrix& X, Index index, In<double, 1> weight, In<double, 1> centre, Out<double, 2> out,
           int n_threads, Cancel cancel) {
            need_rows(X, index);
            need(weight.shape(0) == index.shape(0) && centre.shape(0) == X.n_cols() &&
                     out.shape(0) == X.n_cols() && out.shape(1) == X.n_cols(),
                 "one weight a row; a centre and a square matrix as wide as the rows");
            nb::gil_scoped_release released;
            X.visit([&](const auto& rows) {
                rows_gram(rows, index.data(), weight.data(), index.shape(0), centre.data(), out.data(),
                          n_threads, python_poll(cancel));
            });
        },
        "X"_a, "index"_a.noconvert(), "weight"_a.noconvert(), "centre"_a.noconvert(), "out"_a.noconvert(),
        "n_threads"_a, "cancel"_a.noconvert());
    m.def(
        "rows_sqnorm",
        [](const Matrix& X, Index index, Out<double, 1> out, int n_threads, Cancel cancel) {
            need_rows(X, index);
            need(out.shape(0) == index.shape(0), "one norm per row is needed");
            nb::gil_scoped_release released;
            X.visit([&](const auto& rows) {
                rows_sqnorm(rows, index.data(), index.shape(0), out.data(), n_threads, python_poll(cancel));
            });
        },
        "X"_a, "index"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a, "cancel"_a.noconvert());
    bind_searches(m);
    bind_lasso(m);
    m.def(
        "dual_cd_epochs",
        [](const Matrix& X, Index index, In<double, 1> y, In<double, 1> wanted, In<double, 1> upper,
           In<double, 1> ridge, In<double, 1> sqnorm, double bias_weight, Out<double, 1> a, Out<double, 1> w,
           Out<double, 1> bias, Out<std::int64_t, 1> order, Out<std::int64_t, 1> n_active,
           Out<double, 1> violation, std::uint64_t seed, std::uint64_t epoch, std::uint64_t n_epochs,
           double enough, Cancel cancel) {
            const std::size_t n = index.shape(0);
            need_rows(X, index);
            need(y.shape(0) == n && wanted.shape(0) == n && upper.shape(0) == n && ridge.shape(0) == n &&
                     sqnorm.shape(0) == n && a.shape(0) == n && order.shape(0) == n &&
                     w.shape(0) == X.n_cols() && bias.shape(0) == 1 && n_active.shape(0) == 1 &&
                     violation.shape(0) == 2 && std::size_t(*n_active.data()) <= n,
                 "one number per sample and one weight per column of X are needed");
            need_below(order.data(), n, n, "order");
            const DualProblem problem{index.data(), y.data(),      wanted.data(), upper.data(),
                                      ridge.data(), sqnorm.data(), bias_weight};
            const DualIterate iterate{a.data(),     w.data(),        bias.data(),
                                      order.data(), n_active.data(), violation.data()};
            nb::gil_scoped_release released;
            const DualProgress done = X.visit([&](const auto& rows) {
                return dual_cd_epochs(rows, problem, iterate, n, seed, epoch, n_epochs, enough,
                                      python_poll(cancel));
            });
            return std::make_pair(done.n_epochs, done.gap);
        },
        "X"_a, "index"_a.noconvert(), "y"_a.noconvert(), "wanted"_a.noconvert(), "upper"_a.noconvert(),
        "ridge"_a.noconvert(), "sqnorm"_a.noconvert(), "bias_weight"_a, "a"_a.noconvert(), "w"_a.noconvert(),
        "bias"_a.noconvert(), "order"_a.noconvert(), "n_active"_a.noconvert(), "violation"_a.noconvert(),
        "seed"_a, "epoch"_a, "n_epochs"_a, "enough"_a, "cancel"_a.noconvert());
}
