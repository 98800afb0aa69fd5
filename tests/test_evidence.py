"""Measured numbers and pictures of the README and the site are those of stored records."""

import importlib
import importlib.util
import json
import sys
from pathlib import Path

import matplotlib
import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = [str(ROOT / "benchmarks" / "evidence"), str(ROOT / "benchmarks")]


@pytest.fixture
def evidence(monkeypatch):
    """Modules of benchmarks/evidence by name; other folders have modules of the same names."""
    matplotlib.use("Agg")
    monkeypatch.setattr(sys, "path", [*FOLDERS, *sys.path])
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "") or "").startswith(str(ROOT / "benchmarks")):
            del sys.modules[name]


@pytest.fixture
def command(evidence):
    """What ``python benchmarks/evidence`` runs."""
    spec = importlib.util.spec_from_file_location("evidence_main", Path(FOLDERS[0]) / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_have_the_tables_and_pictures_of_the_records(command):
    assert not command.wrong_tables(write=False) + command.unknown_blocks() + command.pictures.wrong()


def test_a_changed_digit_is_found(command, evidence, tmp_path, monkeypatch):
    measured = evidence("measured")
    page = tmp_path / "page.md"
    table = evidence("block").markdown(["a", "b"], [["1", "0.5"]])
    page.write_text(
        f"before\n{evidence('block').BEGIN.format(name='x')}{table}{evidence('block').END}after\n"
    )
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(evidence("stored"), "FOLDER", tmp_path)
    monkeypatch.setattr(command, "TABLES", {"x": measured.Table("page.md", lambda: None)})
    assert "nothing is stored" in command.wrong_tables(write=False)[0]
    evidence("stored").store("x", {"columns": ["a", "b"], "lines": [["1", "0.5"]]})
    assert command.wrong_tables(write=False) == []
    page.write_text(page.read_text().replace("0.5", "0.6"))
    assert command.wrong_tables(write=False) == ["page.md: the table 'x' differs from its record"]
    assert command.wrong_tables(write=True) == []
    assert "| 1 | 0.5 |" in page.read_text()
    assert json.loads((tmp_path / "x.json").read_text())["commit"]


def test_a_picture_carries_the_hash_of_its_data(evidence, tmp_path, monkeypatch):
    pictures = evidence("pictures")
    import matplotlib.pyplot as plt

    def drawing(height):
        figure, ax = plt.subplots()
        ax.plot([0.0, 1.0], [0.0, height])
        figure.savefig(tmp_path / "line.png")
        plt.close(figure)

    monkeypatch.setattr(pictures, "ROOT", tmp_path)
    monkeypatch.setattr(pictures.stored, "FOLDER", tmp_path)
    monkeypatch.setattr(pictures, "PICTURES", {"line": (lambda: drawing(1.0), ["line.png"])})
    pictures.draw("line")
    assert pictures.wrong() == []
    drawing(2.0)
    assert "line.png" in pictures.wrong()[0]


def test_a_claim_is_one_line_with_all_its_sets(evidence):
    papers = evidence("papers")
    cells = {"A: is so": {"ours": 1.0, "paper": 2.0}, "B: is so": {"ours": -0.5}}
    (claim, found), *rest = papers.margins(cells).items()
    assert (claim, list(found), rest) == ("is so", ["A", "B"], [])
    assert papers.source_number(found) == "+2"
    assert papers.verdict([True, False]) == "holds on 1 of 2"
