"""``fit_blocks``: centres and alpha from a sample of the rows, coefficients from all of them."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ..._native import effective_n_threads
from ...base import SUCCESS, fit_callback, fit_deadline, forget
from ...checkpoints import FitRecord, fit_record, parameter_identity
from ...data import check_number
from ...kernels import Precomputed, n_points
from ...losses import loss_from_name
from ...solving import Check, Deadline, SolverResult, Status, summary_of, until_cut
from .features import KernelFeatures
from .newton import solve_blocks
from .passes import Passes, ThreadPasses
from .rows import source_of
from .sample import Look, LookTask, look
from .sums import BlockProblem

__all__ = ["fit_blocks", "fit_in_passes", "fits_blocks"]

MIN_SAMPLE_ROWS = 50_000
SAMPLE_ROWS_PER_CENTRE = 32
MAX_SAMPLE_BYTES = 128 << 20
LOSSES = ("squared-hinge", "log")
MAX_ALPHA_STEPS = 8
ALPHA_FACTOR = 10.0**0.5  # by which an alpha that is not given grows until its fit can be certified


Model = TypeVar("Model")


def fit_blocks(self: Model, source: Any, *, sample_rows: int | None = None) -> Model:
    """Fit to all rows of a source, which are only ever seen as blocks.

    Support vectors, gamma, alpha and the calibration of probabilities come from a sample of the rows, to
    which ``fit`` is applied. Then the coefficients are fitted to all rows by Newton's method, in a few
    passes over the blocks, and ``objective_`` and ``dual_gap_`` certify them over all rows.

    Parameters
    ----------
    source : sequence or callable
        Blocks (X, y) or (X, y, sample_weight), or a function without arguments that returns an iterator
        over them; they are read several times. Rows of all blocks have the same features, dtype and
        layout. Blocks may be empty, of one class, or in any order.
    sample_rows : int, optional
        Rows in the sample; by default 50,000, or 32 for each support vector if that is more, but no more
        than 128 MiB. Memory is needed for the sample, and for a few blocks with their features.

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
    with np.errstate(under="ignore"), fit_deadline(model) as deadline, fit_record(model) as record:
        passes = ThreadPasses(blocks, n_threads, deadline)
        fit_in_passes(model, passes, deadline, record, sample_rows)
    return self


def fit_in_passes(
    model: Any, passes: Passes, deadline: Deadline, record: FitRecord, sample_rows: int | None = None
) -> None:
    """Centres and alpha from a sample, coefficients from all rows, by anything that can run a pass."""
    check_solvable(model)
    if sample_rows is not None:
        check_number("sample_rows", sample_rows, at_least=2, integer=True)
    model._draw_seed(record)
    wanted = sample_rows or max(MIN_SAMPLE_ROWS, SAMPLE_ROWS_PER_CENTRE * model.budget)
    found = passes.run(look, LookTask(int(wanted), model._seed))
    if sample_rows is None:
        found = smaller(found)
    if record.part is not None:
        record.bind(parameter_identity(model) | _identity(found))
    model._fit(found.X, found.y, found.sample_weight(), record=record.below("sample"), deadline=deadline)
    before = Status(model.status_)
    forget(model, "status_")  # the sample's model is not the result
    with fit_callback(model, found.X, found.y) as callback:
        stop = record.below("passes").limits(model._stop(deadline))
        for attempt in range(MAX_ALPHA_STEPS):
            problem, V = block_problem(model, found, ALPHA_FACTOR**attempt)
            single = found.X.dtype == np.float32
            result = _sample_solution(V)
            with until_cut(deadline):
                result = solve_blocks(passes, problem, V, single=single, stop=stop, callback=callback)
            if result.status is not Status.STALLED or model.alpha != "auto":
                break
    _store(model, problem, result, before)
    model.n_rows_, model.n_passes_ = found.n_rows, passes.n_passes


def _sample_solution(V: np.ndarray) -> SolverResult:
    """What there is if the time is up before the first pass: nothing is known of it over all rows."""
    return SolverResult(V, 0.0, Status.TIME_LIMIT, (Check(0, np.inf, -np.inf, 0.0),))


def _store(model: Any, problem: BlockProblem, result: SolverResult, before: Status) -> None:
    """Replace the sample's coefficients and certificate, and its status, by those of all rows."""
    features: Any = problem.features
    model._keep(model.support_vectors_, features.coefficients(result.coef), None)
    model.alpha_, model._training = problem.alpha, model._training.without_rows()
    model._certify(summary_of([result]))
    if result.status is Status.CONVERGED and before in (*SUCCESS, Status.TIME_LIMIT):
        model.status_ = str(before)


def fits_blocks(model: Any) -> bool:
    """Whether the model has ``fit_blocks`` and parameters that it accepts."""
    if not hasattr(model, "fit_blocks"):
        return False
    try:
        check_solvable(model)
    except ValueError:
        return False
    return True


def check_solvable(model: Any) -> None:
    """Raise if Newton's method over blocks cannot solve what these parameters ask for."""
    loss = loss_from_name(model.loss).name
    if loss not in LOSSES:
        raise ValueError(
            f"fit_blocks needs a loss with a curvature, one of {list(LOSSES)}; got {loss!r}. Use "
            "loss='squared-hinge', or fit on a sample of the rows."
        )
    if model.refit != "newton":
        raise ValueError(
            f"fit_blocks needs refit='newton'; got {model.refit!r}. For streams, use partial_fit."
        )
    if isinstance(model._kernel_parameter(), Precomputed):
        raise ValueError(
            "fit_blocks cannot work with kernel='precomputed'; use a kernel that computes values."
        )


def smaller(found: Look) -> Look:
    """A sample that takes at most 128 MiB."""
    size = found.X.nbytes if isinstance(found.X, np.ndarray) else found.X.data.nbytes + found.X.indices.nbytes
    if size <= MAX_SAMPLE_BYTES:
        return found
    n = max(1, int(len(found.y) * MAX_SAMPLE_BYTES / size))
    task = LookTask(n, found.task.seed)
    return Look(found.counts, found.weights, found.X, found.y, found.weight, found.keys, task).cut()


def block_problem(model: Any, found: Look, factor: float = 1.0) -> tuple[BlockProblem, np.ndarray]:
    """The problem over all rows for the sample's centres, and the sample's solution in its coordinates."""
    features = KernelFeatures.of(model.kernel_, model.support_vectors_)
    totals, factors = found.class_totals(model.class_weight)
    alpha = float(model.alpha_) * factor
    if model.alpha == "auto":
        alpha *= len(found.y) / found.n_rows
    problem = BlockProblem(
        features,
        model.code_,
        model.classes_,
        factors,
        np.abs(model.code_.matrix.T.astype(np.float64)) @ (totals * factors),
        loss_from_name(model.loss),  # type: ignore[arg-type]
        alpha,
    )
    return problem, features.own(model.dual_coef_.T)


def _identity(found: Look) -> dict[str, str]:
    """What must be the same for the same bits."""
    classes = {str(label): found.counts[label] for label in found.classes.tolist()}
    return {"rows": str(found.n_rows), "rows of the classes": str(classes), "sample": str(n_points(found.X))}
