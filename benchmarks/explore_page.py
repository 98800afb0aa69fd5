"""The page to explore: its size, its making beside that of the plain report, how soon its controls answer.

Rows are drawn block by block, so the peak of memory is that of the report. A control is answered when the
browser has drawn the next frame after its event; the slowest of twenty places of a slider counts. Without
Playwright and Chromium only the size and the making are measured.
"""

import resource
import shutil
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from clock import row, score

from maxmargin import SparseKernelClassifier
from maxmargin.io import Block
from maxmargin.report import build, page

TITLE = "The page to explore"
MAX_MEGABYTES, MAX_MILLISECONDS = 5.0, 100.0
CHUNK = 1_024
CELLS = {"20,000 x 20": (20_000, 20, 20), "1,000,000 x 100": (1_000_000, 100, 200)}
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
MOVE = """async ([selector, share, event]) => {
  const control = document.querySelector(selector), before = performance.now();
  if (control.type === "range") control.value = Math.round(share * control.max);
  else if (control.type === "number") control.value = 10 * share;
  else if (control.tagName === "SELECT") control.selectedIndex = Math.round(share * 2);
  control.dispatchEvent(new Event(event, {bubbles: true}));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - before;
}"""
CONTROLS = {
    "budget slider": ("#explore-budget", "input"),
    "threshold slider": ("#explore-threshold", "input"),
    "cost": ("#explore-cost-miss", "input"),
    "filter of rows": ("#explore-true", "input"),
    "order of rows": ("#explore-rows button[data-column='3']", "click"),
    "chosen row": ("#explore-rows tbody tr", "click"),
}


class DrawnRows:
    """A source whose rows are drawn when they are read; each chunk from its own number."""

    name, columns, target = "drawn.npz", None, "y"

    def __init__(self, n_rows, n_features):
        self.n_rows, self.n_features = n_rows, n_features

    def blocks(self, n_rows=65_536):
        """Whole chunks."""
        step = max(CHUNK, n_rows // CHUNK * CHUNK)
        for first in range(0, self.n_rows, step):
            n = min(step, self.n_rows - first)
            parts = [self._chunk(first + k) for k in range(0, n, CHUNK)]
            X, y = (np.concatenate(each)[:n] for each in zip(*parts))
            yield Block(X, y, first, n)

    def options(self):
        """As of a file."""
        return {"format": "npz"}

    def _chunk(self, number):
        rng = np.random.default_rng(number)
        X = rng.standard_normal((CHUNK, self.n_features))
        score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(CHUNK)
        return X, np.where(score > 0, "yes", "no")


def cells(suite):
    return list(CELLS)[:1] if suite == "quick" else list(CELLS)[1:] if suite == "bench" else []


def measure(cell, quick):
    n_rows, n_features, budget = CELLS[cell]
    train = next(DrawnRows(4_096, n_features).blocks())
    model = SparseKernelClassifier(budget, random_state=0).fit(train.features, train.target)
    source, seconds, made = DrawnRows(n_rows, n_features), {}, None
    for name in ("plain", "explored"):
        start = time.perf_counter()
        made = page(build(model, None, source, explore=name == "explored"))
        seconds[name] = time.perf_counter() - start
    found = {"n_bytes": len(made.encode()), "peak_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}
    return {**found, **seconds, "controls": _controls(made)}


def _controls(text):
    """The slowest answer of each control in milliseconds; none without a browser."""
    browser = shutil.which("chromium")
    if browser is None or find_spec("playwright") is None:
        return {}
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        file = Path(folder) / "page.html"
        file.write_text(text, encoding="utf-8")
        view = play.chromium.launch(executable_path=browser, args=FLAGS).new_page()
        view.goto(file.as_uri())
        places = np.linspace(0.0, 1.0, 20).tolist()
        for selector, event in CONTROLS.values():
            view.evaluate(MOVE, [selector, 0.5, event])
        slowest = {
            name: max(view.evaluate(MOVE, [selector, share, event]) for share in places)
            for name, (selector, event) in CONTROLS.items()
        }
        view.context.browser.close()
    return slowest


def rows(records):
    out = []
    for cell, r in records.items():
        megabytes = r["n_bytes"] / 1e6
        out.append(score(f"size, {cell} rows", megabytes, "", None, MAX_MEGABYTES, at_most=True, unit=" MB"))
        out.append(row(f"making it, {cell} rows", r["explored"], "plain report", r["plain"], at_most=True))
        out.append(score(f"peak memory of making it, {cell} rows", r["peak_kb"] / 1e3, "", None, unit=" MB"))
        out += [
            score(f"{name}, {cell} rows", ms, "", None, MAX_MILLISECONDS, at_most=True, unit=" ms")
            for name, ms in r["controls"].items()
        ]
    return out
