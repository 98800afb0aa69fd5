"""The page "What it withstands": every row names a script or a test that exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "guide" / "withstands.md").read_text(encoding="utf-8")


def test_every_row_names_what_shows_it():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| what")]
    assert len(rows) > 20
    for row in rows:
        assert re.search(r"`[^`]*tests/\S+\.py|the same;", row.rsplit("|", 2)[1]), row


def test_files_and_tests_that_the_page_names_exist():
    for file, name in re.findall(r"(tests/[\w/]+\.py)(?:::(\w+))?", PAGE):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert not name or f"def {name}(" in text, f"{file}::{name}"


def test_words_that_select_tests_select_some():
    selections = re.findall(r"(tests/[\w/]+\.py) -k (\"[^\"]+\"|\w+)", PAGE)
    assert selections
    for file, words in selections:
        names = re.findall(r"def (test_\w+)\(", (ROOT / file).read_text(encoding="utf-8"))
        for word in words.strip('"').split(" or "):
            assert any(word in name for name in names), f"{file} -k {word}"
