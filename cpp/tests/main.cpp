// Runs every C++ test; built with -DMAXMARGIN_TESTS=ON, under the sanitizers with -DMAXMARGIN_SANITIZE=ON.
#include "check.hpp"

void test_simd();
void test_threads();
void test_kernel_tiles();
void test_linear();
void test_backfit();
void test_smo();
void test_kernel_rows();
void test_block_steps();
void test_topk_projection();
void test_text();

int main() {
    test_simd();
    test_threads();
    test_kernel_tiles();
    test_linear();
    test_backfit();
    test_smo();
    test_kernel_rows();
    test_block_steps();
    test_topk_projection();
    test_text();
    if (n_failed == 0) std::puts("all passed");
    return n_failed == 0 ? 0 : 1;
}
