"""Python blocks and shell sessions of the README and the documentation run as printed, from top to bottom."""

import re
import sys
import types
from importlib import import_module
from pathlib import Path

import pytest
from support.shell_blocks import agrees, masked, said_by, sessions

import maxmargin

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
PATH = re.compile(r"`([\w./*-]+(?:/|\.(?:py|hpp|cpp|inc|toml|md|css|pyi)))`")
PRIVATE = re.compile(r"(?:from|import) (maxmargin(?:\.\w+)+)|`(maxmargin(?:\.\w+)+)")


def blocks(page):
    """Each block with its first line's number and its language."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start(2)) + 1, m.group(1), m.group(2)) for m in BLOCK.finditer(text)]


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_blocks_of_a_page_run_one_after_another(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("page")  # importable, or what a page defines could not be pickled
    monkeypatch.setitem(sys.modules, "page", module)
    for line, language, source in blocks(page):
        if language == "console":
            check_sessions(page, source, line, capsys)
        else:
            # Blank lines in front, so that a traceback names the line of the page.
            exec(compile("\n" * (line - 1) + source, str(page), "exec"), module.__dict__)


def check_sessions(page, source, line, capsys):
    for session in sessions(source, line):
        code, said = said_by(session, capsys)
        where = f"{page.name}, line {session.line}: {session.command}"
        assert code == 0, where
        assert agrees(session.printed, said), f"{where}\n" + "\n".join(masked(said))


def test_sessions_are_compared_by_words():
    assert agrees("rows   1,234\n...\nend", "rows 7\nanything\nat all\nend")
    assert agrees("a 1.5e-03", "  a   2")
    assert not agrees("rows 1\nend", "rows 1\nmore\nend")
    assert not agrees("rows 1", "columns 1")


def test_the_readme_opens_with_the_commands_and_has_an_example():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    opening = text[: text.index("```python")]
    assert all(command in opening for command in ("make demo", "make test", "pip install"))
    example = next(source for _, language, source in blocks(ROOT / "README.md") if language == "python")
    assert len([line for line in example.splitlines() if line]) <= 10


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda p: str(p.relative_to(ROOT)))
def test_files_and_folders_that_a_page_names_exist(page):
    homes, named = [ROOT, ROOT / "src/maxmargin", ROOT / "cpp/maxmargin"], []
    for name in PATH.findall(page.read_text(encoding="utf-8")):
        found = [path for home in homes for path in home.glob(name)]
        found += [path for folder in named for path in folder.rglob(name)]  # a folder, then its files
        assert found, f"{page.name} names {name}"
        named += [path for path in found if path.is_dir()]


def test_the_design_page_is_short_and_names_every_folder():
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    package = ROOT / "src" / "maxmargin"
    folders = {path.parent.relative_to(package).as_posix() for path in package.rglob("__init__.py")}
    assert {name for name in folders if f"`{name}/`" not in text} == {"."}


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))], ids=lambda p: p.name
)
def test_guides_teach_public_modules_only(page):
    for match in PRIVATE.finditer(page.read_text(encoding="utf-8")):
        parts = (match[1] or match[2]).split(".")
        public = ".".join(parts[:2])
        assert parts[1] in maxmargin.__all__, match[0]
        assert len(parts) == 2 or parts[2] in import_module(public).__all__, match[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
