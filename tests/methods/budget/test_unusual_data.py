"""SparseKernelClassifier on unusual rows, labels, weights, kernels and objects."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from support.budget_models import OWN_LOSSES, fitted, noisy, objective_of

from maxmargin import KernelMatchingPursuit, KernelPerceptron, LaSVM, SparseKernelClassifier
from maxmargin.kernels import RBF


@pytest.mark.parametrize("own", [True, False])
def test_repeated_rows_equal_weights(own):
    X, y = noisy(60)
    make = SparseKernelClassifier if own else SparseKernelClassifier.as_published
    model = make(8, alpha=0.1, gamma=0.5, merge_duplicates=True, random_state=0)
    once = clone(model).fit(X, y)
    thrice = clone(model).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    np.testing.assert_array_equal(once.decision_function(X), thrice.decision_function(X))
    apart = clone(model).set_params(merge_duplicates=False).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert apart.n_support_ <= 8


def test_the_same_row_with_two_labels():
    X, y = noisy(50)
    model = fitted(np.vstack([X, X]), np.concatenate([y, 1 - y]), 20)
    np.testing.assert_allclose(model.decision_function(X), 0.0, atol=1e-6)
    assert model.objective_ == pytest.approx(0.5)
    X2, y2 = np.vstack([X, X[:5]]), np.concatenate([y, 1 - y[:5]])
    mixed = fitted(X2, y2, 60, tol=1e-6)
    assert len(np.unique(mixed.support_vectors_, axis=0)) == mixed.n_support_ <= 50


def test_separable_data_ends_with_no_loss_left():
    X = np.repeat(np.eye(2) * 5, 20, axis=0) + 0.01 * np.random.default_rng(0).normal(size=(40, 2))
    y = np.repeat([0, 1], 20)
    model = fitted(X, y, 30, alpha=1e-8)
    assert model.status_ == "no_loss_left"
    assert model.n_support_ < 30
    assert model.score(X, y) == 1.0
    published = SparseKernelClassifier.as_published(30, alpha=1e-3, gamma=0.5, back_fit=None, random_state=0)
    assert published.fit(X, y).status_ == "no_loss_left"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("alpha", [1e-12, 1e6])
@pytest.mark.parametrize("loss", OWN_LOSSES)
def test_extreme_alpha_ends_with_a_certificate(loss, alpha, dtype):
    X, y = noisy(100)
    X = X.astype(dtype)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fitted(X, y, 15, loss=loss, alpha=alpha)
    assert np.isfinite(model.decision_function(X)).all()
    assert (model.status_ == "stalled") == bool(caught)
    assert (model.dual_gap_ <= model.tol) == (model.status_ in ("budget_full", "no_loss_left"))
    assert model.objective_ == pytest.approx(
        objective_of(model, X.astype(float), y), rel=1e-8 if dtype is np.float64 else 0.05
    )


def test_random_labels():
    X, _ = noisy(200)
    y = np.random.default_rng(5).integers(0, 2, 200)
    model = fitted(X, y, 30, alpha="auto")
    assert model.status_ in ("budget_full", "no_loss_left")
    assert model.objective_ <= 0.5 + 1e-9  # no worse than f = 0
    P = model.predict_proba(X)
    assert np.abs(P - 0.5).mean() < 0.25


@pytest.mark.parametrize(
    "y", [[0, 1], [0, 1, 1, 1, 1], [0, 1, 2, 3, 3], ["b", "a", "b", "a", "a"], [0] + [1] * 30]
)
@pytest.mark.parametrize("own", [True, False])
def test_very_few_rows(y, own):
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    make = SparseKernelClassifier if own else SparseKernelClassifier.as_published
    for code in ("one-vs-rest", "one-vs-one"):
        model = make(10, gamma=1.0, code=code, random_state=0).fit(X, y)
        assert model.n_support_ <= min(10, len(y))
        assert set(model.predict(X)) <= set(y)
        if own:
            assert model.score(X, y) >= 0.5
        if hasattr(model, "predict_proba"):
            np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("model", "kernel", "scale"),
    [
        (SparseKernelClassifier(5), "polynomial", 1e4),
        (SparseKernelClassifier(5), "linear", 1e10),  # the squares overflow
        (KernelMatchingPursuit(5), "polynomial", 1e4),
        (SparseKernelClassifier(5, selection="loss"), lambda A, B: np.full((len(A), len(B)), np.nan), 1.0),
    ],
)
def test_kernel_values_beyond_float32_are_refused(model, kernel, scale):
    X, y = noisy(60)
    model = clone(model).set_params(kernel=kernel, gamma=1.0, degree=5, random_state=0)
    with pytest.raises(ValueError, match=r"kernel values.*overflow in float32.*float64"):
        model.fit((scale * X).astype(np.float32), y)
    if isinstance(kernel, str):
        assert model.fit(scale * X, y).score(scale * X, y) > 0.6


def test_constant_features():
    X, y = noisy(60)
    model = fitted(np.column_stack([X, np.full(60, 3.0)]), y, 10)
    np.testing.assert_allclose(
        model.decision_function(np.column_stack([X, np.full(60, 3.0)])),
        fitted(X, y, 10).decision_function(X),
        atol=0.2,
    )  # another order, another set
    alike = fitted(np.ones((20, 2)), np.arange(20) % 2, 5)
    assert alike.n_support_ <= 1
    with pytest.raises(ValueError, match="gamma"):
        fitted(np.ones((20, 2)), np.arange(20) % 2, 5, gamma="median")


@pytest.mark.parametrize("spread", [8, 140])
def test_weights_of_very_different_magnitude(spread):
    X, y = noisy(120)
    weight = 10.0 ** np.random.default_rng(0).uniform(-spread, spread, 120)
    model = fitted(X, y, 15, weight)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.dual_gap_ <= model.tol
    assert model.objective_ == pytest.approx(objective_of(model, X, y, weight), rel=1e-8)
    published = SparseKernelClassifier.as_published(15, alpha=0.1, gamma=0.5, random_state=0)
    assert np.isfinite(published.fit(X, y, weight).decision_function(X)).all()


def test_float32_reaches_the_same_objective():
    X, y = noisy(150, 3)
    single, double = fitted(X.astype(np.float32), y, 30), fitted(X.astype(np.float32).astype(float), y, 30)
    assert single.support_vectors_.dtype == np.float32
    assert single.objective_ == pytest.approx(double.objective_, rel=0.01)


@pytest.mark.parametrize("move", [False, True])
def test_csr_equals_dense(move):
    X, y = noisy(100)
    X[np.abs(X) < 0.4] = 0.0
    dense, csr = fitted(X, y, 8, move_centers=move), fitted(sparse.csr_array(X), y, 8, move_centers=move)
    assert csr.objective_ == pytest.approx(dense.objective_, rel=1e-6)
    np.testing.assert_allclose(
        csr.decision_function(sparse.csr_array(X)), dense.decision_function(X), atol=1e-4
    )
    if not move:
        np.testing.assert_array_equal(csr.support_, dense.support_)


def test_precomputed_and_callable_equal_the_named_kernel():
    """The rows come in another order, so they find another set: both are at its optimum, and near."""
    X, y = noisy(100, 3)
    K = RBF(gamma=0.5)(X, X)
    rbf = fitted(X, y, 100, tol=1e-8)
    for model in (
        fitted(K, y, 100, kernel="precomputed", tol=1e-8),
        fitted(X, y, 100, kernel=lambda A, B: RBF(gamma=0.5)(A, B), tol=1e-8),
    ):
        assert model.objective_ == pytest.approx(rbf.objective_, rel=1e-6)
        data = K if model.kernel == "precomputed" else X
        np.testing.assert_allclose(model.decision_function(data), rbf.decision_function(X), atol=1e-3)
    pre = fitted(K, y, 12, kernel="precomputed")
    small = fitted(K, y, 12, kernel="precomputed").truncate(5)
    assert small.n_support_ == 5
    np.testing.assert_array_equal(small.support_, pre.support_[:5])


@pytest.mark.parametrize("alpha", ["auto", 1e-3])
@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "poly", "coef0": 1.0},
        {"kernel": "laplacian"},
        {"kernel": "exponential"},
        {"kernel": "sigmoid", "gamma": 2.0},
        {"kernel": "sigmoid", "gamma": 0.1, "coef0": -1.0},
        {"kernel": "linear"},
    ],
    ids=str,
)
def test_other_kernels_end_with_an_honest_status(kernel, alpha):
    X, y = noisy(150)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fitted(X, y, 25, alpha=alpha, **kernel)
    assert np.isfinite(model.decision_function(X)).all()
    assert (model.status_ in ("budget_full", "no_loss_left")) == (model.dual_gap_ <= model.tol)
    assert bool(caught) == (model.status_ == "stalled")
    if kernel["kernel"] != "sigmoid":
        assert model.objective_ < 0.5


@pytest.mark.slow
def test_objects_with_a_callable_kernel(dataset):
    """DNA sequences as strings, compared letter by letter."""
    splice = dataset("splice_seq")
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(splice["y"]))[:900]
    X, y = [str(s) for s in splice["seq"][rows]], splice["y"][rows]

    def same_letters(A, B):
        letters = [np.array([list(s) for s in S]) for S in (A, B)]
        return np.stack([np.exp(-0.05 * (letters[1] != row).sum(axis=1)) for row in letters[0]])

    model = SparseKernelClassifier(60, kernel=same_letters, random_state=0).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.85
    assert model.n_support_ <= 60
    assert model.support_vectors_.tolist() == [X[i] for i in model.support_]
    model.partial_fit(X[600:], y[600:])
    assert model.n_support_ <= 60


def test_objects_can_be_arrays_of_different_lengths():
    rng = np.random.default_rng(0)
    series = np.empty(40, dtype=object)
    series[:] = [rng.normal(i % 2, 1.0, size=5 + i % 3) for i in range(40)]

    def of_means(A, B):
        return np.exp(-np.square(np.subtract.outer([a.mean() for a in A], [b.mean() for b in B])))

    y = np.arange(40) % 2
    model = fitted(series, y, 4, kernel=of_means, warm_start=True)
    assert model.truncate(2).n_support_ == 2
    first = model.support_
    model.set_params(budget=6).fit(series, y)
    assert model.support_ is not None
    assert len(first) == 4


def test_sparse_precomputed_kernel_is_refused():
    X, y = noisy(30)
    for model in (SparseKernelClassifier(5), LaSVM(), KernelMatchingPursuit(5), KernelPerceptron()):
        with pytest.raises(ValueError, match=r"precomputed kernel matrix must be dense.*toarray"):
            model.set_params(kernel="precomputed").fit(sparse.csr_array(X @ X.T), y)
