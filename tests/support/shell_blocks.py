"""Shell sessions of a page, its ``console`` blocks: lines after ``$`` are run, what they print is compared.

Numbers, fingerprints and the widths of columns may differ from machine to machine, so they are masked; words
may not. A line ``...`` stands for any lines.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass

from maxmargin.cli import main

SHELL = "maxmargin() { " + shlex.quote(sys.executable) + ' -m maxmargin "$@"; }\n'
SIGNS = set("|<>;&$*`\"'")


@dataclass(frozen=True)
class Session:
    """One command and what the page says that it prints."""

    line: int
    command: str
    printed: str


def sessions(block, start=1):
    """The commands of a block that begins in line ``start``, with what follows each."""
    lines = block.splitlines()
    places = [k for k, line in enumerate(lines) if line.startswith("$ ")]
    for place, end in zip(places, [*places[1:], len(lines)]):
        command, k = lines[place][2:], place + 1
        while command.endswith("\\"):  # goes on in the next line
            command, k = command[:-1] + lines[k].strip(), k + 1
        yield Session(start + place, command, "\n".join(lines[k:end]))


def masked(text):
    """Lines without numbers, digests and blanks."""
    text = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)
    text = re.sub(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?", "N", text)
    return [" ".join(line.replace("─", "").split()) for line in text.splitlines() if line.strip(" ─")]


def agrees(printed, said):
    """Whether what was said is what is printed, where ``...`` stands for anything."""
    pattern = "\n".join(masked(printed))
    parts = [re.escape(part) for part in re.split(r"(?:^|\n)\.\.\.(?:\n|$)", pattern)]
    return re.fullmatch("(?s:.*)".join(parts), "\n".join(masked(said))) is not None


def said_by(session, capsys):
    """Run the command, in this process where no shell is needed; exit code and standard output."""
    name, *arguments = shlex.split(session.command)
    if name == "maxmargin" and not SIGNS & set(session.command):
        capsys.readouterr()
        code = main(arguments)
        return code, capsys.readouterr().out
    done = subprocess.run(
        ["bash", "-c", SHELL + session.command], stdout=subprocess.PIPE, text=True, check=False
    )
    return done.returncode, done.stdout
