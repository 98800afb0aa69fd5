// Bindings of the kernel engine.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <atomic>
#include <stdexcept>

#include "maxmargin/kernel_block.hpp"
#include "python.hpp"

// The limit that threadpoolctl sees; 0 is none. Found by name in this library, hence C and visible.
static std::atomic<int> thread_limit{0};
extern "C" {
__attribute__((visibility("default"))) int maxmargin_get_num_threads() { return thread_limit.load(); }
__attribute__((visibility("default"))) void maxmargin_set_num_threads(int n) { thread_limit.store(n); }
}

namespace maxmargin {
namespace {

template <class T, class Index>
using Csr = std::tuple<In<T, 1>, In<Index, 1>, In<Index, 1>, std::size_t>;

using Subset = std::optional<In<std::int64_t, 1>>;
using Numbers = std::optional<In<double, 1>>;

template <class T>
void set_rows(RowSet<T>& set, nb::handle X) {
    if (In<T, 2> dense; nb::try_cast(X, dense, false)) {
        set.rows = rows<T>(dense);
        set.size = dense.shape(0);
        return;
    }
    const nb::tuple csr = nb::cast<nb::tuple>(X);  // data, indices, indptr, number of columns
    const auto with_index = [&](auto index) {
        using Index = decltype(index);
        const auto view =
            rows<T, Index>(nb::cast<In<T, 1>>(csr[0], false), nb::cast<In<Index, 1>>(csr[1], false),
                           nb::cast<In<Index, 1>>(csr[2], false), nb::cast<std::size_t>(csr[3]));
        set.rows = view;
        set.size = view.n_rows;
    };
    if (In<std::int64_t, 1> wide; nb::try_cast(csr[1], wide, false))
        with_index(std::int64_t{});
    else
        with_index(std::int32_t{});
}

template <class T>
RowSet<T> row_set(nb::handle X, const Subset& subset, const Numbers& sqnorms) {
    RowSet<T> set;
    set_rows(set, X);
    if (subset) set.subset = subset->data(), set.size = subset->shape(0);
    if (sqnorms) set.sqnorms = sqnorms->data();
    return set;
}

const double* data_or_null(const Numbers& numbers) { return numbers ? numbers->data() : nullptr; }

template <class T>
void bind(nb::module_& m, const char* row_sqnorms_name) {
    m.def("kernel_block", [](nb::object X, nb::object Z, const std::string& name, double gamma, double coef0,
                             double degree, const Subset& x_rows, const Subset& z_rows,
                             const Numbers& x_sqnorms, const Numbers& z_sqnorms, const Numbers& centre,
                             const Out<T, 2>& out, int n_threads) {
        KernelTiles<T> tiles({kernel_kind(name), gamma, coef0, degree}, row_set<T>(X, x_rows, x_sqnorms),
                             row_set<T>(Z, z_rows, z_sqnorms), data_or_null(centre));
        nb::gil_scoped_release release;
        tiles.block(out.data(), n_threads, python_poll());
    });
    m.def("kernel_matmul", [](nb::object X, nb::object Z, const std::string& name, double gamma, double coef0,
                              double degree, const Subset& x_rows, const Subset& z_rows,
                              const Numbers& x_sqnorms, const Numbers& z_sqnorms, const Numbers& centre,
                              const In<T, 2>& A, const Out<T, 2>& out, int n_threads) {
        KernelTiles<T> tiles({kernel_kind(name), gamma, coef0, degree}, row_set<T>(X, x_rows, x_sqnorms),
                             row_set<T>(Z, z_rows, z_sqnorms), data_or_null(centre));
        nb::gil_scoped_release release;
        tiles.matmul(A.data(), A.shape(1), out.data(), n_threads, python_poll());
    });
    // fills centre and says whether subtracting it is worth while
    m.def("useful_centre", [](const In<T, 2>& X, const Subset& subset, const Out<double, 1>& centre) {
        RowSet<T> set{rows<T>(X), nullptr, X.shape(0), nullptr};
        if (subset) set.subset = subset->data(), set.size = subset->shape(0);
        const std::vector<double> found = useful_centre(set);
        std::copy(found.begin(), found.end(), centre.data());
        return !found.empty();
    });
    m.def(row_sqnorms_name, [](nb::object X, const Numbers& centre, const Out<double, 1>& out) {
        const RowSet<T> set = row_set<T>(X, {}, {});
        nb::gil_scoped_release release;
        std::vector<T> buffer;
        for (std::size_t i = 0; i < set.size; ++i)
            out.data()[i] = centred_sqnorm(set, i, data_or_null(centre), buffer);
    });
    m.def("exp", [](const In<T, 1>& x, const Out<T, 1>& out) {
        nb::gil_scoped_release release;
        simd().of<T>().exp(x.data(), out.data(), x.shape(0));
    });
    m.def("tanh", [](const Out<T, 1>& x) { simd().of<T>().tanh(x.data(), 1.0, 0.0, x.shape(0)); });
}

template <class F>
F pointer(const nb::capsule& capsule) {
    return reinterpret_cast<F>(capsule.data());
}

}  // namespace
}  // namespace maxmargin

void bind_kernels(nb::module_& m) {
    using namespace maxmargin;
    m.def("n_threads_limit", &maxmargin_get_num_threads);
    m.def("set_blas", [](const nb::capsule& sgemm, const nb::capsule& dgemm, const nb::capsule& ssyrk,
                         const nb::capsule& dsyrk) {
        blas() = {pointer<Gemm<float>>(sgemm), pointer<Gemm<double>>(dgemm), pointer<Syrk<float>>(ssyrk),
                  pointer<Syrk<double>>(dsyrk)};
    });
    bind<float>(m, "row_sqnorms_f32");
    bind<double>(m, "row_sqnorms_f64");
}
