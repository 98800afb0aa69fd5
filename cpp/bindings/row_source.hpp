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
            throw std::invalid_argument("rows and result must have the same dtype, float32 or float64.");
        }
    });
}

// A row number that does not exist and a statistic that some row does not have are refused.
template <class T>
RowSet<T> row_set(const Matrix& X, const Subset& subset, const Numbers& sqnorms) {
    RowSet<T> set;
    set_rows(set, X);
    if (subset) need_below(*subset, set.size, "a list of rows");
    need(!sqnorms || sqnorms->shape(0) == set.size, "rows and their squared norms");
    if (subset) set.subset = subset->data(), set.size = subset->shape(0);
    if (sqnorms) set.sqnorms = sqnorms->data();
    return set;
}

// The centre, with one number for each column of X, or none.
inline const double* centre_of(const Matrix& X, const Numbers& centre) {
    need(!centre || centre->shape(0) == X.n_cols(), "a centre and the columns of X");
    return centre ? centre->data() : nullptr;
}

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
        return {kernel_, row_set<T>(X_, {}, sqnorms_), centre_of(X_, centre_), step_};
    }

    void check(const In<std::int64_t, 1>& which) const { need_below(which, X_.n_rows(), "a list of rows"); }

  private:
    Matrix X_;
    Kernel kernel_;
    Numbers sqnorms_, centre_;
    double step_;
};

}  // namespace maxmargin
