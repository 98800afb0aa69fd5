"""The projection onto the domain of the top-k hinge: feasible, optimal, and that of a quadratic program."""

import itertools

import numpy as np
import piqp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from support.properties import examples

from maxmargin import _native

numbers = st.one_of(st.floats(-3.0, 3.0), st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0]))


@st.composite
def cases(draw, max_size=9):
    """Numbers, k, whether the true class is one of the k, and rho."""
    a = np.array(draw(st.lists(numbers, min_size=1, max_size=max_size)))
    include = draw(st.booleans())
    k = draw(st.integers(1, len(a) + include))
    return a, k, include, draw(st.sampled_from([0.3, 1.0, 2.5]))


def kappa(k, include):
    return k - 1 if include else k


def feasible(u, k, include, slack=1e-12):
    cap = min(1.0 / k, u.sum() / kappa(k, include)) if kappa(k, include) else 1.0 / k
    return u.min() >= 0.0 and u.sum() <= 1.0 + slack and u.max() <= cap + slack


def vertices(m, k, include):
    """0, and 1/k at k classes, or at k - 1 where the true class is the k-th."""
    yield np.zeros(m)
    for size in {k, kappa(k, include)} - {0}:
        for chosen in itertools.combinations(range(m), size):
            u = np.zeros(m)
            u[list(chosen)] = 1.0 / k
            yield u


def gradient(a, u, rho):
    return u + rho * u.sum() - a


def constraints(m, k, include):
    """G and h with U = {u: G u <= h}."""
    rows = [np.ones((1, m)), -np.eye(m), np.eye(m)]
    bounds = [np.ones(1), np.zeros(m), np.full(m, 1.0 / k)]
    if kappa(k, include):
        rows.append(np.eye(m) - np.ones((m, m)) / kappa(k, include))
        bounds.append(np.zeros(m))
    return np.vstack(rows), np.concatenate(bounds)


def on_face(a, rho, G, h, active):
    """The minimiser where some constraints are equations, if it is that of all: by their multipliers."""
    m, chosen = len(a), G[active]
    H = np.eye(m) + rho
    system = np.block([[H, chosen.T], [chosen, np.zeros((len(chosen), len(chosen)))]])
    u = np.linalg.lstsq(system, np.concatenate([a, h[active]]), rcond=None)[0][:m]
    if np.any(G @ u > h + 1e-12):
        return None
    met = G @ u >= h - 1e-11
    pull = a - H @ u
    rest = nnls(G[met].T, pull)[1] if met.any() else np.linalg.norm(pull)
    return u if rest <= 1e-11 else None


def by_enumeration(a, k, include, rho):
    """The minimiser to rounding: of all faces, the one whose minimiser has multipliers that are not negative.

    On a face each number is free, 0, 1/k, sigma/kappa or both of these, and the sum is free or 1.
    """
    m = len(a)
    G, h = constraints(m, k, include)
    kinds = [(), (1,), (1 + m,), (1 + 2 * m,), (1 + m, 1 + 2 * m)][: 5 if kappa(k, include) else 3]
    for total, *marks in itertools.product([[], [0]], *[kinds] * m):
        active = [*total, *(first + j for j, mark in enumerate(marks) for first in mark)]
        u = on_face(a, rho, G, h, active)
        if u is not None:
            return u
    raise AssertionError("no face has the minimiser")


def by_quadratic_program(a, k, include, rho):
    """The minimiser by an interior-point method, refined on the constraints at work where that succeeds."""
    G, h = constraints(len(a), k, include)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-13
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = 1e-13
    solver.setup(P=np.eye(len(a)) + rho, c=-a, G=G, h_u=h)
    solver.solve()
    u, pull = np.array(solver.result.x), np.array(solver.result.z_u)
    refined = on_face(a, rho, G, h, np.flatnonzero(pull > h - G @ u))
    return (u, 1e-6) if refined is None else (refined, 1e-9)


@given(cases())
@examples(100, 300)
def test_no_vertex_is_better(case):
    a, k, include, rho = case
    u = _native.topk_project(a, k, include, rho)
    assert feasible(u, k, include)
    g = gradient(a, u, rho)
    worst = min(float(g @ (v - u)) for v in vertices(len(a), k, include) if feasible(v, k, include))
    assert worst >= -1e-11


@given(cases())
@examples(60, 150)
def test_a_quadratic_program_agrees(case):
    """To 1e-9 in the point, unless a bound is met without a pull and the referee is not that exact."""
    a, k, include, rho = case
    expected, accuracy = by_quadratic_program(a, k, include, rho)
    assert np.abs(_native.topk_project(a, k, include, rho) - expected).max() <= accuracy


@given(cases(max_size=3))
@settings(max_examples=60, deadline=None)
def test_the_minimiser_of_all_faces_agrees(case):
    a, k, include, rho = case
    expected = by_enumeration(a, k, include, rho)
    assert np.abs(_native.topk_project(a, k, include, rho) - expected).max() <= 1e-9


@pytest.mark.parametrize("include", [True, False])
def test_thousands_of_feasible_points_are_no_better(include):
    rng = np.random.default_rng(0)
    for m, k in ((4, 1), (7, 3), (6, 5), (40, 5)):
        corners = rng.random((2000, m)).argsort(axis=1)
        for _ in range(20):
            a = rng.normal(size=m) * rng.choice([0.1, 1.0, 5.0])
            u = _native.topk_project(a, k, include)
            points = np.zeros((2000, m))
            np.put_along_axis(points, corners[:, :k], 1.0 / k, axis=1)
            mixed = rng.dirichlet(np.ones(4), size=2000)
            points = sum(mixed[:, [j]] * points[rng.permutation(2000)] for j in range(3))
            assert all(feasible(p, k, include) for p in points[:50])
            assert ((points - u) @ gradient(a, u, 1.0)).min() >= -1e-12


@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_what_is_feasible_stays(include, k):
    rng = np.random.default_rng(k)
    for _ in range(50):
        u = _native.topk_project(rng.normal(size=8), k, include)
        again = _native.topk_project(u + u.sum(), k, include)  # the target whose projection is u
        np.testing.assert_allclose(again, u, atol=1e-14)


@pytest.mark.parametrize("include", [True, False])
def test_all_equal_share_alike(include):
    for value in (0.01, 0.4, 1.0, 1e9):
        u = _native.topk_project(np.full(6, value), 3, include)
        assert np.ptp(u) == 0.0
        assert u.sum() == pytest.approx(min(1.0, 6 * value / 7), rel=1e-12)


@pytest.mark.parametrize("scale", [1e-290, 1e-12, 1e12, 1e290])
@pytest.mark.parametrize(("k", "include"), [(1, True), (3, True), (3, False), (5, True), (5, False)])
def test_huge_and_tiny_numbers(scale, k, include):
    a = np.array([3.0, 1.0, 2.5, -4.0, 0.5, 2.5])
    u = _native.topk_project(scale * a, k, include)
    assert np.all(np.isfinite(u))
    assert feasible(u, k, include)
    if scale > 1.0:  # the best vertex, shared by equal numbers
        assert scale * a @ u >= (1.0 - 1e-12) * max(scale * a @ v for v in vertices(6, k, include))
    else:  # in the cone everything is in proportion
        np.testing.assert_allclose(u / scale, _native.topk_project(1e-6 * a, k, include) / 1e-6, rtol=1e-9)


def test_digits_beside_a_huge_number_are_kept():
    a = np.array([1e12, 0.3, 0.2, 0.1])
    rest = by_enumeration(np.array([10.0, 0.3, 0.2, 0.1]), 2, True, 1.0)
    np.testing.assert_allclose(_native.topk_project(a, 2), rest, atol=1e-12)


@given(cases())
def test_single_precision_follows(case):
    a, k, include, rho = case
    single = _native.topk_project(a.astype(np.float32), k, include, rho)
    assert single.dtype == np.float32
    double = _native.topk_project(a.astype(np.float32).astype(np.float64), k, include, rho)
    np.testing.assert_allclose(single, double, atol=1e-7)


@pytest.mark.parametrize("include", [True, False])
def test_selection_sorts_as_far_as_it_must(include):
    rng = np.random.default_rng(3)
    for m, k in ((1000, 1), (1000, 10), (1000, 999), (500, 250)):
        a = rng.normal(size=m) * 0.05
        u = _native.topk_project(a, k, include)
        assert feasible(u, k, include)
        g = gradient(a, u, 1.0)
        largest = np.sort(-g)[::-1]
        best = max(0.0, *(largest[:size].sum() / k for size in {k, kappa(k, include)} - {0}))
        assert -(g @ u) >= best - 1e-12


def test_more_than_the_classes_is_refused():
    with pytest.raises(ValueError, match="k and the number of classes"):
        _native.topk_project(np.zeros(3), 4, include=False)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan, 1.7e308])
def test_what_is_not_finite_gives_what_is_not_finite(bad, dtype):
    """Rather than reading beyond the array, or a projection of something else."""
    with np.errstate(over="ignore"):
        a = np.array([bad, 1.0, 2.0]).astype(dtype)
    for k, include in itertools.product((1, 2, 3), (True, False)):
        assert np.isnan(_native.topk_project(a, k, include)).all()
