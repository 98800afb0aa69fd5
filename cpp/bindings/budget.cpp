// Bindings of the native steps of budgeted methods.
#include <nanobind/stl/string_view.h>

#include <stdexcept>

#include "maxmargin/solvers/backfit.hpp"
#include "maxmargin/solvers/losses.hpp"
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
}
