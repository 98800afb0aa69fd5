"""Data and weights that every public classifier refuses, and classes that weights leave out."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from support.contract import three_classes

BAD_DATA = {
    "nan": (lambda X, y: (np.where(np.arange(5) == 2, np.nan, X), y), "NaN"),
    "infinity": (lambda X, y: (np.where(np.arange(5) == 2, np.inf, X), y), "infinity"),
    "no rows": (lambda X, y: (X[:0], y[:0]), "0 sample"),
    "no features": (lambda X, y: (X[:, :0], y), "0 feature"),
    "one class": (lambda X, y: (X, np.zeros(len(y), dtype=int)), r"at least two classes.*\[0\]"),
    "wrong length": (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
    "one dimension": (lambda X, y: (X[:, 0], y), "Reshape your data"),
    "regression": (lambda X, y: (X, X[:, 0]), "continuous"),
    "overflow": (lambda X, y: (X * 1e300, y), "too large.*StandardScaler"),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_is_refused(estimator, case):
    spoil, match = BAD_DATA[case]
    with pytest.raises(ValueError, match=match):
        estimator.fit(*spoil(*three_classes()))


@pytest.mark.parametrize(
    ("weight", "match"),
    [
        (np.zeros(150), "zero for every row.*give some row a weight"),
        (-np.ones(150), "sample_weight must be >= 0; got -1"),
        (np.full(150, np.nan), "must be finite"),
        (np.ones(3), "one entry for each of the 150 rows"),
        (np.ones((150, 2)), "1D"),
    ],
)
def test_bad_weights_are_refused(estimator, weight, match):
    with pytest.raises(ValueError, match=match):
        estimator.fit(*three_classes(), sample_weight=weight)


def test_failed_fit_leaves_the_estimator_unfitted(estimator):
    X, y = three_classes()
    model = estimator.fit(X, y)
    with pytest.raises(ValueError, match="too large"):
        model.fit(X * 1e300, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_float32_overflow_is_refused(estimator):
    X, y = three_classes(dtype=np.float32)
    with pytest.raises(ValueError, match=r"too large.*float32"):
        estimator.fit(X * np.float32(1e25), y)


@pytest.mark.parametrize("weight", [1e-320, 1e300])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weights_beyond_double_precision_are_refused(estimator, weight, class_weight):
    X, y = three_classes()
    with pytest.raises(ValueError, match=r"the weights \(.*class weights\) must each be at least"):
        estimator.set_params(class_weight=class_weight).fit(X, y, np.full(len(y), weight))


def test_class_weights_may_name_absent_classes_and_drop_classes(estimator):
    X, y = three_classes()
    two = y < 2
    model = clone(estimator).set_params(class_weight={0: 1.0, 1: 2.0, 2: 3.0}).fit(X[two], y[two])
    assert model.classes_.tolist() == [0, 1]
    assert clone(estimator).set_params(class_weight={2: 0.0}).fit(X, y).classes_.tolist() == [0, 1]


def test_classes_without_weight_are_dropped(estimator):
    X, y = three_classes()
    model = estimator.fit(X, y, sample_weight=(y != 2).astype(float))
    assert model.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="only one class with a positive weight"):
        estimator.fit(X, y, sample_weight=(y == 1).astype(float))
