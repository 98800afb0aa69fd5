"""Every bound against its printed formula."""

import itertools
import math

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from support.bound_samples import sample_of

from maxmargin import (
    bounds,
)
from maxmargin.bounds import MarginSample
from maxmargin.bounds.margin import grid_level
from maxmargin.kernels import RBF, Linear


@given(n=st.integers(1, 300), share=st.floats(0, 1), delta=st.sampled_from([0.01, 0.05, 0.3]))
def test_hold_out_equals_the_exact_binomial_limit(n, share, delta):
    k = round(share * n)
    limit = binomtest(k, n, alternative="less").proportion_ci(1 - delta, method="exact").high
    bound = bounds.hold_out_bound(k, n, delta)
    assert bound.value == pytest.approx(limit, rel=1e-10)
    assert bound.terms["hold-out error"] == k / n


@given(q=st.floats(0, 0.999), limit=st.floats(1e-6, 20))
def test_kl_and_its_inverse(q, limit):
    p = bounds.kl_inverse(q, limit)
    assert q <= p <= 1
    if p < 1 - 1e-9:
        with mpmath.workdps(40):
            Q, P = mpmath.mpf(q), mpmath.mpf(p)
            exact = (Q * mpmath.log(Q / P) if q else 0) + (1 - Q) * mpmath.log((1 - Q) / (1 - P))
        assert float(exact) == pytest.approx(limit, rel=1e-8, abs=1e-13)


def test_kl_at_the_ends():
    assert bounds.kl(0.3, 0.3) == 0 == bounds.kl(0, 0) == bounds.kl(1, 1)
    assert bounds.kl(0.1, 0) == bounds.kl(0.1, 1) == math.inf
    assert bounds.kl_inverse(0, 0.5) == pytest.approx(1 - math.exp(-0.5))
    assert bounds.kl_inverse(1, 3) == 1
    assert bounds.kl_inverse(0.25, 0) == pytest.approx(0.25, abs=1e-7)


@pytest.mark.parametrize("n", [*range(1, 9), 20, 100])
def test_constant_of_the_pac_bayes_theorem(n):
    """E exp(n kl(k/n, p)) = sum_k P(k) exp(n kl(k/n, p)) <= 2 sqrt(n), for any p: it does not depend on p."""
    k = np.arange(n + 1)
    for p in (0.2, 0.5):
        total = sum(binom.pmf(j, n, p) * math.exp(n * bounds.kl(j / n, p)) for j in k)
        assert total <= 2 * math.sqrt(n) + 1e-9


def test_pac_bayes_bound_equals_its_definition_at_the_best_mu():
    sample, delta = sample_of(200, intercept=-0.4), 0.05
    bound = bounds.pac_bayes_bound(sample, delta)
    cosines = sample.margins / np.hypot(1.7, 0.4) / np.sqrt(sample.diagonal + 1)
    best = 1.0
    for mu in np.geomspace(0.1, 30, 500):
        q = float(np.mean([math.erfc(mu * c / math.sqrt(2)) / 2 for c in cosines]))
        best = min(best, bounds.kl_inverse(q, (mu**2 / 2 + math.log(2 * math.sqrt(200) / delta)) / 200))
    assert bound.value == pytest.approx(2 * best, rel=1e-4)
    assert bound.value <= 2 * best + 1e-9


def test_margin_bound_term_by_term():
    sample = sample_of(intercept=0.3, counts=np.full(50, 2), n_samples=130)
    bound = bounds.margin_bound(sample, 0.1)
    n, trace = 130, 2 * sample.diagonal.sum()
    ramp = [min(1, max(0, 1 - m)) for m in sample.margins]
    assert bound.terms == pytest.approx(
        {
            "ramp loss": 2 * sum(ramp) / n,
            "complexity": 2 * 2 * math.sqrt(trace) / n,  # radius 2: the second of the grid
            "intercept": 2 * 1 * math.sqrt(100) / n,
            "confidence": 3 * math.sqrt(math.log(2 * (2 * 3) * (1 * 2) / 0.1) / (2 * n)),
        }
    )
    hinge = bounds.hinge_bound(sample, 1.5, 0.1)
    assert hinge.terms["hinge loss"] == pytest.approx(2 * np.maximum(0, 1 - sample.margins).sum() / n)
    assert hinge.terms["confidence"] == pytest.approx((1 + 2 * 1.5 + 1) * bound.terms["confidence"])
    known = bounds.margin_bound(sample, 0.1, radius=1.9)
    assert known.terms["complexity"] == pytest.approx(2 * 1.9 * math.sqrt(trace) / n)
    assert known.terms["confidence"] == pytest.approx(3 * math.sqrt(math.log(2 * 2 / 0.1) / (2 * n)))


def test_best_multiple_is_at_least_as_good_and_the_same_classifier():
    sample = sample_of(2000, intercept=0.01)
    plain, scaled = bounds.margin_bound(sample), bounds.scaled_margin_bound(sample)
    by_hand = [
        bounds.margin_bound(
            MarginSample(f * sample.margins, sample.diagonal, f * 1.7 * (1 - 1e-9), f * 0.01)
        ).value
        for f in 2.0 ** np.arange(9) / 1.7
    ]
    assert scaled.value == pytest.approx(min([plain.value, *by_hand]), rel=1e-6)
    assert scaled.value <= plain.value
    zero = MarginSample([0.0, 0.0], [1.0, 1.0], 0.0)
    assert bounds.scaled_margin_bound(zero).value == bounds.margin_bound(zero).value


@pytest.mark.parametrize(("value", "level"), [(0, 1), (1, 1), (1.0000001, 2), (2, 2), (2.1, 3), (1024, 11)])
def test_levels_of_the_grid(value, level):
    assert grid_level(value) == level
    assert sum(1 / (j * (j + 1)) for j in range(1, 10**4)) < 1


def test_stability_and_finite_class_bounds_equal_their_formulas():
    sample = sample_of(100)
    bound = bounds.stability_bound(sample, 0.01, 1.0, 0.1, slope=2.0, excess=1e-4)
    s = 2 * 0.01
    assert bound.terms["stability"] == pytest.approx(2 * s)
    assert bound.terms["confidence"] == pytest.approx((400 * s + 1) * math.sqrt(math.log(10) / 200))
    assert bound.terms["optimisation"] == pytest.approx(2 * math.sqrt(2e-4))
    assert bounds.finite_class_bound(0.1, 8, 100, 0.1).value == pytest.approx(
        0.1 + math.sqrt(math.log(80) / 200)
    )
    assert bounds.finite_class_excess(8, 100, 0.1).value == pytest.approx(
        2 * math.sqrt(2 * math.log(8) / 100) + 4 * math.sqrt(math.log(30) / 200)
    )
    union = bounds.union_excess(8, 100, 0.1, best_error=0.05, bias=0.02)
    assert union.value == pytest.approx(0.07 + math.sqrt(2 / 100 * math.log(90)))


@pytest.mark.parametrize("kernel", [RBF(0.7), Linear()])
@pytest.mark.parametrize("counts", [None, [1, 2, 1, 0, 3]])
def test_monte_carlo_agrees_with_all_sign_vectors(kernel, counts):
    X = np.random.default_rng(0).normal(size=(8 if counts is None else 5, 3))
    rows = X if counts is None else np.repeat(X, counts, axis=0)
    n, K = len(rows), kernel(rows)
    exact = np.mean([math.sqrt(np.array(s) @ K @ np.array(s)) for s in itertools.product((-1, 1), repeat=n)])
    for layout in (np.asarray, sp.csr_array):
        found = bounds.rademacher_monte_carlo(kernel, layout(X), 2.5, sample_weight=counts, n_draws=3000)
        assert abs(found.value - 2.5 * exact / n) < 5 * found.standard_error < 0.1
    upper = bounds.rademacher_complexity(K.diagonal(), 2.5)
    assert 2.5 * exact / n <= upper <= math.sqrt(2) * 2.5 * exact / n + 1e-12  # Kahane and Khintchine
    assert upper == pytest.approx(2.5 * math.sqrt(np.trace(K)) / n)
