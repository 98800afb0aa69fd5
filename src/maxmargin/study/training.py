"""From a source to a model and the record of how it was made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.pipeline import Pipeline

from ..checks import check_flag, check_number
from ..io.model_files import fingerprint
from ..io.table import Source
from .gathering import Gathering
from .held_out import HeldOut
from .models import DEFAULT_MODEL, model_kind
from .preparation import TablePreparation
from .progress import Progress, Reporter
from .record import choice_record, data_record, digest_of, fit_record, plain, versions
from .trained_rows import Outcome, Request, Training
from .written_numbers import warn_of_written_numbers

KEPT_SHARE = 0.4  # of the memory, for rows as they are read and as they are prepared


@dataclass
class Trained:
    """What :func:`train` gives.

    Attributes
    ----------
    model : Pipeline
        ``"table"``, a fitted :class:`TablePreparation`, and ``"model"``, the fitted estimator. It predicts
        from blocks of a file, data frames and matrices.
    record : dict
        How the model was made, fit for JSON.
    checkpoints : list of Checkpoint
        Files to go on from if the model should get lost.
    """

    model: Pipeline
    record: dict[str, Any]
    checkpoints: list[Any] = field(default_factory=list)

    def remove_checkpoints(self) -> None:
        """Remove the files; for whoever has saved the model."""
        for checkpoint in self.checkpoints:
            checkpoint.remove()


def train(
    source: Source,
    *,
    model: str = DEFAULT_MODEL,
    parameters: Mapping[str, Any] | None = None,
    validate: float = 0.2,
    refit: bool = True,
    seed: int = 0,
    memory_mb: float = 1024,
    checkpoint: Any = None,
    resume: bool = False,
    callback: Callable[[Progress], object] | None = None,
) -> Trained:
    """Learn a classifier from a data file.

    A share of each class is held out. A model learnt from the other rows is judged on them, which gives the
    validation in the record; then, if ``refit``, the model that is returned is learnt from all rows in the
    same way.

    Parameters
    ----------
    source : Source
        What ``maxmargin.io.open_source`` gives.
    model : str, default="sparse-kernel"
        One of ``maxmargin.study.models.MODELS``.
    parameters : mapping, optional
        Of the model.
    validate : float, default=0.2
        Share of the rows that is held out; 0 for none, and no validation.
    refit : bool, default=True
        Whether the model returned is learnt from all rows, or is the one that was judged.
    seed : int, default=0
        Decides which rows are held out, and the model's own draws.
    memory_mb : float, default=1024
        MiB that training may take, nearly.
    checkpoint : path, optional
        Beginning of the names of files that the fits keep how far they have come in.
    resume : bool, default=False
        Go on from these files where there are any; the result has the same bits.
    callback : callable, optional
        Called with a :class:`Progress` as the work goes on.

    Returns
    -------
    Trained
    """
    check_number("memory_mb", memory_mb, at_least=64)
    check_number("seed", seed, at_least=0, integer=True)
    check_flag("refit", refit)
    kind = model_kind(model)
    kind.make(parameters, seed)  # refuses bad parameters before the file is read
    held_out, preparation, reporter = HeldOut(validate, seed), TablePreparation(), Reporter(callback)
    with reporter.clock("total"), digest_of(source.name) as digest:
        limit = KEPT_SHARE * memory_mb * 2**20
        found = Gathering(held_out, preparation, limit, seed, reporter).read(source)
        warn_of_written_numbers(preparation, getattr(source, "declared", ()))
        data = data_record(source, found, preparation)
        request = Request(kind, dict(parameters or {}), seed, memory_mb, refit, checkpoint, resume)
        outcome = Training(request, reporter).run(found, preparation)
        data |= digest()
    made = Pipeline([("table", preparation), ("model", outcome.estimator)])
    record = _record(request, validate, data, outcome, reporter) | {"fingerprint": fingerprint(made)}
    return Trained(made, record, outcome.checkpoints)


def _record(
    request: Request, validate: float, data: dict[str, Any], outcome: Outcome, reporter: Reporter
) -> dict[str, Any]:
    estimator = outcome.estimator
    inner = getattr(estimator, "estimator_", estimator)
    return {
        "command": None,
        "data": data,
        "model": request.kind.name,
        "given_parameters": plain(request.parameters),
        "parameters": plain(estimator.get_params(deep=True)),
        "seed": request.seed,
        "validate": validate,
        "memory_mb": request.memory_mb,
        "choice": choice_record(estimator),
        "fitted_on": outcome.fitted_on,
        "validation": outcome.validation,
        "fit": fit_record(estimator, outcome.rows),
        "gap": plain(getattr(inner, "dual_gap_", None)),
        "status": getattr(inner, "status_", None),
        "seconds": plain(reporter.seconds),
        "versions": versions(),
    }
