// Matrix products and linear systems through function pointers. They are set once at import to SciPy's BLAS
// and LAPACK, so nothing is linked and the C++ tests can plug in naive versions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace maxmargin {

// The Fortran interface: column-major, all arguments are pointers.
template <class T>
using Gemm = void (*)(char* transa, char* transb, int* m, int* n, int* k, T* alpha, T* a, int* lda, T* b,
                      int* ldb, T* beta, T* c, int* ldc);

template <class T>
using Syrk = void (*)(char* uplo, char* trans, int* n, int* k, T* alpha, T* a, int* lda, T* beta, T* c,
                      int* ldc);

using Gesv = void (*)(int* n, int* n_right, double* a, int* lda, int* pivots, double* b, int* ldb, int* info);

using Potrf = void (*)(char* uplo, int* n, double* a, int* lda, int* info);

using Potrs = void (*)(char* uplo, int* n, int* n_right, double* a, int* lda, double* b, int* ldb, int* info);

using Trsm = void (*)(char* side, char* uplo, char* trans, char* diag, int* m, int* n, double* alpha,
                      double* a, int* lda, double* b, int* ldb);

struct Blas {
    Gemm<float> sgemm = nullptr;
    Gemm<double> dgemm = nullptr;
    Syrk<float> ssyrk = nullptr;
    Syrk<double> dsyrk = nullptr;
    Gesv dgesv = nullptr;
    Potrf dpotrf = nullptr;
    Potrs dpotrs = nullptr;
    Trsm dtrsm = nullptr;

    template <class T>
    Gemm<T> gemm() const {
        if constexpr (sizeof(T) == 4)
            return sgemm;
        else
            return dgemm;
    }

    template <class T>
    Syrk<T> syrk() const {
        if constexpr (sizeof(T) == 4)
            return ssyrk;
        else
            return dsyrk;
    }
};

inline Blas& blas() {
    static Blas table;
    return table;
}

// R += K A for row-major K (n, m), A (m, c), R (n, c).
template <class T>
void add_product(const T* K, const T* A, T* R, std::size_t n, std::size_t m, std::size_t c) {
    char plain = 'N';
    int rows = int(c), cols = int(n), inner = int(m);
    T one = 1;
    blas().gemm<T>()(&plain, &plain, &rows, &cols, &inner, &one, const_cast<T*>(A), &rows, const_cast<T*>(K),
                     &inner, &one, R, &rows);
}

// R += K'A for row-major K (n, m), A (n, c), R (m, c).
template <class T>
void add_transposed_product(const T* K, const T* A, T* R, std::size_t n, std::size_t m, std::size_t c) {
    char plain = 'N', transposed = 'T';
    int rows = int(c), cols = int(m), inner = int(n);
    T one = 1;
    blas().gemm<T>()(&plain, &transposed, &rows, &cols, &inner, &one, const_cast<T*>(A), &rows,
                     const_cast<T*>(K), &cols, &one, R, &rows);
}

// G += XX' for row-major X (n, d); only the triangle at or below the diagonal, in row-major view.
template <class T>
void add_row_gram(const T* X, T* G, std::size_t n, std::size_t d) {
    char upper = 'U', transposed = 'T';
    int order = int(n), inner = int(d);
    T one = 1;
    blas().syrk<T>()(&upper, &transposed, &order, &inner, &one, const_cast<T*>(X), &inner, &one, G, &order);
}

// G += X'X for row-major X (n, d); only the triangle at or below the diagonal, in row-major view (above it,
// in the column-major view of BLAS).
template <class T>
void add_gram(const T* X, T* G, std::size_t n, std::size_t d) {
    char upper = 'U', plain = 'N';
    int order = int(d), inner = int(n);
    T one = 1;
    blas().syrk<T>()(&upper, &plain, &order, &inner, &one, const_cast<T*>(X), &order, &one, G, &order);
}

// Solves A x = b for a symmetric A (n, n), overwriting A and b; false if A is singular.
inline bool solve_system(double* A, std::size_t n, double* b) {
    int order = int(n), one = 1, info = 0;
    std::vector<int> pivots(n);
    blas().dgesv(&order, &one, A, &order, pivots.data(), b, &order, &info);
    return info == 0;
}

// The Cholesky factor C of A = CC', (n, n), in place and in the triangle of add_gram; false if A is not
// positive definite.
inline bool cholesky(double* A, std::size_t n) {
    char upper = 'U';
    int order = int(n), info = 0;
    blas().dpotrf(&upper, &order, A, &order, &info);
    return info == 0;
}

// Solves CC'x = b for a factor of cholesky, overwriting b.
inline void solve_factored(double* C, std::size_t n, double* b) {
    char upper = 'U';
    int order = int(n), one = 1, info = 0;
    blas().dpotrs(&upper, &order, &one, C, &order, b, &order, &info);
}

// Solves CX = B for a factor of cholesky and row-major B (n, m), overwriting B.
inline void solve_triangle(double* C, std::size_t n, double* B, std::size_t m) {
    char right = 'R', upper = 'U', plain = 'N';
    int order = int(n), columns = int(m);
    double one = 1.0;
    blas().dtrsm(&right, &upper, &plain, &plain, &columns, &order, &one, C, &order, B, &columns);
}

}  // namespace maxmargin
