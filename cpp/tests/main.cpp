// Runs every C++ test; built with -DMAXMARGIN_TESTS=ON, under the sanitizers with -DMAXMARGIN_SANITIZE=ON.
#include "check.hpp"

void test_simd();
void test_threads();
void test_kernel_block();
void test_linear();
void test_backfit();
void test_smo();
void test_kernel_rows();
void test_projections();
void test_text();

int main() {
    test_simd();
    test_threads();
    test_kernel_block();
    test_linear();
    test_backfit();
    test_smo();
    test_kernel_rows();
    test_projections();
    test_text();
    if (n_failed == 0) std::puts("all passed");
    return n_failed == 0 ? 0 : 1;
}
