"""``maxmargin demo``: the other commands, one after another, on a table that comes with scikit-learn."""

from __future__ import annotations

import io
import json
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ..frame import Show

TEST_SHARE = 0.3


def demo(
    *,
    folder: Annotated[Path | None, Parameter(help="Folder for the files [a new temporary folder].")] = None,
    show: Show = Show(),  # noqa: B008
) -> int:
    """Run train, evaluate, predict and report on a table of 569 tumours."""
    where = Path(tempfile.mkdtemp(prefix="maxmargin-demo-")) if folder is None else folder
    where.mkdir(parents=True, exist_ok=True)
    n_train, n_test = write_tables(where)
    if not show.json:
        show.line(f"{where}/train.csv: {n_train} tumours, 30 measurements each, benign or malignant")
        show.line(f"{where}/test.csv: {n_test} more, to evaluate the model on\n")
    answers = []
    for arguments in commands(where):
        line = shlex.join(["maxmargin", *arguments])
        code, answer = _run(arguments, line, show)
        answers.append({"command": line, "answer": answer})
        if code:
            return code
    report = where / "report.html"
    if show.json:
        show.answer({"folder": where, "report": report, "commands": answers})
    else:
        show.line(f"report: {report}")
    return 0


def commands(folder: Path) -> Iterator[list[str]]:
    """What is shown."""
    train, test, model = (str(folder / name) for name in ("train.csv", "test.csv", "tumours.mm"))
    yield [
        "train",
        train,
        "--target",
        "diagnosis",
        "--model",
        "sparse-kernel",
        "--budget",
        "20",
        "--out",
        model,
    ]
    yield ["evaluate", model, test]
    yield ["predict", model, test, "--probabilities", "--out", str(folder / "predictions.csv")]
    yield ["report", model, test, "--out", str(folder / "report.html")]


def _run(arguments: list[str], line: str, show: Show) -> tuple[int, Any]:
    """One command; its exit code, and with ``--json`` its answer."""
    from ..frame import run

    options = ["--quiet"] if show.quiet else []
    if not show.json:
        show.line(f"$ {line}")
        return run([*arguments, *options]), None
    with redirect_stdout(io.StringIO()) as said:
        code = run([*arguments, *options, "--json"])
    return code, json.loads(said.getvalue())


def write_tables(folder: Path) -> tuple[int, int]:
    """``train.csv`` and ``test.csv``; how many rows each has."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    data = load_breast_cancer()
    words = np.array(["malignant", "benign"])[data.target]
    parts = train_test_split(data.data, words, test_size=TEST_SHARE, stratify=words, random_state=0)
    for name, X, y in (("train", parts[0], parts[2]), ("test", parts[1], parts[3])):
        lines = [",".join([*data.feature_names, "diagnosis"])]
        lines += [",".join([*map(repr, row), word]) for row, word in zip(X.tolist(), y)]
        (folder / f"{name}.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return len(parts[0]), len(parts[1])
