"""Bounds on the training error hold, for any outputs and for fitted models, and are the sums they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_digits, load_iris, load_wine
from support.code_strategies import usable_codes

from maxmargin import LinearSVC
from maxmargin.codes import CODES, Code, one_vs_one
from maxmargin.decoders import Hamming


def hamming_error(code, F, labels, weight=None):
    """Ties count as errors."""
    d = (code.n_columns - np.sign(F) @ code.matrix.T.astype(float)) / 2
    own = d[np.arange(len(F)), labels]
    others = np.where(np.arange(code.n_classes) == labels[:, None], np.inf, d).min(axis=1)
    return np.average(own >= others, weights=weight)


@given(code=usable_codes(), data=st.data())
def test_both_bounds_hold_and_are_their_definitions(code, data):
    n = data.draw(st.integers(1, 8))
    F = data.draw(arrays(np.float64, (n, code.n_columns), elements=st.sampled_from([-2.0, -0.5, 0.0, 1.0])))
    labels = np.array(data.draw(st.lists(st.integers(0, code.n_classes - 1), min_size=n, max_size=n)))
    weight = np.array(data.draw(st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=n, max_size=n)))
    bound = code.training_error_bound(F, labels, weight)
    error = hamming_error(code, F, labels, weight)
    assert error <= bound.printed + 1e-12
    assert error <= bound.refined + 1e-12
    total = refined = 0.0
    for f, y, w in zip(F, labels, weight / weight.sum()):
        row, r = code.matrix[y], code.row_margins()[y]
        wrong = sum(c != 0 and c * v <= 0 for c, v in zip(row, f))
        total += w * (wrong + sum(row == 0) / 2)
        refined += w * (min(1.0, wrong / np.ceil(r / 2)) if r > 0 else 1.0)
    assert bound.printed == pytest.approx(2 * total / code.minimum_distance)
    assert bound.column_errors.sum() == pytest.approx(total)
    assert bound.refined == pytest.approx(refined)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
@pytest.mark.parametrize("name", CODES)
def test_both_bounds_hold_on_fitted_models(load, name):
    X, y = load(return_X_y=True)
    X, y = X[::5] / X.max(axis=0, initial=1.0), y[::5]
    if name == "exhaustive" and load is load_digits:
        X, y = X[y < 5], y[y < 5]
    model = LinearSVC(code=name, decoder="hamming", C=0.05, random_state=0).fit(X, y)
    F = X @ model.coef_.T + model.intercept_
    bound = model.code_.training_error_bound(F, y)
    error = 1 - model.score(X, y)
    assert error <= hamming_error(model.code_, F, y) + 1e-12
    assert error <= min(bound.refined, bound.printed) + 1e-12
    assert (Hamming().scores(F, model.code_).argmax(axis=1) != y).mean() == pytest.approx(error)


@pytest.mark.parametrize(("n_classes", "printed"), [(3, 0.50), (4, 0.86), (5, 1.09), (10, 1.57)])
def test_perfect_pairs_have_a_refined_bound_of_zero_and_a_printed_one_that_says_little(n_classes, printed):
    code, y = one_vs_one(n_classes), np.arange(n_classes)
    bound = code.training_error_bound(code.targets(y), y)
    assert bound.refined == 0
    assert bound.printed == pytest.approx(printed, abs=0.005)


def test_outputs_and_labels_that_do_not_fit_are_refused():
    code = Code([[1, 1], [-1, 1], [1, -1]])
    with pytest.raises(ValueError, match=r"F must have a row for each label and 2 columns.*shape \(2, 3\)"):
        code.training_error_bound(np.ones((2, 3)), [0, 1])
    with pytest.raises(ValueError, match=r"labels of shape \(1,\)"):
        code.training_error_bound(np.ones((2, 2)), [0])
    for wrong in ([0, 3], [0, -1], [0.5, 1]):
        with pytest.raises(ValueError, match="labels must be integers from 0 to 2"):
            code.training_error_bound(np.ones((2, 2)), wrong)
