// Bindings of what decoders sum and compare.
#include "maxmargin/core/code_sums.hpp"
#include "python.hpp"

using namespace maxmargin;
using namespace nb::literals;

using Scores = In<double, 2>;
using Sums = Out<double, 2>;

static void add_up(const CodeSums& sums, const Scores& F, std::size_t n_classes, const Sums& high,
                   const Sums& low, const Sums& votes) {
    for (const auto* out : {&high, &low, &votes})
        need(out->shape(0) == F.shape(0) && out->shape(1) == n_classes, "samples and classes");
    nb::gil_scoped_release release;
    sums(F.data(), F.shape(0), high.data(), low.data(), votes.data(), python_poll());
}

void bind_codes(nb::module_& m) {
    m.def(
        "code_sums",
        [](const Scores& F, const In<std::int8_t, 2>& code, const Sums& high, const Sums& low,
           const Sums& votes) {
            need(F.shape(1) == code.shape(1), "the columns of F and of the code");
            add_up(CodeSums(code.data(), code.shape(0), code.shape(1)), F, code.shape(0), high, low, votes);
        },
        "F"_a.noconvert(), "code"_a.noconvert(), "high"_a.noconvert(), "low"_a.noconvert(),
        "votes"_a.noconvert());
    m.def(
        "pair_sums",
        [](const Scores& F, const Sums& high, const Sums& low, const Sums& votes) {
            const std::size_t n_classes = high.shape(1);
            need(n_classes > 1 && F.shape(1) == n_classes * (n_classes - 1) / 2, "pairs of classes");
            add_up(CodeSums(n_classes), F, n_classes, high, low, votes);
        },
        "F"_a.noconvert(), "high"_a.noconvert(), "low"_a.noconvert(), "votes"_a.noconvert());
    m.def(
        "are_ordered",
        [](const Scores& scores, const Scores& first, const Scores& second, const Out<std::uint8_t, 1>& out) {
            const std::size_t n = scores.shape(0), n_classes = scores.shape(1);
            for (const auto* key : {&first, &second})
                need(key->shape(0) == n && key->shape(1) == n_classes, "scores and their keys");
            need(out.shape(0) == n, "rows and answers");
            nb::gil_scoped_release release;
            std::vector<std::size_t> order(n_classes);
            for (std::size_t i = 0, at = 0; i < n; ++i, at += n_classes)
                out.data()[i] = is_ordered(scores.data() + at, first.data() + at, second.data() + at, order);
        },
        "scores"_a.noconvert(), "first"_a.noconvert(), "second"_a.noconvert(), "out"_a.noconvert());
}
