"""Methods without a certificate: a fit that diverges has a status of its own and a model that can predict."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from maxmargin import KernelMatchingPursuit, KernelPegasos, SparseKernelClassifier
from maxmargin.losses import loss_from_name


def flipped_digits(dtype=np.float32, share=0.2):
    """Digits below 5 against the others, with a share of the labels flipped."""
    X, digit = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    y = (digit < 5).astype(int) ^ (rng.random(len(digit)) < share)
    return X[:600].astype(dtype), y[:600]


def mean_loss(model, X, y, name="squared-hinge"):
    return loss_from_name(name).value(np.where(y == 1, 1.0, -1.0) * model.decision_function(X)).mean()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_growth_without_bound_is_reported_and_the_model_predicts(dtype):
    X, y = flipped_digits(dtype)
    model = SparseKernelClassifier(100, selection="loss", refit=None, alpha=1e-3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"diverged.*raise alpha, set back_fit='n/B', or set refit="):
        model.fit(X, y)
    assert model.status_ == "diverged"
    assert 1 <= model.n_support_ < 100
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.objective_)
    assert model.budget_path_["budget"][-1] == model.n_support_
    kept = mean_loss(model, X, y)
    for b in model.budget_path_["budget"]:  # the kept point is the best of the path
        small = model.truncate(int(b))
        assert kept <= mean_loss(small, X, y) * (1 + 1e-5) or model.score(X, y) >= small.score(X, y)


def test_fit_that_is_worse_than_zero_coefficients_diverged():
    X, y = flipped_digits()
    model = SparseKernelClassifier.as_published(60, alpha=1e-6, back_fit=None, gamma=0.001, random_state=0)
    with pytest.warns(ConvergenceWarning, match="diverged"):
        model.fit(X, y)
    assert model.status_ == "diverged"
    good = SparseKernelClassifier.as_published(60, alpha=1e-1, gamma=0.001, random_state=0).fit(X, y)
    assert good.status_ == "budget_full"
    assert mean_loss(good, X, y, "hinge") <= 1.0


@pytest.mark.parametrize("parameters", [{}, {"selection": "loss", "back_fit": None, "loss": "squared-hinge"}])
def test_choice_of_alpha_as_published_avoids_those_that_diverge(parameters):
    X, y = flipped_digits()
    model = SparseKernelClassifier.as_published(60, gamma=0.001, random_state=0, **parameters).fit(X, y)
    assert model.status_ == "budget_full"
    loss = loss_from_name(model.loss)
    assert mean_loss(model, X, y, model.loss) <= loss.value(np.zeros(1))[0]


def test_stream_that_overflows_keeps_the_model_before_the_batch():
    X, y = flipped_digits()
    model = SparseKernelClassifier(100, selection="loss", refit=None, alpha=1e-4, random_state=0)
    model.partial_fit(X[:4], y[:4], classes=[0, 1])
    with pytest.warns(ConvergenceWarning, match="diverged"):
        model.partial_fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    model.predict(X)


@pytest.mark.parametrize("loss", ["hinge", "log", "squared-hinge"])
def test_pegasos_is_judged_by_its_own_objective(loss):
    X, y = flipped_digits()
    model = KernelPegasos(alpha=1e-9, loss=loss, gamma=0.001, max_iter=2, random_state=0)
    if loss == "squared-hinge":  # its steps start at a length that cannot diverge
        assert model.fit(X, y).status_ == "max_iter"
        return
    with pytest.warns(ConvergenceWarning, match=r"KernelPegasos diverged.*raise alpha, or raise max_iter"):
        model.fit(X, y)
    assert model.status_ == "diverged"
    assert np.isfinite(model.decision_function(X)).all()
    assert KernelPegasos(alpha=1e-2, loss=loss, gamma=0.001, random_state=0).fit(X, y).status_ == "max_iter"


def test_pegasos_without_a_finite_point_raises():
    X, y = flipped_digits()
    with pytest.raises(ValueError, match=r"not finite.*[Rr]aise alpha"):
        KernelPegasos(alpha=1e-60, gamma=0.001, max_iter=1, random_state=0).fit(X, y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matching_pursuit_is_never_worse_than_zeros(dtype):
    X, y = flipped_digits(dtype)
    model = KernelMatchingPursuit(60, alpha=0.0, gamma=1e-5, n_candidates=20, random_state=0).fit(
        X[:200], y[:200]
    )
    assert model.status_ in ("budget_full", "no_loss_left")
    assert mean_loss(model, X[:200], y[:200], "squared") <= 0.5
