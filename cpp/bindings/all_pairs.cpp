// Bindings of the all-pairs M-SVM's sweeps.
#include "maxmargin/solvers/all_pairs.hpp"

#include <stdexcept>
#include <string>

#include "python.hpp"

using namespace maxmargin;
using namespace nb::literals;

void bind_all_pairs(nb::module_& m) {
    m.def(
        "pairs_step",
        [](In<double, 1> t, double u, Out<double, 1> p) {
            need(t.shape(0) == p.shape(0), "one number per class is needed");
            pairs_step(t.data(), u, t.shape(0), p.data());
        },
        "t"_a.noconvert(), "u"_a, "p"_a.noconvert());
    m.def(
        "pairs_sweep",
        [](In<double, 2> K, In<std::int64_t, 1> labels, In<double, 1> cost, double weight, Out<double, 2> a,
           Out<double, 2> F, Out<double, 1> bias, In<std::int64_t, 1> order, In<std::uint8_t, 1> cancel) {
            const std::size_t n = labels.shape(0), n_classes = bias.shape(0);
            need(K.shape(0) == n && K.shape(1) == n && cost.shape(0) == n && a.shape(0) == n &&
                     a.shape(1) == n_classes && F.shape(0) == n_classes && F.shape(1) == n,
                 "samples and classes");
            need_below(labels, n_classes, "labels");
            need_below(order, n, "order");
            const PairsProblem problem{K.data(), n, n_classes, labels.data(), cost.data(), weight};
            nb::gil_scoped_release released;
            pairs_sweep(problem, {a.data(), F.data(), bias.data()}, order.data(), order.shape(0),
                        python_poll(cancel));
        },
        "K"_a.noconvert(), "labels"_a.noconvert(), "cost"_a.noconvert(), "weight"_a, "a"_a.noconvert(),
        "F"_a.noconvert(), "bias"_a.noconvert(), "order"_a.noconvert(), "cancel"_a.noconvert());
}
