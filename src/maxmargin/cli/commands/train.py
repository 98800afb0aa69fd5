"""``maxmargin train``: from a data file to a model file."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ...training import DEFAULT_MODEL, MODELS, parameters_from_text
from ..frame import (
    Interrupted,
    Reading,
    Show,
    TrainingProgress,
    UsageError,
    bar,
    check_out,
)
from ..frame import texts as summary

if TYPE_CHECKING:
    from ...io.readers import Source

PACKED = (".gz", ".bz2")
LIKELY_TARGETS = ("target", "class", "label", "y", "species", "outcome", "diagnosis")


@Parameter(name="*")
@dataclass(frozen=True)
class Recipe:
    """What is trained, and how."""

    model: Annotated[str, Parameter(help=f"One of {', '.join(MODELS)}.")] = DEFAULT_MODEL
    budget: Annotated[int | None, Parameter(help="Most support vectors of a sparse-kernel model.")] = None
    set: Annotated[
        list[str],
        Parameter(
            help="A parameter of the model, such as C=10; may be repeated.", show_default=False, negative=()
        ),
    ] = field(default_factory=list)
    validate: Annotated[float, Parameter(help="Share of the rows held out to judge the model; 0: none.")] = (
        0.2
    )
    seed: Annotated[int, Parameter(help="Of everything random.")] = 0

    def parameters(self) -> dict[str, Any]:
        """Of the estimator."""
        parameters = parameters_from_text(self.set)
        if self.budget is not None:
            if "budget" in parameters:
                raise UsageError("--budget and --set budget=... say the same thing; give one of them.")
            parameters["budget"] = self.budget
        return parameters


@Parameter(name="*")
@dataclass(frozen=True)
class Keeping:
    """What is kept: rows in memory, work in files."""

    memory: Annotated[
        int, Parameter(help="MiB that training may use; of a larger file a uniform sample of rows is learnt.")
    ] = 1024
    stream: Annotated[
        bool,
        Parameter(
            help="Learn from all rows, block by block, whatever the file's length; for sparse-kernel.",
            show_default=False,
            negative=(),
        ),
    ] = False
    block_rows: Annotated[int, Parameter(help="Rows that a stream learns from at once.")] = 1 << 16
    checkpoint: Annotated[
        Path | None,
        Parameter(help="Where unfinished work is kept; else beside the model file [OUT.checkpoint]."),
    ] = None
    checkpoint_every: Annotated[
        float, Parameter(help="Seconds between two checkpoints of a fit; a stream has one after each block.")
    ] = 30.0
    resume: Annotated[
        bool, Parameter(help="Go on where an interrupted training stopped.", show_default=False)
    ] = False

    def beside(self, out: Path) -> Path:
        """Beginning of the names of the files with unfinished work."""
        return self.checkpoint or out.with_name(out.name + ".checkpoint")


def train(
    data: Annotated[Path, Parameter(help="Rows with a target: CSV, TSV, LIBSVM, Parquet or npz.")],
    /,
    *,
    out: Annotated[Path | None, Parameter(help="The model file; else DATA's name with .mm.")] = None,
    recipe: Recipe = Recipe(),
    keeping: Keeping = Keeping(),
    reading: Reading = Reading(),  # noqa: B008
    show: Show = Show(),  # noqa: B008
) -> None:
    """Train a model on a file and write it to a model file.

    Words become indicators, missing numbers are filled in, numbers are standardised; the model file holds all
    of that. An existing model file is replaced when the new one is whole. Ctrl-C keeps the work so far and
    says how to go on with it; what a kill leaves, --resume goes on with as well.
    """
    from ... import io

    source = reading.open(data)
    if source.target is None:
        raise UsageError(_without_target(source))
    out = out or model_file(data)
    check_out(out, data)
    replaced = out.exists()
    trained = _trained(source, recipe, keeping, keeping.beside(out), show)
    record = trained.record | {"command": show.invocation.again()}
    io.save(trained.model, out, record=record)
    trained.remove_checkpoints()
    document, parts = summary.of_training(record, out, data, replaced)
    show.answer(document, *parts)


def _trained(source: Source, recipe: Recipe, keeping: Keeping, checkpoint: Path, show: Show) -> Any:
    from ...training import train

    parameters = recipe.parameters()
    _look_for_unfinished(checkpoint, keeping, show)
    try:
        with bar(show) as line:
            line.start("reading")
            return train(
                source,
                model=recipe.model,
                parameters=parameters,
                validate=recipe.validate,
                seed=recipe.seed,
                memory_mb=keeping.memory,
                stream=keeping.stream,
                block_rows=keeping.block_rows,
                checkpoint=checkpoint,
                checkpoint_seconds=keeping.checkpoint_every,
                resume=keeping.resume,
                callback=TrainingProgress(line),
            )
    except KeyboardInterrupt:
        if not (left := _unfinished(checkpoint)):
            raise
        raise Interrupted(
            f"interrupted; the work so far is in {left[-1]}. Resume with:\n"
            f"  {show.invocation.again('--resume')}"
        ) from None


def _look_for_unfinished(checkpoint: Path, keeping: Keeping, show: Show) -> None:
    """Say what will be gone on with and what not; remove work that nobody wants."""
    left = _unfinished(checkpoint)
    if keeping.resume and not any((file.suffix == ".stream") == keeping.stream for file in left):
        what = "stream" if keeping.stream else "work"
        show.remark(f"there is no unfinished {what} in {checkpoint}.*; starting from the beginning")
    if left and not keeping.resume:
        show.remark(f"starting anew; --resume would have gone on with {left[-1]}")
        for file in left:
            file.unlink()


def _unfinished(checkpoint: Path) -> list[Path]:
    """Files of fits that did not come to an end, the last one last."""
    found = checkpoint.parent.glob(f"{escape(checkpoint.name)}.*")
    return sorted(found, key=lambda file: file.stat().st_mtime_ns)


def model_file(data: Path) -> Path:
    """``folder/data.csv.gz`` gives ``data.mm`` in the present folder."""
    name = data.name
    for ending in PACKED:
        name = name.removesuffix(ending)
    return Path(Path(name).stem + ".mm")


def _without_target(source: Source) -> str:
    """Which columns there are, and one to try."""
    names = list(getattr(source, "names", ()))
    if not names:
        return f"{source.name}: say what is to be predicted: --target."
    likely = [name for name in names if name.lower() in LIKELY_TARGETS]
    guess = shlex.quote((likely or names)[-1])
    shown = ", ".join(names if len(names) <= 40 else [*names[:20], "...", *names[-20:]])
    return f"{source.name}: say which column is to be predicted, such as --target {guess}; there are: {shown}"
