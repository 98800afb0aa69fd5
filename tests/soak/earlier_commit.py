"""Files written by an earlier commit: models predict the same, checkpoints resume or are refused.

    MAXMARGIN_OLD=/path/to/checkout python tests/soak/earlier_commit.py

The checkout is of commit 5ac6f2f or another one with the compiled module in its ``src/maxmargin``. Its own
tests say which models it writes. Checkpoints are those of fits that were stopped at their second certificate.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]

# What runs in the earlier checkout, with the modules of its tests.
WRITER = """
import sys, warnings
from pathlib import Path
import numpy as np
warnings.simplefilter("ignore")
sys.path[:0] = [str(p) for p in (Path(sys.argv[1]) / "tests", Path(sys.argv[1]) / "tests" / "support")]
import checkpoint_cases, saved_models
from maxmargin import io
try:
    from maxmargin.io import Checkpoint
except ImportError:
    from maxmargin.checkpoints import Checkpoint

folder = Path(sys.argv[2])
X, y = saved_models.data()
makers = {name: (lambda make=make: make().fit(X, y)) for name, make in saved_models.EVERY.items()}
for name, make in (makers | saved_models.special()).items():
    model = make()
    rows = saved_models.table() if name == "table" else X @ X.T if "precomputed" in name else X
    searched = hasattr(model, "best_params_") and not hasattr(model, "best_estimator_")
    methods = () if searched else ("decision_function", "predict", "predict_proba", "transform")
    answers = {m: np.asarray(getattr(model, m)(rows)) for m in methods if hasattr(model, m)}
    answers = {m: a.astype(str) if a.dtype == object else a for m, a in answers.items()}
    stem = folder / name.replace(" ", "_")
    io.save(model, f"{stem}.mm", record={"name": name})
    np.savez(f"{stem}.npz", **answers)

class Stopped(Exception): pass

X, y = checkpoint_cases.problem()
for name, make in checkpoint_cases.CASES.items():
    seen = []
    def stop(check, state):
        seen.append(check)
        if len(seen) >= 2: raise Stopped
    model = make()
    if "random_state" in model.get_params(): model.set_params(random_state=0)
    inner = model if hasattr(model, "set_callbacks") else model.estimator
    inner.set_callbacks(stop)
    try:
        model.set_checkpoint(Checkpoint(folder / f"{name}.checkpoint", 0.0)).fit(X, y)
    except Stopped:
        pass
"""


def write(old: Path, folder: Path) -> None:
    """Files of the earlier commit."""
    env = os.environ | {"PYTHONPATH": str(old / "src")}
    subprocess.run([sys.executable, "-c", WRITER, str(old), str(folder)], env=env, check=True, cwd=old)


def same_predictions(path: Path) -> str:
    """What became of a model file."""
    from support import saved_models

    from maxmargin import io

    model, name = io.load(path), io.read_record(path)["name"]
    X, _ = saved_models.data()
    rows = saved_models.table() if name == "table" else X @ X.T if "precomputed" in name else X
    with np.load(path.with_suffix(".npz")) as file:
        for method, expected in file.items():
            found = np.asarray(getattr(model, method)(rows))
            found = found.astype(str) if found.dtype == object else found
            if found.dtype.kind != "f":
                assert np.array_equal(found, expected), f"{name}: another {method}"
            else:
                assert np.allclose(found, expected, rtol=0.0, atol=1e-6 * max(1.0, np.abs(expected).max())), (
                    name
                )
    return "model files: same predictions"


def resumed(path: Path) -> str:
    """What became of a checkpoint."""
    from support import checkpoint_cases

    from maxmargin.checkpoints import CheckpointError
    from maxmargin.io import Checkpoint

    X, y = checkpoint_cases.problem()

    def fit(checkpoint: Checkpoint | None) -> object:
        model = checkpoint_cases.CASES[path.stem]()
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        return model.set_checkpoint(checkpoint).fit(X, y)

    try:
        model = fit(Checkpoint(path, resume=True))
    except CheckpointError as error:
        return f"checkpoints: refused {'with a sentence' if str(path) in str(error) else 'without its name'}"
    expected = fit(None)
    bits = checkpoint_cases.fitted(model) == checkpoint_cases.fitted(expected)
    assert np.array_equal(model.predict(X), expected.predict(X)), f"{path.stem}: another model"
    return f"checkpoints: resumed, {'the bits' if bits else 'the predictions'} of a fit of today"


def main() -> int:
    """0 if all is well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", type=Path, default=os.environ.get("MAXMARGIN_OLD"))
    given = parser.parse_args()
    if given.old is None:
        print("  skipped: MAXMARGIN_OLD does not name a checkout of an earlier commit")
        return 0
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(ROOT / "tests"))
    counts: Counter[str] = Counter()
    n_wrong = 0
    with tempfile.TemporaryDirectory() as name:
        write(given.old, Path(name))
        for path in sorted(Path(name).glob("*.mm")) + sorted(Path(name).glob("*.checkpoint")):
            try:
                counts[(same_predictions if path.suffix == ".mm" else resumed)(path)] += 1
            except Exception as error:
                n_wrong += 1
                print(f"  {path.name}: {type(error).__name__}: {error}")
    for what, count in sorted(counts.items()):
        print(f"{count:6} {what}")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
