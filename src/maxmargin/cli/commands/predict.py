"""``maxmargin predict``: predictions for the rows of a file, as CSV."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..frame import (
    Bar,
    ClusterOptions,
    Reading,
    Show,
    UsageError,
    bar,
    check_options,
    check_out,
    facts,
    standard_output,
)
from .csv_text import field, id_values, line, safe_field
from .without_classes import text_without_classes

if TYPE_CHECKING:
    import numpy as np

    from ...evaluation import Predicted

Write = Callable[[bytes], object]


def predict(
    model: Annotated[Path, Parameter(help="The model file.")],
    data: Annotated[Path, Parameter(help="The rows to predict; a target column is ignored.")],
    /,
    *,
    out: Annotated[Path | None, Parameter(help="Output file [standard output].")] = None,
    scores: Annotated[
        bool, Parameter(help="Also write the scores of the classes.", show_default=False)
    ] = False,
    probabilities: Annotated[
        bool, Parameter(help="Also write the probabilities of the classes.", show_default=False)
    ] = False,
    interval: Annotated[
        float | None,
        Parameter(help="Also write an interval that contains the number with this probability, such as 0.9."),
    ] = None,
    safe_csv: Annotated[
        bool,
        Parameter(
            help="Quote labels, and put an apostrophe before those that a spreadsheet would run as formulas.",
            show_default=False,
        ),
    ] = False,
    cluster: ClusterOptions = ClusterOptions(),  # noqa: B008
    reading: Reading = Reading(),  # noqa: B008
    show: Show = Show(),  # noqa: B008
) -> None:
    """Predict the class, or the number, of every row of a file.

    Writes CSV with the columns that --id names and the column "prediction", one line per row in the order of
    the file, and a column for each score and probability requested. The file is read like the training file,
    unless options say otherwise, in constant memory. A model of numbers may add the ends of an interval, and
    one of what is usual writes inlier or outlier and the score. The threshold of a model that was trained
    with --cost is applied.
    """
    from ... import io
    from ...evaluation import predictions, stored_decision
    from ...training import task_of

    if safe_csv and show.json and out is None:
        raise UsageError("--safe-csv is about CSV, and --json without --out writes none; give one of them.")
    check_out(out, model, data)
    fitted = io.load(model)
    record = io.read_record(model)
    source = reading.open_for(data, fitted, record, target=False)
    decision = stored_decision(record, fitted)
    written = safe_field if safe_csv else field
    ids = tuple(getattr(source, "ids", ()))
    if (task := task_of(fitted)) == "classification":
        check_options(task, "predict", interval=interval)
        text: Any = PredictionText(
            fitted.classes_, scores=scores, probabilities=probabilities, ids=ids, field=written
        )
    else:
        check_options(task, "predict", scores=scores and task != "novelty", probabilities=probabilities)
        check_options(task, "predict", interval=interval if task == "novelty" else None)
        text, scores = text_without_classes(fitted, task, ids, written, interval), task == "novelty"
    with cluster.client() as client:
        blocks = predictions(
            fitted,
            source,
            scores=scores,
            probabilities=probabilities,
            decision=decision,
            interval=interval,
            client=client,
        )
        start = time.perf_counter()
        if out is None and show.json:
            rows = [row for block in blocks for row in text.rows(block)]
            show.answer({"model": model, "data": data, "columns": text.columns, "rows": rows})
            return
        with bar(show) as line, _opened(out) as write:
            n_rows = _write(write, text, blocks, line)
    if out is not None:
        seconds = time.perf_counter() - start
        document = {"model": model, "data": data, "rows": n_rows, "out": out, "seconds": seconds}
        show.answer(document, facts("", {"rows": f"{n_rows:,}", "written": out, "seconds": f"{seconds:.2f}"}))


def _write(write: Write, text: Any, blocks: Iterator[Predicted], line: Bar) -> int:
    """Write all lines, and nothing where the first rows are wrong already; how many rows there were."""
    n_rows = 0
    for block in blocks:
        if n_rows == 0:
            write(text.head())
        write(text.body(block))
        n_rows += len(block.labels)
        line.tell("predicting", n_rows, None, f"{n_rows:,} rows")
    return n_rows


@contextmanager
def _opened(out: Path | None) -> Iterator[Write]:
    """What writes to standard output, or to a file that takes its name when it is whole."""
    from ...archive import whole_file

    if out is not None:
        with whole_file(out) as file:
            yield file.write
        return
    with standard_output() as text:
        text.flush()
    yield _to_standard_output


def _to_standard_output(data: bytes) -> None:
    with standard_output() as text:
        text.buffer.write(data)
        text.buffer.flush()


class PredictionText:
    """Lines of predictions for a model's classes.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
    scores, probabilities : bool
        Whether lines have these beside the label.
    ids : sequence of str
        Columns that name the rows; they come first.
    field : callable
        How a label is written.
    """

    def __init__(
        self,
        classes: np.ndarray,
        *,
        scores: bool,
        probabilities: bool,
        ids: Sequence[str] = (),
        field: Callable[[object], str] = field,
    ):
        import numpy as np

        self._classes, self._field = classes, field
        self._words = np.array([field(label) for label in classes.tolist()], dtype=object)
        self.columns = [*ids, "prediction"]
        if scores:  # two classes have one score, positive for the second
            self.columns += [f"score {label}" for label in (classes if len(classes) > 2 else classes[1:])]
        if probabilities:
            self.columns += [f"probability {label}" for label in classes]

    def rows(self, block: Predicted) -> Iterator[list[Any]]:
        """A block as lists, a line each, in the order of the columns."""
        parts = [part for part in (block.scores, block.probabilities) if part is not None]
        lists = [(part if part.ndim == 2 else part[:, None]).tolist() for part in parts]
        ids = list(zip(*map(id_values, block.carried.values()))) or [()] * len(block.labels)
        for names, label, *numbers in zip(ids, block.labels.tolist(), *lists):
            yield [*names, label, *(number for row in numbers for number in row)]

    def head(self) -> bytes:
        """The line with the names."""
        return line(map(self._field, self.columns))

    def body(self, block: Predicted) -> bytes:
        """The lines of a block."""
        import numpy as np

        words = self._words[np.searchsorted(self._classes, block.labels)].tolist()
        numbers: list[Sequence[str]] = []
        for values in (block.scores, block.probabilities):
            if values is not None:
                numbers += [_texts(column) for column in (values.T if values.ndim == 2 else values[None])]
        ids = [
            ["" if value is None else self._field(value) for value in id_values(column)]
            for column in block.carried.values()
        ]
        lines = words if not (numbers or ids) else map(",".join, zip(*ids, words, *numbers))
        return ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")


def _texts(column: Any) -> list[str]:
    """Numbers as short as they can be read back exactly."""
    return list(map(repr, column.tolist()))
