// Kernel rows among the rows of one matrix, computed on demand.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "maxmargin/kernels/kernel_tiles.hpp"

namespace maxmargin {

// The data that all blocks of kernel rows share.
template <class T>
struct KernelRows {
    using Which = std::span<const std::int64_t>;

    Kernel kernel;
    RowSet<T> all;  // every row of the matrix
    const double* centre;
    double step;

    // rows[slots[i]][j] = k(row which[i], row others[j]); rows are `stride` apart
    void fill(Which which, Which others, T* rows, std::size_t stride, const std::int64_t* slots,
              int n_threads, const Poll& poll) const {
        KernelTiles<T> tiles(kernel, some(others), some(which), centre, step);
        tiles.fill(rows, stride, slots, n_threads, poll);
    }

  private:
    RowSet<T> some(Which which) const {
        RowSet<T> set = all;
        set.subset = which.data(), set.size = which.size();
        return set;
    }
};

// The kernel rows of a small column: row i is stored at position i, and is valid if known[i].
template <class T>
struct RowStore {
    const KernelRows<T>& source;
    std::span<const std::int64_t> index;  // of the samples, in the matrix
    T* rows;
    std::uint8_t* known;
    int n_threads;
    const Poll& poll;

    // The positions of the rows of these samples, which equal the sample numbers.
    std::vector<std::int64_t> operator()(const std::vector<std::int64_t>& wanted) const {
        std::vector<std::int64_t> missing, which;
        for (const std::int64_t i : wanted)
            if (!known[i]) missing.push_back(i), which.push_back(index[std::size_t(i)]);
        if (!missing.empty()) source.fill(which, index, rows, index.size(), missing.data(), n_threads, poll);
        for (const std::int64_t i : missing) known[i] = 1;
        return wanted;
    }
};

}  // namespace maxmargin
