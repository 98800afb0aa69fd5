"""``SparseKernelClassifier``: kernel classifiers under a hard budget of support vectors.

All columns share their support vectors, so they are one problem with one result. Rows are in random order,
so a prefix is a sample: growth begins on a small prefix, and prefixes grow with the set. Each round has a
problem of its own (more support vectors, other rows), so the best dual bound is forgotten between rounds.
The features are not in the state: they are computed again, block by block, so a resumed fit is bit-
identical.

A fit read from top to bottom: ``estimator`` (parameters, what is stored), ``fit`` (which method, which rows),
``problem``; the library's own method in ``greedy`` with ``growth_sample`` (the rows), ``gain`` (the choice),
``reduced_newton`` (the coefficients), ``swaps``, ``centers`` and ``final_refit``; the published method in
``published_fit``, ``incremental`` and ``selectors``. ``ending`` decides when either ends, ``path`` holds the
models of smaller budgets and ``truncation`` makes use of them, ``memory`` what later calls need.
"""

from .estimator import SparseKernelClassifier
from .greedy import GreedyOptions, greedy
from .memory import Reservoir, TrainingMemory
from .problem import ALPHA_SEARCH, BudgetProblem, BudgetResult
from .truncation import at_budget, path_predictions, with_alpha

__all__ = [
    "ALPHA_SEARCH",
    "BudgetProblem",
    "BudgetResult",
    "GreedyOptions",
    "Reservoir",
    "SparseKernelClassifier",
    "TrainingMemory",
    "at_budget",
    "greedy",
    "path_predictions",
    "with_alpha",
]
