// Bindings of what decoders sum.
#include "maxmargin/core/code_sums.hpp"
#include "python.hpp"

void bind_codes(nb::module_& m) {
    using namespace maxmargin;
    m.def(
        "code_sums",
        [](const In<double, 2>& F, const In<std::int8_t, 2>& code, const Out<double, 2>& high,
           const Out<double, 2>& low, const Out<double, 2>& votes) {
            const std::size_t n = F.shape(0), n_classes = code.shape(0);
            need(F.shape(1) == code.shape(1), "the columns of F and of the code");
            for (const auto* out : {&high, &low, &votes})
                need(out->shape(0) == n && out->shape(1) == n_classes, "samples and classes");
            const CodeSums sums(code.data(), code.shape(0), code.shape(1));
            nb::gil_scoped_release release;
            sums(F.data(), F.shape(0), high.data(), low.data(), votes.data(), python_poll());
        },
        nb::arg("F").noconvert(), nb::arg("code").noconvert(), nb::arg("high").noconvert(),
        nb::arg("low").noconvert(), nb::arg("votes").noconvert());
}
