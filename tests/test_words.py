"""Turns of phrase that an English-speaking engineer would not use stay out of the library and its pages."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

BETTER = {  # a banned turn, and what to say instead
    r"(gone|goes|going|go) on with": "resume, continue",
    r"broken? off": "interrupted",
    r"(is|are) no numbers?": "is not a number",
    r"(has|had|have) not seen": "new rows, held-out rows",
    r"learnt": "trained on, learned",
    r"not told": "not reported",
    r"(is|are|was|were) told\b(?! apart)": "reported, shown",
    r"judged (by|on)\b": "evaluated on",
    r"for who asks": "opt-in",
    r"hangs? on": "depends on",
}
TURN = re.compile("|".join(f"(?:{turn})" for turn in BETTER), re.IGNORECASE)
FILES = [
    path
    for folder, endings in (("src", {".py", ".pyi", ".css"}), ("docs", {".md"}))
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in endings
] + [ROOT / "README.md"]


def advice(found):
    return next(better for turn, better in BETTER.items() if re.fullmatch(turn, found, re.IGNORECASE))


def test_no_file_has_a_banned_turn_of_phrase():
    found = []
    for path in FILES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found += [
                f'{path.relative_to(ROOT)}:{number}: "{match[0]}"; better: {advice(match[0])}'
                for match in TURN.finditer(line)
            ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("line", ["a fit that is gone on with", "'x' is no number", "Rows it has not seen"])
def test_banned_turns_are_found(line):
    assert TURN.search(line)
    assert advice(TURN.search(line)[0])
