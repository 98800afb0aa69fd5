// Shared by all bindings: array types, row views, and the check for Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#ifdef __linux__
#    include <sys/syscall.h>
#    include <unistd.h>
#endif

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "maxmargin/core/rows.hpp"
#include "maxmargin/core/sparse_structure.hpp"
#include "maxmargin/core/threads.hpp"

namespace nb = nanobind;

namespace maxmargin {

template <class T, int Dim>
using In = nb::ndarray<const T, nb::ndim<Dim>, nb::c_contig, nb::device::cpu>;  // read-only memory is fine
template <class T, int Dim>
using Out = nb::ndarray<T, nb::ndim<Dim>, nb::c_contig, nb::device::cpu>;

// A data matrix as Python hands it over, of any of the six kinds. It borrows the arrays, which stay alive in
// `owners`. The index arrays of CSR rows were checked when it was made.
struct Matrix {
    using View = std::variant<DenseRows<float>, DenseRows<double>, CsrRows<float, std::int32_t>,
                              CsrRows<double, std::int32_t>, CsrRows<float, std::int64_t>,
                              CsrRows<double, std::int64_t>>;
    View view;
    nb::tuple owners;
    bool canonical = true;  // whether the indices of each CSR row ascend

    template <class F>
    decltype(auto) visit(F&& f) const {
        return std::visit(std::forward<F>(f), view);
    }
    std::size_t n_rows() const {
        return visit([](const auto& rows) { return rows.n_rows; });
    }
    std::size_t n_cols() const {
        return visit([](const auto& rows) { return rows.n_cols; });
    }
};

// Whether this is the thread that Python runs signal handlers in.
inline bool on_main_thread() {
#ifdef __linux__
    return ::syscall(SYS_gettid) == ::getpid();
#else
    return true;
#endif
}

inline void need(bool fits, const char* what) {
    if (!fits) throw std::invalid_argument(std::string("the arrays do not fit each other: ") + what);
}

// Thrown when the byte `cancel` is set: by another thread that has failed, or by the time limit of the fit.
struct Cancelled : std::runtime_error {
    Cancelled() : std::runtime_error("cancelled") {}
};

// Raises IndexError unless all numbers are in 0 .. end-1.
inline void need_below(const std::int64_t* numbers, std::size_t n, std::size_t end, const char* name) {
    if (first_outside(numbers, n, end))
        throw std::out_of_range(std::string(name) + " names what does not exist");
}

inline void need_below(const In<std::int64_t, 1>& numbers, std::size_t end, const char* name) {
    need_below(numbers.data(), numbers.shape(0), end, name);
}

// Lets Python see pending signals, at most every 20 ms. Called without the GIL by the thread that called us.
// Threads other than the main one see no signals and need not wait for the GIL. `cancel`, a byte that another
// thread sets, ends the work of any thread.
inline Poll python_poll(const volatile std::uint8_t* cancel = nullptr) {
    using Clock = std::chrono::steady_clock;
    return [cancel, main_thread = on_main_thread(), last = Clock::now()]() mutable {
        if (Clock::now() - last < std::chrono::milliseconds(20)) return;
        last = Clock::now();
        if (main_thread) {
            nb::gil_scoped_acquire gil;
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
        }
        if (cancel && *cancel) throw Cancelled();
    };
}

inline Poll python_poll(const In<std::uint8_t, 1>& cancel) {
    need(cancel.shape(0) == 1, "a cancel flag is one byte");
    return python_poll(cancel.data());
}

}  // namespace maxmargin
