// A 64-bit fingerprint of each row that depends only on its non-zero values: it is the same for dense and
// CSR, for float32 and float64, and for any order of the stored entries.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "maxmargin/core/rng.hpp"
#include "maxmargin/core/rows.hpp"
#include "maxmargin/core/threads.hpp"

namespace maxmargin {

template <class Rows>
void hash_rows(const Rows& X, std::uint64_t* out, int n_threads, const Poll& poll) {
    const std::size_t size = 1024;
    Pool::instance().run((X.n_rows + size - 1) / size, threads_for(X.n_values(), n_threads),
                         [&](std::size_t block) {
                             for (std::size_t i = block * size; i < std::min(X.n_rows, (block + 1) * size);
                                  ++i) {
                                 std::uint64_t sum = 0;
                                 X.for_each(i, [&](std::size_t k, auto value) {
                                     const auto bits = std::bit_cast<std::uint64_t>(double(value));
                                     sum += mix(bits + 0x9e3779b97f4a7c15ULL * (k + 1));
                                 });
                                 out[i] = mix(sum);
                             }
                         },
                         poll);
}

// Whether rows i and j hold the same values. Entries of a CSR row must be sorted and unique.
template <class T>
bool rows_equal(const DenseRows<T>& X, std::size_t i, std::size_t j) {
    return std::equal(X.row(i), X.row(i) + X.n_cols, X.row(j));
}

template <class T, class Index>
bool rows_equal(const CsrRows<T, Index>& X, std::size_t i, std::size_t j) {
    Index p = X.indptr[i], q = X.indptr[j];
    for (;;) {
        while (p < X.indptr[i + 1] && X.data[p] == T(0)) ++p;
        while (q < X.indptr[j + 1] && X.data[q] == T(0)) ++q;
        if (p == X.indptr[i + 1] || q == X.indptr[j + 1]) return p == X.indptr[i + 1] && q == X.indptr[j + 1];
        if (X.indices[p] != X.indices[q] || X.data[p] != X.data[q]) return false;
        ++p, ++q;
    }
}

}  // namespace maxmargin
