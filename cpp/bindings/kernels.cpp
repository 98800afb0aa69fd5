// Bindings of the kernel engine.
#include <nanobind/stl/string.h>

#include <atomic>
#include <stdexcept>
#include <type_traits>

#include "maxmargin/core/blas.hpp"
#include "maxmargin/core/integer_grid.hpp"
#include "maxmargin/kernels/few_rows.hpp"
#include "row_source.hpp"

// The limit that threadpoolctl sees; 0 is none. Found by name in this library, hence C and visible.
static std::atomic<int> thread_limit{0};
extern "C" {
__attribute__((visibility("default"))) int maxmargin_get_num_threads() { return thread_limit.load(); }
__attribute__((visibility("default"))) void maxmargin_set_num_threads(int n) { thread_limit.store(n); }
}

namespace maxmargin {
namespace {

// Arrays are never converted: a converted output array would be filled and discarded.
auto array(const char* name) { return nb::arg(name).noconvert(); }
auto array_or_none(const char* name) { return array(name).none(); }

// Both sides of a kernel matrix, checked.
template <class T>
struct Sides {
    Sides(const Matrix& X, const Matrix& Z, const Subset& x_rows, const Subset& z_rows,
          const Numbers& x_sqnorms, const Numbers& z_sqnorms, const Numbers& centre)
        : x(row_set<T>(X, x_rows, x_sqnorms)),
          z(row_set<T>(Z, z_rows, z_sqnorms)),
          centre(centre_of(X, centre)) {
        need(X.n_cols() == Z.n_cols(), "the columns of X and Z");
    }
    RowSet<T> x, z;
    const double* centre;
};

// Groups of rows cover the m rows of A, each with its columns, below n_columns, and its block of values.
void need_groups(const In<std::int64_t, 1>& starts, const In<std::int64_t, 1>& column_starts,
                 const In<std::int64_t, 1>& columns, std::size_t n_values, std::size_t m,
                 std::size_t n_columns) {
    const auto *first = starts.data(), *column = column_starts.data();
    need(starts.shape(0) > 0 && column_starts.shape(0) == starts.shape(0), "groups and their columns");
    const std::size_t n_groups = starts.shape(0) - 1;
    need(starts_fault(first, n_groups).empty() && std::size_t(first[n_groups]) == m, "groups and rows");
    need(starts_fault(column, n_groups).empty() && std::size_t(column[n_groups]) == columns.shape(0),
         "groups and their columns");
    std::size_t total = 0;
    for (std::size_t g = 0; g < n_groups; ++g)
        total += std::size_t(first[g + 1] - first[g]) * std::size_t(column[g + 1] - column[g]);
    need(total == n_values, "groups and their values");
    need_below(columns, n_columns, "a list of columns");
}

// Functions of one matrix, whose dtype is in their names: nothing else tells them apart.
struct Names {
    const char *row_sqnorms, *useful_centre, *grid_step, *on_grid;
};

template <class T>
void bind(nb::module_& m, const Names& names) {
    using namespace nb::literals;
    m.def(
        "kernel_block",
        [](const Matrix& X, const Matrix& Z, const std::string& name, double gamma, double coef0,
           double degree, const Subset& x_rows, const Subset& z_rows, const Numbers& x_sqnorms,
           const Numbers& z_sqnorms, const Numbers& centre, double step, const Out<T, 2>& out, int n_threads,
           const In<std::uint8_t, 1>& cancel) {
            const Sides<T> sides(X, Z, x_rows, z_rows, x_sqnorms, z_sqnorms, centre);
            need(out.shape(0) == sides.x.size && out.shape(1) == sides.z.size,
                 "rows and their kernel values");
            KernelTiles<T> tiles({kernel_kind(name), gamma, coef0, degree}, sides.x, sides.z, sides.centre,
                                 step);
            nb::gil_scoped_release release;
            tiles.block(out.data(), n_threads, python_poll(cancel));
        },
        "X"_a, "Z"_a, "name"_a, "gamma"_a, "coef0"_a, "degree"_a, array_or_none("x_rows"),
        array_or_none("z_rows"), array_or_none("x_sqnorms"), array_or_none("z_sqnorms"),
        array_or_none("centre"), "step"_a, array("out"), "n_threads"_a, array("cancel"));
    m.def(
        "kernel_matmul",
        [](const Matrix& X, const Matrix& Z, const std::string& name, double gamma, double coef0,
           double degree, const Subset& x_rows, const Subset& z_rows, const Numbers& x_sqnorms,
           const Numbers& z_sqnorms, const Numbers& centre, double step, const In<T, 2>& A,
           const Out<T, 2>& out, int n_threads, const In<std::uint8_t, 1>& cancel) {
            const Sides<T> sides(X, Z, x_rows, z_rows, x_sqnorms, z_sqnorms, centre);
            need(A.shape(0) == sides.z.size && out.shape(0) == sides.x.size && out.shape(1) == A.shape(1),
                 "rows and the columns of A");
            KernelTiles<T> tiles({kernel_kind(name), gamma, coef0, degree}, sides.x, sides.z, sides.centre,
                                 step);
            nb::gil_scoped_release release;
            tiles.matmul(A.data(), A.shape(1), out.data(), n_threads, python_poll(cancel));
        },
        "X"_a, "Z"_a, "name"_a, "gamma"_a, "coef0"_a, "degree"_a, array_or_none("x_rows"),
        array_or_none("z_rows"), array_or_none("x_sqnorms"), array_or_none("z_sqnorms"),
        array_or_none("centre"), "step"_a, array("A"), array("out"), "n_threads"_a, array("cancel"));
    // A in groups of rows: GroupedMatrix says how
    m.def(
        "kernel_grouped_matmul",
        [](const Matrix& X, const Matrix& Z, const std::string& name, double gamma, double coef0,
           double degree, const Subset& x_rows, const Subset& z_rows, const Numbers& x_sqnorms,
           const Numbers& z_sqnorms, const Numbers& centre, double step, const In<std::int64_t, 1>& starts,
           const In<std::int64_t, 1>& column_starts, const In<std::int64_t, 1>& columns,
           const In<T, 1>& values, const Out<T, 2>& out, int n_threads) {
            const Sides<T> sides(X, Z, x_rows, z_rows, x_sqnorms, z_sqnorms, centre);
            need(out.shape(0) == sides.x.size, "rows and their products");
            need_groups(starts, column_starts, columns, values.shape(0), sides.z.size, out.shape(1));
            KernelTiles<T> tiles({kernel_kind(name), gamma, coef0, degree}, sides.x, sides.z, sides.centre,
                                 step);
            const GroupedMatrix<T> A{starts.data(), column_starts.data(), columns.data(),
                                     values.data(), starts.shape(0) - 1,  out.shape(1)};
            nb::gil_scoped_release release;
            tiles.matmul(A, out.data(), n_threads, python_poll());
        },
        "X"_a, "Z"_a, "name"_a, "gamma"_a, "coef0"_a, "degree"_a, array_or_none("x_rows"),
        array_or_none("z_rows"), array_or_none("x_sqnorms"), array_or_none("z_sqnorms"),
        array_or_none("centre"), "step"_a, array("starts"), array("column_starts"), array("columns"),
        array("values"), array("out"), "n_threads"_a);
    // fills centre and returns whether subtracting it is worthwhile
    m.def(
        names.useful_centre,
        [](const Matrix& X, const Subset& subset, const Out<double, 1>& centre) {
            const RowSet<T> set = row_set<T>(X, subset, {});
            need(centre.shape(0) == X.n_cols(), "a centre and the columns of X");
            const std::vector<double> found = useful_centre(set);
            std::copy(found.begin(), found.end(), centre.data());
            return !found.empty();
        },
        "X"_a, array_or_none("subset"), array("centre"));
    m.def(
        names.row_sqnorms,
        [](const Matrix& X, const Numbers& centre, const Out<double, 1>& out) {
            const RowSet<T> set = row_set<T>(X, {}, {});
            const double* subtracted = centre_of(X, centre);
            need(out.shape(0) == set.size, "rows and their squared norms");
            nb::gil_scoped_release release;
            std::vector<T> buffer;
            for (std::size_t i = 0; i < set.size; ++i)
                out.data()[i] = centred_sqnorm(set, i, subtracted, buffer);
        },
        "X"_a, array_or_none("centre"), array("out"));
    m.def(
        names.grid_step,
        [](const Matrix& X, const Subset& subset, int n_threads) {
            const RowSet<T> set = row_set<T>(X, subset, {});
            nb::gil_scoped_release release;
            return grid_step(set, n_threads, python_poll());
        },
        "X"_a, array_or_none("subset"), "n_threads"_a,
        "the step that all entries are multiples of; 0 for none");
    m.def(
        names.on_grid,
        [](const Matrix& X, const Subset& subset, double step, int n_threads) {
            const RowSet<T> set = row_set<T>(X, subset, {});
            nb::gil_scoped_release release;
            return on_grid(set, step, n_threads, python_poll());
        },
        "X"_a, array_or_none("subset"), "step"_a, "n_threads"_a, "whether they are multiples of this one");
    m.def(
        "tanh", [](const Out<T, 1>& x) { simd().of<T>().tanh(x.data(), 1.0, 0.0, x.shape(0)); }, array("x"));
}

// row i of the block into row slots[i] of `rows`, from its column `first` on
template <class T>
void bind_fill(nb::module_& m) {
    m.def(
        "kernel_fill",
        [](const RowSource& source, const In<std::int64_t, 1>& which, const In<std::int64_t, 1>& others,
           const Out<T, 2>& rows, const In<std::int64_t, 1>& slots, std::size_t first, int n_threads,
           const In<std::uint8_t, 1>& cancel) {
            need(slots.shape(0) == which.shape(0) && first <= rows.shape(1) &&
                     others.shape(0) <= rows.shape(1) - first,
                 "the rows and the block");
            source.check(which), source.check(others);
            need_below(slots, rows.shape(0), "a list of slots");
            const KernelRows<T> kernel_rows = source.rows<T>();
            nb::gil_scoped_release release;
            kernel_rows.fill({which.data(), which.shape(0)}, {others.data(), others.shape(0)},
                             rows.data() + first, rows.shape(1), slots.data(), n_threads,
                             python_poll(cancel));
        },
        nb::arg("source"), array("which"), array("others"), array("rows"), array("slots"), nb::arg("first"),
        nb::arg("n_threads"), array("cancel"));
}

// The memory of an array. Several times cheaper than an nb::ndarray, which shows on short arrays.
struct Buffer {
    Buffer(nb::handle array, int flags) {
        if (PyObject_GetBuffer(array.ptr(), &view, flags | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0) return;
        PyErr_Clear();
        throw nb::type_error("exp takes C-contiguous arrays, and its result must be writeable.");
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { PyBuffer_Release(&view); }

    bool holds(char code) const { return view.format[0] == code && view.format[1] == '\0'; }
    bool same_shape(const Buffer& other) const {
        return view.ndim == other.view.ndim &&
               std::equal(view.shape, view.shape + view.ndim, other.view.shape);
    }
    Py_buffer view;
};

template <class T>
void exp_buffer(const Buffer& x, const Buffer& out) {
    constexpr std::size_t MIN_LENGTH_TO_RELEASE_GIL =
        50'000;  // shorter arrays finish before another thread wakes up
    const std::size_t n = std::size_t(x.view.len) / sizeof(T);
    const auto work = [&] {
        simd().of<T>().exp(static_cast<T*>(x.view.buf), static_cast<T*>(out.view.buf), n);
    };
    if (n < MIN_LENGTH_TO_RELEASE_GIL) return work();
    nb::gil_scoped_release release;
    work();
}

// out = e^x entry by entry, for arrays of one shape and dtype
nb::object exp(nb::handle x, nb::handle out) {
    const Buffer from(x, 0), to(out, PyBUF_WRITABLE);
    const bool single = from.holds('f') && to.holds('f');
    if (!single && !(from.holds('d') && to.holds('d')))
        throw nb::type_error("exp takes x and out of the same dtype, float32 or float64.");
    if (!from.same_shape(to)) throw nb::value_error("exp takes x and out of the same shape.");
    single ? exp_buffer<float>(from, to) : exp_buffer<double>(from, to);
    return nb::borrow(out);
}

// A context manager that Ctrl-C cannot keep from being left. Signals raise KeyboardInterrupt in Python code
// alone, so not here, and what it cut short is made good by leave(guard), which may be called twice.
struct Guard {
    nb::callable enter, leave;
};

void enter(nb::handle_t<Guard> guard) {
    try {
        nb::cast<Guard&>(guard).enter(guard);
    } catch (nb::python_error&) {
        nb::cast<Guard&>(guard).leave(guard);
        throw;
    }
}

void leave(nb::handle_t<Guard> guard, const nb::args&) {
    try {
        nb::cast<Guard&>(guard).leave(guard);
    } catch (nb::python_error&) {
        nb::cast<Guard&>(guard).leave(guard);
        throw;
    }
}

template <class F>
F pointer(const nb::capsule& capsule) {
    return reinterpret_cast<F>(capsule.data());
}

}  // namespace
}  // namespace maxmargin

void bind_kernels(nb::module_& m) {
    using namespace maxmargin;
    m.attr("MAX_FEW_ROWS") = MAX_FEW_ROWS;
    m.def("exp", &maxmargin::exp, nb::arg("x"), nb::arg("out"),
          "out = e^x, the loop the kernels use; returns out");
    nb::class_<Guard>(m, "Guard")
        .def(nb::init<nb::callable, nb::callable>(), nb::arg("enter"), nb::arg("leave"))
        .def("__enter__", &enter)
        .def("__exit__", &leave);
    m.def("n_threads_limit", &maxmargin_get_num_threads);
    m.def("set_blas", [](const nb::capsule& sgemm, const nb::capsule& dgemm, const nb::capsule& ssyrk,
                         const nb::capsule& dsyrk, const nb::capsule& dtrsm, const nb::capsule& dgesv,
                         const nb::capsule& dpotrf, const nb::capsule& dpotrs) {
        blas() = {pointer<Gemm<float>>(sgemm),  pointer<Gemm<double>>(dgemm), pointer<Syrk<float>>(ssyrk),
                  pointer<Syrk<double>>(dsyrk), pointer<Gesv>(dgesv),         pointer<Potrf>(dpotrf),
                  pointer<Potrs>(dpotrs),       pointer<Trsm>(dtrsm)};
    });
    nb::class_<RowSource>(m, "RowSource")
        .def(nb::init<const Matrix&, const std::string&, double, double, double, const Numbers&,
                      const Numbers&, double>(),
             nb::arg("X"), nb::arg("name"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"),
             array_or_none("sqnorms"), array_or_none("centre"), nb::arg("step"));
    bind_fill<float>(m), bind_fill<double>(m);
    bind<float>(m, {"row_sqnorms_f32", "useful_centre_f32", "grid_step_f32", "on_grid_f32"});
    bind<double>(m, {"row_sqnorms_f64", "useful_centre_f64", "grid_step_f64", "on_grid_f64"});
}
