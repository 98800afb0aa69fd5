"""What is public is one list: ``__all__``, ``dir(maxmargin)`` and the pages of docs/api agree with it."""

from importlib import import_module

import pytest
from support.api_pages import CONSTANTS, FOLDER, INTERNAL, MODULES, pages, public_names

import maxmargin

ESTIMATORS = [
    "AllPairsSVC",
    "AutoSVC",
    "BudgetPerceptron",
    "CalibratedSVC",
    "KernelEigenMap",
    "KernelMatchingPursuit",
    "KernelPegasos",
    "KernelPerceptron",
    "KernelSVC",
    "KernelSVR",
    "LaSVM",
    "LagrangianSVC",
    "LeastSquaresClassifier",
    "LinearProgramSVC",
    "LinearSVC",
    "LinearSVR",
    "OneClassSVM",
    "OutputCodeClassifier",
    "PathCV",
    "SparseKernelClassifier",
    "SparseKernelRegressor",
    "TopKSVC",
]
PUBLIC = [*ESTIMATORS, "importance", "path", "load", "save", "top_k_accuracy", "__version__", *MODULES]


def test_the_package_exports_exactly_the_public_names():
    assert sorted(maxmargin.__all__) == sorted(PUBLIC)
    assert sorted(dir(maxmargin)) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_can_be_imported(name):
    scope = {}
    exec(f"from maxmargin import {name}", scope)
    assert scope[name] is getattr(maxmargin, name)


@pytest.mark.parametrize("module", MODULES)
def test_every_exported_name_of_a_public_module_exists(module):
    home = import_module(f"maxmargin.{module}")
    assert all(hasattr(home, name) for name in home.__all__)
    assert INTERNAL.get(module, set()) <= set(home.__all__), "names that are no longer exported"


def test_learned_decoders_can_be_imported_from_decoders():
    from maxmargin.decoders import PriorDecoder, WeightedDecoder

    assert {PriorDecoder.__name__, WeightedDecoder.__name__} <= set(public_names("decoders"))


def test_constants_with_a_description_are_public():
    assert set(CONSTANTS) <= {name for module in MODULES for name in public_names(module)}


def test_there_is_a_page_for_each_public_module_and_no_other():
    assert {path.name for path in FOLDER.iterdir()} == set(pages())


@pytest.mark.parametrize("file", sorted(pages()))
def test_an_api_page_lists_what_its_module_exports(file):
    expected = pages()[file]
    written = (FOLDER / file).read_text(encoding="utf-8")
    assert written == expected, "run: PYTHONPATH=src python tests/support/api_pages.py"
