"""Runs ``maxmargin`` commands in this process, and writes the tables they are tried on."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from maxmargin.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command has left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """The one document on standard output; NaN and Infinity are no JSON."""
        return json.loads(self.out, parse_constant=_refuse)


def _refuse(word):
    raise ValueError(f"{word} is no JSON")


def running(capsys):
    """A function that runs a command and captures what it writes."""

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return run


def write_flowers(path, n=90, seed=0, target=True):
    """A table of numbers, words and gaps, of three classes whose names need quotes."""
    rng = np.random.default_rng(seed)
    names = ["red, dark", 'so "blue"', "white"]
    kinds = rng.integers(0, 3, n)
    length = kinds + 0.3 * rng.standard_normal(n)
    width = rng.standard_normal(n)
    place = np.array(["wood", "field", "shore"])[(kinds + (rng.random(n) < 0.2)) % 3]
    lines = ["length,width,place" + (",flower" if target else "")]
    for i in range(n):
        cells = [repr(float(length[i])), "?" if i % 17 == 3 else repr(float(width[i])), place[i]]
        if target:
            cells.append('"' + names[kinds[i]].replace('"', '""') + '"')
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
