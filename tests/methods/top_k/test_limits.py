"""The top-k SVM at the limits: overflow, unscaled features, indefinite kernels, labels of a wrong shape."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from support.reference_top_k import top_k_objective

from maxmargin import LinearProgramSVC, TopKSVC
from maxmargin.methods.top_k.newton import _solve

IRIS = load_iris(return_X_y=True)


def drawn(n_classes, n, d):
    """Rows, labels with every class among them, and weights."""
    rng = np.random.default_rng(1)
    labels = np.arange(n) % n_classes
    return rng.normal(size=(n, d)) + rng.normal(size=(n_classes, d))[labels], labels, rng.uniform(0.2, 3.0, n)


def test_labels_in_a_column_and_too_few_of_them_at_scoring():
    X, y = IRIS
    model = TopKSVC(alpha=0.1, tol=1e-2).fit(X, y)
    for k in (1, 2):
        assert model.score(X, y[:, None], k) == model.score(X, y, k)
    for labels in (y[:1], y[:-1]):
        with pytest.raises(ValueError, match="a row for each label"):
            model.score(X, labels)


@pytest.mark.parametrize(("size", "alpha"), [(1.7e308, 1e-3), (1e306, 1e-10), (1.0, 1e-300)])
def test_what_would_overflow_is_refused_by_the_name_of_alpha(size, alpha):
    X, y = IRIS
    K = X @ X.T
    given = {"alpha": alpha, "kernel": "precomputed"}
    with pytest.raises(ValueError, match=f"alpha={alpha:g} is too small.*Raise alpha"):
        TopKSVC(**given).fit(K / K.max() * size, y)
    with pytest.raises(ValueError, match="alpha=1e-300 is too small"):
        TopKSVC(alpha=1e-300).fit(X, y)


@pytest.mark.parametrize("side", ["include", "exclude"])
@pytest.mark.parametrize("solver", ["dual-ascent", "frank-wolfe"])
def test_many_of_many_classes(side, solver):
    """A k at which the largest violations are selected, rather than kept in order: the same certificate."""
    X, labels, weight = drawn(30, 60, 4)
    model = TopKSVC(25, 0.05, true_class=side, solver=solver, tol=1e-2).fit(X, labels, weight)
    W = np.vstack([model.coef_.T, model.intercept_])
    written_out = top_k_objective(W, np.column_stack([X, np.ones(len(X))]), labels, weight, 0.05, 25, side)
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(written_out, rel=1e-9)


@pytest.mark.parametrize("scale", [1e5, 1e7, 1e20, np.array([1.0, 1.0, 1e8])], ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_features_of_any_size_end_with_what_was_reached(scale):
    X = scale * np.random.default_rng(0).normal(size=(40, 3))
    model = TopKSVC(2).fit(X, np.arange(40) % 5)
    assert model.status_ == ("converged" if np.all(scale == 1e5) else "stalled")
    assert np.isfinite(model.decision_function(X)).all()
    assert model.n_iter_ < 1000
    assert model.objective_ <= min(1.0 + 1e-12, *(check.primal for check in model.history_[0]))  # W = 0 has 1
    W, rows = np.vstack([model.coef_.T, model.intercept_]), np.column_stack([X, np.ones(40)])
    written_out = top_k_objective(W, rows, np.arange(40) % 5, np.ones(40), model.alpha, 2, "include")
    assert model.objective_ == pytest.approx(written_out, rel=1e-6)


def test_a_singular_system_of_newtons_method_is_not_the_end(monkeypatch):
    asked = []

    def singular(H, right):
        asked.append(len(right))
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr("maxmargin.methods.top_k.newton._solve", singular)
    X, labels, weight = drawn(4, 40, 3)
    model = TopKSVC(2, 1e-6, tol=1e-6).fit(X, labels, weight)
    assert asked
    assert model.status_ == "converged"


def test_a_system_of_rows_of_different_sizes_is_solved():
    rng = np.random.default_rng(0)
    R, sizes = rng.normal(size=(6, 4)), np.array([1e-140, 1.0, 1e9, 1e140])
    H, expected = R.T @ R * np.outer(sizes, sizes), rng.normal(size=4)
    np.testing.assert_allclose(_solve(H, H @ (expected / sizes)) * sizes, expected, rtol=1e-9)


@pytest.mark.parametrize("given", [{"kernel": "precomputed"}, {"kernel": "sigmoid"}], ids=str)
def test_an_indefinite_kernel_has_no_certificate(given):
    X, y = IRIS
    X = -X @ X.T if given["kernel"] == "precomputed" else X
    with pytest.warns(ConvergenceWarning, match=r"stopped \(stalled\) .* '.*' is not positive semi-definite"):
        model = TopKSVC(**given).fit(X, y)
    assert model.status_ == "stalled"
    assert model.dual_gap_ == np.inf
    assert model.history_[0][-1].dual == -np.inf


@pytest.mark.parametrize("model", [TopKSVC(alpha=0.1, tol=1e-2), LinearProgramSVC(multi_class="joint")])
def test_scores_of_classes_are_no_columns_of_a_code(model):
    model.fit(*IRIS)
    for name in ("column_outputs", "decode", "explain"):
        with pytest.raises(AttributeError, match="has no attribute"):
            getattr(model, name)
        assert not hasattr(model, name)
