"""``train``: from a source to a model and the record of its training."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from sklearn.pipeline import Pipeline

from ..data import available_bytes, check_flag, check_number, machine_bytes
from ..io.models import fingerprint
from ..io.readers import BLOCK_ROWS, Source
from ..methods.blocks import fits_blocks
from ..table import FrameSource, TablePreparation, is_table
from .all_rows import AllRowsTraining
from .gather import Gathering, TooManyClasses
from .in_memory import Outcome, Request
from .models import AUTO_MODEL, DEFAULT_MODEL, MODEL_WITHOUT_ROWS_IN_MEMORY, kind_name, model_kind
from .progress import Progress, Reporter
from .record import choice_record, data_record, digest_of, fit_record, groups_record, plain, versions
from .split import split_of
from .stream import Digest, StreamTraining
from .tasks import TASKS, Task, first_task, looks_numeric
from .validation import check_decidable

MIN_MEMORY_MB = 64
MACHINE_SHARE = 0.25  # of the machine's memory, by default: a resumed training has to have the same
AVAILABLE_SHARE = 0.5  # of what is available, where that is less
DEFAULT_CACHE_MEMORY_MB = 1024  # whatever the machine has: the cache is a parameter of the model in its file
ROWS_MEMORY_SHARE = 0.4  # of memory_mb, for rows as read and as prepared


@dataclass
class Trained:
    """A trained model, with the record of its training.

    Attributes
    ----------
    model : Pipeline
        ``"table"``, a fitted :class:`TablePreparation`, and ``"model"``, the fitted estimator. It predicts
        from blocks of a file, data frames and matrices.
    record : dict
        How the model was trained, as JSON values.
    checkpoints : list of Checkpoint
        Files to resume from if the model should get lost.
    """

    model: Pipeline
    record: dict[str, Any]
    checkpoints: list[Any] = field(default_factory=list)

    def remove_checkpoints(self) -> None:
        """Remove the checkpoint files, once the model is saved."""
        for checkpoint in self.checkpoints:
            checkpoint.remove()


def train(
    source: Any,
    *,
    target: str | None = None,
    task: str | None = None,
    model: str = DEFAULT_MODEL,
    parameters: Mapping[str, Any] | None = None,
    validate: float = 0.2,
    refit: bool = True,
    seed: int = 0,
    memory_mb: float | None = None,
    sample: bool = False,
    stream: bool = False,
    block_rows: int = BLOCK_ROWS,
    checkpoint: Any = None,
    checkpoint_seconds: float = 30.0,
    resume: bool = False,
    cost: Mapping[str, Any] | None = None,
    group: str | None = None,
    time: str | None = None,
    text: Sequence[str] = (),
    client: Any = None,
    persist: bool = False,
    callback: Callable[[Progress], object] | None = None,
) -> Trained:
    r"""Train a model on a data file.

    A share of each class is held out. A model trained on the other rows is evaluated on them, which gives the
    validation in the record; then, if ``refit``, the model that is returned is trained on all rows in the
    same way. If the rows do not fit in memory, a model that has ``fit_blocks`` is fitted to all of them in
    passes over the file; others, and all with ``sample``, are fitted to a uniform sample of the rows.

    Targets are classes, numbers, or not needed: see ``task``. The intervals of a model of numbers are made of
    residuals of rows that a fit did not use: with ``refit`` of five folds, the held-out rows being one of
    them, else of the held-out rows alone.

    With ``stream`` no rows are kept: a first pass over the file computes the statistics of its columns, then
    the model is trained on one block after the other by ``partial_fit``, then it is evaluated on the held-out
    rows.

    Parameters
    ----------
    source : Source or data frame
        What ``maxmargin.io.open_source`` gives, or a frame of pandas or polars.
    target : str, optional
        The column to predict, for a data frame.
    task : {"classification", "regression", "novelty"}, optional
        By default that of the model. With the model "auto" it is classification, or regression where the
        target has too many different numbers to be classes.
    model : str, default="auto"
        One of ``maxmargin.training.models.MODELS``. Of a file that does not fit in memory, and on a cluster,
        "auto" chooses on a sample and fits what it has chosen to all rows. A stream takes "sparse-kernel" in
        its place. For regression it is "kernel-regression", and for novelty "one-class".
    parameters : mapping, optional
        Of the model.
    validate : float, default=0.2
        Share of the rows that is held out; 0 for no validation.
    refit : bool, default=True
        Whether the model returned is trained on all rows, or is the one that was validated, as a model of
        numbers is in any case if it has so many rows that there is no time for six fits.
    seed : int, default=0
        Decides which rows are held out, and the model's own draws.
    memory_mb : float, optional
        Approximate memory limit of the training, in MiB; by default a quarter of the machine's memory,
        or less where less is available.
    sample : bool, default=False
        Train on a uniform sample of the rows if they do not all fit in memory, for any model.
    stream : bool, default=False
        Train on all rows, block by block, in constant memory; for models that have ``partial_fit``. There is
        no refit: the validated model is returned.
    block_rows : int, default=65536
        Maximum number of rows per block of a stream or a pass; fewer where rows are large.
    checkpoint : path, optional
        Prefix of the names of the checkpoint files of the fits.
    checkpoint_seconds : float, default=30.0
        Minimum time between two checkpoints. A stream writes one after every block.
    resume : bool, default=False
        Resume from these files if they exist; the result is bit-identical.
    cost : mapping, optional
        Of errors, as :meth:`maxmargin.metrics.Costs.of` takes it: the decision that costs least on the
        held-out rows is stored in ``record["decision"]``, with what it gains.
    group : str, optional
        A column that is not a feature: rows with the same value are held out together.
    time : str, optional
        A column of numbers or dates that is not a feature: the latest rows are held out.
    text : sequence of str
        Columns to read as free text, whatever they contain. Without it, columns of several words that are
        mostly different are.
    client : distributed.Client, optional
        Fit to all rows in passes on its workers, each of which reads whole files; with the blocks of one
        machine, and the same bits. For models that have ``fit_blocks``.
    persist : bool, default=False
        Whether the workers keep the prepared rows in memory, instead of reading the files in every pass.
    callback : callable, optional
        Called with a :class:`Progress` during training.

    Returns
    -------
    Trained

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = [f"{k},{'red' if k % 2 else 'blue'},{k % 2}" for k in range(40)]
    >>> size = Path("kinds.csv").write_text("\n".join(["width,colour,kind", *rows]))
    >>> from maxmargin.io import open_source
    >>> source = open_source("kinds.csv", target="kind")
    >>> from maxmargin.training import train
    >>> train(source, model="linear").record["model"]
    'linear'
    """
    if memory_mb is not None:
        check_number("memory_mb", memory_mb, at_least=MIN_MEMORY_MB)
    check_number("checkpoint_seconds", checkpoint_seconds, at_least=0.0)
    check_number("block_rows", block_rows, at_least=1, integer=True)
    check_number("seed", seed, at_least=0, integer=True)
    for name, flag in (("refit", refit), ("sample", sample), ("stream", stream), ("resume", resume)):
        check_flag(name, flag)
    chosen = first_task(task, model)
    request = Request(
        model_kind(MODEL_WITHOUT_ROWS_IN_MEMORY if stream and model == AUTO_MODEL else model),
        dict(parameters or {}),
        seed,
        default_memory_mb() if memory_mb is None else memory_mb,
        validate,
        refit,
        checkpoint,
        checkpoint_seconds,
        resume,
        block_rows,
        sample,
        cost,
        text=tuple(text),
        cache_memory_mb=DEFAULT_CACHE_MEMORY_MB if memory_mb is None else memory_mb,
    )
    _check_for_classes(chosen, stream=stream, cluster=client is not None, cost=cost is not None)
    if model == AUTO_MODEL and chosen.name != "classification":
        request = replace(request, kind=model_kind(chosen.model))
    request.held_out()  # refuse bad values before the file is read
    check_decidable(cost, request.estimator(), validate)
    source = _source(source, target, chosen)
    source, split = split_of(source, group, time, validate, seed)
    request = replace(request, split=split)
    way = _streamed if stream else _gathered
    if client is not None:
        way = _cluster_way(request, client, persist, stream or sample)
    why = "asked for" if task is not None else "the model is for it"
    open_to_numbers = task is None and model == AUTO_MODEL and way is _gathered and cost is None
    made = _made_or_numbers if open_to_numbers else _made
    return made(request, source, chosen, why, way, callback)


def _made_or_numbers(
    request: Request, source: Source, task: Task, why: str, way: Any, callback: Any
) -> Trained:
    """The model of classes, or of numbers where the target turns out to be one."""
    try:
        return _made(request, source, task, why, way, callback)
    except TooManyClasses as error:
        if not looks_numeric(error, source):
            raise
        why = f"the target has {len(error.labels):,} different numbers in {error.n_rows:,} rows"
    numbers = TASKS["regression"]
    return _made(replace(request, kind=model_kind(numbers.model)), source, numbers, why, way, callback)


def _check_for_classes(task: Task, **asked: bool) -> None:
    """Refuse what is only for classes."""
    names = {"stream": "a stream", "cluster": "training on a cluster", "cost": "costs of errors"}
    for name, given in asked.items():
        if given and task.name != "classification":
            raise ValueError(
                f"{names[name]}: only for classification, and the task is {task.name}. Leave it out."
            )


def _made(
    request: Request,
    source: Source,
    task: Task,
    why: str,
    way: Any,
    callback: Callable[[Progress], object] | None,
) -> Trained:
    """The model of a task, and the record of its training."""
    source, reporter = task.source(source), Reporter(callback)
    request.estimator()  # refuse bad parameters before the file is read
    with reporter.clock("total"), digest_of(source.name) as digest:
        data, preparation, outcome = way(request, reporter, source, digest)
        data = data | digest()
    made = Pipeline([("table", preparation), ("model", outcome.estimator)])
    record = _record(request, data, outcome, reporter) | {"fingerprint": fingerprint(made)}
    record["groups"] = groups_record(outcome.estimator, preparation)
    return Trained(made, record | outcome.record | task.as_record(why), outcome.checkpoints)


def default_memory_mb() -> float:
    """What a training may use if nothing is said, in MiB: a quarter of the machine's memory.

    Where half of what is available now is less, it is that, rounded down to a power of two: which rows are
    sampled depends on it, and should not change with everything else that runs.
    """
    share, left = MACHINE_SHARE * machine_bytes(), AVAILABLE_SHARE * available_bytes()
    if left < share:
        share = 2.0 ** math.floor(math.log2(max(left, 1.0)))
    return max(float(MIN_MEMORY_MB), share // 2**20)


def _source(source: Any, target: str | None, task: Task) -> Source:
    """The source itself, or that of a data frame with a target."""
    if isinstance(source, Source):
        if target is not None and target != source.target:
            raise ValueError(
                "the target of a source is named when it is opened: open_source(path, target=...)."
            )
        return source
    if not is_table(source):
        raise ValueError(f"train takes a source or a data frame; got {type(source).__name__}.")
    if target is None and task.reading.needs_target:
        raise ValueError("training on a data frame needs the column to predict: train(frame, target=...).")
    return FrameSource(source, target)


def _gathered(
    request: Request, reporter: Reporter, source: Source, digest: Digest
) -> tuple[dict[str, Any], TablePreparation, Outcome]:
    """Rows in memory: all of them, or a sample; or all rows in passes over the file, if they do not fit."""
    limit, preparation = ROWS_MEMORY_SHARE * request.memory_mb * 2**20, request.preparation(source)
    task = TASKS[request.kind.task]
    found = Gathering(request.held_out(), preparation, limit, request.seed, reporter, task.reading).read(
        source
    )
    request.check_costs(found)
    request.warn_of_columns(preparation, source)
    data, request = data_record(source, found, preparation), request.of_matrix(preparation)
    if found.share == 1.0 or request.sample or not fits_blocks(request.estimator()):
        return data, preparation, task.training(request, reporter).run(found, preparation)
    data |= {"n_rows_kept": found.n_rows, "share_kept": 1.0}
    return data, preparation, AllRowsTraining(request, reporter, source).run(found, preparation)


def _cluster_way(request: Request, client: Any, persist: bool, other_way: bool) -> Any:
    """The training on a client's workers; refused are models that cannot be fitted in passes."""
    if other_way or not fits_blocks(request.estimator()):
        raise ValueError(
            f"a cluster fits models in passes over all rows; {request.kind.name!r} with these parameters, a "
            "sample and a stream are not. Use auto, sparse-kernel, or linear with loss=squared-hinge or log."
        )

    def run(
        request: Request, reporter: Reporter, source: Source, digest: Digest
    ) -> tuple[dict[str, Any], TablePreparation, Outcome]:
        from .on_cluster import ClusterTraining

        preparation = request.preparation(source)
        found = Gathering(request.held_out(), preparation, None, request.seed, reporter).read(source)
        request.check_costs(found)
        request.warn_of_columns(preparation, source)
        data = data_record(source, found, preparation) | {"n_rows_kept": found.n_rows, "share_kept": 1.0}
        training = ClusterTraining(request.of_matrix(preparation), reporter, source, client, persist)
        return data, preparation, training.run(found, preparation)

    return run


def _streamed(
    request: Request, reporter: Reporter, source: Source, digest: Digest
) -> tuple[dict[str, Any], TablePreparation, Outcome]:
    """Block by block, without keeping rows."""
    point, outcome = StreamTraining(request, reporter).run(source, digest)
    return point.data, point.model["table"], outcome


def _record(request: Request, data: dict[str, Any], outcome: Outcome, reporter: Reporter) -> dict[str, Any]:
    estimator = outcome.estimator
    inner = getattr(estimator, "estimator_", estimator)
    return {
        "command": None,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": data,
        "model": kind_name(estimator),
        "given_parameters": plain(request.parameters),
        "parameters": plain(estimator.get_params(deep=True)),
        "seed": request.seed,
        "validate": request.validate,
        "memory_mb": request.memory_mb,
        "choice": choice_record(estimator),
        "chosen": getattr(estimator, "choice_", None),
        "candidates": plain(getattr(estimator, "candidates_", None)),
        "fitted_on": outcome.fitted_on,
        "validation": outcome.validation,
        "leaks": plain(outcome.leaks),
        "split": None if request.split is None else request.split.as_record(),
        "decision": (outcome.validation or {}).pop("decision", None),
        "fit": fit_record(estimator, outcome.rows),
        "gap": plain(getattr(inner, "dual_gap_", None)),
        "status": getattr(estimator, "status_", getattr(inner, "status_", None)),
        "seconds": plain(reporter.seconds),
        "versions": versions(),
    }
