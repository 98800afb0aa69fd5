"""``fit_blocks``: the certificate over all rows, the same bits for any number of threads, resumed fits."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import make_moons

from maxmargin import SparseKernelClassifier
from maxmargin.checkpoints import Checkpoint
from maxmargin.io import load, save
from maxmargin.losses import loss_from_name


def moons(n=1200, n_classes=2, dtype=np.float64):
    X, y = make_moons(n, noise=0.3, random_state=0)
    if n_classes == 3:
        y = np.where(X[:, 0] > 1.3, 2, y)
    return X.astype(dtype), y


def cut(X, y, size=150, weight=None):
    starts = range(0, X.shape[0], size)
    rows = [slice(i, i + size) for i in starts]
    return [(X[r], y[r]) if weight is None else (X[r], y[r], weight[r]) for r in rows]


def fitted(blocks, sample_rows=400, **parameters):
    options = {"budget": 15, "alpha": 1e-3, "random_state": 0, "n_jobs": 1, "tol": 1e-4} | parameters
    return SparseKernelClassifier(**options).fit_blocks(blocks, sample_rows=sample_rows)


def objective_of(model, X, y, weight, A):
    """The problem as its docstring has it, naively in double, at coefficients A (budget, columns)."""
    X, Z = np.asarray(X, dtype=np.float64), np.asarray(model.support_vectors_, dtype=np.float64)
    K, K_zz = model.kernel_(X, Z), model.kernel_(Z, Z)
    targets = model.code_.targets(np.searchsorted(model.classes_, y)).astype(float)
    loss, total = loss_from_name(model.loss), 0.0
    for t in range(targets.shape[1]):
        own = targets[:, t] != 0
        w, m = weight[own], targets[own, t] * (K[own] @ A[:, t])
        total += w @ loss.value(m) / w.sum() + 0.5 * model.alpha_ * A[:, t] @ K_zz @ A[:, t]
    return total


@pytest.mark.parametrize(
    ("n_classes", "code", "dtype"),
    [
        (2, "one-vs-rest", np.float32),
        (2, "one-vs-rest", np.float64),
        (3, "one-vs-rest", np.float64),
        (3, "one-vs-one", np.float32),
    ],
)
@pytest.mark.parametrize("loss", ["squared-hinge", "log"])
def test_the_gap_bounds_the_excess_over_an_independent_optimum(n_classes, code, dtype, loss):
    X, y = moons(n_classes=n_classes, dtype=dtype)
    weight = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float)
    model = fitted(cut(X, y, weight=weight), loss=loss, code=code)
    A = model.dual_coef_.T
    value = objective_of(model, X, y, weight, A)
    assert value == pytest.approx(model.objective_, rel=1e-7)
    at_zeros = objective_of(model, X, y, weight, np.zeros_like(A))
    assert model.history_[0][-1].tiny == pytest.approx(np.finfo(float).eps * at_zeros, rel=1e-9, abs=0.0)

    def function(a):
        return objective_of(model, X, y, weight, a.reshape(A.shape))

    best = minimize(function, A.ravel(), method="BFGS", options={"maxiter": 60, "gtol": 1e-9}).fun
    assert model.dual_gap_ <= 1e-4
    assert (value - best) / value <= model.dual_gap_ + 1e-9


def test_a_rough_tolerance_leaves_a_larger_gap_that_still_bounds_the_excess():
    X, y = moons()
    rough, exact = (fitted(cut(X, y), sample_rows=60, tol=tol) for tol in (0.2, 1e-8))
    assert 1e-8 < rough.dual_gap_ <= 0.2
    assert 0.0 < rough.objective_ - exact.objective_ <= rough.dual_gap_ * rough.objective_


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_change_no_bit(n_classes):
    X, y = moons(n_classes=n_classes, dtype=np.float32)
    one, two, five = (fitted(cut(X, y, 97), n_jobs=n) for n in (1, 2, 5))
    for other in (two, five):
        assert other.dual_coef_.tobytes() == one.dual_coef_.tobytes()
        assert (other.dual_gap_, other.objective_) == (one.dual_gap_, one.objective_)


@pytest.mark.parametrize("size", [1, 33, 1200])
def test_other_blocks_change_the_objective_by_rounding_only(size):
    X, y = moons(n_classes=3)
    one, other = fitted(cut(X, y)), fitted(cut(X, y, size))
    np.testing.assert_array_equal(other.support_vectors_, one.support_vectors_)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-6)
    assert max(one.dual_gap_, other.dual_gap_) <= 1e-4


def test_odd_blocks():
    X, y = moons(n_classes=3)
    order = np.argsort(y, kind="stable")  # one class in most blocks, the last class in the last ones only
    empty = (X[:0], y[:0])
    blocks = [empty, *cut(X[order], y[order], 211), empty, (X[:1], y[:1], [0.0])]
    one, other = fitted(cut(X, y)), fitted(blocks)
    np.testing.assert_array_equal(other.classes_, [0, 1, 2])
    np.testing.assert_array_equal(other.support_vectors_, one.support_vectors_)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-6)
    assert other.n_rows_ == len(y)


def test_weights_are_repetitions():
    X, y = moons(600)
    weight = np.random.default_rng(2).integers(0, 3, size=len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    start = {"sample_rows": 10**6}  # all rows, so that both have the same centres
    one = fitted(cut(X, y, weight=weight.astype(float)), **start)
    other = fitted(cut(X[repeated], y[repeated]), **start)
    np.testing.assert_array_equal(other.support_vectors_, one.support_vectors_)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-6)


def test_class_weights_count_over_all_rows():
    X, y = moons(n_classes=3)
    totals = np.bincount(y)
    balanced = fitted(cut(X, y), class_weight="balanced")
    weight = (len(y) / (3 * totals))[y]
    given = fitted(cut(X, y), class_weight={i: len(y) / (3 * n) for i, n in enumerate(totals)})
    assert balanced.objective_ == pytest.approx(given.objective_, rel=1e-9)
    value = objective_of(balanced, X, y, weight, balanced.dual_coef_.T)
    assert value == pytest.approx(balanced.objective_, rel=1e-9)


def test_sparse_rows_give_the_model_of_dense_rows():
    X, y = moons()
    dense = fitted(cut(X, y))
    model = fitted(cut(sparse.csr_array(X), y))
    assert model.objective_ == pytest.approx(dense.objective_, rel=1e-9)
    np.testing.assert_allclose(model.decision_function(X), dense.decision_function(X), atol=1e-6)


def test_passes_lower_the_objective_that_the_sample_reached():
    X, y = moons(3000)
    first, *_, last = fitted(cut(X, y), sample_rows=60).history_[0]
    assert last.primal < 0.99 * first.primal
    assert last.dual > first.dual


def test_a_resumed_fit_is_bit_identical(tmp_path):
    X, y = moons(n_classes=3, dtype=np.float32)
    blocks, whole = cut(X, y), fitted(cut(X, y))

    class Interrupted(Exception):
        pass

    seen = []

    def interrupt(check, state):
        if "V" in state and "double" in state:
            seen.append(state.n_iter)
            if len(seen) == 3:
                raise Interrupted

    def model():
        return SparseKernelClassifier(budget=15, alpha=1e-3, random_state=0, n_jobs=2, tol=1e-4)

    path = tmp_path / "fit.checkpoint"
    first = model().set_callbacks(interrupt).set_checkpoint(Checkpoint(path, every_seconds=0.0))
    with pytest.raises(Interrupted):
        first.fit_blocks(blocks, sample_rows=400)
    resumed = model().set_checkpoint(Checkpoint(path, resume=True)).fit_blocks(blocks, sample_rows=400)
    assert resumed.dual_coef_.tobytes() == whole.dual_coef_.tobytes()
    assert resumed.history_[0][-1].n_iter == whole.history_[0][-1].n_iter
    with pytest.raises(ValueError, match="another fit"):
        model().set_checkpoint(Checkpoint(path, resume=True)).fit_blocks(blocks[:-1], sample_rows=400)


def test_the_model_file_is_that_of_any_other_fit(tmp_path):
    X, y = moons()
    model = fitted(cut(X, y))
    save(model, tmp_path / "blocks.mm")
    np.testing.assert_array_equal(load(tmp_path / "blocks.mm").predict(X), model.predict(X))
    assert model.predict_proba(X).shape == (len(y), 2)


def test_what_cannot_be_solved_over_blocks_is_refused_with_the_remedy():
    X, y = moons(100)
    with pytest.raises(ValueError, match="Use loss='squared-hinge', or fit on a sample"):
        fitted(cut(X, y), loss="hinge")
    with pytest.raises(ValueError, match="refit='newton'"):
        SparseKernelClassifier.as_published(5, loss="log").fit_blocks(cut(X, y))
    with pytest.raises(ValueError, match="precomputed"):
        fitted(cut(X, y), kernel="precomputed")
    with pytest.raises(ValueError, match="sample_rows"):
        fitted(cut(X, y), sample_rows=0)
    with pytest.raises(ValueError, match="at least two classes"):
        fitted(cut(X, np.zeros(100)))
