"""The probabilities of SparseKernelClassifier."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from support.budget_models import fitted, noisy

from maxmargin import SparseKernelClassifier
from maxmargin.calibration.scores import log_odds_to_probabilities
from maxmargin.evaluation.evaluate import evaluate_rows


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "parameters",
    [
        {"loss": "log"},
        {"loss": "log", "code": "one-vs-one"},
        {"loss": "log", "decoder": "hamming"},
        {"loss": "squared-hinge"},
        {"loss": "hinge", "alpha": "auto"},
        {"loss": "squared", "validation_fraction": 0.3},
    ],
    ids=str,
)
def test_probabilities_agree_with_predictions(parameters, n_classes):
    X, y = noisy(250, n_classes)
    model = fitted(X, y, 20, **parameters)
    P = model.predict_proba(X)
    assert P.shape == (250, n_classes)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    assert (P >= 0).all()
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    np.testing.assert_array_equal(model.predict_log_proba(X), np.log(P))
    own = -np.log(P[np.arange(250), y]).mean()
    assert own < np.log(n_classes) - 0.2  # they tell something
    f = model.decision_function(X)
    if parameters["loss"] == "log" and n_classes == 2 and "decoder" not in parameters:
        np.testing.assert_allclose(P[:, 1], 1 / (1 + np.exp(-f)), rtol=1e-12)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict_proba(X), P)


def test_probabilities_of_many_classes_are_calibrated():
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    model = SparseKernelClassifier(40, n_jobs=2, random_state=0).fit(X, y)
    found = evaluate_rows(model, X_test, y_test).calibration
    assert found.expected_calibration_error < 0.025
    assert found.log_loss < 0.1
    assert found.brier < 0.05
    P = model.predict_proba(X_test)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X_test))
    names = np.array([f"class {i}" for i in range(10)])
    renamed = SparseKernelClassifier(40, n_jobs=1, random_state=0).fit(X, names[y])
    np.testing.assert_array_equal(renamed.predict_proba(X_test), P)


def test_weights_equal_repetitions_for_probabilities():
    X, y = noisy(150, 4)
    weight = np.random.default_rng(1).integers(0, 4, size=150)
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(150), weight))
    weighted = fitted(X, y, 20, weight, alpha="auto").predict_proba(X)
    np.testing.assert_allclose(
        fitted(X[rows], y[rows], 20, alpha="auto").predict_proba(X), weighted, atol=1e-9
    )


def test_log_odds_near_zero_keep_their_sign():
    f = np.array([1e-20, -1e-20, 0.0, 5e-324, 800.0, -800.0])
    P = log_odds_to_probabilities(f)
    np.testing.assert_array_equal(P.argmax(axis=1), f > 0)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)


def test_models_without_probabilities_explain_why():
    X, y = noisy(100)
    model = SparseKernelClassifier.as_published(5, alpha=0.1, random_state=0)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model.fit(X, y), "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(X)
    assert "refit='newton', with validation_fraction, with loss='log'" in str(caught.value.__cause__)
    assert "decoder='probabilistic'" in str(caught.value.__cause__)
    assert hasattr(model.set_params(loss="log").fit(X, y), "predict_proba")
    with_rows = model.set_params(loss="hinge", validation_fraction=0.3).fit(X, y)
    P = with_rows.predict_proba(X)
    np.testing.assert_array_equal(with_rows.classes_[P.argmax(axis=1)], with_rows.predict(X))
