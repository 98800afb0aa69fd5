"""The only interface to the compiled core; it or the bindings check dtypes, layouts and shapes.

Functions that convert their arguments check them in Python, with errors that name the argument. Steps that
change arrays in place pass them on unchanged, and the binding raises for a wrong dtype, layout or size. The
core itself checks nothing again. ``layout`` and ``grouped`` are plain NumPy: the formats of rows and of
coefficients that the core accepts. They are here because this folder needs them and imports only go
downwards.

Values do not depend on the number of threads or on the block they are computed in: the problem determines how
work is split into blocks, sums are added in block order, and kernel values come from our own products,
because BLAS sums in another order at the edges of a matrix. While our threads run, BLAS is limited to one
thread. Loops poll for Ctrl-C between blocks; they check the byte ``Stop.cancel`` as well
and raise ``Cancelled`` once another thread or the time limit has set it.
"""

from .arguments import NEVER, Cancelled
from .blas import one_blas_thread
from .budget import (
    add_support,
    back_fit,
    inverse_halves,
    lasvm_block,
    lasvm_reprocess,
    online_block,
    reduced_newton,
)
from .grouped import GroupedMatrix, columns_of_groups
from .kernel_svm import (
    compact_rows,
    gather_rows,
    pack_rows,
    packed_size,
    smo_block,
    subtract_rows,
    svm_dual,
    svm_look,
    svm_packed_block,
    svm_pairs,
    svm_paths,
    svm_polish,
    svm_rounds,
    svm_small_rounds,
)
from .kernels import (
    CompiledKernel,
    InnerProduct,
    RowFiller,
    exp,
    kernel_block,
    kernel_grouped_matmul,
    kernel_matmul,
    simd_name,
)
from .layout import LAYOUT, as_rows, is_sparse, same_features, sqnorms
from .linear import (
    SMALL_CONVERGED,
    SMALL_INEXACT,
    SMALL_OPEN,
    SMALL_STALLED,
    SmallReports,
    best_intercept,
    dual_cd_epochs,
    lasso_epochs,
    loss_conjugate,
    loss_slope,
    loss_value,
    small_columns,
    squared_hinge_step,
    step_length,
)
from .multiclass import (
    are_ordered,
    code_sums,
    pair_sums,
    pairs_step,
    pairs_sweep,
    topk_look,
    topk_project,
    topk_prox,
    topk_sweep,
    topk_tile,
)
from .rows import RowStats, hash_rows, row_stats, rows_dot, rows_equal, rows_gram, rows_sqnorm, rows_sum
from .structure import check_structure
from .text import CsvParser, LibsvmParser, csv_first_row
from .thread_pool import ThreadPool, room_for_thread, started_thread
from .threads import effective_n_threads

__all__ = [
    "LAYOUT",
    "NEVER",
    "SMALL_CONVERGED",
    "SMALL_INEXACT",
    "SMALL_OPEN",
    "SMALL_STALLED",
    "Cancelled",
    "CompiledKernel",
    "CsvParser",
    "GroupedMatrix",
    "InnerProduct",
    "LibsvmParser",
    "RowFiller",
    "RowStats",
    "SmallReports",
    "ThreadPool",
    "add_support",
    "are_ordered",
    "as_rows",
    "back_fit",
    "best_intercept",
    "check_structure",
    "code_sums",
    "columns_of_groups",
    "compact_rows",
    "csv_first_row",
    "dual_cd_epochs",
    "effective_n_threads",
    "exp",
    "gather_rows",
    "hash_rows",
    "inverse_halves",
    "is_sparse",
    "kernel_block",
    "kernel_grouped_matmul",
    "kernel_matmul",
    "lasso_epochs",
    "lasvm_block",
    "lasvm_reprocess",
    "loss_conjugate",
    "loss_slope",
    "loss_value",
    "one_blas_thread",
    "online_block",
    "pack_rows",
    "packed_size",
    "pair_sums",
    "pairs_step",
    "pairs_sweep",
    "reduced_newton",
    "room_for_thread",
    "row_stats",
    "rows_dot",
    "rows_equal",
    "rows_gram",
    "rows_sqnorm",
    "rows_sum",
    "same_features",
    "simd_name",
    "small_columns",
    "smo_block",
    "sqnorms",
    "squared_hinge_step",
    "started_thread",
    "step_length",
    "subtract_rows",
    "svm_dual",
    "svm_look",
    "svm_packed_block",
    "svm_pairs",
    "svm_paths",
    "svm_polish",
    "svm_rounds",
    "svm_small_rounds",
    "topk_look",
    "topk_project",
    "topk_prox",
    "topk_sweep",
    "topk_tile",
]
