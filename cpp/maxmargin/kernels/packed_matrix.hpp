// A symmetric kernel matrix in 16-bit fixed-point numbers: the triangle at or below the diagonal, in panels.
// It takes a quarter of the memory of the matrix in float, and its values are off by at most 2^-16 of the
// largest one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "maxmargin/core/simd.hpp"
#include "maxmargin/core/threads.hpp"

namespace maxmargin {

class PackedMatrix {
  public:
    static constexpr std::size_t PANEL_ROWS = 256;

    // For n samples whose kernel values are at most `largest`; `values` has room for packed_size(n) numbers.
    PackedMatrix(std::int16_t* values, std::size_t n, double largest)
        : values_(values), n_(n), scale_(largest / 32767.0) {}

    static std::size_t n_panels(std::size_t n) { return (n + PANEL_ROWS - 1) / PANEL_ROWS; }
    static std::size_t packed_size(std::size_t n) { return first_of(n_panels(n)); }

    // Stores some rows of a panel: K[i][j] is the value of samples first + i and j, for j < n_columns, which
    // reaches the end of the panel or of the matrix.
    template <class T>
    void store(const T* K, std::size_t n_rows, std::size_t n_columns, std::size_t first) {
        const std::size_t p = first / PANEL_ROWS, width = (p + 1) * PANEL_ROWS;
        const double inverse = 1.0 / scale_;
        for (std::size_t i = 0; i < n_rows; ++i) {
            std::int16_t* row = values_ + first_of(p) + (first + i - p * PANEL_ROWS) * width;
            for (std::size_t j = 0; j < n_columns; ++j)
                row[j] = std::int16_t(
                    std::lrint(std::clamp(double(K[i * n_columns + j]) * inverse, -32767.0, 32767.0)));
            std::fill(row + n_columns, row + width, std::int16_t(0));
        }
    }

    // Rows beyond the last sample are zero.
    void finish() {
        const std::size_t p = n_panels(n_) - 1, width = (p + 1) * PANEL_ROWS;
        std::fill(values_ + first_of(p) + (n_ - p * PANEL_ROWS) * width, values_ + first_of(p + 1),
                  std::int16_t(0));
    }

    // out = K x. Groups of panels, which do not depend on the number of threads, have sums of their own.
    void product(const double* x, double* out, int n_threads, const Poll& poll) const {
        const std::size_t panels = n_panels(n_), padded = panels * PANEL_ROWS,
                          groups = std::min(panels, MAX_GROUPS);
        std::vector<float> in(padded, 0.0f);
        for (std::size_t i = 0; i < n_; ++i) in[i] = float(x[i]);
        std::vector<std::vector<float>> sums(groups, std::vector<float>(padded, 0.0f));
        for (std::size_t first = 0; first < panels; first += groups)  // every other time from the end
            Pool::instance().run(
                groups, n_threads,
                [&](std::size_t group) {
                    const std::size_t turn = (first / groups) % 2 ? groups - 1 - group : group;
                    add_panel(first + turn, panels, in.data(), sums[group].data());
                },
                poll);
        for (std::size_t i = 0; i < n_; ++i) {
            double sum = 0.0;
            for (std::size_t group = 0; group < groups; ++group) sum += double(sums[group][i]);
            out[i] = scale_ * sum;
        }
    }

  private:
    static constexpr std::size_t MAX_GROUPS = 16, TILE_COLUMNS = 1024;

    static std::size_t first_of(std::size_t panel) {
        return PANEL_ROWS * PANEL_ROWS * (panel * (panel + 1) / 2);
    }

    void add_panel(std::size_t p, std::size_t panels, const float* x, float* sums) const {
        if (p >= panels) return;
        const std::size_t width = (p + 1) * PANEL_ROWS, row = p * PANEL_ROWS;
        const std::int16_t* k = values_ + first_of(p);
        for (std::size_t j = 0; j < row; j += TILE_COLUMNS)
            simd().packed_products({k + j, width, PANEL_ROWS, std::min(TILE_COLUMNS, row - j), x + row, x + j,
                                    sums + row, sums + j});
        simd().packed_products(
            {k + row, width, PANEL_ROWS, PANEL_ROWS, nullptr, x + row, sums + row, nullptr});
    }

    std::int16_t* values_;
    std::size_t n_;
    double scale_;
};

}  // namespace maxmargin
