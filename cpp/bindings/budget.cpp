// Bindings of the native steps of budgeted methods.
#include <nanobind/stl/string_view.h>

#include <stdexcept>

#include "maxmargin/solvers/backfit.hpp"
#include "maxmargin/solvers/losses.hpp"
#include "maxmargin/solvers/reduced_newton.hpp"
#include "python.hpp"

namespace maxmargin {
namespace {

using Coef = Out<double, 2>;
using Scales = Out<double, 1>;
using Times = Out<std::int64_t, 1>;

ScaledCoef column(const Coef& a, const Scales& scale, const Times& t, std::size_t c) {
    return {a.data() + c * a.shape(1), a.shape(1), scale.data()[c], t.data()[c]};
}

template <class T>
ReducedRows<T> reduced_rows(const In<T, 2>& phi, const In<double, 2>& y, const In<double, 2>& cost,
                            double alpha, std::size_t b) {
    const std::size_t n = phi.shape(0), n_columns = y.shape(0);
    need(b <= phi.shape(1) && y.shape(1) == n && cost.shape(0) == n_columns && cost.shape(1) == n,
         "one feature per support vector, and one target and one cost per row and column are needed");
    return {phi.data(), n, phi.shape(1), b, n_columns, y.data(), cost.data(), alpha};
}

template <class T>
void bind_reduced(nb::module_& m) {
    using namespace nb::literals;
    m.def(
        "reduced_newton",
        [](In<T, 2> phi, In<double, 2> y, In<double, 2> cost, std::string_view loss, double alpha, double tol,
           int max_steps, std::size_t b, Out<double, 2> V, Out<double, 2> F, Out<double, 1> primal,
           Out<double, 1> gap, int n_threads, In<std::uint8_t, 1> cancel) {
            const ReducedRows<T> rows = reduced_rows<T>(phi, y, cost, alpha, b);
            need(V.shape(0) == rows.n_columns && V.shape(1) == b && F.shape(0) == rows.n_columns &&
                     F.shape(1) == rows.n && primal.shape(0) == rows.n_columns &&
                     gap.shape(0) == rows.n_columns,
                 "coefficients, outputs and bounds of every column are needed");
            const NewtonPoint at{V.data(), F.data(), primal.data(), gap.data()};
            nb::gil_scoped_release released;
            const Poll poll = python_poll(cancel);
            return visit_smooth_loss(loss, [&](auto named) {
                return ReducedNewton<decltype(named), T>(rows, at, {n_threads, poll}).solve(tol, max_steps);
            });
        },
        "phi"_a.noconvert(), "y"_a.noconvert(), "cost"_a.noconvert(), "loss"_a, "alpha"_a, "tol"_a,
        "max_steps"_a, "b"_a, "V"_a.noconvert(), "F"_a.noconvert(), "primal"_a.noconvert(),
        "gap"_a.noconvert(), "n_threads"_a, "cancel"_a.noconvert());
    m.def(
        "inverse_halves",
        [](In<T, 2> phi, In<double, 2> y, In<double, 2> cost, std::string_view loss, double alpha,
           In<double, 2> F, In<double, 2> inverse_of_L, Out<double, 3> halves, int n_threads,
           In<std::uint8_t, 1> cancel) {
            const std::size_t b = inverse_of_L.shape(0);
            const ReducedRows<T> rows = reduced_rows<T>(phi, y, cost, alpha, b);
            need(F.shape(0) == rows.n_columns && F.shape(1) == rows.n && inverse_of_L.shape(1) == b &&
                     halves.shape(0) == rows.n_columns && halves.shape(1) == b && halves.shape(2) == b,
                 "outputs of every column, and matrices of the order of the support vectors are needed");
            nb::gil_scoped_release released;
            const Poll poll = python_poll(cancel);
            visit_smooth_loss(loss, [&](auto named) {
                inverse_halves<decltype(named)>(rows, F.data(), inverse_of_L.data(), halves.data(),
                                                {n_threads, poll});
            });
        },
        "phi"_a.noconvert(), "y"_a.noconvert(), "cost"_a.noconvert(), "loss"_a, "alpha"_a, "F"_a.noconvert(),
        "inverse_of_L"_a.noconvert(), "halves"_a.noconvert(), "n_threads"_a, "cancel"_a.noconvert());
}

template <class T>
void bind(nb::module_& m) {
    using namespace nb::literals;
    m.def(
        "back_fit",
        [](In<T, 2> K, In<double, 2> targets, std::string_view loss, double alpha, Coef a, Scales scale,
           Times t, In<std::uint8_t, 1> cancel) {
            const std::size_t n = K.shape(0), n_columns = targets.shape(1);
            need(targets.shape(0) == n && a.shape(0) == n_columns && scale.shape(0) == n_columns &&
                     t.shape(0) == n_columns && a.shape(1) >= K.shape(1),
                 "one target per sample and column, and room for all support vectors are needed");
            const DenseRows<T> rows{K.data(), n, K.shape(1)};
            nb::gil_scoped_release released;
            visit_loss(loss, [&](auto named) {
                for (std::size_t c = 0; c < n_columns; ++c)
                    back_fit<decltype(named)>(rows, targets.data() + c, n_columns, alpha,
                                              column(a, scale, t, c), python_poll(cancel));
            });
        },
        "K"_a.noconvert(), "targets"_a.noconvert(), "loss"_a, "alpha"_a, "a"_a.noconvert(),
        "scale"_a.noconvert(), "t"_a.noconvert(), "cancel"_a.noconvert());
}

}  // namespace
}  // namespace maxmargin

void bind_budget(nb::module_& m) {
    using namespace maxmargin;
    using namespace nb::literals;
    m.def(
        "add_support",
        [](std::size_t j, In<double, 1> y, In<double, 1> u, double alpha, Coef a, Scales scale, Times t) {
            const std::size_t n_columns = a.shape(0);
            need(y.shape(0) == n_columns && u.shape(0) == n_columns && scale.shape(0) == n_columns &&
                     t.shape(0) == n_columns && j < a.shape(1),
                 "one number per column is needed, and room for the support vector");
            for (std::size_t c = 0; c < n_columns; ++c)
                add_support(j, y.data()[c], u.data()[c], alpha, column(a, scale, t, c));
        },
        "j"_a, "y"_a.noconvert(), "u"_a.noconvert(), "alpha"_a, "a"_a.noconvert(), "scale"_a.noconvert(),
        "t"_a.noconvert());
    maxmargin::bind<float>(m);
    maxmargin::bind<double>(m);
    bind_reduced<float>(m);
    bind_reduced<double>(m);
}
