// Bindings of the top-k SVM's projection and sweeps.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

#include "maxmargin/solvers/topk_sweep.hpp"
#include "python.hpp"

using namespace maxmargin;
using namespace nb::literals;

using Whole = In<std::int64_t, 1>;
using Real = In<double, 1>;
using Table = Out<double, 2>;
using Cancel = In<std::uint8_t, 1>;

static TopKDomain domain_of(std::size_t k, bool include, double rho, std::size_t n_others) {
    const TopKDomain domain{k, include, rho};
    need(n_others < SIZE_MAX, "at least two classes");
    need(k >= 1 && domain.kappa() <= n_others && n_others >= 1, "k and the number of classes");
    need(rho >= 1e-9 && rho <= 1e9, "rho and the projection");
    return domain;
}

static TopKMethod method_of(const std::string& name) {
    if (name == "exact") return TopKMethod::exact;
    if (name == "frank-wolfe") return TopKMethod::frank_wolfe;
    throw std::invalid_argument("method must be 'exact' or 'frank-wolfe'; got '" + name + "'.");
}

template <class T>
static void bind_projection(nb::module_& m) {
    m.def(
        "topk_project",
        [](In<T, 1> a, std::size_t k, bool include, double rho, Out<T, 1> u) {
            const std::size_t n = a.shape(0);
            need(u.shape(0) == n, "one number per class is needed");
            const TopKDomain domain = domain_of(k, include, rho, n);
            std::vector<T> sorted(a.data(), a.data() + n);
            const Clip clip = topk_cut(sorted.data(), n, domain);
            for (std::size_t j = 0; j < n; ++j) u.data()[j] = T(clip(double(a.data()[j])));
        },
        "a"_a.noconvert(), "k"_a, "include"_a, "rho"_a, "u"_a.noconvert());
}

// The problem and the iterate of a native call, checked.
struct Blocks {
    TopKProblem problem;
    TopKIterate it;
    TopKStep step;

    Blocks(const Whole& labels, const Real& cost, const Real& sqnorm, std::size_t k, bool include,
           double constant, double passed_over, const std::string& method, const Table& A,
           const Out<double, 1>& gaps, const Out<std::uint8_t, 1>& moved)
        : problem{domain_of(k, include, 1.0, A.shape(1) - 1),
                  A.shape(1),
                  labels.data(),
                  cost.data(),
                  sqnorm.data(),
                  constant,
                  passed_over},
          it{A.data(), gaps.data(), moved.data()},
          step(problem, method_of(method)) {
        const std::size_t n = A.shape(0);
        need(labels.shape(0) == n && cost.shape(0) == n && sqnorm.shape(0) == n && gaps.shape(0) == n &&
                 moved.shape(0) == n,
             "one number a sample");
        need_below(labels, A.shape(1), "labels");
    }
};

static void need_model(const Matrix& X, const Whole& index, const Table& A, const Table& W,
                       const Out<double, 1>& offset) {
    need(index.shape(0) == A.shape(0) && W.shape(1) == A.shape(1) && offset.shape(0) == A.shape(1),
         "samples and classes");
    X.visit([&](const auto& rows) {
        need(W.shape(0) == rows.n_cols, "one row of W a feature");
        need_below(index, rows.n_rows, "index");
    });
}

void bind_topk(nb::module_& m) {
    bind_projection<float>(m);
    bind_projection<double>(m);
    m.def(
        "topk_sweep",
        [](const Matrix& X, Whole index, Whole labels, Real cost, Real sqnorm, std::size_t k, bool include,
           double constant, double passed_over, const std::string& method, Table A, Out<double, 1> gaps,
           Out<std::uint8_t, 1> moved, Table W, Out<double, 1> offset, Whole order, Cancel cancel) {
            Blocks blocks(labels, cost, sqnorm, k, include, constant, passed_over, method, A, gaps, moved);
            need_model(X, index, A, W, offset);
            need_below(order, A.shape(0), "order");
            nb::gil_scoped_release released;
            X.visit([&](const auto& rows) {
                topk_sweep(rows, index.data(), blocks.problem, blocks.step, blocks.it,
                           {W.data(), offset.data()}, order.data(), order.shape(0), python_poll(cancel));
            });
        },
        "X"_a, "index"_a.noconvert(), "labels"_a.noconvert(), "cost"_a.noconvert(), "sqnorm"_a.noconvert(),
        "k"_a, "include"_a, "constant"_a, "passed_over"_a, "method"_a, "A"_a.noconvert(),
        "gaps"_a.noconvert(), "moved"_a.noconvert(), "W"_a.noconvert(), "offset"_a.noconvert(),
        "order"_a.noconvert(), "cancel"_a.noconvert());
    m.def(
        "topk_look",
        [](const Matrix& X, Whole index, Whole labels, Real cost, Real sqnorm, std::size_t k, bool include,
           double constant, Table A, Out<double, 1> gaps, Out<std::uint8_t, 1> moved, Table W,
           Out<double, 1> offset, int n_threads, Cancel cancel) {
            Blocks blocks(labels, cost, sqnorm, k, include, constant, 0.0, "exact", A, gaps, moved);
            need_model(X, index, A, W, offset);
            nb::gil_scoped_release released;
            X.visit([&](const auto& rows) {
                topk_look(rows, index.data(), blocks.problem, blocks.it, {W.data(), offset.data()},
                          A.shape(0), n_threads, python_poll(cancel));
            });
        },
        "X"_a, "index"_a.noconvert(), "labels"_a.noconvert(), "cost"_a.noconvert(), "sqnorm"_a.noconvert(),
        "k"_a, "include"_a, "constant"_a, "A"_a.noconvert(), "gaps"_a.noconvert(), "moved"_a.noconvert(),
        "W"_a.noconvert(), "offset"_a.noconvert(), "n_threads"_a, "cancel"_a.noconvert());
    m.def(
        "topk_prox",
        [](Whole labels, std::size_t k, bool include, In<double, 2> centre, In<double, 2> Z, double tau,
           Table A, Out<double, 1> value, Out<std::uint8_t, 2> faces, int n_threads, Cancel cancel) {
            const std::size_t n = labels.shape(0), n_classes = A.shape(1);
            for (const auto& shape : {std::pair{centre.shape(0), centre.shape(1)},
                                      {Z.shape(0), Z.shape(1)},
                                      {A.shape(0), A.shape(1)},
                                      {faces.shape(0), faces.shape(1)}})
                need(shape == std::pair(n, n_classes), "samples and classes");
            need(value.shape(0) == n && tau > 0.0, "one number a sample");
            need_below(labels, n_classes, "labels");
            const TopKProblem problem{
                domain_of(k, include, 1.0, n_classes - 1), n_classes, labels.data(), nullptr, nullptr, 0.0};
            nb::gil_scoped_release released;
            topk_prox(problem, centre.data(), Z.data(), tau, n, A.data(), value.data(), faces.data(),
                      n_threads, python_poll(cancel));
        },
        "labels"_a.noconvert(), "k"_a, "include"_a, "centre"_a.noconvert(), "Z"_a.noconvert(), "tau"_a,
        "A"_a.noconvert(), "value"_a.noconvert(), "faces"_a.noconvert(), "n_threads"_a,
        "cancel"_a.noconvert());
    m.def(
        "topk_tile",
        [](Whole labels, Real cost, Real sqnorm, std::size_t k, bool include, double constant,
           double passed_over, const std::string& method, Table A, Out<double, 1> gaps,
           Out<std::uint8_t, 1> moved, Whole which, In<double, 2> G, Table Z, Table change,
           std::size_t n_passes) {
            Blocks blocks(labels, cost, sqnorm, k, include, constant, passed_over, method, A, gaps, moved);
            const std::size_t size = which.shape(0), n_classes = A.shape(1);
            need(G.shape(0) == size && G.shape(1) == size && Z.shape(0) == size && Z.shape(1) == n_classes &&
                     change.shape(0) == size && change.shape(1) == n_classes,
                 "the samples of the tile");
            need_below(which, A.shape(0), "which");
            nb::gil_scoped_release released;
            topk_tile(blocks.step, blocks.it, which.data(), size, G.data(), Z.data(), change.data(),
                      n_classes, n_passes);
        },
        "labels"_a.noconvert(), "cost"_a.noconvert(), "sqnorm"_a.noconvert(), "k"_a, "include"_a,
        "constant"_a, "passed_over"_a, "method"_a, "A"_a.noconvert(), "gaps"_a.noconvert(),
        "moved"_a.noconvert(), "which"_a.noconvert(), "G"_a.noconvert(), "Z"_a.noconvert(),
        "change"_a.noconvert(), "n_passes"_a);
}
