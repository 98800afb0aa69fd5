// A selection of rows of a dense or CSR matrix, their statistics, and packing them into a dense tile.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "maxmargin/core/rows.hpp"

namespace maxmargin {

template <class T>
struct RowSet {
    std::variant<DenseRows<T>, CsrRows<T, std::int32_t>, CsrRows<T, std::int64_t>> rows;
    const std::int64_t* subset = nullptr;  // the selected rows; all if null
    std::size_t size = 0;
    const double* sqnorms = nullptr;  // of every row of the matrix, about the centre, if known

    std::size_t index(std::size_t i) const { return subset ? std::size_t(subset[i]) : i; }
    std::size_t n_cols() const {
        return std::visit([](const auto& r) { return r.n_cols; }, rows);
    }
    const DenseRows<T>* dense() const { return std::get_if<DenseRows<T>>(&rows); }

    // True if both are certainly the same rows in the same order.
    bool is(const RowSet& other) const {
        if (rows.index() != other.rows.index() || size != other.size || subset || other.subset) return false;
        return std::visit(
            [&](const auto& r) {
                const auto& o = std::get<std::decay_t<decltype(r)>>(other.rows);
                if constexpr (requires { r.indptr; })
                    if (r.indices != o.indices || r.indptr != o.indptr) return false;
                return r.data == o.data && r.n_cols == o.n_cols;
            },
            rows);
    }
    // the share of stored entries
    double density() const {
        return std::visit(
            [](const auto& r) {
                if constexpr (requires { r.indptr; })
                    return double(r.indptr[r.n_rows]) / (double(r.n_rows) * double(r.n_cols) + 1.0);
                else
                    return 1.0;
            },
            rows);
    }
    template <class F>
    void for_each(std::size_t i, F&& visit) const {
        std::visit([&](const auto& r) { r.for_each(index(i), visit); }, rows);
    }
    std::span<const T> values(std::size_t i) const {
        return std::visit([&](const auto& r) { return r.values(index(i)); }, rows);
    }
    double l1norm(std::size_t i) const {
        double sum = 0.0;
        for_each(i, [&](std::size_t, T value) { sum += std::abs(double(value)); });
        return sum;
    }
    double sqnorm(std::size_t i) const {
        return sqnorms ? sqnorms[index(i)]
                       : std::visit([&](const auto& r) { return r.sqnorm(index(i)); }, rows);
    }
};

// Rows first .. first+count-1 as a dense row-major tile, with any centre subtracted. Returns the rows
// themselves if they already have this layout, else a copy in buffer.
template <class T>
const T* pack(const RowSet<T>& set, std::size_t first, std::size_t count, const double* centre,
              std::vector<T>& buffer) {
    const std::size_t d = set.n_cols();
    const DenseRows<T>* dense = set.dense();
    if (dense && !set.subset && !centre) return dense->row(first);
    if (buffer.size() < count * d) buffer.resize(count * d);
    for (std::size_t i = 0; i < count; ++i) {
        T* out = buffer.data() + i * d;
        if (dense && centre) {
            simd().of<T>().subtract(dense->row(set.index(first + i)), centre, out, d);
        } else if (dense) {
            std::copy_n(dense->row(set.index(first + i)), d, out);
        } else {
            std::fill_n(out, d, T(0));
            set.for_each(first + i, [&](std::size_t k, T value) { out[k] = value; });
        }
    }
    return buffer.data();
}

// ||x_i - centre||^2 for one row, either known or computed from the row rounded as in pack().
template <class T>
double centred_sqnorm(const RowSet<T>& set, std::size_t i, const double* centre, std::vector<T>& buffer) {
    if (set.sqnorms || !centre) return set.sqnorm(i);
    return simd().of<T>().sqnorm(pack(set, i, 1, centre, buffer), set.n_cols());
}

// The mean of up to 256 evenly spaced rows if subtracting it makes the squared norms at least ten times
// smaller; otherwise empty, because the extra copy would not improve accuracy.
template <class T>
std::vector<double> useful_centre(const RowSet<T>& set) {
    const DenseRows<T>* dense = set.dense();
    const std::size_t count = std::min<std::size_t>(set.size, 256);
    if (!dense || count == 0) return {};
    std::vector<double> mean(dense->n_cols, 0.0);
    double norms = 0.0;
    for (std::size_t s = 0; s < count; ++s) {
        const std::size_t i = set.index(s * set.size / count);
        dense->add_to(i, 1.0 / double(count), mean.data());
        norms += dense->sqnorm(i) / double(count);
    }
    const double centre_norm = simd().f64.sqnorm(mean.data(), mean.size());
    if (!(centre_norm > 0.9 * norms) || !(norms < std::numeric_limits<double>::max())) return {};
    return mean;
}

}  // namespace maxmargin
