// Tiles with a naive product for BLAS: every layout gives the values of the formula, for any number of
// threads.
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "maxmargin/core/blas.hpp"
#include "maxmargin/core/integer_grid.hpp"
#include "maxmargin/kernels/kernel_tiles.hpp"

using namespace maxmargin;

template <class T>
static void naive_gemm(char* ta, char*, int* m, int* n, int* k, T* alpha, T* a, int* lda, T* b, int* ldb,
                       T* beta, T* c, int* ldc) {
    for (int j = 0; j < *n; ++j)
        for (int i = 0; i < *m; ++i) {
            T sum = 0;
            for (int l = 0; l < *k; ++l)
                sum += (*ta == 'T' ? a[i * *lda + l] : a[l * *lda + i]) * b[j * *ldb + l];
            T& target = c[j * *ldc + i];
            target = *alpha * sum + (*beta == T(0) ? T(0) : *beta * target);
        }
}

template <class T>
struct Data {
    std::size_t n, d;
    std::vector<T> dense, values;
    std::vector<std::int32_t> indices, indptr{0};

    Data(std::size_t n_rows, std::size_t n_cols, std::size_t every)
        : n(n_rows), d(n_cols), dense(n_rows * n_cols) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < d; ++k) {
                if ((i * 5 + k * 3) % every != 0) continue;
                dense[i * d + k] = T(1) + T((i * 7 + k) % 11);
                values.push_back(dense[i * d + k]);
                indices.push_back(std::int32_t(k));
            }
            indptr.push_back(std::int32_t(values.size()));
        }
    }
    RowSet<T> as_dense() const { return {DenseRows<T>{dense.data(), n, d}, nullptr, n, nullptr}; }
    RowSet<T> as_csr() const {
        return {CsrRows<T, std::int32_t>{values.data(), indices.data(), indptr.data(), n, d}, nullptr, n,
                nullptr};
    }
    double formula(const Kernel& kernel, std::size_t i, std::size_t j) const {
        double dot = 0.0, square = 0.0, l1 = 0.0;
        for (std::size_t k = 0; k < d; ++k) {
            const double x = dense[i * d + k], z = dense[j * d + k];
            dot += x * z, square += (x - z) * (x - z), l1 += std::abs(x - z);
        }
        if (kernel.kind == KernelKind::rbf) return std::exp(-kernel.gamma * square);
        if (kernel.kind == KernelKind::exponential) return std::exp(-kernel.gamma * std::sqrt(square));
        return kernel.kind == KernelKind::laplacian ? std::exp(-kernel.gamma * l1) : dot;
    }
};

template <class T>
static void test_kernel(const Kernel& kernel, std::size_t every) {
    const Data<T> data(700, 9, every);
    const std::vector<double> centre(9, 3.0);
    const std::vector<T> ones(data.n, T(1));
    for (const RowSet<T>& rows : {data.as_dense(), data.as_csr()}) {
        const double* about = rows.dense() ? centre.data() : nullptr;
        std::vector<T> K(data.n * data.n), again(K.size()), sums(data.n);
        KernelTiles<T>(kernel, rows, rows, about).block(K.data(), 1, {});
        KernelTiles<T>(kernel, rows, rows, about).block(again.data(), 3, {});
        KernelTiles<T>(kernel, rows, rows, about).matmul(ones.data(), 1, sums.data(), 3, {});
        CHECK(K == again);
        for (std::size_t i = 0; i < data.n; i += 37) {
            double sum = 0.0;
            for (std::size_t j = 0; j < data.n; ++j) {
                const double value = data.formula(kernel, i, j);
                CHECK(std::abs(double(K[i * data.n + j]) - value) <= 1e-5 * (1.0 + std::abs(value)));
                sum += value;
            }
            CHECK(std::abs(double(sums[i]) - sum) <= 1e-4 * (1.0 + std::abs(sum)));
            if (!kernel.of_product()) CHECK(K[i * data.n + i] == T(1));
        }
    }
}

template <class T>
static void test_subset() {
    const Data<T> data(30, 9, 2);
    const Kernel kernel{KernelKind::rbf, 0.01, 0.0, 0.0};
    const std::int64_t chosen[] = {29, 3, 3};
    for (RowSet<T> some : {data.as_dense(), data.as_csr()}) {
        some.subset = chosen, some.size = 3;
        std::vector<T> K(3 * data.n);
        KernelTiles<T>(kernel, some, data.as_dense(), nullptr).block(K.data(), 2, {});
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < data.n; ++j)
                CHECK(std::abs(double(K[i * data.n + j]) - data.formula(kernel, std::size_t(chosen[i]), j)) <
                      1e-5);
    }
}

// Groups of rows, one of them empty and one without columns, against the same matrix in full.
template <class T>
static void test_groups(std::size_t every) {
    const Data<T> data(700, 9, every);
    const Kernel kernel{KernelKind::rbf, 0.01, 0.0, 0.0};
    const std::int64_t starts[] = {0, 300, 300, 310, 700}, column_starts[] = {0, 2, 3, 3, 21};
    const std::size_t c = 20;
    std::vector<std::int64_t> columns = {19, 4, 0};
    for (std::int64_t k = 0; k < 18; ++k) columns.push_back(k);
    std::vector<T> values, A(data.n * c);
    for (std::size_t g = 0; g < 4; ++g)
        for (std::int64_t j = starts[g]; j < starts[g + 1]; ++j)
            for (std::int64_t k = column_starts[g]; k < column_starts[g + 1]; ++k) {
                values.push_back(T(1) + T((j * 3 + k) % 7));
                A[std::size_t(j) * c + std::size_t(columns[std::size_t(k)])] = values.back();
            }
    const GroupedMatrix<T> grouped{starts, column_starts, columns.data(), values.data(), 4, c};
    for (const RowSet<T>& rows : {data.as_dense(), data.as_csr()}) {
        std::vector<T> whole(data.n * c), sums(data.n * c), again(data.n * c);
        KernelTiles<T>(kernel, rows, rows, nullptr).matmul(A.data(), c, whole.data(), 1, {});
        KernelTiles<T>(kernel, rows, rows, nullptr).matmul(grouped, sums.data(), 1, {});
        KernelTiles<T>(kernel, rows, rows, nullptr).matmul(grouped, again.data(), 3, {});
        CHECK(sums == again);
        for (std::size_t e = 0; e < sums.size(); ++e)
            CHECK(std::abs(double(sums[e]) - double(whole[e])) <= 1e-5 * (1.0 + std::abs(double(whole[e]))));
    }
}

// Codes against a product in whole numbers, at sizes that fill neither panels nor slices, extremes included.
template <class T>
static void test_codes(std::size_t n, std::size_t m, std::size_t d) {
    const double step = 1.0 / 255.0;
    std::vector<T> x(n * d), z(m * d);
    const auto code = [](std::size_t e) {
        return e % 13 == 0 ? 255 : e % 17 == 0 ? -255 : int(e * 2654435761u >> 7) % 256;
    };
    for (std::size_t e = 0; e < x.size(); ++e) x[e] = T(code(e) * step);
    for (std::size_t e = 0; e < z.size(); ++e) z[e] = T(code(3 * e + 1) * step);
    const RowSet<T> X{DenseRows<T>{x.data(), n, d}, nullptr, n, nullptr};
    const RowSet<T> Z{DenseRows<T>{z.data(), m, d}, nullptr, m, nullptr};
    CHECK(on_grid(X, step, 2, {}) && on_grid(Z, step, 2, {}));
    std::vector<T> P(n * m), D(n * m);
    KernelTiles<T>({KernelKind::linear, 1.0, 0.0, 0.0}, X, Z, nullptr, step).block(P.data(), 2, {});
    KernelTiles<T>({KernelKind::squared_distance, 1.0, 0.0, 0.0}, X, Z, nullptr, step).block(D.data(), 2, {});
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; ++j) {
            long product = 0, distance = 0;
            for (std::size_t k = 0; k < d; ++k) {
                const long a = code(i * d + k), b = code(3 * (j * d + k) + 1);
                product += a * b, distance += (a - b) * (a - b);
            }
            CHECK(P[i * m + j] == T(product) * T(step * step));
            CHECK(D[i * m + j] == T(distance) * T(step * step));
        }
}

template <class T>
static void test_grid() {
    const auto step_of = [](const std::vector<T>& x, std::size_t d) {
        return grid_step(RowSet<T>{DenseRows<T>{x.data(), x.size() / d, d}, nullptr, x.size() / d, nullptr},
                         2, {});
    };
    std::vector<T> x(1000);
    CHECK(step_of(x, 10) == 1.0);
    for (std::size_t e = 500; e < x.size(); ++e) x[e] = T(double(e % 256) / 255.0);
    CHECK(std::abs(step_of(x, 10) * 255.0 - 1.0) < 1e-6);
    x[999] = T(-128.0 / 255.0);
    CHECK(step_of(x, 10) > 0.0);
    for (const T wrong : {T(0.5001 / 255.0), T(1e30), std::numeric_limits<T>::infinity(),
                          std::numeric_limits<T>::quiet_NaN()}) {
        x[999] = wrong;
        CHECK(step_of(x, 10) == 0.0);
    }
}

void test_kernel_tiles() {
    blas() = {naive_gemm<float>, naive_gemm<double>, nullptr, nullptr, nullptr};
    for (std::size_t every : {1u, 2u, 9u})
        for (KernelKind kind :
             {KernelKind::linear, KernelKind::rbf, KernelKind::laplacian, KernelKind::exponential}) {
            test_kernel<float>({kind, 0.01, 0.0, 0.0}, every);
            test_kernel<double>({kind, 0.01, 0.0, 0.0}, every);
        }
    for (std::size_t every : {1u, 9u}) {
        test_groups<float>(every);
        test_groups<double>(every);
    }
    for (std::size_t n : {1u, 2u, 5u, 13u, 110u})
        for (std::size_t m : {1u, 2u, 17u, 33u})
            for (std::size_t d : {1u, 2u, 5u, 17u, 511u, 784u}) {
                test_codes<float>(n, m, d);
                test_codes<double>(n, m, d);
            }
    test_grid<float>();
    test_grid<double>();
    test_subset<float>();
    test_subset<double>();
}
