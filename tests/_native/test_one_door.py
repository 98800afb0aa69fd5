"""Only the files of ``_native`` import the compiled module, and the door leads to all that they offer."""

import ast
import importlib
from pathlib import Path

import maxmargin
from maxmargin import _native

SOURCES = Path(maxmargin.__file__).parent
DOOR = SOURCES / "_native"


def names_the_core(path):
    """Whether a file imports ``_core`` of this package, in whichever spelling."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("maxmargin")):
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [part for a in node.names if a.name.startswith("maxmargin") for part in a.name.split(".")]
        else:
            continue
        if "_core" in names:
            return True
    return False


def test_only_the_door_imports_the_core():
    outside = [path for path in SOURCES.rglob("*.py") if DOOR not in path.parents]
    assert len(outside) > 100
    assert [str(path.relative_to(SOURCES)) for path in outside if names_the_core(path)] == []
    assert names_the_core(DOOR / "kernels.py")


def test_the_door_names_what_it_offers():
    assert all(hasattr(_native, name) for name in _native.__all__)
    assert sorted(_native.__all__) == sorted(set(_native.__all__))
    topics = [importlib.import_module(f"maxmargin._native.{path.stem}") for path in DOOR.glob("[a-z]*.py")]
    offered = {name for topic in topics for name in topic.__all__}
    assert set(_native.__all__) <= offered
