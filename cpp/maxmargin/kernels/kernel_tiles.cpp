// Implementation of kernel_tiles.hpp: the kind, size and order of tiles.
#include "maxmargin/kernels/kernel_tiles.hpp"

#include <algorithm>
#include <variant>

#include "maxmargin/core/blas.hpp"
#include "maxmargin/kernels/code_tile.hpp"
#include "maxmargin/kernels/dense_tile.hpp"
#include "maxmargin/kernels/few_rows.hpp"
#include "maxmargin/kernels/sparse_tile.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t MAX_THIN_COLUMNS = 32, MAX_TURNED_FEATURES = 64;

// The rows z of a tile are packed once for many rows x, which stay in the L2 cache. A task should not take
// much longer than 20 ms.
TileShape dense_tile_shape(std::size_t d, std::size_t value_size, KernelKind kind) {
    constexpr std::size_t MAX_X_BYTES = 256 << 10, MAX_MULTIPLY_ADDS_PER_TASK = 400'000'000;
    if (kind == KernelKind::laplacian) {
        const std::size_t z_rows = std::clamp<std::size_t>((256 << 10) / ((d + 1) * value_size), 4, 512);
        return {std::clamp<std::size_t>(8'000'000 / ((d + 1) * z_rows), 1, 512), z_rows};
    }
    const std::size_t x_rows =
        std::clamp<std::size_t>(MAX_X_BYTES / ((d + 1) * value_size) / 48 * 48, 48, 96);
    return {x_rows, std::clamp<std::size_t>(MAX_MULTIPLY_ADDS_PER_TASK / ((d + 1) * x_rows), panel_rows,
                                            std::min<std::size_t>(4096 / value_size, 1024))};
}

TileShape sparse_tile_shape(std::size_t d, double x_density, double z_density) {
    const double work_per_row = 1.0 + 512.0 * double(d) * x_density * z_density;
    return {std::size_t(std::clamp(5e6 / work_per_row, 4.0, 1024.0)), 512};
}

// The same number of tiles with nearly equal sizes: a small last tile would leave a thread idle.
std::size_t even_share(std::size_t n, std::size_t at_most) {
    const std::size_t tiles = (n + at_most - 1) / at_most;
    constexpr std::size_t ROW_MULTIPLE = 48;  // whole panels, and whole groups of rows multiplied with them
    return tiles == 0 ? at_most
                      : std::min(at_most,
                                 ((n + tiles - 1) / tiles + ROW_MULTIPLE - 1) / ROW_MULTIPLE * ROW_MULTIPLE);
}

}  // namespace

// step: of the grid that all rows of X and Z lie on, 0 for none
template <class T>
struct KernelTiles<T>::Scratch {
    std::variant<DenseTile<T>, SparseTile<T>, CodeTile<T>> tile;
    std::vector<T> values;
};

template <class T>
KernelTiles<T>::KernelTiles(Kernel kernel, RowSet<T> X, RowSet<T> Z, const double* centre, double step)
    : kernel_(kernel),
      X_(X),
      Z_(Z),
      centre_(kernel.of_squared_distance() ? centre : nullptr),
      step_(kernel.kind == KernelKind::laplacian ? 0.0 : step) {
    const double x_density = X_.density(), z_density = Z_.density(), met = x_density * z_density;
    // A match of two stored entries costs as much as 45-60 multiply-adds in panels, or 7-9 of an L1 distance,
    // at 784 features, and 2-3 times that at 20,000, where the index leaves the cache (measured on Zen 3,
    // float, densities 0.02 to 0.3 and 0.001 to 0.1): so dense for MNIST (0.19), sparse for text (0.001).
    // Compared with codes it costs 44, and a pair of rows without a match costs 225.
    sparse_ = kernel.kind == KernelKind::laplacian ? met < 0.1
              : step_ > 0.0                        ? double(X_.n_cols()) * (1.0 - 44.0 * met) > 225.0
                                                   : met < 0.015;
    if (sparse_) step_ = 0.0;
    shape_ = sparse_ ? sparse_tile_shape(X_.n_cols(), x_density, z_density)
                     : dense_tile_shape(X_.n_cols(), step_ > 0.0 ? sizeof(Code) : sizeof(T), kernel.kind);
    shape_ = {even_share(X_.size, shape_.x_rows), even_share(Z_.size, shape_.z_rows)};
}

template <class T>
KernelTiles<T>::~KernelTiles() = default;

template <class T>
void KernelTiles<T>::block(T* K, int n_threads, const Poll& poll) {
    measure(n_threads, poll);
    const std::size_t down = n_x_tiles();
    const bool mirrored = X_.is(Z_) && X_.n_cols() > MAX_TURNED_FEATURES;
    Pool::instance().run(
        down * n_z_tiles(), n_threads,
        [&](std::size_t task) {
            const std::size_t i = task % down * shape_.x_rows, j = task / down * shape_.z_rows;
            if (mirrored && j >= i + shape_.x_rows) return;
            const auto lease = scratch();
            compute(*lease, i, j, K + i * Z_.size + j, Z_.size);
        },
        poll);
    if (mirrored) mirror(K, n_threads, poll);
}

// Packing the rows z pays off if many rows x use them, so the few requested rows become the z, unless there
// are so few features that transposing a tile takes longer.
template <class T>
void KernelTiles<T>::fill(T* rows, std::size_t stride, const std::int64_t* slots, int n_threads,
                          const Poll& poll) {
    if (!sparse_ && X_.n_cols() <= std::min(MAX_TURNED_FEATURES, Z_.size)) {
        KernelTiles turned(kernel_, Z_, X_, centre_, step_);
        turned.shape_.x_rows = 2 * panel_rows;  // so that a tile stays in the cache until it is copied
        return turned.fill_turned(rows, stride, slots, n_threads, poll);
    }
    run_tiles(n_threads, poll, [&](const T* K, std::size_t n, std::size_t m, std::size_t i, std::size_t j) {
        constexpr std::size_t COLUMNS_PER_PASS = 16;  // so that cache lines are read once
        for (std::size_t first = 0; first < m; first += COLUMNS_PER_PASS)
            for (std::size_t c = first; c < std::min(m, first + COLUMNS_PER_PASS); ++c) {
                T* out = rows + std::size_t(slots[j + c]) * stride + i;
                for (std::size_t r = 0; r < n; ++r) out[r] = K[r * m + c];
            }
    });
}

template <class T>
void KernelTiles<T>::matmul(const T* A, std::size_t c, T* R, int n_threads, const Poll& poll) {
    if (FewRows<T>::are_few(X_, Z_, c)) {
        FewRows<T> few(kernel_, X_, Z_);
        few.compute(n_threads, poll);
        return few.multiply(A, c, R);
    }
    transpose(A, c);
    const auto add = [&](const T* K, std::size_t n, std::size_t m, std::size_t j, T* sums) {
        if (columns_.empty())
            add_product(K, A + j * c, sums, n, m, c);
        else
            simd().of<T>().add_thin_product({K, m, columns_.data() + j, Z_.size, sums, n, m, c});
    };
    sum_tiles(c, R, n_threads, poll, add);
}

template <class T>
void KernelTiles<T>::matmul(const GroupedMatrix<T>& A, T* R, int n_threads, const Poll& poll) {
    if (FewRows<T>::are_few(X_, Z_, A.n_columns)) {
        FewRows<T> few(kernel_, X_, Z_);
        few.compute(n_threads, poll);
        return few.multiply(A, R);
    }
    const GroupedProduct<T> product(A, shape_.z_rows);
    const auto add = [&](const T* K, std::size_t n, std::size_t m, std::size_t j, T* sums) {
        product.add(K, n, m, j, sums);
    };
    sum_tiles(A.n_columns, R, n_threads, poll, add);
}

// Calls use(K (n, m), n, m, i, j) for every tile; its first row x is i, its first row z is j.
template <class T>
template <class Use>
void KernelTiles<T>::run_tiles(int n_threads, const Poll& poll, const Use& use) {
    measure(n_threads, poll);
    const std::size_t down = n_x_tiles();
    const auto body = [&](std::size_t task) {
        const std::size_t i = task % down * shape_.x_rows, j = task / down * shape_.z_rows;
        const std::size_t n = std::min(shape_.x_rows, X_.size - i), m = std::min(shape_.z_rows, Z_.size - j);
        const auto lease = scratch();
        lease->values.resize(shape_.x_rows * shape_.z_rows);
        compute(*lease, i, j, lease->values.data(), m);
        use(lease->values.data(), n, m, i, j);
    };
    Pool::instance().run(down * n_z_tiles(), n_threads, body, poll);
}

// Writes row i of K to row slots[i] of `rows`.
template <class T>
void KernelTiles<T>::fill_turned(T* rows, std::size_t stride, const std::int64_t* slots, int n_threads,
                                 const Poll& poll) {
    run_tiles(n_threads, poll, [&](const T* K, std::size_t n, std::size_t m, std::size_t i, std::size_t j) {
        for (std::size_t r = 0; r < n; ++r)
            std::copy_n(K + r * m, m, rows + std::size_t(slots[i + r]) * stride + j);
    });
}

// R (X.size, c) = the sum over tiles of add(K (n, m), n, m, first row z, rows of R). If X has few tiles,
// several tiles along Z are computed in parallel, into separate sums that are added in order.
template <class T>
template <class Add>
void KernelTiles<T>::sum_tiles(std::size_t c, T* R, int n_threads, const Poll& poll, const Add& add) {
    constexpr std::size_t TARGET_TASKS_PER_WAVE = 16;
    const std::size_t n = X_.size, down = n_x_tiles();
    std::fill_n(R, n * c, T(0));
    if (n * c == 0) return;
    measure(n_threads, poll);
    const std::size_t wave =
        std::clamp<std::size_t>(TARGET_TASKS_PER_WAVE / down, 1, std::max<std::size_t>(n_z_tiles(), 1));
    std::vector<T> partial((wave - 1) * n * c);
    for (std::size_t first = 0; first < n_z_tiles(); first += wave) {
        const std::size_t count = std::min(wave, n_z_tiles() - first);
        std::fill(partial.begin(), partial.end(), T(0));
        const auto body = [&](std::size_t task) {
            const std::size_t slot = task / down, i = task % down * shape_.x_rows;
            T* sums = slot == 0 ? R : partial.data() + (slot - 1) * n * c;
            add_tile(i, (first + slot) * shape_.z_rows, add, sums + i * c);
        };
        Pool::instance().run(down * count, n_threads, body, poll);
        for (std::size_t slot = 1; slot < count; ++slot)
            for (std::size_t e = 0; e < n * c; ++e) R[e] += partial[(slot - 1) * n * c + e];
    }
}

// K[i][j] = K[j][i] for i < j, in squares that fit into the L1 cache
template <class T>
void KernelTiles<T>::mirror(T* K, int n_threads, const Poll& poll) const {
    constexpr std::size_t SQUARE_SIDE = 32;
    const std::size_t n = X_.size;
    const auto body = [&](std::size_t task) {
        const std::size_t first = task * SQUARE_SIDE, last = std::min(n, first + SQUARE_SIDE);
        for (std::size_t start = first; start < n; start += SQUARE_SIDE)
            for (std::size_t i = first; i < last; ++i)
                for (std::size_t j = std::max(start, i + 1); j < std::min(n, start + SQUARE_SIDE); ++j)
                    K[i * n + j] = K[j * n + i];
    };
    Pool::instance().run((n + SQUARE_SIDE - 1) / SQUARE_SIDE, n_threads, body, poll);
}

// The squared norms or L1 norms of all rows, computed once per call rather than once per tile.
template <class T>
void KernelTiles<T>::measure(int n_threads, const Poll& poll) {
    if (kernel_.of_product() || step_ > 0.0) return;
    measure(X_, x_sizes_, n_threads, poll);
    measure(Z_, z_sizes_, n_threads, poll);
}
template <class T>
void KernelTiles<T>::measure(const RowSet<T>& set, std::vector<double>& sizes, int n_threads,
                             const Poll& poll) {
    constexpr std::size_t ROWS_PER_TASK = 512;
    sizes.resize(set.size);
    const auto body = [&](std::size_t task) {
        std::vector<T> buffer;
        for (std::size_t i = task * ROWS_PER_TASK; i < std::min(set.size, (task + 1) * ROWS_PER_TASK); ++i)
            sizes[i] = kernel_.kind != KernelKind::laplacian ? centred_sqnorm(set, i, centre_, buffer)
                       : sparse_                             ? set.l1norm(i)
                                                             : 0.0;
    };
    Pool::instance().run((set.size + ROWS_PER_TASK - 1) / ROWS_PER_TASK, n_threads, body, poll);
}

template <class T>
void KernelTiles<T>::compute(Scratch& scratch, std::size_t i, std::size_t j, T* K, std::size_t stride) {
    const std::size_t n = std::min(shape_.x_rows, X_.size - i), m = std::min(shape_.z_rows, Z_.size - j);
    std::visit([&](auto& tile) { tile.compute(i, n, j, m, K, stride); }, scratch.tile);
}

template <class T>
template <class Add>
void KernelTiles<T>::add_tile(std::size_t i, std::size_t j, const Add& add, T* sums) {
    const std::size_t n = std::min(shape_.x_rows, X_.size - i), m = std::min(shape_.z_rows, Z_.size - j);
    const auto lease = scratch();
    lease->values.resize(shape_.x_rows * shape_.z_rows);
    compute(*lease, i, j, lease->values.data(), m);
    add(lease->values.data(), n, m, j, sums);
}

// BLAS is slow if A has few columns. Our own loop needs each column contiguous.
template <class T>
void KernelTiles<T>::transpose(const T* A, std::size_t c) {
    if (c > MAX_THIN_COLUMNS) return;
    columns_.resize(Z_.size * c);
    for (std::size_t j = 0; j < Z_.size; ++j)
        for (std::size_t k = 0; k < c; ++k) columns_[k * Z_.size + j] = A[j * c + k];
}

// One scratch object per running thread, reused from task to task.
template <class T>
typename KernelTiles<T>::Lease KernelTiles<T>::scratch() {
    std::unique_ptr<Scratch> taken;
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            taken = std::move(idle_.back());
            idle_.pop_back();
        }
    }
    if (!taken) {
        const double *x_sizes = x_sizes_.data(), *z_sizes = z_sizes_.data();
        if (step_ > 0.0)
            taken.reset(new Scratch{CodeTile<T>(kernel_, X_, Z_, step_), {}});
        else if (sparse_)
            taken.reset(new Scratch{SparseTile<T>(kernel_, X_, Z_, x_sizes, z_sizes), {}});
        else
            taken.reset(new Scratch{DenseTile<T>(kernel_, X_, Z_, x_sizes, z_sizes, centre_), {}});
    }
    return Lease(taken.release(), Return{this});
}

template <class T>
void KernelTiles<T>::Return::operator()(Scratch* used) const {
    const std::lock_guard lock(tiles->mutex_);
    tiles->idle_.emplace_back(used);
}

template class KernelTiles<float>;
template class KernelTiles<double>;

}  // namespace maxmargin
