// The product of kernel tiles with a matrix whose rows form groups with different non-zero columns, such as
// the coefficients of support vectors under a sparse code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "maxmargin/core/simd.hpp"

namespace maxmargin {

// Rows starts[g] .. starts[g+1]-1 are 0 except in the columns columns[column_starts[g]] ..; `values` holds
// their entries there, group by group, row by row.
template <class T>
struct GroupedMatrix {
    const std::int64_t *starts, *column_starts, *columns;
    const T* values;
    std::size_t n_groups, n_columns;
};

// R += K A for tiles K, with A in panels. Panels have few rows, so that they stay in the L1 cache and sums in
// single precision stay short.
template <class T>
class GroupedProduct {
  public:
    // Tiles begin at multiples of tile_rows.
    GroupedProduct(const GroupedMatrix<T>& A, std::size_t tile_rows) : n_columns_(A.n_columns) {
        const T* values = A.values;
        for (std::size_t g = 0; g < A.n_groups; ++g) {
            const std::size_t end = std::size_t(A.starts[g + 1]);
            const std::size_t width = std::size_t(A.column_starts[g + 1] - A.column_starts[g]);
            for (std::size_t first = std::size_t(A.starts[g]); first < end;) {
                const std::size_t left = std::min(end, (first / tile_rows + 1) * tile_rows) - first;
                const std::size_t pieces = (left + MAX_ROWS_PER_PART - 1) / MAX_ROWS_PER_PART,
                                  count = (left + pieces - 1) / pieces;
                if (width > 0)
                    parts_.push_back({first, count, A.columns + A.column_starts[g], width, panels_.size()});
                pack(values, count, width);
                values += count * width;
                first += count;
            }
        }
    }

    // R (n, n_columns) += K A[first : first + m] for row-major K (n, m), where the rows of A belong to one
    // tile
    void add(const T* K, std::size_t n, std::size_t m, std::size_t first, T* R) const {
        std::vector<T> sums(panel_rows * widest_);
        auto part = std::lower_bound(parts_.begin(), parts_.end(), first,
                                     [](const Part& p, std::size_t row) { return p.first < row; });
        for (; part != parts_.end() && part->first < first + m; ++part)
            for (std::size_t i = 0; i < n; i += panel_rows) {
                const std::size_t rows = std::min(panel_rows, n - i), stride = padded(part->n_columns);
                simd().of<T>().panel_products({K + i * m + part->first - first, m, rows,
                                               panels_.data() + part->panels, stride, part->count, nullptr,
                                               sums.data(), stride});
                for (std::size_t r = 0; r < rows; ++r)
                    for (std::size_t k = 0; k < part->n_columns; ++k)
                        R[(i + r) * n_columns_ + std::size_t(part->columns[k])] += sums[r * stride + k];
            }
    }

  private:
    static constexpr std::size_t MAX_ROWS_PER_PART = 256;

    struct Part {
        std::size_t first, count;
        const std::int64_t* columns;
        std::size_t n_columns, panels;
    };

    static std::size_t padded(std::size_t columns) {
        return (columns + panel_width<T> - 1) / panel_width<T> * panel_width<T>;
    }

    void pack(const T* values, std::size_t count, std::size_t width) {
        widest_ = std::max(widest_, padded(width));
        const std::size_t first = panels_.size();
        panels_.resize(first + count * padded(width), T(0));
        T* out = panels_.data() + first;
        for (std::size_t k = 0; k < width; k += panel_width<T>)
            for (std::size_t j = 0; j < count; ++j, out += panel_width<T>)
                std::copy_n(values + j * width + k, std::min(panel_width<T>, width - k), out);
    }

    std::size_t n_columns_, widest_ = 0;
    std::vector<Part> parts_;
    std::vector<T> panels_;
};

}  // namespace maxmargin
