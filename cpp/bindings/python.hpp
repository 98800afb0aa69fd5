// What every binding file needs: array types, row views, and the check for Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>
#include <variant>

#include "maxmargin/rows.hpp"
#include "maxmargin/threads.hpp"

namespace nb = nanobind;

namespace maxmargin {

template <class T, int Dim>
using In = nb::ndarray<const T, nb::ndim<Dim>, nb::c_contig, nb::device::cpu>;  // read-only memory is fine
template <class T, int Dim>
using Out = nb::ndarray<T, nb::ndim<Dim>, nb::c_contig, nb::device::cpu>;

template <class T>
DenseRows<T> rows(const In<T, 2>& X) {
    return {X.data(), X.shape(0), X.shape(1)};
}
template <class T, class Index>
CsrRows<T, Index> rows(const In<T, 1>& data, const In<Index, 1>& indices, const In<Index, 1>& indptr,
                       std::size_t n_cols) {
    return {data.data(), indices.data(), indptr.data(), indptr.shape(0) - 1, n_cols};
}

// Lets Python see pending signals, at most every 20 ms. Called without the GIL by the thread that called us.
inline Poll python_poll() {
    using Clock = std::chrono::steady_clock;
    return [last = Clock::now()]() mutable {
        if (Clock::now() - last < std::chrono::milliseconds(20)) return;
        last = Clock::now();
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    };
}

}  // namespace maxmargin
