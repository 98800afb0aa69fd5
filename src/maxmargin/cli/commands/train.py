"""``maxmargin train``: from a data file to a model file."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ...training import DEFAULT_MODEL, MODELS, OTHER_MODELS, TASK_NAMES, parameters_from_text
from ..frame import (
    ClusterOptions,
    Interrupted,
    Reading,
    Show,
    UsageError,
    bar,
    check_out,
    listed,
    worded,
)
from ..frame import texts as summary

if TYPE_CHECKING:
    from ...io.readers import Source

PACKED = (".gz", ".bz2")
OTHER_NAMES = {kind.task: kind.name for kind in OTHER_MODELS.values()}
LIKELY_TARGETS = ("target", "class", "label", "y", "species", "outcome", "diagnosis")


@Parameter(name="*")
@dataclass(frozen=True)
class ModelOptions:
    """What is trained, and how."""

    task: Annotated[
        str | None,
        Parameter(
            help=f"{', '.join(TASK_NAMES)} [that of the model; regression where a numeric target has too "
            "many values to be classes]. Novelty needs no target."
        ),
    ] = None
    model: Annotated[
        str,
        Parameter(
            help=f"One of {', '.join(MODELS)}; for regression {OTHER_NAMES['regression']}, for novelty "
            f"{OTHER_NAMES['novelty']}."
        ),
    ] = DEFAULT_MODEL
    budget: Annotated[
        int | None, Parameter(help="Maximum number of support vectors, for auto and sparse-kernel.")
    ] = None
    max_seconds: Annotated[
        float | None, Parameter(help="Time limit of a fit; auto chooses what it compares by it.")
    ] = None
    set: Annotated[
        list[str],
        Parameter(
            help="A parameter of the model, such as C=10; may be repeated.", show_default=False, negative=()
        ),
    ] = field(default_factory=list)
    column_group: Annotated[
        list[str],
        Parameter(
            help="Columns that belong together, such as age,height, for auto: a sum of kernels, one a "
            "group, is tried. May be repeated; columns of no group form one more. A name with a comma is "
            "in quotes, as in a CSV line.",
            show_default=False,
            negative=(),
        ),
    ] = field(default_factory=list)
    validate: Annotated[float, Parameter(help="Share of the rows held out for validation; 0: none.")] = 0.2
    no_refit: Annotated[
        bool, Parameter(help="Keep the model that was validated, instead of fitting again to all rows.")
    ] = False
    seed: Annotated[int, Parameter(help="Random seed.")] = 0
    group: Annotated[
        str | None, Parameter(help="Hold out whole groups: rows with the same value in this column.")
    ] = None
    time: Annotated[
        str | None, Parameter(help="Hold out the latest rows by this column of numbers or dates.")
    ] = None
    text: Annotated[
        str | None,
        Parameter(help="Columns of free text, such as notes; without it, long and mostly different values."),
    ] = None
    cost: Annotated[
        list[str] | None,
        Parameter(
            help="The cost of errors: false-positive=1 false-negative=5, or a CSV file with a matrix. The "
            "threshold that costs least on the held-out rows is stored, and predict applies it.",
            consume_multiple=True,
            negative=(),
        ),
    ] = None

    @property
    def needs_no_target(self) -> bool:
        """Whether a training without a target is asked for."""
        return self.task == "novelty" or self.model == OTHER_NAMES["novelty"]

    def parameters(self) -> dict[str, Any]:
        """Of the estimator."""
        parameters = parameters_from_text(self.set)
        for name in ("budget", "max_seconds"):
            value = getattr(self, name)
            if value is None:
                continue
            if name in parameters:
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} and --set {name}=... set the same parameter; give one of them.")
            parameters[name] = value
        if self.column_group:
            if "column_groups" in parameters:
                raise UsageError(
                    "--column-group and --set column_groups=... set the same parameter; give one of them."
                )
            parameters["column_groups"] = [
                listed(names, "--column-group", quoted=True) for names in self.column_group
            ]
        return parameters


@Parameter(name="*")
@dataclass(frozen=True)
class ResourceOptions:
    """Memory, streaming and checkpoints."""

    memory: Annotated[
        int | None,
        Parameter(
            help="MiB that training may use [a quarter of the machine's]; a larger file is read in passes."
        ),
    ] = None
    sample: Annotated[
        bool,
        Parameter(
            help="Of a file larger than memory, train on a uniform sample of the rows, not on all of them.",
            show_default=False,
            negative=(),
        ),
    ] = False
    stream: Annotated[
        bool,
        Parameter(
            help="Train on all rows, block by block, in constant memory; for sparse-kernel.",
            show_default=False,
            negative=(),
        ),
    ] = False
    block_rows: Annotated[int, Parameter(help="Rows per block of a stream.")] = 1 << 16
    checkpoint: Annotated[
        Path | None,
        Parameter(help="File prefix for checkpoints [OUT.checkpoint]."),
    ] = None
    checkpoint_every: Annotated[
        float, Parameter(help="Seconds between checkpoints of a fit; a stream writes one after each block.")
    ] = 30.0
    resume: Annotated[bool, Parameter(help="Resume an interrupted training.", show_default=False)] = False

    def beside(self, out: Path) -> Path:
        """Prefix of the checkpoint files."""
        return self.checkpoint or out.with_name(out.name + ".checkpoint")


def train(
    data: Annotated[
        Path,
        Parameter(
            help="Rows with a target: CSV, TSV, LIBSVM, Parquet or npz; a pattern such as 'rows/*.csv'."
        ),
    ],
    /,
    *more: Annotated[Path, Parameter(help="More files with the same columns.")],
    out: Annotated[Path | None, Parameter(help="The model file [DATA with the suffix .mm].")] = None,
    options: ModelOptions = ModelOptions(),
    resources: ResourceOptions = ResourceOptions(),
    cluster: ClusterOptions = ClusterOptions(),  # noqa: B008
    reading: Reading = Reading(),  # noqa: B008
    show: Show = Show(),  # noqa: B008
) -> None:
    """Train a model on a file and write it to a model file.

    Categorical columns are one-hot encoded, missing numbers imputed and numbers standardised; the model file
    includes this preparation. An existing model file is replaced once the new one is complete. Ctrl-C saves
    the work so far and prints how to resume it; --resume also works after a crash.
    """
    from ... import io

    source = reading.open([data, *more] if more else data)
    if source.target is None and not options.needs_no_target:
        raise UsageError(_without_target(source))
    if reading.header is None and reading.names is None and _looks_like_data(source):
        show.invocation.warn(
            f"the first line of {source.name} looks like data, not like names of columns; if so, add "
            "--no-header or --names."
        )
    files = [Path(part.name) for part in getattr(source, "parts", [source])]
    out = out or model_file(files[0])
    check_out(out, *files)
    replaced = out.exists()
    with cluster.client() as client:
        trained = _trained(source, options, resources, resources.beside(out), show, client, cluster.persist)
    record = trained.record | {"command": show.invocation.again()}
    try:
        io.save(trained.model, out, record=record)
    except OSError as error:
        raise _unsaved(error, _unfinished(resources.beside(out)), show) from error
    trained.remove_checkpoints()
    document, parts = summary.of_training(record, out, data, replaced)
    show.answer(document, *parts)


def _trained(
    source: Source,
    options: ModelOptions,
    resources: ResourceOptions,
    checkpoint: Path,
    show: Show,
    client: Any = None,
    persist: bool = False,
) -> Any:
    from ...training import TrainingProgress, cost_from_text, train

    parameters = options.parameters()
    _look_for_unfinished(checkpoint, resources, show)
    try:
        with bar(show) as line:
            line.start("reading")
            return train(
                source,
                task=options.task,
                model=options.model,
                parameters=parameters,
                validate=options.validate,
                refit=not options.no_refit,
                seed=options.seed,
                memory_mb=resources.memory,
                sample=resources.sample,
                stream=resources.stream,
                block_rows=resources.block_rows,
                checkpoint=checkpoint,
                checkpoint_seconds=resources.checkpoint_every,
                resume=resources.resume,
                cost=cost_from_text(options.cost) if options.cost else None,
                group=options.group,
                time=options.time,
                text=listed(options.text or "", "--text"),
                client=client,
                persist=persist,
                callback=TrainingProgress(line, validate=0.0 if options.no_refit else options.validate),
            )
    except KeyboardInterrupt:
        if not (left := _unfinished(checkpoint)):
            raise
        raise Interrupted(
            f"interrupted; the work so far is in {left[-1]}. Resume with:\n"
            f"  {show.invocation.again('--resume')}"
        ) from None


def _unsaved(error: OSError, left: list[Path], show: Show) -> OSError:
    """The error of a model that could not be saved, with the way to its checkpoint."""
    if not left:
        return error
    return OSError(
        f"{worded(error)}. The fit is kept in {left[-1]}; once the model can be written, save it with:\n"
        f"  {show.invocation.again('--resume')}"
    )


def _look_for_unfinished(checkpoint: Path, resources: ResourceOptions, show: Show) -> None:
    """Report what will be resumed and what will not; remove checkpoints that are not wanted."""
    left = _unfinished(checkpoint)
    if resources.resume and not any((file.suffix == ".stream") == resources.stream for file in left):
        what = "stream" if resources.stream else "work"
        show.remark(f"no unfinished {what} found in {checkpoint}.*; starting from the beginning")
    if left and not resources.resume:
        show.remark(f"starting over; --resume would have resumed {left[-1]}")
        for file in left:
            file.unlink()


def _unfinished(checkpoint: Path) -> list[Path]:
    """Checkpoints of unfinished fits, the newest last."""
    found = checkpoint.parent.glob(f"{escape(checkpoint.name)}.*")
    return sorted(found, key=lambda file: file.stat().st_mtime_ns)


def model_file(data: Path) -> Path:
    """``folder/data.csv.gz`` gives ``data.mm`` in the present folder."""
    name = data.name
    for ending in PACKED:
        name = name.removesuffix(ending)
    return Path(Path(name).stem + ".mm")


def _looks_like_data(source: Any) -> bool:
    """Whether most names of a text file's columns are numbers, and not just 0, 1, 2, ..."""
    first = getattr(source, "parts", [source])[0]
    names = [name for name in getattr(source, "names", ()) if hasattr(first, "fixed")]
    numbers = [name for name in names if _is_number(name)]
    counted = [str(j) for j in range(len(numbers))]
    return len(names) > 1 and 2 * len(numbers) > len(names) and numbers != counted


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _without_target(source: Source) -> str:
    """A message with the columns of the file and one to try."""
    names = list(getattr(source, "names", ()))
    if not names:
        return f"{source.name}: name the column to predict (--target)."
    likely = [name for name in names if name.lower() in LIKELY_TARGETS]
    guess = shlex.quote((likely or names)[-1])
    shown = ", ".join(names if len(names) <= 40 else [*names[:20], "...", *names[-20:]])
    return f"{source.name}: name the column to predict, such as --target {guess}; the columns are: {shown}"
