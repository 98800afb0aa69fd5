"""The Python blocks of the README and the documentation run as they are printed, from top to bottom."""

import re
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def blocks(page):
    """Each block with its first line's number."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start(1)) + 1, m.group(1)) for m in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_blocks_of_a_page_run_one_after_another(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("page")  # importable, or what a page defines could not be pickled
    monkeypatch.setitem(sys.modules, "page", module)
    for line, source in blocks(page):
        # Blank lines in front, so that a traceback names the line of the page.
        exec(compile("\n" * (line - 1) + source, str(page), "exec"), module.__dict__)


def test_the_readme_opens_with_the_commands_and_has_an_example():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    opening = text[: text.index("```python")]
    assert all(command in opening for command in ("make demo", "make test", "pip install"))
    _, example = blocks(ROOT / "README.md")[0]
    assert len([line for line in example.splitlines() if line]) <= 10


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
