"""Every command under streams that are closed, full or not UTF-8: no traceback, and the same files.

    python tests/soak/closed_streams.py [--commands train predict] [--conditions "2>&-" ...]

The files that a command writes must be the bits of an undisturbed run, and so must its standard output where
the condition leaves it readable. The data file has a name beyond ASCII.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.command_line import write_flowers

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "--help": "--help",
    "train --help": "train --help",
    "--version": "--version",
    "train": "train {data} --target flower --budget 5 --out {out}/m.mm",
    "train --json": "train {data} --target flower --budget 5 --out {out}/m.mm --json",
    "train --model auto": "train {data} --target flower --model auto --set max_seconds=600 --out {out}/m.mm",
    "train --stream": "train {data} --target flower --budget 5 --stream --block-rows 30 --out {out}/m.mm",
    "train, numbers": "train {data} --target length --task regression --max-seconds 600 --out {out}/m.mm",
    "train, novelty": "train {data} --task novelty --drop flower --out {out}/m.mm",
    "predict": "predict {model} {data}",
    "predict --interval": "predict {numbers} {data} --interval 0.8",
    "evaluate, numbers": "evaluate {numbers} {data}",
    "report, numbers": "report {numbers} {data} --out {out}/r.html",
    "predict --out": "predict {model} {data} --out {out}/p.csv",
    "predict --json": "predict {model} {data} --json",
    "evaluate": "evaluate {model} {data}",
    "inspect": "inspect {model}",
    "path": "path {data} --target flower --budget 5 --plot {out}/path.svg",
    "compare": "compare {data} --target flower --models linear least-squares",
    "report": "report {model} {data} --out {out}/r.html",
    "reproduce": "reproduce",
    "demo": "demo --folder {out}/demo",
}
MODELS = {"model": "train", "numbers": "train, numbers"}  # and the commands that make them


@dataclass(frozen=True)
class Condition:
    """What surrounds the command, and what remains of it to compare."""

    redirect: str = ""
    env: dict[str, str] = field(default_factory=dict)
    folder: str | None = None
    stdout: bool = True  # whether standard output is that of an undisturbed run
    codes: tuple[int, ...] = (0,)
    complete: bool = True  # whether a command that prints as it goes ends what it began


ASCII = {"PYTHONIOENCODING": "ascii"}
C_LOCALE = {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
FULL = Condition(">/dev/full", stdout=False, codes=(0, 1), complete=False)
CONDITIONS = {
    "2>&-": Condition("2>&-"),
    ">&-": Condition(">&-", stdout=False),
    "<&-": Condition("<&-"),
    "<&- >&- 2>&-": Condition("<&- >&- 2>&-", stdout=False),
    "2>/dev/full": Condition("2>/dev/full"),
    ">/dev/full": FULL,
    "2>&1 | true": Condition("2>&1 | true", stdout=False, complete=False),
    "| head -1": Condition("| head -1", stdout=False, complete=False),
    "2> >(true)": Condition("2> >(true)"),
    "PYTHONOPTIMIZE=2": Condition(env={"PYTHONOPTIMIZE": "2"}),
    "PYTHONIOENCODING=ascii": Condition(env=ASCII, stdout=False),
    "LC_ALL=C, not UTF-8": Condition(env=C_LOCALE, stdout=False),
    "TERM=dumb": Condition(env={"TERM": "dumb"}),
    "HOME unset": Condition(env={"HOME": ""}),
    "HOME=/nonexistent": Condition(env={"HOME": "/nonexistent"}),
    "in a folder without writing": Condition(folder="/proc"),
}

VARYING = re.compile(r"seconds.*|/\S+/| +\d+\.\d{3}(?= )")  # times and folders


@dataclass(frozen=True)
class Ran:
    """What a command has left behind."""

    code: int
    out: str
    err: str
    files: dict[str, str]


def run(command: str, condition: Condition, place: Path) -> Ran:
    """The command in an empty folder for its files."""
    out = Path(tempfile.mkdtemp(dir=place))
    names = {name: place / f"{name}.mm" for name in MODELS}
    names |= {"data": place / "naïve — ü.csv", "out": out}
    words = [word.format(**names) for word in command.split()]
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLCONFIGDIR": str(place)}
    env = {name: value for name, value in (env | condition.env).items() if value}
    script = f'set -o pipefail; "$@" {condition.redirect}'
    call = ["bash", "-c", script, "bash", sys.executable, "-m", "maxmargin", *words]
    folder = (
        condition.folder if condition.folder and command != "reproduce" else ROOT
    )  # papers are found from it
    done = subprocess.run(call, capture_output=True, env=env, cwd=folder, check=False)
    text = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    return Ran(done.returncode, *text, {p.name: _digest(p) for p in sorted(out.rglob("*")) if p.is_file()})


def _digest(path: Path) -> str:
    """The bits of a file, or of the model in it: its record has the time."""
    if path.suffix == ".mm":
        from maxmargin import io

        return io.fingerprint(io.load(path))
    if path.suffix in (".html", ".svg"):
        return "complete" if path.read_text(encoding="utf-8").rstrip().endswith((">",)) else "cut"
    return hashlib.sha256(path.read_bytes()).hexdigest()


def faults(ran: Ran, expected: Ran, condition: Condition, command: str) -> list[str]:
    """What is not as it should be."""
    found = []
    if ran.code not in condition.codes:
        found.append(f"exit code {ran.code}")
    if "Traceback" in ran.err + ran.out or "Exception ignored" in ran.err + ran.out:
        found.append("a traceback")
    if ran.files != expected.files and (condition.complete or not command.startswith("demo")):
        found.append(f"other files: {sorted(ran.files)}")
    without_help = "PYTHONOPTIMIZE" in condition.env and "--help" in command  # it is made of docstrings
    if condition.stdout and not without_help and _lasting(ran.out) != _lasting(expected.out):
        found.append("another answer")
    return found


def _lasting(text: str) -> object:
    """What two runs of one command have in common: of JSON the names, of text all but times and folders."""
    return sorted(json.loads(text)) if text.startswith("{") else VARYING.sub("", text)


def soak(commands: list[str], conditions: list[str]) -> Counter[str]:
    """Try all commands under all conditions; counts of what was seen."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        write_flowers(place / "naïve — ü.csv")
        for name, command in MODELS.items():
            made = run(COMMANDS[command].replace("{out}/m.mm", f"{{{name}}}"), Condition(), place)
            assert made.code == 0, made.err
        for command in commands:
            expected = run(COMMANDS[command], Condition(), place)
            assert expected.code == 0, expected.err
            for condition in conditions:
                ran = run(COMMANDS[command], CONDITIONS[condition], place)
                wrong = faults(ran, expected, CONDITIONS[condition], command)
                counts["as undisturbed" if not wrong else "wrong"] += 1
                if wrong:
                    print(
                        f"  maxmargin {command}, {condition}: {'; '.join(wrong)}\n{ran.err[-600:]}",
                        flush=True,
                    )
    return counts


def main() -> int:
    """0 if all is well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--conditions", nargs="*", default=list(CONDITIONS), choices=list(CONDITIONS))
    given = parser.parse_args()
    counts = soak(given.commands, given.conditions)
    n = counts.total()
    print(
        f"  {n} runs ({len(given.commands)} commands, {len(given.conditions)} conditions): "
        f"{counts['as undisturbed']} as undisturbed, {counts['wrong']} wrong"
    )
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
