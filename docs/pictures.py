"""The guides' pictures of pages and terminals, made by the present code.

``make pictures``, or ``python docs/pictures.py NAME ...`` for some of them, needs Playwright, Chromium and,
for two of them, the folder MAXMARGIN_DATA with Adult.
"""

from __future__ import annotations

import gzip
import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from html import escape
from pathlib import Path
from shutil import which
from typing import Any

GUIDE = Path(__file__).parent / "guide"
WIDTH = 900
COMMAND = [sys.executable, "-m", "maxmargin"]
TERMINAL = "<body style='margin:0;background:#fff'><pre style='margin:16px;font:14px/1.45 monospace'>{}</pre>"
ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,income"
)


def maxmargin(*arguments: str) -> str:
    """What a command prints."""
    return subprocess.run([*COMMAND, *arguments], check=True, capture_output=True, text=True).stdout


@contextmanager
def opened(path: Path, width: int = WIDTH) -> Any:
    """A page in Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        view = browser.new_page(viewport={"width": width, "height": 720})
        view.goto(path.resolve().as_uri())
        yield view
        browser.close()


def section(page: str, part: str) -> bytes:
    """A part of a page."""
    with opened(Path(page)) as view:
        return bytes(view.locator(part).screenshot())


def top(page: str) -> bytes:
    """What one sees of a page first."""
    with opened(Path(page)) as view:
        return bytes(view.screenshot())


def terminal(text: str) -> bytes:
    """Lines of a terminal as a picture."""
    Path("terminal.html").write_text(TERMINAL.format(escape(text)), encoding="utf-8")
    with opened(Path("terminal.html"), 1000) as view:
        return bytes(view.locator("pre").screenshot())


def evaluated() -> str:
    """The page of the guide's own table, by the first program of evaluate.md."""
    if not Path("costs.html").exists():
        (program, *_) = re.findall(r"```python\n(.*?)```", (GUIDE / "evaluate.md").read_text(), re.DOTALL)
        exec(program, {})
        train = ("train", "train.csv", "--target", "kind", "--model", "sparse-kernel", "--budget", "20")
        maxmargin(*train, "--cost", "false-positive=1", "false-negative=5", "--out", "costs.mm")
        maxmargin("report", "costs.mm", "test.csv", "--learning-curve", "--out", "costs.html")
    return "costs.html"


def moved() -> str:
    """The page of the same model on rows whose size has grown by 3 and whose colours are other ones."""
    evaluated()
    head, *rows = Path("test.csv").read_text().split()
    fields = [row.split(",") for row in rows]
    new = [
        f"{float(size) + 3:.3f},{'red' if k % 4 == 0 else colour},{kind}"
        for k, (size, colour, kind) in enumerate(fields)
    ]
    Path("moved.csv").write_text("\n".join([head, *new]))
    maxmargin("report", "costs.mm", "moved.csv", "--out", "moved.html")
    return "moved.html"


def adult() -> tuple[str, str]:
    """The report of Adult, and its page to explore."""
    folder = Path(os.environ["MAXMARGIN_DATA"])
    for name, file in (("adult.csv", "adult.data.gz"), ("adult-test.csv", "adult.test.gz")):
        lines = gzip.decompress((folder / file).read_bytes()).decode().splitlines()
        Path(name).write_text("\n".join([ADULT, *(line for line in lines if "," in line)]))
    if not Path("adult.mm").exists():
        maxmargin("train", "adult.csv", "--target", "income", "--model", "sparse-kernel", "--out", "adult.mm")
        maxmargin("explore", "adult.mm", "adult-test.csv", "--training", "adult.csv", "--out", "adult.html")
        maxmargin("report", "adult.mm", "adult-test.csv", "--out", "report.html")
    return "report.html", "adult.html"


def beside(*pictures: bytes) -> bytes:
    """Pictures side by side."""
    from PIL import Image

    found = [Image.open(io.BytesIO(picture)) for picture in pictures]
    whole = Image.new("RGB", (sum(p.width for p in found) + 24, max(p.height for p in found)), "white")
    left = 0
    for picture in found:
        whole.paste(picture, (left, 0))
        left += picture.width + 24
    out = io.BytesIO()
    whole.save(out, "PNG")
    return out.getvalue()


def explore() -> bytes:
    """Sliders moved, a row chosen."""
    with opened(Path(adult()[1])) as view:
        for slider, place in (("#explore-budget", 18), ("#explore-threshold", 500)):
            view.locator(slider).evaluate(
                "(s, k) => { s.value = k; s.dispatchEvent(new Event('input')); }", place
            )
        view.locator("#explore-rows tbody tr").nth(6).click()
        return beside(*(view.locator(part).screenshot() for part in ("#explore-thresholds", "#explore-row")))


def digits() -> bytes:
    """Mistakes of a table of square images."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    head = ",".join([*(f"pixel{j}" for j in range(64)), "digit"])
    rows = [",".join([*map(str, row.astype(int)), str(label)]) for row, label in zip(X, y)]
    Path("digits.csv").write_text("\n".join([head, *rows[:1000]]))
    Path("digits-test.csv").write_text("\n".join([head, *rows[1000:]]))
    maxmargin("train", "digits.csv", "--target", "digit", "--model", "sparse-kernel", "--budget", "30")
    maxmargin("report", "digits.mm", "digits-test.csv", "--out", "digits.html")
    with opened(Path("digits.html")) as view:
        view.evaluate(
            "[...document.querySelectorAll('#mistakes tbody tr')].slice(6).forEach(row => row.remove())"
        )
        return bytes(view.locator("#mistakes").screenshot())


def columns_read() -> bytes:
    """What a training makes of an index, a name, dates, text, decimal commas and missing values."""
    import numpy as np
    import pandas as pd

    rng, n = np.random.default_rng(0), 300
    words = np.array(["late", "paid", "again", "call", "angry", "happy", "refund", "shop", "order", "müde"])
    notes = [" ".join(rng.choice(words, 6)) for _ in range(n)]
    days = rng.integers(0, 1500, n)
    table = pd.DataFrame(
        {
            "customer": [f"K{k:05d}" for k in range(n)],
            "income": [f"{v:.2f}".replace(".", ",") for v in rng.lognormal(8, 0.4, n)],
            "since": (pd.Timestamp("2021-01-01") + pd.to_timedelta(days, unit="D")).strftime("%d.%m.%Y"),
            "note": notes,
            "score": np.where(rng.random(n) < 0.1, "#N/A", rng.integers(0, 9, n).astype(str)),
            "churn": ["yes" if "angry" in note else "no" for note in notes],
        }
    )
    table.to_csv("customers.csv", sep=";", encoding="latin-1")
    command = "train customers.csv --target churn --model linear --encoding latin-1 --decimal , --id customer"
    said = maxmargin(*command.split()).split("  model ")[0].rstrip()
    head = Path("customers.csv").read_text("latin-1")[:240]
    return terminal(f"{head}...\n\n$ maxmargin {command}\n{said}\n  ...")


def progress() -> bytes:
    """A few moments of the line about a training, on a terminal."""
    import numpy as np

    X = np.random.default_rng(0).normal(size=(30_000, 8)).round(3)
    y = np.where(X[:, 0] * X[:, 1] > X[:, 2], "yes", "no")
    rows = [",".join([*map(str, row), label]) for row, label in zip(X, y)]
    Path("rows.csv").write_text("\n".join([",".join([*"abcdefgh", "kind"]), *rows]))
    command = "train rows.csv --target kind --model sparse-kernel"
    read, write = pty.openpty()
    os.environ |= {"TERM": "xterm", "COLUMNS": "110"}
    with subprocess.Popen([*COMMAND, *command.split()], stdout=subprocess.DEVNULL, stderr=write) as run:
        os.close(write)
        said = bytearray()
        try:
            while piece := os.read(read, 4096):
                said += piece
        except OSError:  # the end of a terminal
            pass
        assert run.wait() == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode())
    frames = [frame for frame in re.split(r"[\r\n]+", plain) if "gap" in frame and "-:--" not in frame]
    some = [frames[len(frames) * k // 5] for k in range(1, 5)]
    return terminal(f"$ maxmargin {command}\n" + "\n".join(some))


PICTURES: dict[str, Callable[[], bytes]] = {
    "thresholds": lambda: section(evaluated(), "#thresholds"),
    "columns": lambda: section(evaluated(), "#columns"),
    "learning-curve": lambda: section(evaluated(), "#learning"),
    "drift": lambda: section(moved(), "#drift"),
    "red-band": lambda: top(moved()),
    "digits": digits,
    "columns-read": columns_read,
    "progress": progress,
    "report": lambda: top(adult()[0]),
    "explore": explore,
}


def main(names: list[str]) -> None:
    """Make the pictures of these names, or all."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in names or PICTURES:
            if name in ("report", "explore") and "MAXMARGIN_DATA" not in os.environ:
                print(f"{name}.png is left as it is: it needs MAXMARGIN_DATA", file=sys.stderr)
                continue
            (GUIDE / f"{name}.png").write_bytes(PICTURES[name]())


if __name__ == "__main__":
    GUIDE = GUIDE.resolve()
    main(sys.argv[1:])
