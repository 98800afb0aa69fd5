// Kernel values between two sets of rows, and their product with a matrix, tile by tile.
//
// Tiles depend only on the shapes, never on the number of threads, so neither do results.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "maxmargin/core/row_set.hpp"
#include "maxmargin/core/threads.hpp"
#include "maxmargin/kernels/grouped_product.hpp"
#include "maxmargin/kernels/kernels.hpp"

namespace maxmargin {

struct TileShape {
    std::size_t x_rows, z_rows;
};

// Compiled once, for float and double, in kernel_tiles.cpp.
template <class T>
class KernelTiles {
  public:
    // step: of the grid that all rows of X and Z lie on, 0 for none
    KernelTiles(Kernel kernel, RowSet<T> X, RowSet<T> Z, const double* centre, double step = 0.0);
    ~KernelTiles();

    // K (X.size, Z.size), row-major. If X is Z, tiles above the diagonal are copied from below it, which
    // halves the work, unless there are so few features that copying takes as long.
    void block(T* K, int n_threads, const Poll& poll);

    // Writes column j of K to row slots[j] of `rows`, whose rows are `stride` apart.
    void fill(T* rows, std::size_t stride, const std::int64_t* slots, int n_threads, const Poll& poll);

    // R (X.size, c) = K A for A (Z.size, c), with at most one tile of K per thread in memory.
    void matmul(const T* A, std::size_t c, T* R, int n_threads, const Poll& poll);

    // The same for a grouped A: only the non-zero columns of each group are multiplied.
    void matmul(const GroupedMatrix<T>& A, T* R, int n_threads, const Poll& poll);

  private:
    struct Scratch;  // a tile and a buffer for its values
    struct Return {
        KernelTiles* tiles;
        void operator()(Scratch* used) const;
    };
    using Lease = std::unique_ptr<Scratch, Return>;

    template <class Use>
    void run_tiles(int n_threads, const Poll& poll, const Use& use);
    template <class Add>
    void sum_tiles(std::size_t c, T* R, int n_threads, const Poll& poll, const Add& add);
    template <class Add>
    void add_tile(std::size_t i, std::size_t j, const Add& add, T* sums);

    void fill_turned(T* rows, std::size_t stride, const std::int64_t* slots, int n_threads, const Poll& poll);
    void mirror(T* K, int n_threads, const Poll& poll) const;
    void measure(int n_threads, const Poll& poll);
    void measure(const RowSet<T>& set, std::vector<double>& sizes, int n_threads, const Poll& poll);
    void compute(Scratch& scratch, std::size_t i, std::size_t j, T* K, std::size_t stride);
    void transpose(const T* A, std::size_t c);
    Lease scratch();

    std::size_t n_x_tiles() const { return (X_.size + shape_.x_rows - 1) / shape_.x_rows; }
    std::size_t n_z_tiles() const { return (Z_.size + shape_.z_rows - 1) / shape_.z_rows; }

    Kernel kernel_;
    RowSet<T> X_, Z_;
    const double* centre_;
    double step_;
    bool sparse_;
    TileShape shape_;
    std::vector<double> x_sizes_, z_sizes_;
    std::vector<T> columns_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Scratch>> idle_;
};

extern template class KernelTiles<float>;
extern template class KernelTiles<double>;

}  // namespace maxmargin
