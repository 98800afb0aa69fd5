"""Clocks that go backwards: every fit ends, with the bits of one whose clocks go forwards.

    python tests/soak/clock_backwards.py

Each estimator has a time limit and a checkpoint; after some calls each reading of a clock is earlier than the
one before. A fit that waited for a moment that never comes would not end: the script has a limit of its own.
"""

from __future__ import annotations

import itertools
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.saved_models import EVERY, data

from maxmargin import KernelSVC, io
from maxmargin.io import Checkpoint

SECONDS = 300  # for one fit
CLOCKS = ("perf_counter", "monotonic", "time")


def fitted(name: str, folder: Path | None) -> str:
    """The fingerprint of a fit, with a time limit if the estimator has one."""
    model = EVERY[name]()
    if name == "CalibratedSVC":
        model.set_params(estimator=KernelSVC())
    model.set_params(**{key: 0 for key in model.get_params() if key.endswith("random_state")})
    if "max_seconds" in model.get_params(deep=False):
        model.set_params(max_seconds=1000.0)
    if folder is not None and hasattr(model, "set_checkpoint"):
        model.set_checkpoint(Checkpoint(folder / f"{name}.checkpoint", every_seconds=0.01))
    return io.fingerprint(model.fit(*data()))


def backwards(name: str, n_forwards: int, folder: Path) -> str:
    """The same, under clocks that go forwards for some calls and then back."""
    start, calls = time.time(), itertools.count()

    def clock() -> float:
        n = next(calls)
        return start + (n if n < n_forwards else 2 * n_forwards - n) * 1e-3

    with mock.patch.multiple(time, **dict.fromkeys(CLOCKS, clock)):
        return fitted(name, folder)


def run(names: Iterable[str] = EVERY) -> Counter[str]:
    """Try every estimator; an ``AssertionError`` names one that went wrong."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            signal.alarm(SECONDS)
            expected = fitted(name, None)
            for n_forwards in (0, 3, 30):
                found = backwards(name, n_forwards, Path(folder))
                assert found == expected, f"{name}: another model"
                counts["fits under clocks that go backwards, with the same bits"] += 1
    signal.alarm(0)
    return counts


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for what, count in run().items():
        print(f"{count:6} {what}")
