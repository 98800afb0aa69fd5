// The compiled module. Each bind_* lives in a file of its own; no logic here.
#include "maxmargin/core/simd.hpp"
#include "python.hpp"

void bind_all_pairs(nb::module_& m);
void bind_baselines(nb::module_& m);
void bind_budget(nb::module_& m);
void bind_codes(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_kernel_svm(nb::module_& m);
void bind_linear(nb::module_& m);
void bind_losses(nb::module_& m);
void bind_matrix(nb::module_& m);
void bind_pair_columns(nb::module_& m);
void bind_small_linear(nb::module_& m);
void bind_text(nb::module_& m);
void bind_topk(nb::module_& m);

NB_MODULE(_core, m) {
    nb::set_leak_warnings(false);  // they would print when an interpreter ends with a model in use
    m.doc() = "maxmargin's compiled core; import it through maxmargin._native only";
    nb::exception<maxmargin::Cancelled>(m, "Cancelled", PyExc_RuntimeError);
    m.def("simd_name", [] { return maxmargin::simd().name; });
    bind_matrix(m);
    bind_all_pairs(m);
    bind_baselines(m);
    bind_budget(m);
    bind_codes(m);
    bind_kernels(m);
    bind_kernel_svm(m);
    bind_linear(m);
    bind_losses(m);
    bind_pair_columns(m);
    bind_small_linear(m);
    bind_text(m);
    bind_topk(m);
}
