"""``predict``, ``evaluate`` and ``report`` for models of numbers, and of what is usual."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..frame import Show, bar, facts, novelty_parts, number_parts, result_facts
from .csv_text import id_values, line

if TYPE_CHECKING:
    from ...evaluation import Predicted
    from ...io.readers import Source

USUAL, NOVEL = "inlier", "outlier"


def evaluate_without_classes(
    model: Any, source: Source, task: str, document: dict[str, Any], show: Show
) -> None:
    """Evaluate and answer; ``document`` begins the answer as JSON."""
    from ...evaluation import evaluate_novelty, evaluate_numbers

    found: Any
    with bar(show) as shown:

        def progress(n: int) -> None:
            shown.tell("evaluating", n, None, f"{n:,} rows")

        if task == "novelty":
            found = evaluate_novelty(model, source, progress=progress)
        else:
            found = evaluate_numbers(model, source, progress=progress)
    for note in found.notes:
        show.remark(note)
    parts = novelty_parts(found) if task == "novelty" else number_parts(found)
    show.answer({**document, "task": task, **found.as_dict()}, *parts)


def write_number_page(
    model: Any, record: Any, source: Source, out: Path, document: dict[str, Any], show: Show
) -> None:
    """Evaluate, write the page and answer; ``document`` begins the answer as JSON."""
    from ...archive import whole_file
    from ...report import build_numbers, page

    with bar(show) as shown:
        shown.start("evaluating the model")
        found = build_numbers(
            model,
            record,
            source,
            command=show.invocation.again(),
            progress=lambda n: shown.tell("evaluating the model", n, None, f"{n:,} rows"),
        )
        text = page(found)
    with whole_file(out) as file:
        file.write(text.encode("utf-8"))
    pairs = {"rows": f"{found.evaluation.n_rows:,}", **result_facts(found.evaluation), "written": out}
    show.answer(
        {**document, "out": out, "task": found.task, **found.evaluation.as_dict()},
        facts("Report", pairs),
        "next: open it in a browser",
    )


class LinesOfValues:
    """Lines of predictions: columns that name the rows, then values.

    Parameters
    ----------
    ids : sequence of str
        Columns that name the rows; they come first.
    own : sequence of str
        The columns of the values.
    field : callable
        How text is written.
    """

    def __init__(self, ids: Sequence[str], own: Sequence[str], field: Callable[[object], str]) -> None:
        self.columns, self._field = [*ids, *own], field

    def head(self) -> bytes:
        """The line with the names."""
        return line(map(self._field, self.columns))

    def body(self, block: Predicted) -> bytes:
        """The lines of a block."""
        return b"".join(
            line("" if value is None else self._written(value) for value in row) for row in self.rows(block)
        )

    def rows(self, block: Predicted) -> Iterator[list[Any]]:
        """A block as lists, a line each, in the order of the columns."""
        ids = list(zip(*map(id_values, block.carried.values()))) or [()] * len(block.labels)
        for names, values in zip(ids, self.values(block)):
            yield [*names, *values]

    def _written(self, value: Any) -> str:
        return repr(value) if isinstance(value, float) else self._field(value)

    @abstractmethod
    def values(self, block: Predicted) -> list[list[Any]]:
        """Those of each line."""


class NumberText(LinesOfValues):
    """Lines of predicted numbers, or quantiles, with the ends of an interval if there are any."""

    def values(self, block: Predicted) -> list[list[Any]]:
        """Those of each line."""
        import numpy as np

        parts = [block.labels.reshape(len(block.labels), -1)]
        if block.intervals is not None:
            parts.append(block.intervals)
        found: list[list[Any]] = np.concatenate(parts, axis=1).tolist()
        return found


class NoveltyText(LinesOfValues):
    """Lines of labels and scores, which are negative for outliers."""

    def values(self, block: Predicted) -> list[list[Any]]:
        """Those of each line."""
        assert block.scores is not None
        words = [USUAL if label == 1 else NOVEL for label in block.labels.tolist()]
        return [list(pair) for pair in zip(words, block.scores.tolist())]


def text_without_classes(
    model: Any, task: str, ids: Sequence[str], field: Callable[[object], str], interval: float | None
) -> LinesOfValues:
    """What writes the predictions of a model."""
    if task == "novelty":
        return NoveltyText(ids, ["prediction", "score"], field)
    last = model[-1] if hasattr(model, "named_steps") else model
    quantiles = getattr(last, "quantiles", None)
    own = ["prediction"] if quantiles is None else [f"quantile {q:g}" for q in quantiles]
    return NumberText(ids, [*own, *(["lower", "upper"] if interval is not None else [])], field)
