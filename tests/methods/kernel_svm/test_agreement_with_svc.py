"""The predictions of KernelSVC against scikit-learn's SVC on many data sets."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from maxmargin import KernelSVC


def rows_of(dataset, name, limit):
    arrays = dataset(name)
    X, y = (arrays[key] if key in arrays else arrays[f"{key}_train"] for key in "Xy")
    order = np.random.default_rng(0).permutation(len(y))[:limit]
    return StandardScaler().fit_transform(X[order].astype(np.float64)), y[order]


def leaves(dataset):
    X, y = rows_of(dataset, "leaves100", 1600)
    return X[y < 12], y[y < 12]


def messages(dataset):
    arrays = dataset("sms_spam")
    return TfidfVectorizer().fit_transform(arrays["text"][:1000]), arrays["y"][:1000]


def flowers(dataset):
    arrays = dataset("flowers17_features")
    return np.sqrt(arrays["hsv_bow"][arrays["trn1"] - 1].astype(np.float64)), arrays["y"][arrays["trn1"] - 1]


DATA = {
    "iris": lambda dataset: load_iris(return_X_y=True),
    "wine": lambda dataset: load_wine(return_X_y=True),
    "breast_cancer": lambda dataset: load_breast_cancer(return_X_y=True),
    "digits": lambda dataset: tuple(part[:900] for part in load_digits(return_X_y=True)),
    "glass": lambda dataset: rows_of(dataset, "glass", 214),
    "yeast": lambda dataset: rows_of(dataset, "yeast", 1484),
    "zoo": lambda dataset: rows_of(dataset, "zoo", 101),
    "usps": lambda dataset: rows_of(dataset, "usps", 800),
    "letter": lambda dataset: rows_of(dataset, "letter", 1500),
    "isolet": lambda dataset: rows_of(dataset, "isolet", 500),
    "leaves100": leaves,
    "flowers17": flowers,
    "sms_spam": messages,
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("C", [1.0, 30.0])
def test_predictions_match_svc(name, C, dataset):
    """Pair by pair, but where a decision is nearly a draw."""
    X, y = DATA[name](dataset)
    train = np.arange(len(y)) % 3 > 0
    kept = np.isin(y, np.unique(y[train]))
    X, y, train = X[kept], y[kept], train[kept]
    peer = SVC(C=C, tol=1e-6, decision_function_shape="ovo").fit(X[train], y[train])
    model = KernelSVC(C, tol=1e-6, gamma=peer._gamma).fit(X[train], y[train])
    assert model.status_ == "converged"
    ours, theirs = model._column_outputs(X), peer.decision_function(X).reshape(len(y), -1)
    if len(model.classes_) > 2:
        theirs = -theirs if np.corrcoef(ours[:, 0], theirs[:, 0])[0, 1] < 0 else theirs
    clear = np.abs(theirs) >= 1e-3
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(ours[clear] > 0, theirs[clear] > 0)
    sure = clear.all(axis=1)
    if len(model.classes_) == 2:
        np.testing.assert_array_equal(model.predict(X)[sure], peer.predict(X)[sure])
    else:  # votes; ties are broken differently
        votes = peer.set_params(break_ties=False, decision_function_shape="ovr").decision_function(X).round()
        votes = np.sort(votes, axis=1)
        sure &= votes[:, -1] > votes[:, -2]
        assert sure.mean() > 0.5
        np.testing.assert_array_equal(model.predict(X)[sure], peer.predict(X)[sure])
