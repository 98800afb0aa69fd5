// The vectorised inner loops, compiled once per instruction set (cpp/simd/) and chosen at run time.
#pragma once

#include <cstddef>

namespace maxmargin {

// Loops over one value type T (float or double). Sums are always kept in double.
template <class T>
struct SimdOps {
    double (*dot)(const T* x, const double* w, std::size_t n);     // sum_k x[k] w[k]
    void (*axpy)(double a, const T* x, double* w, std::size_t n);  // w += a x
    double (*sqnorm)(const T* x, std::size_t n);                   // sum_k x[k]^2
};

struct Simd {
    const char* name;
    SimdOps<float> f32;
    SimdOps<double> f64;

    template <class T>
    const SimdOps<T>& of() const {
        if constexpr (sizeof(T) == 4)
            return f32;
        else
            return f64;
    }
};

// The best table this machine can run; MAXMARGIN_SIMD=baseline|avx2|avx512 asks for a lower one.
const Simd& simd();

}  // namespace maxmargin
