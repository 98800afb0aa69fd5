"""``LinearSVC.fit_blocks``: the optimum of ``fit``, certified over all rows; wide rows."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import LinearSVC
from maxmargin.checkpoints import Checkpoint
from maxmargin.io import load, save
from maxmargin.methods.blocks import newton as block_newton
from maxmargin.methods.blocks import preconditioner

INTERCEPTS = {"free": (True, False), "penalised": (True, True), "none": (False, False)}


def rows(n=900, d=6, n_classes=2, dtype=np.float64, shift=0.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.digitize(X[:, 0] + 0.7 * rng.normal(size=n), [0.4, 1.3][: n_classes - 1])
    return (X + shift).astype(dtype), y


def cut(X, y, size=130, weight=None):
    parts = [slice(i, i + size) for i in range(0, X.shape[0], size)]
    return [(X[r], y[r]) if weight is None else (X[r], y[r], weight[r]) for r in parts]


def options(intercept, **others):
    fit, penalise = INTERCEPTS[intercept]
    return {"fit_intercept": fit, "penalize_intercept": penalise, "tol": 1e-6} | others


@pytest.mark.parametrize("loss", ["squared-hinge", "log"])
@pytest.mark.parametrize("intercept", sorted(INTERCEPTS))
@pytest.mark.parametrize(("n_classes", "code"), [(2, "one-vs-rest"), (3, "one-vs-rest"), (3, "one-vs-one")])
def test_it_has_the_optimum_of_fit(loss, intercept, n_classes, code):
    X, y = rows(n_classes=n_classes)
    weight = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float)
    given = options(intercept, loss=loss, code=code, C=0.3, class_weight="balanced")
    whole = LinearSVC(**given | {"tol": 1e-11}).fit(X, y, weight)
    model = LinearSVC(**given).fit_blocks(cut(X, y, weight=weight), sample_rows=150)
    assert model.status_ == "converged"
    assert model.dual_gap_ <= 1e-6
    assert model.objective_ == pytest.approx(whole.objective_, rel=2e-6)
    assert model.objective_ >= whole.objective_ * (1 - 1e-10)
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=2e-2)
    assert model.n_rows_ == len(y)
    assert model.n_passes_ <= 10
    for mine, others in zip(model.history_, whole.history_, strict=True):  # zero coefficients cost the same
        assert mine[-1].tiny == pytest.approx(others[-1].tiny, rel=1e-9, abs=0.0)


def value(model, X, y):
    """The objective as the docstring of LinearSVC has it, in double."""
    X = np.asarray(X, dtype=np.float64)
    targets = model.code_.targets(np.searchsorted(model.classes_, y)).astype(float)
    h = np.maximum(0.0, 1.0 - targets * (X @ model.coef_.T + model.intercept_))
    return 0.5 * np.sum(model.coef_**2) + model.C * np.sum(0.5 * h**2)


@pytest.mark.parametrize("shift", [0.0, 300.0])
def test_float32_rows_far_from_the_origin_are_certified_in_double(shift):
    X, y = rows(n_classes=3, dtype=np.float32, shift=shift)
    model = LinearSVC(loss="squared-hinge", tol=1e-5).fit_blocks(cut(X, y), sample_rows=150)
    assert model.status_ == "converged"
    assert value(model, X, y) == pytest.approx(model.objective_, rel=1e-8)
    best = LinearSVC(loss="squared-hinge", tol=1e-10).fit(X.astype(np.float64), y).objective_
    assert model.objective_ <= best * (1 + 1e-5)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_threads_change_no_bit(layout):
    X, y = rows(n_classes=3, dtype=np.float32)
    models = [
        LinearSVC(loss="log", n_jobs=n, random_state=0).fit_blocks(cut(layout(X), y, 97), sample_rows=200)
        for n in (1, 2, 5)
    ]
    for other in models[1:]:
        assert other.coef_.tobytes() == models[0].coef_.tobytes()
        assert other.intercept_.tobytes() == models[0].intercept_.tobytes()


def test_odd_blocks_and_files(tmp_path):
    X, y = rows(n_classes=3)
    order = np.argsort(y, kind="stable")
    empty = (X[:0], y[:0])
    model = LinearSVC(loss="squared-hinge", tol=1e-8, random_state=0)
    one = model.fit_blocks(cut(X, y), sample_rows=200).objective_
    model.fit_blocks([empty, *cut(X[order], y[order], 311), empty], sample_rows=200)
    assert model.objective_ == pytest.approx(one, rel=1e-7)
    save(model, tmp_path / "linear.mm")
    np.testing.assert_array_equal(
        load(tmp_path / "linear.mm").decision_function(X), model.decision_function(X)
    )


def test_the_hinge_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match="Use loss='squared-hinge', or fit on a sample"):
        LinearSVC().fit_blocks(cut(*rows(100)))


def test_a_resumed_fit_is_bit_identical(tmp_path):
    X, y = rows(n_classes=3)
    given = {"loss": "log", "tol": 1e-9, "random_state": 0}
    whole = LinearSVC(**given).fit_blocks(cut(X, y), sample_rows=100)

    class Interrupted(Exception):
        pass

    def interrupt(check, state):
        if "V" in state and state.n_iter == 1:
            raise Interrupted

    checkpoint = tmp_path / "fit.checkpoint"
    first = (
        LinearSVC(**given).set_callbacks(interrupt).set_checkpoint(Checkpoint(checkpoint, every_seconds=0.0))
    )
    with pytest.raises(Interrupted):
        first.fit_blocks(cut(X, y), sample_rows=100)
    again = LinearSVC(**given).set_checkpoint(Checkpoint(checkpoint, resume=True))
    assert again.fit_blocks(cut(X, y), sample_rows=100).coef_.tobytes() == whole.coef_.tobytes()


@pytest.mark.parametrize("order", [4000, 0])  # the sample's Hessian, or its diagonal alone
@pytest.mark.parametrize("loss", ["squared-hinge", "log"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_conjugate_gradients_have_the_optimum_of_newton(monkeypatch, order, loss, layout):
    X, y = rows(n_classes=3)
    given = {"loss": loss, "tol": 1e-6, "random_state": 0, "C": 0.1}
    newton = LinearSVC(**given).fit_blocks(cut(layout(X), y), sample_rows=300)
    monkeypatch.setattr(block_newton, "MAX_HESSIAN_BYTES", 0)
    monkeypatch.setattr(preconditioner, "MAX_PRECONDITIONER_ORDER", order)
    other = LinearSVC(**given).fit_blocks(cut(layout(X), y), sample_rows=300)
    assert other.status_ == "converged"
    assert other.objective_ == pytest.approx(newton.objective_, rel=2e-6)
    assert other.n_passes_ <= (25 if order else 60)


def test_rows_too_wide_for_hessians_take_few_passes():
    """4,500 features: a Hessian would take more than the limit, so conjugate gradients are chosen."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((6000, 4500), density=0.004, random_state=rng, format="csr", dtype=np.float64)
    y = (X @ rng.normal(size=4500) + 0.3 * rng.normal(size=6000) > 0).astype(int)
    assert block_newton.MAX_HESSIAN_BYTES < 8 * 4501**2
    given = {"loss": "squared-hinge", "tol": 1e-3, "random_state": 0}
    model = LinearSVC(**given).fit_blocks(cut(X, y, 2000), sample_rows=2000)
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(LinearSVC(**given).fit(X, y).objective_, rel=2e-3)
    assert model.n_passes_ <= 45  # the diagonal alone is the preconditioner here
