"""gamma from data: definitions, weights as repetitions, and refusals."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.kernels import RBF, Exponential, Sigmoid
from maxmargin.kernels.bandwidth import MAX_SAMPLED_ROWS, median_gamma, scale_gamma


def test_median_is_that_of_all_pairs():
    X = np.array([[0.0], [1.0], [3.0], [3.0]])
    squares = [1, 9, 9, 4, 4]  # the pair at distance 0 is left out
    assert median_gamma(X, np.random.default_rng(0)) == np.median(1 / np.array(squares))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("heuristic", ["median", "scale"])
def test_weights_are_repetitions(heuristic, seed):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(20, 3)), rng.integers(0, 4, size=20)
    weighted = RBF(gamma=heuristic).resolve(X, rng, sample_weight=w).gamma
    repeated = RBF(gamma=heuristic).resolve(np.repeat(X, w, axis=0), rng).gamma
    assert weighted == pytest.approx(repeated, rel=1e-12)
    assert weighted != pytest.approx(RBF(gamma=heuristic).resolve(X, rng).gamma, rel=1e-6)


def test_a_sample_comes_close_and_depends_on_the_generator_alone():
    X = np.random.default_rng(0).normal(size=(3 * MAX_SAMPLED_ROWS, 10))
    one, two = (median_gamma(X, np.random.default_rng(1)) for _ in range(2))
    assert one == two
    i, j = np.random.default_rng(2).integers(0, len(X), size=(2, 10**6))
    squares = np.square(X[i] - X[j]).sum(axis=1)[i != j]
    assert one == pytest.approx(np.median(1 / squares), rel=0.03)


def test_scale_is_scikit_learns_and_sparse_agrees():
    X = np.random.default_rng(0).normal(size=(30, 4)) * (np.random.default_rng(1).random((30, 4)) < 0.5) + 0.0
    assert scale_gamma(X) == pytest.approx(1 / (4 * X.var()), rel=1e-12)
    assert scale_gamma(sp.csr_array(X)) == pytest.approx(1 / (4 * X.var()), rel=1e-12)
    assert median_gamma(sp.csr_array(X), np.random.default_rng(0)) == pytest.approx(
        median_gamma(X, np.random.default_rng(0)), rel=1e-12
    )
    assert scale_gamma(np.ones((3, 2))) == 1.0
    assert Sigmoid(gamma="auto").resolve(X, None).gamma == 0.25


@pytest.mark.parametrize("heuristic", ["median", "scale", "auto"])
def test_gamma_of_the_exponential_kernel_multiplies_a_distance(heuristic):
    X = np.random.default_rng(0).normal(size=(40, 3))
    gamma, of_squares = (k(heuristic).resolve(X, np.random.default_rng(0)).gamma for k in (Exponential, RBF))
    assert gamma == pytest.approx(np.sqrt(of_squares), rel=1e-12)
    scaled = Exponential(heuristic).resolve(10 * X, np.random.default_rng(0)).gamma
    assert scaled == pytest.approx(gamma / (1 if heuristic == "auto" else 10), rel=1e-9)
    if heuristic == "median":
        i, j = np.triu_indices(40, k=1)
        distances = np.sqrt(np.square(X[i] - X[j]).sum(axis=1))
        assert gamma == pytest.approx(1 / np.median(distances), rel=1e-3)


def test_the_median_takes_any_rows_and_counts_their_features_in_blocks(monkeypatch):
    X = np.random.default_rng(0).normal(size=(40, 23))
    whole = median_gamma(X)
    assert median_gamma(X.tolist(), 5) == median_gamma(np.asfortranarray(X), None) == whole
    assert median_gamma(X.astype(np.float32)) == pytest.approx(whole, rel=1e-6)
    for layout in (sp.csc_array, sp.coo_array, sp.csr_matrix):
        assert median_gamma(layout(X)) == pytest.approx(whole, rel=1e-12)
    monkeypatch.setattr("maxmargin.kernels.bandwidth.FEATURES_PER_BLOCK", 5)
    assert median_gamma(X) == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize(
    ("weight", "match"), [([1.0, -1.0], ">= 0"), ([0.0, 0.0], "zero for every row"), ([1.0], "each of the 2")]
)
def test_the_median_refuses_weights_that_are_none(weight, match):
    with pytest.raises(ValueError, match=match):
        median_gamma(np.eye(2), sample_weight=weight)


def test_equal_rows_have_no_median():
    with pytest.raises(ValueError, match="two different rows"):
        RBF(gamma="median").resolve(np.ones((5, 2)), np.random.default_rng(0))


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_scale_refuses_what_has_no_variance(layout):
    X = layout(np.array([[1.0, 0.0], [0.0, 2.0]]))
    for weight in ([0.0, 0.0], [1e308, 1e308], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="weights with a finite sum > 0"), np.errstate(over="ignore"):
            scale_gamma(X, weight)
    for factor in (1e200, 1.7e308 / 2, np.nan, 1e-160):
        with pytest.raises(ValueError, match="a variance that double precision can hold"):
            scale_gamma(X * factor)
