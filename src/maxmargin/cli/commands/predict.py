"""``maxmargin predict``: predictions for the rows of a file, as CSV."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..frame import Bar, ClusterOptions, Reading, Show, UsageError, bar, check_out, facts, standard_output

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
    """Predict the class of every row of a file.

    Writes CSV with the columns that --id names and the column "prediction", one line per row in the order of
    the file, and a column for each score and probability requested. The file is read like the training file,
    unless options say otherwise, in constant memory. The threshold of a model that was trained with --cost is
    applied.
    """
    from ... import io
    from ...evaluation import predictions, stored_decision

    if safe_csv and show.json and out is None:
        raise UsageError("--safe-csv is about CSV, and --json without --out writes none; give one of them.")
    check_out(out, model, data)
    fitted = io.load(model)
    record = io.read_record(model)
    source = reading.open_for(data, fitted, record, target=False)
    decision = stored_decision(record, fitted)
    written = safe_field if safe_csv else field
    ids = tuple(getattr(source, "ids", ()))
    text = PredictionText(fitted.classes_, scores=scores, probabilities=probabilities, ids=ids, field=written)
    with cluster.client() as client:
        blocks = predictions(
            fitted, source, scores=scores, probabilities=probabilities, decision=decision, client=client
        )
        start = time.perf_counter()
        if out is None and show.json:
            rows = [row for block in blocks for row in _rows(block)]
            show.answer({"model": model, "data": data, "columns": text.columns, "rows": rows})
            return
        with bar(show) as line, _opened(out) as write:
            n_rows = _write(write, text, blocks, line)
    if out is not None:
        seconds = time.perf_counter() - start
        document = {"model": model, "data": data, "rows": n_rows, "out": out, "seconds": seconds}
        show.answer(document, facts("", {"rows": f"{n_rows:,}", "written": out, "seconds": f"{seconds:.2f}"}))


def _write(write: Write, text: PredictionText, blocks: Iterator[Predicted], line: Bar) -> int:
    """Write all lines, and nothing where the first rows are wrong already; how many rows there were."""
    n_rows = 0
    for block in blocks:
        if n_rows == 0:
            write(text.head())
        write(text.body(block))
        n_rows += len(block.labels)
        line.tell("predicting", n_rows, None, f"{n_rows:,} rows")
    return n_rows


def _rows(block: Any) -> Iterator[list[Any]]:
    """A block as lists, a line each, in the order of the columns."""
    parts = [part for part in (block.scores, block.probabilities) if part is not None]
    lists = [(part if part.ndim == 2 else part[:, None]).tolist() for part in parts]
    ids = list(zip(*map(_id_values, block.carried.values()))) or [()] * len(block.labels)
    for names, label, *numbers in zip(ids, block.labels.tolist(), *lists):
        yield [*names, label, *(number for row in numbers for number in row)]


def _id_values(column: Any) -> list[Any]:
    """Of a column that names the rows: text as it was, whole numbers without a point, None where missing."""
    if hasattr(column, "codes"):
        return [None if code < 0 else column.values[code] for code in column.codes.tolist()]
    return [
        None if value != value else int(value) if value.is_integer() else value for value in column.tolist()
    ]


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


_SPECIAL = (",", '"', "\n", "\r")
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")  # also in their full width


def field(text: object) -> str:
    """One field: quoted where it has to be."""
    word = str(text)
    if any(sign in word for sign in _SPECIAL) or word != word.strip():
        return quoted(word)
    return word


def quoted(word: str) -> str:
    """A field between quotes."""
    return '"' + word.replace('"', '""') + '"'


def safe_field(text: object) -> str:
    """One field that no spreadsheet takes for a formula, or splits at its own separator.

    Numbers stay as they are; other text is quoted, and has an apostrophe in front if it begins, after white
    space, like a formula.
    """
    word = str(text)
    try:
        float(word)
    except ValueError:
        begins = word.lstrip().startswith(_FORMULA) or word.startswith(("\t", "\r", "\n"))
        return quoted(f"'{word}" if begins else word)
    return field(word)


def line(fields: Iterable[str]) -> bytes:
    """One line, in UTF-8."""
    return (",".join(fields) + "\n").encode("utf-8", "surrogatepass")


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
            ["" if value is None else self._field(value) for value in _id_values(column)]
            for column in block.carried.values()
        ]
        lines = words if not (numbers or ids) else map(",".join, zip(*ids, words, *numbers))
        return ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")


def _texts(column: Any) -> list[str]:
    """Numbers as short as they can be read back exactly."""
    return list(map(repr, column.tolist()))
