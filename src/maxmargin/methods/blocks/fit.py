"""``fit_blocks``: a start from a sample of the rows, coefficients from all of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

import numpy as np

from ..._native import effective_n_threads
from ...base import fit_callback, fit_deadline, forget
from ...checkpoints import FitRecord, fit_record, parameter_identity
from ...data import check_number
from ...kernels import n_points
from ...losses import loss_from_name
from ...solving import Deadline, SolverResult, Status
from .attempts import Attempts
from .newton import Point
from .passes import Passes, ThreadPasses
from .rows import source_of
from .sample import Look, LookTask, look
from .sums import BlockProblem

__all__ = [
    "BlockPlan",
    "block_deadline",
    "check_solvable",
    "fit_blocks",
    "fit_in_passes",
    "fits_blocks",
    "look_at",
]

MAX_SAMPLE_BYTES = 128 << 20
LOSSES = ("squared-hinge", "log")

Model = TypeVar("Model")


class BlockPlan(Protocol):
    """What an estimator with ``fit_blocks`` takes from the sample, and stores in the end."""

    def check(self, model: Any) -> None:
        """Raise if Newton's method over blocks cannot solve what these parameters ask for."""

    def seconds(self, model: Any) -> float:
        """The time limit."""

    def sample_rows(self, model: Any) -> int:
        """Rows of the sample, where the caller does not say."""

    def start(self, model: Any, found: Look, record: FitRecord, deadline: Deadline) -> None:
        """Fit to the sample."""

    def attempts(self, model: Any) -> int:
        """How often a solve that stalls is tried again."""

    def problem(self, model: Any, found: Look, attempt: int = 0) -> tuple[BlockProblem, np.ndarray]:
        """The problem over all rows, and the sample's solution in its coordinates."""

    def store(
        self, model: Any, problem: BlockProblem, result: SolverResult, point: Point | None, before: Status
    ) -> None:
        """Replace the sample's coefficients and certificate, and its status, by those of all rows."""


def fit_blocks(
    self: Model,
    source: Any,
    *,
    sample_rows: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Model:
    """Fit to all rows of a source, which are only ever seen as blocks.

    ``fit`` is applied to a sample of the rows. It gives the start and, for a kernel classifier, the support
    vectors, gamma, alpha and the calibration of probabilities. Then the coefficients are fitted to all rows
    by Newton's method, in a few passes over the blocks, and ``objective_`` and ``dual_gap_`` certify them
    over all rows.

    Parameters
    ----------
    source : sequence or callable
        Blocks (X, y) or (X, y, sample_weight), or a function without arguments that returns an iterator
        over them; they are read several times. Rows of all blocks have the same features, dtype and
        layout. Blocks may be empty, of one class, or in any order.
    sample_rows : int, optional
        Rows in the sample; by default 50,000, or 32 for each support vector if that is more, but no more
        than 128 MiB. Memory is needed for the sample, and for a few blocks with their features.
    progress : callable, optional
        Called as ``progress(n_passes, n_blocks)`` when a pass, the first one being 1, has got so many blocks.

    Returns
    -------
    self
        ``n_passes_`` counts the passes over the source, ``n_rows_`` its rows. ``support_`` is None.

    Notes
    -----
    The result depends on the blocks by rounding only, and not at all on the number of threads. The loss
    must be the squared hinge or the log loss: Newton's method needs a curvature. An alpha that was given
    is used; "auto" takes the sample's, scaled to the number of rows so that C stays the same.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from maxmargin import SparseKernelClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> blocks = [(X[i : i + 400], y[i : i + 400]) for i in range(0, len(X), 400)]
    >>> model = SparseKernelClassifier(budget=60, random_state=0).fit_blocks(blocks, sample_rows=600)
    >>> model.n_rows_, bool(model.dual_gap_ <= 1e-3), bool(model.score(X, y) > 0.97)
    (1797, True, True)
    """
    model: Any = self
    blocks, n_threads = source_of(source), effective_n_threads(model.n_jobs)
    with np.errstate(under="ignore"), block_deadline(model) as deadline, fit_record(model) as record:
        passes = ThreadPasses(blocks, n_threads, deadline, progress)
        fit_in_passes(model, passes, deadline, record, sample_rows)
    return self


def block_deadline(model: Any) -> AbstractContextManager[Deadline]:
    """The deadline of a fit over blocks that begins now."""
    return fit_deadline(model, model._block_plan.seconds(model))


def fit_in_passes(
    model: Any, passes: Passes, deadline: Deadline, record: FitRecord, sample_rows: int | None = None
) -> None:
    """A start from a sample, coefficients from all rows, by anything that can run a pass."""
    plan: BlockPlan = model._block_plan
    n_threads = effective_n_threads(model.n_jobs)
    check_solvable(model)
    model._draw_seed(record)
    found = look_at(model, passes, sample_rows)
    if record.part is not None:
        record.bind(parameter_identity(model) | _identity(found))
    plan.start(model, found, record.below("sample"), deadline)
    sample = found.block()
    before = Status(model.status_)
    forget(model, "status_")  # the sample's model is not the result
    with fit_callback(model, found.X, found.y) as callback:
        stop = record.below("passes").limits(model._stop(deadline))
        attempts = Attempts(passes, sample, found, model._seed, n_threads, stop, callback)
        for number in range(n := plan.attempts(model)):
            problem, V = plan.problem(model, found, number)
            if attempts.solved(problem, V, is_last=number == n - 1):
                break
    result, point = attempts.result, attempts.point
    plan.store(model, problem, result, point, before)
    model.n_rows_, model.n_passes_ = found.n_rows, passes.n_passes


def look_at(model: Any, passes: Passes, sample_rows: int | None) -> Look:
    """The first pass, which draws a sample for the model; 128 MiB at most unless its rows are given."""
    if sample_rows is not None:
        check_number("sample_rows", sample_rows, at_least=2, integer=True)
    size = int(sample_rows or model._block_plan.sample_rows(model))
    found = passes.run(look, LookTask(size, model._seed))
    if not found.counts:
        raise ValueError(
            "no row has a positive weight: the blocks are empty, or all sample weights are zero."
        )
    return smaller(found) if sample_rows is None else found


def fits_blocks(model: Any) -> bool:
    """Whether the model has ``fit_blocks`` and parameters that it accepts."""
    if not hasattr(model, "_block_plan"):
        return False
    try:
        check_solvable(model)
    except ValueError:
        return False
    return True


def check_solvable(model: Any) -> None:
    """Raise if Newton's method over blocks cannot solve what these parameters ask for."""
    loss = loss_from_name(model.loss).name if hasattr(model, "loss") else LOSSES[0]
    if loss not in LOSSES:
        raise ValueError(
            f"fit_blocks needs a loss with a curvature, one of {list(LOSSES)}; got {loss!r}. Use "
            "loss='squared-hinge', or fit on a sample of the rows."
        )
    model._block_plan.check(model)


def smaller(found: Look) -> Look:
    """A sample that takes at most 128 MiB."""
    size = found.X.nbytes if isinstance(found.X, np.ndarray) else found.X.data.nbytes + found.X.indices.nbytes
    if size <= MAX_SAMPLE_BYTES:
        return found
    n = max(1, int(len(found.y) * MAX_SAMPLE_BYTES / size))
    task = LookTask(n, found.task.seed)
    return Look(found.counts, found.weights, found.X, found.y, found.weight, found.keys, task).cut()


def _identity(found: Look) -> dict[str, str]:
    """What must be the same for the same bits."""
    classes = {str(label): found.counts[label] for label in found.classes.tolist()}
    return {"rows": str(found.n_rows), "rows of the classes": str(classes), "sample": str(n_points(found.X))}
