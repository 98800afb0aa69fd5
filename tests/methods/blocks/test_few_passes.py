"""Few passes on easy and hard data, and what makes them few: the start, the precision, a second sample."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import LinearSVC, SparseKernelClassifier
from maxmargin.checkpoints import Checkpoint
from maxmargin.methods.blocks import ThreadPasses, source_of
from maxmargin.methods.blocks import newton as block_newton
from maxmargin.methods.blocks.near_margin import NearMarginTask, draw_near_margin, sketched
from maxmargin.methods.blocks.sample import LookTask, look
from maxmargin.solving import Deadline

PREPARATORY = 2  # the sample, and where it is not enough a second one


def cut(X, y, size=1000):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, X.shape[0], size)]


def rows(n=6000, d=8, dtype=np.float32):
    X = np.random.default_rng(0).normal(size=(n, d))
    return X.astype(dtype), (np.abs(X[:, 0]) + 0.3 * X[:, 1] > 0.8).astype(int)


def rare(X, y):
    return X, (X[:, 0] + X[:, 1] > 3.2).astype(int)


def badly_scaled(X, y):
    return X * np.float32(10.0) ** np.linspace(-3, 3, X.shape[1], dtype=np.float32), y


def sparse_rows(X, y):
    return sparse.csr_array(np.where(np.abs(X) > 1.0, X, 0.0).astype(np.float32)), y


def three_classes(X, y):
    return X, y + (X[:, 2] > 1.0)


def correlated(X, y):
    return (X @ np.vander(np.linspace(0.1, 1.0, X.shape[1]), increasing=True)).astype(np.float32), y


@pytest.mark.parametrize("change", [rare, badly_scaled, sparse_rows, three_classes, correlated])
@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(loss="squared-hinge", tol=1e-3, random_state=0),
        LinearSVC(loss="log", tol=1e-3, C=30.0, random_state=0),
        SparseKernelClassifier(25, random_state=0),
    ],
    ids=["squared hinge", "log", "kernel"],
)
def test_a_gap_of_a_thousandth_takes_few_passes(change, model):
    model.fit_blocks(cut(*change(*rows())), sample_rows=2500)
    assert model.dual_gap_ <= 1e-3
    assert model.n_passes_ <= 8 + PREPARATORY


@pytest.mark.parametrize("loss", ["squared-hinge", "log"])
def test_few_rows_with_a_loss_are_drawn_for_a_start(loss):
    """A penalty so small that the sample has almost no loss where all rows have some."""
    X, y = rows()
    model = SparseKernelClassifier(30, loss=loss, alpha=2e-9, random_state=0)
    model.fit_blocks(cut(X[:, :3], y), sample_rows=2000)
    assert model.dual_gap_ <= 1e-3
    assert model.n_passes_ <= 8 + PREPARATORY


def linear_task(X, y, n_rows):
    """A draw at coefficients of a linear model."""
    model = LinearSVC(loss="squared-hinge", random_state=0).fit(X, y)
    plan = model._block_plan
    passes = ThreadPasses(source_of([(X, y)]), 1, Deadline())
    problem, V = plan.problem(model, passes.run(look, LookTask(len(y), 0)))
    return NearMarginTask(problem, V, LookTask(n_rows, 3))


def test_rows_near_the_margin_are_drawn_and_stand_for_all():
    X, y = rows(dtype=np.float64)
    y = (X[:, 0] > 0).astype(int)
    task = linear_task(X, y, 400)
    found = [
        sketched(ThreadPasses(source_of(cut(X, y, size)), 1, Deadline()).run(draw_near_margin, task))
        for size in (6000, 997)
    ]
    assert sorted(map(tuple, found[0].X)) == sorted(map(tuple, found[1].X))  # however the rows are cut
    drawn = found[0]
    assert np.abs(drawn.X[:, 0]).mean() < 0.5 * np.abs(X[:, 0]).mean()
    for label in (0, 1):
        assert drawn.weight[drawn.y == label].sum() == pytest.approx(np.count_nonzero(y == label))
    near = np.abs(X[:, 0]) < 0.05
    estimate = drawn.weight[np.abs(drawn.X[:, 0]) < 0.05].sum()
    assert estimate == pytest.approx(np.count_nonzero(near), rel=0.3)


def test_a_resumed_float32_fit_with_large_columns_is_bit_identical(tmp_path):
    X, y = rows(3000)
    X = X * np.float32(50.0)
    given = {"loss": "log", "C": 0.01, "tol": 1e-9, "random_state": 0}
    whole = LinearSVC(**given).fit_blocks(cut(X, y), sample_rows=300)

    class Interrupted(Exception):
        pass

    def interrupt(check, state):
        if "mixed" in state and state.n_iter == 1:
            raise Interrupted

    path = tmp_path / "fit.checkpoint"
    first = LinearSVC(**given).set_callbacks(interrupt).set_checkpoint(Checkpoint(path, every_seconds=0.0))
    with pytest.raises(Interrupted):
        first.fit_blocks(cut(X, y), sample_rows=300)
    again = LinearSVC(**given).set_checkpoint(Checkpoint(path, resume=True))
    assert again.fit_blocks(cut(X, y), sample_rows=300).coef_.tobytes() == whole.coef_.tobytes()


def test_wide_rows_are_preconditioned_by_the_sample(monkeypatch):
    """4,500 sparse columns, whose products depend on a few hidden ones; a third of the rows is the sample."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((6000, 4500), density=0.004, rng=rng, format="csr")
    y = (X @ rng.normal(size=4500) + 0.3 * rng.normal(size=6000) > 0).astype(int)
    given = {"loss": "squared-hinge", "tol": 1e-3, "random_state": 0, "C": 0.05}
    assert block_newton.MAX_HESSIAN_BYTES < 8 * 4501**2
    model = LinearSVC(**given).fit_blocks(cut(X, y, 2000), sample_rows=4000)
    assert model.dual_gap_ <= 1e-3
    assert model.n_passes_ <= 8 + PREPARATORY
