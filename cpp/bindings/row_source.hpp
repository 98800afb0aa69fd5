// Rows as Python hands them over become row sets of the kernel engine; one matrix with all that its kernel
// rows need becomes a RowSource, which is checked once and used many times.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "maxmargin/kernels/kernel_rows.hpp"
#include "python.hpp"

namespace maxmargin {

using Subset = std::optional<In<std::int64_t, 1>>;
using Numbers = std::optional<In<double, 1>>;

template <class T>
void set_rows(RowSet<T>& set, const Matrix& X) {
    X.visit([&](const auto& view) {
        if constexpr (std::is_same_v<typename std::decay_t<decltype(view)>::value_type, T>) {
            set.rows = view;
            set.size = view.n_rows;
        } else {
            throw std::invalid_argument("rows and result must have the same dtype");
        }
    });
}

template <class T>
RowSet<T> row_set(const Matrix& X, const Subset& subset, const Numbers& sqnorms) {
    RowSet<T> set;
    set_rows(set, X);
    if (subset) set.subset = subset->data(), set.size = subset->shape(0);
    if (sqnorms) set.sqnorms = sqnorms->data();
    return set;
}

inline const double* data_or_null(const Numbers& numbers) { return numbers ? numbers->data() : nullptr; }

class RowSource {
  public:
    RowSource(const Matrix& X, const std::string& name, double gamma, double coef0, double degree,
              const Numbers& sqnorms, const Numbers& centre, double step)
        : X_(X),
          kernel_{kernel_kind(name), gamma, coef0, degree},
          sqnorms_(sqnorms),
          centre_(centre),
          step_(step) {}

    template <class T>
    KernelRows<T> rows() const {
        return {kernel_, row_set<T>(X_, {}, sqnorms_), data_or_null(centre_), step_};
    }

    void check(const In<std::int64_t, 1>& which) const {
        const std::size_t n = X_.visit([](const auto& view) { return view.n_rows; });
        for (std::size_t i = 0; i < which.shape(0); ++i)
            if (which.data()[i] < 0 || std::size_t(which.data()[i]) >= n)
                throw std::out_of_range("a row that does not exist");
    }

  private:
    Matrix X_;
    Kernel kernel_;
    Numbers sqnorms_, centre_;
    double step_;
};

}  // namespace maxmargin
