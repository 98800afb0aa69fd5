"""Labels of one type are accepted; mixed ones, which NumPy would merge, are refused with a sentence."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import SGDClassifier
from support.saved_models import data

import maxmargin as mm

X, Y = data()
MIXED = {
    "1 and '1'": ([1, "1"], "numbers and strings"),
    "numbers and words": ([1, "b", 2.5], "numbers and strings"),
    "Booleans and words": ([True, "a"], "Booleans and strings"),
    "Booleans and numbers": ([True, 2], "Booleans and numbers"),
    "gaps": ([1, None], "missing labels and numbers"),
    "gaps among words": (["a", None], "missing labels and strings"),
    "bytes and words": ([b"a", "a"], "strings and values of type bytes"),
    "tuples": ([1, (1, 2)], "numbers and values of type tuple"),
    "NaN among words": (["a", float("nan")], "numbers and strings"),
}
FITS = {
    "LinearSVC": lambda X, y: mm.LinearSVC().fit(X, y),
    "KernelSVC": lambda X, y: mm.KernelSVC().fit(X, y),
    "kernel of objects": lambda X, y: mm.KernelSVC(kernel=lambda a, b: np.eye(len(a))).fit(["s"] * len(y), y),
    "CalibratedSVC": lambda X, y: mm.CalibratedSVC(cv=2).fit(X, y),
    "OutputCodeClassifier": lambda X, y: mm.OutputCodeClassifier(mm.LinearSVC()).fit(X, y),
    "columns of a peer": lambda X, y: mm.OutputCodeClassifier(SGDClassifier()).fit(X, y),
    "PathCV": lambda X, y: mm.PathCV(mm.LinearSVC(), Cs=[1.0], cv=2).fit(X, y),
    "classes": lambda X, y: mm.KernelPegasos().partial_fit(X, Y, classes=y),
    "first batch": lambda X, y: mm.KernelPegasos().partial_fit(X, y, classes=["1", "2"]),
    "later batch": lambda X, y: mm.KernelPegasos().partial_fit(X, Y, classes=[0, 1, 2]).partial_fit(X, y),
    "explain": lambda X, y: mm.LinearSVC().fit(X, Y).explain(X, y),
}


def labels(some, form):
    """Labels for every row of X, as a list, an array of objects, or a pandas series."""
    y = [some[k % len(some)] for k in range(len(X))]
    if form == "list":
        return y
    objects = np.empty(len(y), dtype=object)
    objects[:] = y
    return objects if form == "array" else pd.Series(objects, dtype=object)


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize("form", ["list", "array", "series"])
def test_mixed_labels_are_refused(name, form):
    some, kinds = MIXED[name]
    with pytest.raises(ValueError, match=f"y mixes labels of different types: {kinds}. Give labels of one"):
        mm.LinearSVC().fit(X, labels(some, form))


@pytest.mark.parametrize("name", FITS)
def test_one_and_a_string_of_one_are_never_merged(name):
    with pytest.raises(ValueError, match="mixes labels of different types: numbers and strings"):
        FITS[name](X, labels([1, "1"], "list"))


@pytest.mark.parametrize(
    "some", [[0, 1], [0, 1.0], ["a", "b"], [True, False], [np.str_("a"), "b"], [np.int8(0), 1]]
)
def test_labels_of_one_type_are_accepted(some):
    model = mm.LinearSVC().fit(X, labels(some, "list"))
    assert set(model.classes_) == set(some)
