// The vectorised inner loops, compiled once per instruction set (cpp/simd/) and chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace maxmargin {

// When not to trust the expansion x2 + z2 - 2 <x,z> of a squared distance: see simd/maps.inc.
template <class T>
struct ExpansionLimits {
    T noise;      // relative error of the expansion, compared with x2 + z2
    T far_norms;  // x2 + z2 above which this error affects the kernel value
    T near;       // squared distances below which the kernel value must be recomputed
    T root;       // times x2 + z2: distances below which the root of the expansion is too inaccurate
};

// The type in which products of In are summed: In itself, except for codes, integers that stand for multiples
// of a step.
using Code = std::int16_t;
template <class In>
using PanelSum = std::conditional_t<std::is_same_v<In, Code>, std::int32_t, In>;

// Rows are multiplied in panels: this many rows z are interleaved, feature by feature. Codes are interleaved
// in pairs of features, so their number of features is even.
template <class In>
inline constexpr std::size_t panel_width = 64 / sizeof(PanelSum<In>);
inline constexpr std::size_t panel_rows = 12;  // maximum number of rows x multiplied with a panel at a time

// out[i][j] = start[i][j] + <x_i, z_j> for n <= panel_rows rows x and m rows z, over d features: all of
// them, or a slice that stays in the L1 cache while many rows x are multiplied with it.
template <class In, class Out = PanelSum<In>>
struct PanelTask {
    const In* x;
    std::size_t x_stride, n;
    const In* panels;
    std::size_t m, d;
    const PanelSum<In>* start;  // sums over earlier features, (panel_rows, panel_width) per panel, or null
    Out* out;
    std::size_t stride;
};

// The same, followed by e^(-scale distance). z2 is padded to whole panels.
template <class T>
struct RbfTask {
    const double* x2;
    const T* z2;
    ExpansionLimits<T> limits;
    double scale;
    bool plain;  // known in advance: no norms above limits.far_norms, no value near underflow
};

// The map of products p of codes: scale p, scale t or e^(-scale t) for t = x2 + z2 - 2 p.
enum class CodeMap { product, distance, rbf };
struct CodeTask {
    CodeMap map;
    double scale;
    const std::int32_t *x2, *z2;  // exact squared norms; z2 is padded to whole panels
};

// R (n, c) += K A for row-major K (n, m) and few columns c of A, each column contiguous.
template <class T>
struct ThinProduct {
    const T* K;
    std::size_t k_stride;
    const T* A;
    std::size_t a_stride;
    T* R;
    std::size_t n, m, c;
};

// A tile of a symmetric matrix in 16-bit numbers, n_rows a multiple of 4 and n_columns of 16: adds its
// products with x_columns to rows and, unless columns is null, those of its transpose with x_rows to columns.
struct PackedTask {
    const std::int16_t* k;
    std::size_t stride, n_rows, n_columns;
    const float *x_rows, *x_columns;
    float *rows, *columns;
};

// A block of samples for sequential minimal optimisation: smo.hpp has the problem. K is (n, n) with rows
// `stride` apart; up, down and diagonal are scratch of n numbers each, and so are rise and fall, which a
// problem without a kink does not need.
template <class T>
struct SmoTask {
    const T* K;
    std::size_t stride, n;
    double *a, *g;
    const double *lower, *upper;
    float *up, *down, *diagonal;
    double tolerance;
    std::size_t max_steps;
    double kink;
    double *rise, *fall;  // null for kink = 0
};

struct SmoEnd {
    std::size_t steps;
    double violation;  // the largest difference of slopes, over i that may grow and j that may fall
    bool stalled;      // the next step would be smaller than rounding
};

// The shares of one round of a Newton method (solvers/hinge_round.hpp) on a line:
//
//   share_i = clip(anchor_i + steep z_i, 0, top),   z_i = 1 - y_i (score_i + t along_i + b)
struct ShareTask {
    const double *y, *cost, *anchor, *scores, *along;  // anchor may be null (0), and so may along
    double steep, top, t, b;
    std::size_t n;
};

// sum_i cost_i share_i f_i for f_i = y_i along_i, or y_i where along is null; its derivative when z_i moves
// by -f_i; and the sum of the magnitudes of its terms
struct ShareSums {
    double value, slope, size;
};

// Loops over one value type T (float or double). Sums are always kept in double.
template <class T>
struct SimdOps {
    double (*dot)(const T* x, const double* w, std::size_t n);     // sum_k x[k] w[k]
    void (*axpy)(double a, const T* x, double* w, std::size_t n);  // w += a x
    double (*sqnorm)(const T* x, std::size_t n);                   // sum_k x[k]^2

    double (*sqdist)(const T* x, const T* z, std::size_t n);                    // sum_k (x[k] - z[k])^2
    double (*l1dist)(const T* x, const T* z, std::size_t n);                    // sum_k |x[k] - z[k]|
    void (*subtract)(const T* x, const double* centre, T* out, std::size_t n);  // out = x - centre
    void (*root)(T* t, std::size_t n);  // t = sqrt(t); marks of -1 stay
    // p = x2 + z2 - 2 p, or -1 where the expansion is not trusted; true if there is any -1
    bool (*expand)(T* p, T x2, const T* z2, ExpansionLimits<T>, std::size_t n);

    void (*exp)(const T* x, T* out, std::size_t n);                 // out = e^x
    void (*exp_minus)(T* t, double scale, std::size_t n);           // t = e^(-scale t), t >= 0
    void (*tanh)(T* t, double scale, double shift, std::size_t n);  // t = tanh(scale t + shift)
    void (*power)(T* t, double scale, double shift, double degree,
                  std::size_t n);  // t = (scale t + shift)^degree

    void (*panel_products)(const PanelTask<T>& task);
    bool (*panel_rbf)(const PanelTask<T>& task, const RbfTask<T>& rbf);  // true if some are marked -1
    void (*add_thin_product)(const ThinProduct<T>& product);
    SmoEnd (*smo)(const SmoTask<T>& task);

    // round(x / step); returns the largest magnitude, or infinity if some x is not a multiple of the step
    void (*to_codes)(const T* x, double step, Code* out, std::size_t n);
    double (*largest_code)(const T* x, double step, std::size_t n);
    void (*panel_values)(const PanelTask<Code, T>& task, const CodeTask& codes);
};

struct Simd {
    const char* name;
    void (*code_products)(const PanelTask<Code>& task);
    ShareSums (*weighted_shares)(const ShareTask& task);
    void (*packed_products)(const PackedTask& task);
    SimdOps<float> f32;
    SimdOps<double> f64;

    template <class T>
    const SimdOps<T>& of() const {
        if constexpr (sizeof(T) == 4)
            return f32;
        else
            return f64;
    }
};

// The best table this machine supports; MAXMARGIN_SIMD=baseline|avx2|avx512 selects a lower one.
const Simd& simd();

}  // namespace maxmargin
