"""Models that are not saved: functions, foreign objects, and what is not fitted."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from support.saved_models import data

import maxmargin as mm
from maxmargin import kernels
from maxmargin.io import save


def user_kernel(X, Z):
    return X @ Z.T


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: mm.KernelSVC(kernel=user_kernel), "function: a model file holds data, never code"),
        (lambda: mm.KernelSVC(kernel=kernels.FromFunction(user_kernel)), "FromFunction"),
        (lambda: mm.LinearSVC(random_state=np.random.RandomState(0)), "random_state is a RandomState"),
        (
            lambda: mm.OutputCodeClassifier(LogisticRegression()),
            "LogisticRegression, which a model file cannot",
        ),
        (lambda: make_pipeline(PolynomialFeatures(), mm.LinearSVC()), "PolynomialFeatures"),
        (lambda: make_pipeline(StandardScaler(), mm.LinearSVC(), memory="cache"), r"cache folder \(memory\)"),
    ],
)
@pytest.mark.filterwarnings("ignore:Persisting input arguments")  # by joblib, on a busy machine
def test_functions_and_foreign_objects_are_refused(make, match, path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = make().fit(*data())
    with pytest.raises(ValueError, match=match):
        save(model, path)
    assert not path.exists()


def test_only_fitted_models_are_saved(path):
    for wrong in (mm.LinearSVC, LogisticRegression().fit(*data()), np.zeros(3), kernels.RBF(1.0), None):
        with pytest.raises(ValueError, match="model must be a fitted estimator of maxmargin"):
            save(wrong, path)
    with pytest.raises(NotFittedError):
        save(mm.LinearSVC(), path)
    impostor = type("LinearSVC", (LogisticRegression,), {})().fit(*data())
    with pytest.raises(ValueError, match="model must be"):
        save(impostor, path)
    strange = mm.LinearSVC().fit(*data())
    strange.note = "mine"
    with pytest.raises(ValueError, match=r"does not know: \['note'\]"):
        save(strange, path)
    broken = mm.LinearSVC().fit(*data())
    broken.coef_ = broken.coef_[:, :2]
    with pytest.raises(ValueError, match=r"not saved, because .*(intercept_|coef_)"):
        save(broken, path)
    assert not path.exists()
