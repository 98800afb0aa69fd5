"""Damaged and forged model files: each is refused, or gives a model that predicts. Never a crash.

    python tests/soak/mutated_model_files.py [n_files] [--few]

Damaged files (other bytes than were written) must be refused or predict the same bits. Forged ones (checksums
made right again) must be refused with ``ModelFormatError``, or load and then predict numbers or say by a
``ValueError`` why not. A process of its own reads them, since a crash would end it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.mutations import damaged, forgery
from support.saved_models import EVERY, data, quiet, special, table

from maxmargin import io
from maxmargin.archive.archive import read_archive

AT_ONCE = 1000


FEW = ("csr stream", "coupling", "published", "numbers", "sum of kernels", "OutputCodeClassifier")


def models(folder: Path, few: bool = False) -> dict[str, Path]:
    """A file of every kind of model, or of a few."""
    X, y = data()
    makers = {name: lambda make=make: make().fit(X, y) for name, make in EVERY.items()}
    csr = data(3, "float32", "csr")[0]
    makers["csr"] = lambda: EVERY["KernelSVC"]().fit(csr, y)
    makers["csr stream"] = lambda: EVERY["SparseKernelClassifier"]().partial_fit(csr, y, classes=[0, 1, 2])
    paths = {}
    makers |= special()
    for k, (name, make) in enumerate((name, makers[name]) for name in (FEW if few else makers)):
        paths[name] = folder / f"{k}.mm"
        io.save(quiet(make), paths[name])
    return paths


def answers(model, name: str) -> list[np.ndarray]:
    """What a model says about some rows; nothing where a search has fitted none."""
    if hasattr(model, "best_params_") and not hasattr(model, "best_estimator_"):
        return []
    X, _ = data()
    rows = table() if name == "table" else X @ X.T if "precomputed" in name else X
    methods = ("decision_function", "predict", "predict_proba", "transform")
    return [np.asarray(getattr(model, m)(rows)) for m in methods if hasattr(model, m)]


def outcome(path: Path, name: str, original: list[np.ndarray] | None) -> str:
    """What became of a file; an exception that should not be is one here."""
    try:
        model = io.load(path)
        io.read_record(path)
    except io.ModelFormatError:
        return "refused"
    try:
        found = answers(model, name)
    except ValueError:
        assert original is None, "a damaged file was read, and does not predict"
        return "says why it does not predict"
    if original is None:
        return "predicts"
    assert all(np.array_equal(a, b) for a, b in zip(original, found, strict=True)), "other predictions"
    return "same predictions"


def read_all(folder: Path, first: int, end: int) -> Counter[str]:
    """Read the files of some seeds; the last one tried is noted, for the case that it ends the process."""
    warnings.simplefilter("ignore")
    names = (folder / "names").read_text().splitlines()
    known = {}
    counts: Counter[str] = Counter()
    for seed in range(first, end):
        (folder / "seed").write_text(str(seed))
        rng = np.random.default_rng([9, seed])
        k = int(rng.integers(len(names)))
        if k not in known:
            known[k] = (*read_archive(folder / f"{k}.mm"), (folder / f"{k}.mm").read_bytes())
        is_damage = bool(rng.integers(2))
        path = folder / "mutated.mm"
        path.write_bytes(damaged(known[k][2], rng) if is_damage else forgery(*known[k][:2], rng))
        original = answers(io.load(folder / f"{k}.mm"), names[k]) if is_damage and seed % 50 == 0 else None
        found = outcome(path, names[k], original)
        assert not is_damage or found != "predicts" or path.read_bytes() == known[k][2], "damage not seen"
        counts[f"{'damaged' if is_damage else 'forged'}: {found}"] += 1
    return counts


def run(n_files: int, few: bool = False) -> Counter[str]:
    """Mutate and read so many files; an ``AssertionError`` names the seed of one that went wrong."""
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "names").write_text("\n".join(models(folder, few)))
        for first in range(0, n_files, AT_ONCE):
            call = [sys.executable, __file__, "--read", name, str(first), str(min(first + AT_ONCE, n_files))]
            done = subprocess.run(call, capture_output=True, text=True, check=False)
            seed = (folder / "seed").read_text()
            assert done.returncode == 0, f"seed {seed}, status {done.returncode}:\n{done.stderr}"
            for line in done.stdout.splitlines():
                count, what = line.split(maxsplit=1)
                total[what] += int(count)
    return total


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        counted = read_all(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        counted = run(int((*sys.argv, "10000")[1]), "--few" in sys.argv)
    for what, count in sorted(counted.items()):
        print(f"{count:6} {what}")
