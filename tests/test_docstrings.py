"""Every public name is documented: its parameters are named, and its example runs as printed."""

from __future__ import annotations

import doctest
import inspect
import re
from importlib import import_module

import pytest
from support.api_pages import CONSTANTS, MODULES, public_names
from support.certificate_cases import public_estimators

import maxmargin

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
NEEDS = {
    "displays": "matplotlib",
    "dask": "distributed",
    "io.to_onnx": "onnx",
    "table.TablePreparation": "pandas",
}
PUBLIC = {
    name: getattr(maxmargin, name)
    for name in maxmargin.__all__
    if name not in MODULES and name != "__version__"
} | {
    f"{module}.{name}": getattr(import_module(f"maxmargin.{module}"), name)
    for module in MODULES
    for name in public_names(module)
    if name not in CONSTANTS
}
SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n(.*?)(?=^[A-Z]\w+\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: :.*)?$", re.MULTILINE)
PRECISION = re.compile(r"\*\*Precision\.\*\* (.*?)\n\n", re.DOTALL)
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def documented(text: str) -> set[str]:
    """The names that the sections "Parameters" and "Attributes" of a docstring explain."""
    entries = [entry for _, body in SECTION.findall(text) for entry in ENTRY.findall(body)]
    return {name.lstrip("*") for entry in entries for name in entry.split(", ")}


def parameters(value: object) -> list[str]:
    """What a caller gives; none where a class takes what any exception or protocol takes."""
    try:
        found = inspect.signature(value).parameters.values()  # type: ignore[arg-type]
    except ValueError:
        return []
    return [p.name for p in found if p.name not in ("self", "cls") and p.kind not in VARIADIC]


def docstrings(value: object) -> str:
    """The docstring; of a class also those of the classes above it, whose parameters it may share."""
    above = value.__mro__ if inspect.isclass(value) else [value]
    return "\n\n".join(inspect.getdoc(each) or "" for each in above if each is not object)


def methods(value: type) -> dict[str, object]:
    """The public methods and properties that this library defines."""
    found = {}
    for name, member in inspect.getmembers(value):
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        ours = (getattr(function, "__module__", None) or "").startswith("maxmargin")
        if not name.startswith("_") and inspect.isroutine(function) and ours:
            found[name] = function
    return found


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_a_docstring_that_names_its_parameters(name):
    text = inspect.getdoc(PUBLIC[name])
    assert text
    missing = set(parameters(PUBLIC[name])) - documented(docstrings(PUBLIC[name]))
    assert not missing


@pytest.mark.parametrize("name", [name for name, value in PUBLIC.items() if inspect.isclass(value)])
def test_methods_have_a_docstring_and_name_all_parameters_or_none(name):
    for method, function in methods(PUBLIC[name]).items():
        text = inspect.getdoc(function)
        assert text, method
        if "\nParameters\n---" in text:
            missing = set(parameters(function)) - documented(text)
            assert not missing, method


@pytest.mark.parametrize(
    "name", sorted(public_estimators() | {f"dask.{name}" for name in public_names("dask")})
)
def test_an_estimator_states_the_precision_of_its_certificate(name):
    """What ``dual_gap_`` holds for, or that there is none, and what becomes of float32 rows."""
    (stated,) = PRECISION.findall(inspect.getdoc(PUBLIC[name]))
    assert re.search(r"dual_gap_|[Cc]ertif|As in :class:", stated)
    assert re.search(r"float32|precision|As in :class:|as (their class|:class:`\w+`) states?", stated)


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLIC)
def test_the_example_of_a_public_name_runs_as_printed(name, tmp_path, monkeypatch):
    for part, module in NEEDS.items():
        if name == part or name.startswith(f"{part}."):
            pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    if name.startswith("displays."):
        import matplotlib

        matplotlib.use("Agg")
    text = inspect.getdoc(PUBLIC[name])
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert test.examples, "a public name has an example"
    printed = []
    doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=printed.append)
    assert not printed, "".join(printed)
    if name.startswith("displays."):
        import matplotlib.pyplot as plt

        plt.close("all")


def test_a_forgotten_parameter_is_found():
    def half(a, b):
        """Half of it.

        Parameters
        ----------
        a : float
        """

    assert set(parameters(half)) - documented(inspect.getdoc(half)) == {"b"}
