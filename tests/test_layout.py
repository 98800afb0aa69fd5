"""The folders of the package import downwards only, through what each exports; files stay short."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.shape import MAX_ANCESTORS, MAX_FILES, MAX_HEADER_LINES, MAX_LINES, ancestors, shape

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "maxmargin"

# From low to high, as docs/design.md has it. A folder stands above the folders inside it.
ORDER = [
    "_lazy",
    "_native",
    "data",
    "kernels",
    "losses",
    "residual_losses",
    "json_values",
    "metrics",
    "solving",
    "numerics",
    "codes",
    "calibration",
    "decoders",
    "archive",
    "checkpoints",
    "base",
    "methods.blocks",
    "methods.linear",
    "methods.kernel_svm",
    "methods.kernel_svr",
    "methods.one_class",
    "methods.linear_svr",
    "methods.budget",
    "methods.budget_regression",
    "methods.top_k",
    "methods.all_pairs",
    "methods.eigen_map",
    "methods.lagrangian",
    "methods.least_squares",
    "methods.linear_program",
    "methods.baselines",
    "methods.output_code",
    "methods",
    "clusters",
    "dask",
    "selection",
    "inspection",
    "bounds",
    "displays",
    "io.readers",
    "table",
    "auto",
    "io.models",
    "io.onnx",
    "io",
    "training.regression",
    "training.progress_bar",
    "training",
    "evaluation.numbers",
    "evaluation",
    "report.content",
    "report.explore",
    "report.html",
    "report",
    "cli.frame",
    "cli.commands",
    "cli",
    "__main__",
]


def modules() -> dict[str, Path]:
    """Every module by its dotted name below the package; a folder's ``__init__`` has the folder's name."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


MODULES = modules()


def folder(name: str) -> str:
    """The folder that a module stands in; a folder, or a module of the top level, is its own."""
    return name if MODULES[name].name == "__init__.py" or "." not in name else name.rpartition(".")[0]


def exported(name: str) -> set[str]:
    """What a folder's ``__init__`` exports."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    lists = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    return {name for names in lists for name in ast.literal_eval(names)}


def imports(name: str) -> Iterator[tuple[str, int]]:
    """The modules of the package that a module imports anywhere in its text, with the line."""
    package = name.split(".") if MODULES[name].name == "__init__.py" and name else name.split(".")[:-1]
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
            source = ".".join(base)
            for alias in node.names:
                full = ".".join([*base, alias.name])
                is_file = full in MODULES and not (source in MODULES and alias.name in exported(source))
                yield (full if is_file else source), node.lineno


EDGES = [(name, target, line) for name in sorted(MODULES) if name for target, line in imports(name) if target]


def test_every_folder_has_its_place_in_the_order() -> None:
    assert {folder(name) for name in MODULES if name} == set(ORDER)


def test_imports_point_downwards() -> None:
    climbing = [
        f"{name}:{line} imports {target}"
        for name, target, line in EDGES
        if ORDER.index(folder(target)) > ORDER.index(folder(name))
    ]
    assert not climbing


def test_nobody_imports_a_file_of_another_folder() -> None:
    strange = [
        f"{name}:{line} imports {target}; import from {folder(target)}"
        for name, target, line in EDGES
        if folder(target) != folder(name) and target != folder(target)
    ]
    assert not strange


@pytest.mark.parametrize("name", sorted({folder(name) for name in MODULES if name}))
def test_a_folder_says_its_idea_in_its_first_line(name: str) -> None:
    docstring = ast.get_docstring(ast.parse(MODULES[name].read_text(encoding="utf-8")))
    assert docstring
    assert docstring.splitlines()[0].endswith(".")


@pytest.mark.parametrize("name", ancestors())
def test_an_estimator_has_few_classes_of_ours_above_it(name: str) -> None:
    above = ancestors()[name]
    assert len(above) <= MAX_ANCESTORS, above


@pytest.mark.parametrize("tree", ["src/maxmargin", "tests", "benchmarks"])
def test_python_files_are_short(tree: str) -> None:
    lines = shape(ROOT / tree).lines
    assert not {file: n for file, n in lines.items() if n > MAX_LINES}


def test_headers_are_short() -> None:
    headers = shape(PACKAGE, ROOT / "cpp" / "maxmargin").headers
    assert headers
    assert not {file: n for file, n in headers.items() if n > MAX_HEADER_LINES}


def test_folders_of_the_package_hold_few_files() -> None:
    files = shape(PACKAGE).files
    assert not {folder: n for folder, n in files.items() if n > MAX_FILES}


def test_no_class_name_occurs_twice_in_the_package() -> None:
    homes: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module)
    assert not {name: modules for name, modules in homes.items() if len(modules) > 1}
