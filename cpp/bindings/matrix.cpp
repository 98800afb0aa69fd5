// Bindings of data matrices: dense rows, and CSR rows, whose index arrays are checked here and nowhere else.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

#include "maxmargin/core/sparse_structure.hpp"
#include "python.hpp"

namespace maxmargin {
namespace {

using namespace nb::literals;

template <class Index>
std::string fault_of(const In<Index, 1>& indices, const In<Index, 1>& indptr, std::size_t n_values,
                     std::size_t n_minor) {
    if (indptr.shape(0) == 0) return "indptr is empty";
    return compressed_fault(indptr.data(), indptr.shape(0) - 1, indices.data(), indices.shape(0), n_values,
                            n_minor);
}

template <class T>
void bind_dense(nb::class_<Matrix>& matrix) {
    matrix.def(
        "__init__",
        [](Matrix* self, In<T, 2> X) {
            new (self) Matrix{DenseRows<T>{X.data(), X.shape(0), X.shape(1)}, nb::make_tuple(X)};
        },
        "X"_a.noconvert());
}

template <class T, class Index>
void bind_csr(nb::class_<Matrix>& matrix) {
    matrix.def(
        "__init__",
        [](Matrix* self, In<T, 1> data, In<Index, 1> indices, In<Index, 1> indptr, std::size_t n_cols) {
            const std::string fault = fault_of(indices, indptr, data.shape(0), n_cols);
            if (!fault.empty()) throw std::invalid_argument(fault);
            const std::size_t n_rows = indptr.shape(0) - 1;
            new (self) Matrix{CsrRows<T, Index>{data.data(), indices.data(), indptr.data(), n_rows, n_cols},
                              nb::make_tuple(data, indices, indptr),
                              ascending(indptr.data(), n_rows, indices.data())};
        },
        "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "n_cols"_a);
}

template <class Index>
void bind_faults(nb::module_& m) {
    m.def("compressed_fault", &fault_of<Index>, "indices"_a.noconvert(), "indptr"_a.noconvert(), "n_values"_a,
          "n_minor"_a, "what is wrong with the indices of a CSR or CSC matrix; empty for nothing");
    m.def(
        "first_outside",
        [](const In<Index, 1>& indices, std::size_t end) {
            return first_outside(indices.data(), indices.shape(0), end);
        },
        "indices"_a.noconvert(), "end"_a, "the position of the first index that is not in 0 .. end-1");
}

}  // namespace
}  // namespace maxmargin

void bind_matrix(nb::module_& m) {
    using namespace maxmargin;
    nb::class_<Matrix> matrix(m, "Matrix");
    bind_dense<float>(matrix);
    bind_dense<double>(matrix);
    bind_csr<float, std::int32_t>(matrix);
    bind_csr<double, std::int32_t>(matrix);
    bind_csr<float, std::int64_t>(matrix);
    bind_csr<double, std::int64_t>(matrix);
    matrix.def_ro("canonical", &Matrix::canonical);
    bind_faults<std::int32_t>(m);
    bind_faults<std::int64_t>(m);
}
