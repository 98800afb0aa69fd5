"""The dual with a kink: the core's gap and intercept against the reference, exact faces, packed blocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.regression_problems import LOSSES, bounds

from maxmargin import KernelSVR, _native
from maxmargin.kernels import RBF, Linear
from maxmargin.kernels.data import KernelData
from maxmargin.methods.kernel_svm import packed_block
from maxmargin.methods.kernel_svm.polish import polish
from maxmargin.methods.kernel_svm.problem import balanced
from maxmargin.methods.kernel_svr import RegressionLoss, Targets

EVERY = slice(None)


def drawn(seed, n, loss, kernel=None):
    """A problem, feasible coefficients (some at a bound, some at the kink) and the gradients there."""
    rng = np.random.default_rng(seed)
    X, y, weight = rng.normal(size=(n, 3)), rng.normal(size=n), rng.uniform(0.1, 3.0, n)
    values = KernelData(kernel or Linear(), X, np.arange(n))
    what = RegressionLoss(loss, rng.choice([0.0, 0.2, 1.0]), rng.uniform(0.1, 0.9), rng.choice([0.1, 1.0]))
    problem = what.problem(values, Targets.of(y, weight), 1.0, weight)
    a = rng.uniform(problem.lower, problem.upper)
    a = np.where(rng.random(n) < 0.3, problem.upper, np.where(rng.random(n) < 0.3, 0.0, a))
    a = balanced(problem, a)
    f = values.matmul(np.arange(n), np.arange(n), a[:, None])[:, 0]
    return problem, a, problem.y - f - problem.ridge * a


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.sampled_from(LOSSES))
def test_core_and_reference_agree(seed, n, loss):
    problem, a, g = drawn(seed, n, loss)
    parts = (a, g, problem.lower, problem.upper, problem.y, problem.cost)
    b, gap, violation = _native.svm_look(*parts, problem.squared, **problem.shape)
    size = 1e-9 * (1.0 + problem.cost.sum())
    for chosen in (b, problem.intercept(EVERY, a, g)):  # where the loss is 0 on an interval, any b will do
        assert gap == pytest.approx(problem.gap(EVERY, a, g, chosen), rel=1e-9, abs=size)
    assert violation == pytest.approx(problem.violation(EVERY, a, g), rel=1e-12)
    assert gap <= min(problem.gap(EVERY, a, g, b + step) for step in np.linspace(-2.0, 2.0, 81)) + size
    dual = problem.dual(EVERY, a, g)
    assert _native.svm_dual(a, g, problem.y, problem.kink) == pytest.approx(dual, rel=1e-12, abs=1e-12)
    assert (problem.terms(EVERY, a, problem.residuals(EVERY, a, g) - b) >= -1e-12 * size / 1e-9).all()


@given(st.integers(0, 2**32 - 1), st.integers(3, 25), st.sampled_from(LOSSES), st.booleans())
def test_exact_faces_of_the_core_and_of_the_reference_agree(seed, n, loss, singular):
    """Faces without one optimum are left to the reference, or left at a point with a smaller gap."""
    problem, a, g = drawn(seed, n, loss, Linear() if singular else RBF(0.5))
    rows = problem.kernel.between(np.arange(n), np.arange(n))
    found = polish(problem, a, lambda: False)
    b = problem.intercept(EVERY, *found)
    scale = 1e-9 * (1.0 + problem.cost.sum())
    assert problem.gap(EVERY, *found, b) <= scale
    own, slope, known = a.copy(), g.copy(), np.ones(n, dtype=np.uint8)
    fixed = (problem.lower, problem.upper, problem.y, problem.cost, problem.squared)
    options = {"seconds": 60.0, "fetch": lambda which: which, "cancel": _native.NEVER, **problem.shape}
    if _native.svm_polish(rows, known, own, slope, *fixed, **options):
        before = _native.svm_look(a, g, *fixed, **problem.shape)[1]
        assert _native.svm_look(own, slope, *fixed, **problem.shape)[1] <= before + scale
        if not singular:
            assert problem.dual(EVERY, own, slope) == pytest.approx(problem.dual(EVERY, *found), abs=scale)


def test_packed_blocks_stay_on_their_pieces(monkeypatch):
    """More free rows than a block holds, and a cache that does not hold their kernel rows."""
    moves = []
    move = packed_block.PackedBlock.move
    monkeypatch.setattr(
        packed_block.PackedBlock, "move", lambda self, *rest: moves.append(move(self, *rest)) or moves[-1]
    )
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    y = np.sin(X).sum(axis=1) + 0.3 * rng.normal(size=3000)
    model = KernelSVR(10.0, loss="squared-epsilon-insensitive", epsilon=0.1, gamma=0.5, cache_mb=10.0)
    model.set_params(tol=1e-5).fit(X, y)
    assert any(moves)
    primal, dual = bounds(model, RBF(0.5)(X), y, np.full(3000, 10.0))
    assert model.status_ == "converged"
    assert primal - dual <= (model.dual_gap_ + 1e-9) * primal


def test_a_negative_kink_is_refused():
    a, ones = np.zeros(3), np.ones(3)
    with pytest.raises(ValueError, match="a kink of at least 0"):
        _native.svm_look(a, ones.copy(), -ones, ones, ones, ones, False, kink=-1.0)
