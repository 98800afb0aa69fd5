// Cholesky factors and their solutions by plain loops, in the Fortran interface of core/blas.hpp.
#pragma once

#include <cmath>
#include <cstddef>

inline void naive_potrf(char*, int* order, double* A, int*, int* info) {
    const std::size_t n = std::size_t(*order);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = A[i * n + j];
            for (std::size_t k = 0; k < j; ++k) sum -= A[i * n + k] * A[j * n + k];
            if (i == j && !(sum > 0.0)) {
                *info = int(i) + 1;
                return;
            }
            A[i * n + j] = i == j ? std::sqrt(sum) : sum / A[j * n + j];
        }
}

inline void naive_potrs(char*, int* order, int*, double* C, int*, double* b, int*, int*) {
    const std::size_t n = std::size_t(*order);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) b[i] -= C[i * n + k] * b[k];
        b[i] /= C[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) b[i] -= C[k * n + i] * b[k];
        b[i] /= C[i * n + i];
    }
}
