// Bindings of the losses: entrywise evaluation, there to be compared with losses.py.
#include "maxmargin/solvers/losses.hpp"

#include <nanobind/stl/string_view.h>

#include <stdexcept>

#include "python.hpp"

namespace {

using maxmargin::In;
using maxmargin::Out;

template <class F>
void map(const In<double, 1>& x, const Out<double, 1>& out, F f) {
    if (x.shape(0) != out.shape(0))
        throw std::invalid_argument("a result must be as long as its argument, " +
                                    std::to_string(x.shape(0)) + "; got length " +
                                    std::to_string(out.shape(0)) + ".");
    std::transform(x.data(), x.data() + x.shape(0), out.data(), f);
}

}  // namespace

void bind_losses(nb::module_& m) {
    using namespace nb::literals;
    m.def(
        "loss_value",
        [](std::string_view name, In<double, 1> margins, Out<double, 1> out) {
            maxmargin::visit_loss(name, [&](auto loss) { map(margins, out, decltype(loss)::value); });
        },
        "name"_a, "margins"_a.noconvert(), "out"_a.noconvert());
    m.def(
        "loss_slope",
        [](std::string_view name, In<double, 1> margins, Out<double, 1> out) {
            maxmargin::visit_loss(name, [&](auto loss) { map(margins, out, decltype(loss)::slope); });
        },
        "name"_a, "margins"_a.noconvert(), "out"_a.noconvert());
    m.def(
        "loss_conjugate",
        [](std::string_view name, In<double, 1> slopes, Out<double, 1> out) {
            maxmargin::visit_loss(name, [&](auto loss) { map(slopes, out, decltype(loss)::conjugate); });
        },
        "name"_a, "slopes"_a.noconvert(), "out"_a.noconvert());
}
