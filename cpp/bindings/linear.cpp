// Bindings of the row views and of the linear solvers' native steps.
#include "maxmargin/dual_cd.hpp"
#include "maxmargin/hash_rows.hpp"
#include "maxmargin/hinge_round.hpp"
#include "maxmargin/row_gram.hpp"
#include "maxmargin/row_products.hpp"
#include "python.hpp"

using namespace maxmargin;

template <class T>
static void bind_dense(nb::class_<Matrix>& matrix) {
    matrix.def(
        "__init__",
        [](Matrix* self, In<T, 2> X) {
            new (self) Matrix{DenseRows<T>{X.data(), X.shape(0), X.shape(1)}, nb::make_tuple(X)};
        },
        nb::arg("X").noconvert());
}

template <class T, class Index>
static void bind_csr(nb::class_<Matrix>& matrix) {
    matrix.def(
        "__init__",
        [](Matrix* self, In<T, 1> data, In<Index, 1> indices, In<Index, 1> indptr, std::size_t n_cols) {
            new (self) Matrix{
                CsrRows<T, Index>{data.data(), indices.data(), indptr.data(), indptr.shape(0) - 1, n_cols},
                nb::make_tuple(data, indices, indptr)};
        },
        nb::arg("data").noconvert(), nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(),
        nb::arg("n_cols"));
}

void bind_linear(nb::module_& m) {
    nb::class_<Matrix> matrix(m, "Matrix");
    bind_dense<float>(matrix);
    bind_dense<double>(matrix);
    bind_csr<float, std::int32_t>(matrix);
    bind_csr<double, std::int32_t>(matrix);
    bind_csr<float, std::int64_t>(matrix);
    bind_csr<double, std::int64_t>(matrix);

    m.def("hash_rows", [](const Matrix& X, Out<std::uint64_t, 1> out, int n_threads) {
        nb::gil_scoped_release released;
        X.visit([&](const auto& rows) { hash_rows(rows, out.data(), n_threads, python_poll()); });
    });
    m.def("rows_equal", [](const Matrix& X, In<std::int64_t, 1> left, In<std::int64_t, 1> right,
                           Out<bool, 1> out) {
        X.visit([&](const auto& rows) {
            for (std::size_t p = 0; p < left.shape(0); ++p)
                out.data()[p] = rows_equal(rows, std::size_t(left.data()[p]), std::size_t(right.data()[p]));
        });
    });
    m.def("rows_dot",
          [](const Matrix& X, In<std::int64_t, 1> index, In<double, 2> W, Out<double, 2> out, int n_threads) {
              nb::gil_scoped_release released;
              X.visit([&](const auto& rows) {
                  rows_dot(rows, index.data(), index.shape(0), W.data(), W.shape(0), out.data(), n_threads,
                           python_poll());
              });
          });
    m.def("rows_sum", [](const Matrix& X, In<std::int64_t, 1> index, In<double, 1> u, Out<double, 1> out,
                         int n_threads) {
        nb::gil_scoped_release released;
        X.visit([&](const auto& rows) {
            rows_sum(rows, index.data(), index.shape(0), u.data(), out.data(), n_threads, python_poll());
        });
    });
    m.def("rows_gram", [](const Matrix& X, In<std::int64_t, 1> index, In<double, 1> weight,
                          Out<double, 2> out, int n_threads) {
        nb::gil_scoped_release released;
        X.visit([&](const auto& rows) {
            rows_gram(rows, index.data(), weight.data(), index.shape(0), out.data(), n_threads,
                      python_poll());
        });
    });
    m.def("rows_sqnorm", [](const Matrix& X, In<std::int64_t, 1> index, Out<double, 1> out) {
        nb::gil_scoped_release released;
        X.visit([&](const auto& rows) { rows_sqnorm(rows, index.data(), index.shape(0), out.data()); });
    });
    m.def("best_intercept", [](In<double, 1> y, In<double, 1> cost, In<double, 1> anchor, double sharpness,
                               bool hinge, In<double, 1> scores, double start) {
        nb::gil_scoped_release released;
        const HingeRound round{y.data(), cost.data(), anchor.data(), sharpness, hinge, y.shape(0)};
        return best_intercept(round, scores.data(), start);
    });
    m.def("step_length",
          [](In<double, 1> y, In<double, 1> cost, In<double, 1> anchor, double sharpness, bool hinge,
             In<double, 1> shortfall, In<double, 1> y_along, double linear, double quadratic) {
              nb::gil_scoped_release released;
              const HingeRound round{y.data(), cost.data(), anchor.data(), sharpness, hinge, y.shape(0)};
              return step_length(round, shortfall.data(), y_along.data(), linear, quadratic);
          });
    m.def("dual_cd_epoch",
          [](const Matrix& X, In<std::int64_t, 1> index, In<double, 1> y, In<double, 1> upper,
             In<double, 1> ridge, In<double, 1> sqnorm, double bias_weight, Out<double, 1> a,
             Out<double, 1> w, Out<double, 1> bias, Out<std::int64_t, 1> order, Out<std::int64_t, 1> n_active,
             Out<double, 1> violation, std::uint64_t seed, std::uint64_t epoch, In<std::uint8_t, 1> cancel) {
              const DualProblem problem{index.data(), y.data(),      upper.data(),
                                        ridge.data(), sqnorm.data(), bias_weight};
              const DualIterate iterate{a.data(),     w.data(),        bias.data(),
                                        order.data(), n_active.data(), violation.data()};
              nb::gil_scoped_release released;
              X.visit([&](const auto& rows) {
                  dual_cd_epoch(rows, problem, iterate, Rng(seed, epoch), python_poll(cancel.data()));
              });
          });
}
