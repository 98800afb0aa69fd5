"""``maxmargin train`` killed with SIGKILL at random moments and gone on with ``--resume``: the same bits.

Every attempt is a new process of the command. An older model file lies where the new one will be, and is read
after every kill: it is whole, and the old one, until the training has ended. A kill while the file is read
loses that reading; what is left of fits and streams is gone on with.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from maxmargin import LeastSquaresClassifier, io

WAYS = {
    "sparse-kernel": ("--budget", "150"),
    "stream": ("--stream", "--block-rows", "250", "--budget", "40"),
    "linear": ("--model", "linear", "--set", "solver=dual-cd", "--set", "tol=1e-5"),
    "kernel": ("--model", "kernel", "--set", "C=10", "--set", "tol=1e-8"),
}


def write_rows(path: Path, n_rows: int) -> Path:
    """A table of three classes, of numbers, words and gaps."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 6))
    labels = np.digitize(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * X[:, 5], [-0.5, 0.5])
    lines = ["a,b,c,d,word,y"]
    for row, label in zip(X, labels):
        cells = [f"{value:.4f}" for value in row[:3]] + ["" if row[4] > 1.5 else f"{row[3]:.2f}"]
        lines.append(",".join([*cells, "in" if row[5] > 0 else "out", f"class {label}"]))
    path.write_text("\n".join(lines) + "\n")
    return path


@dataclass
class Soak:
    """One way of training, killed again and again in a folder of its own."""

    way: str
    folder: Path
    data: Path
    old: Path  # a model file that is to be replaced
    dice: random.Random
    n_kills: int = 0
    n_resumed: int = 0
    n_ended: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def out(self) -> Path:
        """The model file."""
        return self.folder / "model.mm"

    def command(self, *more: str) -> list[str]:
        """The training, with as many checkpoints as can be."""
        train = [sys.executable, "-m", "maxmargin", "train", str(self.data), "--target", "y", "--quiet"]
        return [*train, *WAYS[self.way], "--out", str(self.out), "--checkpoint-every", "0", *more]

    def undisturbed(self) -> tuple[str, float]:
        """The fingerprint that every training must come to, and its seconds."""
        start = time.perf_counter()
        subprocess.run(self.command(), check=True, stdout=subprocess.DEVNULL)
        return io.fingerprint(io.load(self.out)), time.perf_counter() - start

    def run(self, n_kills: int) -> None:
        """So many kills, and then on to the end."""
        expected, seconds = self.undisturbed()
        before = io.fingerprint(io.load(self.old))
        self.out.write_bytes(self.old.read_bytes())
        while (self.n_kills < n_kills or not self.n_ended) and not self.faults:
            wait = self.dice.uniform(0.3, 0.9) * seconds if self.n_kills < n_kills else None
            killed = self.attempt(wait)
            found = io.fingerprint(io.load(self.out))  # whole, whatever has happened
            self.n_kills += killed
            if found not in ((before, expected) if killed else (expected,)):
                self.faults.append(f"the model file is another after {self.n_kills} kills")
            if not killed:
                self.n_ended += 1
                self.out.write_bytes(self.old.read_bytes())

    def attempt(self, seconds: float | None) -> bool:
        """Whether it was killed, after so many seconds."""
        self.n_resumed += bool(list(self.folder.glob("model.mm.checkpoint.*")))
        process = subprocess.Popen(self.command("--resume"), stdout=subprocess.DEVNULL)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        if code > 0:
            self.faults.append(f"the command has failed with code {code}")
        return code < 0

    def told(self) -> str:
        """One line."""
        leftovers = len(list(self.folder.glob(".*.part")))
        what = "; ".join(self.faults) or "every one with the bits of one that nobody disturbed"
        return (
            f"  {self.way}: {self.n_kills} kills, {self.n_resumed} starts from a checkpoint, {self.n_ended} "
            f"trainings that ended, {what}; {leftovers} files half written were left"
        )


def main() -> int:
    """0 if all is well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="in all")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    dice = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as place:
        data, old = write_rows(Path(place) / "rows.csv", given.rows), Path(place) / "old.mm"
        io.save(LeastSquaresClassifier().fit([[0.0], [1.0]], ["old", "older"]), old)
        soaks = []
        for number, way in enumerate(given.ways):
            (folder := Path(place) / way).mkdir()
            soaks.append(Soak(way, folder, data, old, dice))
            share = given.kills * (number + 1) // len(given.ways) - given.kills * number // len(given.ways)
            soaks[-1].run(share)
            print(soaks[-1].told(), flush=True)
    print(f"  in all {sum(soak.n_kills for soak in soaks)} kills")
    return 1 if any(soak.faults for soak in soaks) else 0


if __name__ == "__main__":
    sys.exit(main())
