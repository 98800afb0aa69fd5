"""The top-k hinge: a loss by sorting, vertices by brute force, Fenchel and Young."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog
from support.reference_top_k import top_k_loss, top_k_vertices

from maxmargin.methods.top_k.loss import TopKHinge

SIDES = ["include", "exclude"]
LOSSES = [(m, k, side) for m in (2, 3, 4, 6) for k in range(1, m) for side in SIDES]


@st.composite
def losses_and_scores(draw):
    """A loss, scores with ties among them, and labels."""
    m = draw(st.integers(2, 7))
    loss = TopKHinge(draw(st.integers(1, m - 1)), draw(st.sampled_from(SIDES)))
    entry = st.one_of(st.integers(-3, 3).map(float), st.floats(-4.0, 4.0))
    S = draw(arrays(np.float64, (4, m), elements=entry))
    return loss, S, draw(arrays(np.int64, 4, elements=st.integers(0, m - 1)))


@given(losses_and_scores())
def test_the_value_is_that_of_sorting(case):
    loss, S, y = case
    expected = [top_k_loss(s, label, loss.k, loss.true_class) for s, label in zip(S, y)]
    np.testing.assert_allclose(loss.value(S, y), expected, atol=1e-12)


@given(losses_and_scores())
def test_fenchel_young_is_attained_at_the_subgradient(case):
    loss, S, y = case
    V = loss.oracle(S, y)
    assert loss.contains(V, y).all()
    np.testing.assert_allclose(loss.value(S, y) + loss.conjugate(V, y), (V * S).sum(axis=1), atol=1e-12)


@given(losses_and_scores(), st.integers(0, 10**6))
def test_fenchel_young_holds_on_the_whole_domain(case, seed):
    loss, S, y = case
    rng = np.random.default_rng(seed)
    for i in range(len(y)):
        vertices = top_k_vertices(S.shape[1], y[i], loss.k, loss.true_class)
        V = rng.dirichlet(np.full(len(vertices), 0.3), size=20) @ vertices
        label = np.full(20, y[i])
        assert loss.contains(V, label).all()
        assert (loss.value(S[[i] * 20], label) + loss.conjugate(V, label) >= V @ S[i] - 1e-12).all()


@given(losses_and_scores(), st.integers(0, 10**6))
def test_the_subgradient_supports_the_loss(case, seed):
    loss, S, y = case
    T = S + np.random.default_rng(seed).normal(size=S.shape)
    below = loss.value(S, y) + (loss.oracle(S, y) * (T - S)).sum(axis=1)
    assert (loss.value(T, y) >= below - 1e-12).all()


@pytest.mark.parametrize(("m", "k", "side"), LOSSES)
def test_the_loss_is_the_largest_over_the_vertices(m, k, side):
    """So their hull is the whole domain."""
    rng = np.random.default_rng(0)
    loss = TopKHinge(k, side)
    for y in range(m):
        vertices = top_k_vertices(m, y, k, side)
        S = 2.0 * rng.normal(size=(100, m))
        label = np.full(100, y)
        largest = (S @ vertices.T - vertices[:, y]).max(axis=1)
        np.testing.assert_allclose(loss.value(S, label), largest, atol=1e-12)


@pytest.mark.parametrize(("m", "k", "side"), LOSSES)
def test_the_domain_is_the_hull_of_the_vertices(m, k, side):
    """Points near the boundary, on both sides, against a linear program for the shares of the vertices."""
    rng = np.random.default_rng(1)
    loss, y = TopKHinge(k, side), m // 2
    vertices = top_k_vertices(m, y, k, side)
    n_inside = 0
    for _ in range(40):
        v = rng.dirichlet(np.full(len(vertices), 0.5)) @ vertices
        v[np.arange(m) != y] += rng.choice([0.0, 0.05]) * rng.normal(size=m - 1)
        v[y] = 0.0
        v[y] = -v.sum()
        A = np.vstack([vertices.T, np.ones(len(vertices))])
        reached = linprog(np.zeros(len(vertices)), A_eq=A, b_eq=np.append(v, 1.0), method="highs").status == 0
        assert loss.contains(v[None], np.array([y]), slack=1e-9)[0] == reached
        n_inside += reached
    assert 0 < n_inside <= 40


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_diameter_of_the_domain_is_that_of_the_rate(k):
    for side in SIDES:
        V = top_k_vertices(6, 0, k, side)
        assert ((V[:, None] - V[None]) ** 2).sum(axis=2).max() == pytest.approx(1.0 + 1.0 / k)


@given(losses_and_scores())
def test_both_losses_bound_the_top_k_error(case):
    loss, S, y = case
    own = np.take_along_axis(S, y[:, None], axis=1)
    error = (own < S).sum(axis=1) >= loss.k
    include, exclude = TopKHinge(loss.k).value(S, y), TopKHinge(loss.k, "exclude").value(S, y)
    assert (include >= exclude - 1e-12).all()
    assert (exclude >= error).all()
    if loss.k == 1:
        np.testing.assert_array_equal(include, exclude)


def test_the_conjugate_is_infinite_outside():
    loss, y = TopKHinge(2), np.array([0, 0, 0, 0])
    V = np.array([[-0.6, 0.6, 0.0], [-0.5, 0.6, -0.1], [-1.2, 0.6, 0.6], [-0.5, 0.5, 0.1]])
    assert np.isinf(loss.conjugate(V, y)).all()
    V = np.array([[-0.5, 0.5, 0.0]])
    assert loss.conjugate(V, y[:1])[0] == -0.5
    assert np.isinf(TopKHinge(2, "exclude").conjugate(V, y[:1])[0])


def test_no_such_loss():
    with pytest.raises(ValueError, match=r"k must be an integer >= 1; got 0"):
        TopKHinge(0)
    with pytest.raises(ValueError, match=r"true_class must be one of \['exclude', 'include'\]; got 'drop'"):
        TopKHinge(1, "drop")
    with pytest.raises(ValueError, match="k must be less than the number of classes; got k=3 and 3 classes"):
        TopKHinge(3).value(np.zeros((1, 3)), np.zeros(1, dtype=int))
