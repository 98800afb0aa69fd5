"""Fits to more rows than memory holds: rows are only ever seen as blocks, in passes over all of them.

A pass maps a pure function over the blocks and adds its results in one fixed tree (``passes``), so the bits
do not depend on who computes what. The first pass draws a sample (``sample``), which gives centres and
alpha. Passes begin at the optimum on it (``start``), or on a second one (``near_margin``). Newton's method
takes each of its steps by a pass (``newton``), whose sums (``sums``) also are the certificate over all
rows; a problem that cannot be certified gets more penalty (``attempts``). ``features`` are those of kernel
functions at the centres, or of a linear model; a plan (``kernel_plan``, ``linear_plan``) says what an
estimator takes from the sample and stores in the end. A search has the columns of all folds side by side
(``folds``).
"""

from .features import BlockFeatures
from .fit import (
    BlockPlan,
    block_deadline,
    check_solvable,
    fit_blocks,
    fit_in_passes,
    fits_blocks,
    look_at,
)
from .folds import (
    FoldPlan,
    Folds,
    FoldWeightsTask,
    HeldOutTask,
    ScoredFolds,
    fold_problem,
    fold_weights,
    held_out,
)
from .kernel_plan import KernelPlan
from .linear_plan import LinearPlan
from .newton import MAX_HESSIAN_BYTES, Point, Start, solve_blocks
from .passes import Passes, ThreadPasses, Tree
from .rows import BlockSource, GivenBlocks, RowBlock, row_block, source_of
from .sample import Look
from .start import start_on_sample
from .sums import BlockProblem

__all__ = [
    "MAX_HESSIAN_BYTES",
    "BlockFeatures",
    "BlockPlan",
    "BlockProblem",
    "BlockSource",
    "FoldPlan",
    "FoldWeightsTask",
    "Folds",
    "GivenBlocks",
    "HeldOutTask",
    "KernelPlan",
    "LinearPlan",
    "Look",
    "Passes",
    "Point",
    "RowBlock",
    "ScoredFolds",
    "Start",
    "ThreadPasses",
    "Tree",
    "block_deadline",
    "check_solvable",
    "fit_blocks",
    "fit_in_passes",
    "fits_blocks",
    "fold_problem",
    "fold_weights",
    "held_out",
    "look_at",
    "row_block",
    "solve_blocks",
    "source_of",
    "start_on_sample",
]
