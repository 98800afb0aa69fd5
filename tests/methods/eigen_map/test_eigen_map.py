"""Eigen features against NumPy's eigenvectors, the Nystroem formula, the law of pivots, and themselves."""

import pickle

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from support.interrupts import interrupt_inside
from support.reference import nystroem_matrix, pivot_law

from maxmargin import KernelEigenMap, KernelSVC, LinearSVC
from maxmargin.kernels import RBF, FromFunction, Linear, Polynomial, Precomputed
from maxmargin.kernels.data import KernelData
from maxmargin.methods.eigen_map import features
from maxmargin.methods.eigen_map import landmarks as landmark_choice
from maxmargin.methods.eigen_map.features import find_eigen_features as features_of
from maxmargin.methods.eigen_map.landmarks import LandmarkPanel, add_random_pivots
from maxmargin.numerics import tall
from maxmargin.numerics.feature_panel import FeaturePanel
from maxmargin.solving.row_pool import RowPool

METHODS = ["exact", "randomized", "pivoted-cholesky", "landmarks"]


def points(n=200, d=4, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


def weights(n=200, seed=1):
    return np.random.default_rng(seed).integers(1, 5, size=n).astype(float)


def rbf_matrix(X, gamma):
    X = np.asarray(X, dtype=np.float64)
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def of(X, n_components, method, kernel=None, seed=0, **options):
    data = KernelData(kernel or RBF(gamma=0.2), X, np.arange(X.shape[0]), n_threads=2)
    return features_of(data, n_components, method=method, rng=np.random.default_rng(seed), **options)


# ---- what they are ----


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-10), (np.float32, 1e-4)])
@pytest.mark.parametrize("n_components", [1, 20, 90])
@pytest.mark.parametrize("weight", [None, weights()], ids=["alike", "weighted"])
def test_features_are_orthogonal_and_as_long_as_their_eigenvalues_say(
    method, dtype, tol, n_components, weight
):
    found = of(points(dtype=dtype), n_components, method, weight=weight)
    D, l = found.features.astype(np.float64), found.eigenvalues
    assert found.features.dtype == dtype
    assert D.shape == (200, n_components)
    assert (l > 0).all()
    assert (np.diff(l) <= 0).all()
    G = (D.T * (1.0 if weight is None else weight)) @ D
    assert np.abs(G - np.diag(l)).max() <= tol * l[0]
    assert (np.abs(G - np.diag(l)) / np.sqrt(np.outer(l, l))).max() <= tol


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weight", [None, weights()], ids=["alike", "weighted"])
def test_the_trace_captured_is_its_definition(method, weight):
    X = points()
    found = of(X, 15, method, weight=weight, kernel=Linear() if method == "exact" else None)
    w = np.ones(200) if weight is None else weight
    trace = w @ (np.diag(X @ X.T) if method == "exact" else np.ones(200))
    assert found.trace_captured == pytest.approx(found.eigenvalues.sum() / trace, rel=1e-12)
    assert found.trace_captured == pytest.approx(w @ (found.features**2).sum(axis=1) / trace, rel=1e-10)
    assert 0.0 < found.trace_captured <= 1.0


@pytest.mark.parametrize("weight", [np.ones(200), weights()], ids=["alike", "weighted"])
def test_exact_features_are_those_of_numpy(weight):
    X, s = points(), np.sqrt(weight)
    found = of(X, 30, "exact", weight=weight)
    l, P = np.linalg.eigh(s[:, None] * rbf_matrix(X, 0.2) * s)
    l, P = l[::-1][:30], P[:, ::-1][:, :30]
    D = P * np.sqrt(l) / s[:, None]
    np.testing.assert_allclose(found.eigenvalues, l, rtol=1e-11)
    np.testing.assert_allclose(found.features * np.sign((found.features * D).sum(axis=0)), D, atol=1e-10)
    np.testing.assert_array_equal(found.index, np.arange(200))


@pytest.mark.parametrize("method", ["pivoted-cholesky", "landmarks"])
@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-9), (np.float32, 2e-4)])
def test_features_from_landmarks_are_those_of_the_nystroem_formula(method, dtype, tol):
    X = points(dtype=dtype)
    found = of(X, 25, method, landmarks=25, weight=weights())
    assert len(set(found.index.tolist())) == 25
    D = found.features.astype(np.float64)
    np.testing.assert_allclose(D @ D.T, nystroem_matrix(rbf_matrix(X, 0.2), found.index), atol=tol)
    np.testing.assert_array_equal(found.points, X[found.index])


@pytest.mark.parametrize("method", ["pivoted-cholesky", "landmarks"])
def test_of_more_landmarks_the_leading_eigenvectors_are_kept(method):
    X, w = points(), weights()
    found = of(X, 10, method, landmarks=40, weight=w)
    assert found.projection.shape == (40, 10)
    s = np.sqrt(w)[:, None]
    l, P = np.linalg.eigh(s * nystroem_matrix(rbf_matrix(X, 0.2), found.index) * s.T)
    np.testing.assert_allclose(found.eigenvalues, l[::-1][:10], rtol=1e-9)
    D = s * found.features
    np.testing.assert_allclose(D @ D.T, (P[:, -10:] * l[-10:]) @ P[:, -10:].T, atol=1e-9)


def test_given_landmarks_need_be_no_rows_and_may_repeat():
    X, Z = points(), points(12, seed=7)
    found = of(X, 50, "landmarks", landmarks=np.concatenate([Z, Z]))
    both = rbf_matrix(np.concatenate([X, Z]), 0.2)
    K = both[:200, 200:] @ np.linalg.solve(both[200:, 200:], both[200:, :200])
    np.testing.assert_allclose(found.features @ found.features.T, K, atol=1e-9)
    assert found.index is None
    np.testing.assert_array_equal(found.points, Z)


@pytest.mark.parametrize("weight", [None, weights()], ids=["alike", "weighted"])
def test_randomised_features_are_nearly_the_best(weight):
    X = points()
    best, found = (of(X, 30, method, weight=weight) for method in ("exact", "randomized"))
    assert found.trace_captured <= best.trace_captured + 1e-12
    assert 1.0 - found.trace_captured <= 1.02 * (1.0 - best.trace_captured)
    exactly = of(X, 3, "randomized", kernel=Linear(), weight=weight)  # of rank 4: nothing is left out
    np.testing.assert_allclose(
        exactly.eigenvalues, of(X, 3, "exact", kernel=Linear(), weight=weight).eigenvalues, rtol=1e-11
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-9), (np.float32, 1e-3)])
def test_the_projection_gives_the_features_of_the_rows(method, dtype, tol):
    X = points(dtype=dtype)
    found = of(X, 30, method, weight=weights())
    data = KernelData(RBF(gamma=0.2), X, np.arange(200))
    K = data.block(np.arange(200), found.points).astype(np.float64)
    np.testing.assert_allclose(K @ found.projection, found.features, atol=tol)


# ---- pivots ----


@pytest.mark.parametrize(
    ("block", "weight"),
    [(16, np.ones(5)), (2, np.ones(5)), (2, np.array([1.0, 3.0, 1.0, 2.0, 1.0]))],
    ids=["one block", "several blocks", "weighted"],
)
def test_pivots_have_the_law_of_one_after_the_other(monkeypatch, block, weight):
    monkeypatch.setattr(landmark_choice, "MIN_CANDIDATES", block)
    monkeypatch.setattr(landmark_choice, "MAX_CANDIDATES", block)
    X, rng, n_draws = np.array([[0.0], [0.1], [0.8], [2.0], [2.3]]), np.random.default_rng(0), 1000
    K, drawn = rbf_matrix(X, 1.0), {}
    with RowPool(1) as pool:
        panel = FeaturePanel(KernelData(RBF(gamma=1.0), X, np.arange(5)), 3, pool)
        for _ in range(n_draws):
            panel.cut(0)
            pivots = tuple(add_random_pivots(panel, np.ones(5), weight, rng).tolist())
            drawn[pivots] = drawn.get(pivots, 0) + 1
    law = pivot_law(K, weight, 3)
    assert sum(law.values()) == pytest.approx(1.0)
    assert set(drawn) <= set(law)
    expected = n_draws * np.array([*law.values()])
    often = expected >= 5.0  # rare sequences together
    observed = np.array([drawn.get(pivots, 0) for pivots in law], dtype=float)
    table = [np.append(counts[often], counts[~often].sum()) for counts in (observed, expected)]
    assert stats.chisquare(*table).pvalue > 1e-3
    for k in (1, 2):  # and of the first ones, which have no rare sequences
        firsts = {}
        for pivots, probability in law.items():
            firsts[pivots[:k]] = firsts.get(pivots[:k], 0.0) + n_draws * probability
        seen = [sum(c for p, c in drawn.items() if p[:k] == first) for first in firsts]
        assert stats.chisquare(seen, [*firsts.values()]).pvalue > 1e-3


def test_where_the_spectrum_falls_pivots_beat_landmarks_drawn_uniformly():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(1900, 2)), 6.0 + 3.0 * rng.normal(size=(100, 2))])
    errors = {
        method: np.median([1.0 - of(X, 60, method, seed=s, landmarks=60).trace_captured for s in range(5)])
        for method in ("pivoted-cholesky", "landmarks")
    }
    assert errors["pivoted-cholesky"] < 0.3 * errors["landmarks"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_rows_of_a_precomputed_kernel_are_chosen_once(dtype):
    X = np.repeat(points(10), 30, axis=0)
    K = rbf_matrix(X, 0.2).astype(dtype)
    for method in METHODS:
        found = of(K, 50, method, kernel=Precomputed())
        assert len(found.eigenvalues) == 10
        assert found.trace_captured == pytest.approx(1.0, abs=1e-5)
        D = found.features.astype(np.float64)
        np.testing.assert_allclose(D @ D.T, K, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_there_are_no_more_features_than_the_rank(method):
    X = points(300, 3)
    found = of(X, 50, method, kernel=Linear())
    np.testing.assert_allclose(found.eigenvalues, np.linalg.svd(X, compute_uv=False) ** 2, rtol=1e-11)
    none = of(np.zeros((20, 3)), 5, method, kernel=Linear())
    assert none.features.shape == (20, 0)
    assert none.trace_captured == 0.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1e8, 1e100])
def test_the_scale_of_the_kernel_changes_nothing_but_the_scale(method, scale):
    X = points(100, 3)
    K = rbf_matrix(X, 0.2)
    found, scaled = (of(M, 10, method, kernel=Precomputed()) for M in (K, scale * K))
    np.testing.assert_allclose(scaled.eigenvalues / scale, found.eigenvalues, rtol=1e-9)
    np.testing.assert_allclose(scaled.trace_captured, found.trace_captured, rtol=1e-9)


def test_kernels_that_are_not_positive_give_finite_features():
    K = points(80, 80)
    K += K.T
    for method in METHODS:
        found = of(K, 20, method, kernel=Precomputed())
        assert np.isfinite(found.features).all()
        assert np.isfinite(found.projection).all()
        assert 0.0 <= found.trace_captured <= 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", [name for name in features.EIGEN_METHODS if name != "auto"])
def test_a_kernel_without_positive_eigenvalues_has_no_features(method, dtype):
    X = np.random.default_rng(0).normal(size=(150, 4))
    model = KernelEigenMap(3, kernel="precomputed", method=method, random_state=0)
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        model.fit(-(X @ X.T).astype(dtype))


def test_kernel_values_that_overflow_are_refused():
    for method in METHODS:
        with pytest.raises(ValueError, match="kernel values are not finite"):
            of(np.full((20, 20), np.inf), 5, method, kernel=Precomputed())
        for degree, dtype in ((80, np.float32), (700, np.float64)):
            X, kernel = points(50, 4, dtype), Polynomial(degree=degree, gamma=1.0, coef0=1.0)
            with pytest.raises(ValueError, match="squares overflow in float"):
                of(X, 5, method, kernel=kernel)


@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-10), (np.float32, 1e-4)])
@pytest.mark.parametrize("method", ["pivoted-cholesky", "landmarks"])
def test_a_last_block_is_left_unfinished_where_that_is_precise_enough(monkeypatch, method, dtype, tol):
    X, finished = points(1500, 4, dtype), []
    finish = LandmarkPanel.finish
    monkeypatch.setattr(LandmarkPanel, "finish", lambda panel: finished.append(finish(panel)))

    def found(limit=None):
        if limit is not None:
            monkeypatch.setattr(
                features, "MAX_GRAM_ROUNDING", dict.fromkeys(features.MAX_GRAM_ROUNDING, limit)
            )
        return of(X, 250, method, kernel=RBF(gamma=1.0))

    usual = found()
    G, l = usual.features.astype(np.float64).T @ usual.features.astype(np.float64), usual.eigenvalues
    assert (np.abs(G - np.diag(l)) / np.sqrt(np.outer(l, l))).max() <= tol
    finished.clear()
    never, always = found(np.inf), found(0.0)
    assert len(finished) == 1
    for other in (never, always):
        np.testing.assert_allclose(other.eigenvalues, l, rtol=10 * tol)
        D, A = other.features.astype(np.float64), usual.features.astype(np.float64)
        np.testing.assert_allclose(D @ D.T, A @ A.T, atol=10 * tol)


def test_an_orthonormal_basis_of_a_tall_matrix(monkeypatch):
    monkeypatch.setattr(tall, "ROWS_PER_BLOCK", 16)
    A = points(150, 7) * 10.0 ** -np.arange(7)
    with RowPool(2) as pool:
        Q = tall.orthonormal(A, pool)
    np.testing.assert_allclose(Q.T @ Q, np.eye(7), atol=1e-14)
    np.testing.assert_allclose(Q @ (Q.T @ A), A, atol=1e-14)


# ---- the estimator ----


@pytest.mark.usefixtures("array_api")
@parametrize_with_checks(
    [KernelEigenMap(random_state=0), *(KernelEigenMap(8, method=m, random_state=0) for m in METHODS[1:])]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(params=METHODS)
def model(request):
    return KernelEigenMap(20, gamma=0.2, method=request.param, random_state=0)


def blobs(dtype=np.float64):
    X, y = make_blobs(300, n_features=5, centers=3, random_state=0)
    return (X / 4.0).astype(dtype), y


@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-9), (np.float32, 1e-3)])
def test_fit_transform_is_fit_and_transform(model, dtype, tol):
    X, _ = blobs(dtype)
    X = np.concatenate([X, X[:40]])  # some rows twice, and some without weight
    weight = np.where(np.arange(340) % 7 == 0, 0.0, 1.0)
    features = clone(model).fit_transform(X, sample_weight=weight)
    assert features.shape == (340, 20)
    assert features.dtype == dtype
    again = model.fit(X, sample_weight=weight).transform(X)
    assert again.dtype == dtype
    np.testing.assert_allclose(features, again, atol=tol)
    np.testing.assert_allclose((features.T * weight) @ features, np.diag(model.eigenvalues_), atol=100 * tol)


def test_threads_change_no_bit(model):
    X, _ = blobs()
    first = clone(model).set_params(n_jobs=1)
    features = first.fit_transform(X)
    for n_jobs in (2, 3):
        other = clone(model).set_params(n_jobs=n_jobs)
        np.testing.assert_array_equal(other.fit_transform(X), features)
        np.testing.assert_array_equal(other.projection_, first.projection_)
        np.testing.assert_array_equal(other.transform(X), first.transform(X))


def test_threads_change_no_bit_of_many_rows():
    X = points(9000, 6, np.float32)
    features = [KernelEigenMap(100, random_state=0, n_jobs=n_jobs).fit_transform(X) for n_jobs in (1, 2, 3)]
    np.testing.assert_array_equal(features[0], features[1])
    np.testing.assert_array_equal(features[0], features[2])


def test_the_order_of_the_rows_changes_no_bit_and_weights_are_repetitions(model):
    X, _ = blobs()
    order = np.random.default_rng(0).permutation(300)
    features = clone(model).fit_transform(X)
    np.testing.assert_array_equal(clone(model).fit_transform(X[order]), features[order])
    weight = np.random.default_rng(1).integers(0, 3, size=300)
    weighted = clone(model).fit(X, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_array_equal(weighted.transform(X), repeated.transform(X))
    assert weighted.trace_captured_ == repeated.trace_captured_


def test_the_same_seed_gives_the_same_landmarks_and_another_others():
    X, _ = blobs()
    chosen = [
        KernelEigenMap(20, method="pivoted-cholesky", random_state=seed).fit(X).landmark_indices_
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(chosen[0], chosen[1])
    assert set(chosen[0].tolist()) != set(chosen[2].tolist())


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_dense_equals_sparse(model, container):
    X, _ = blobs()
    X[np.abs(X) < 0.5] = 0.0
    dense, features = clone(model), clone(model).fit_transform(container(X))
    np.testing.assert_allclose(np.abs(features), np.abs(dense.fit_transform(X)), atol=1e-7)
    np.testing.assert_allclose(model.fit(container(X)).transform(container(X[:5])), features[:5], atol=1e-9)


def test_a_matrix_and_a_function_equal_the_kernel_they_are():
    X, _ = blobs()
    K = rbf_matrix(X, 0.2)
    expected = KernelEigenMap(20, gamma=0.2, method="exact").fit(X)
    by_matrix = KernelEigenMap(20, kernel="precomputed", method="exact").fit(K)
    by_function = KernelEigenMap(20, kernel=lambda A, B: RBF(gamma=0.2)(A, B), method="exact").fit(X)
    for other, given in ((by_matrix, K), (by_function, X)):
        np.testing.assert_allclose(other.eigenvalues_, expected.eigenvalues_, rtol=1e-10)
        assert other.trace_captured_ == pytest.approx(expected.trace_captured_)
        np.testing.assert_allclose(np.abs(other.transform(given)), np.abs(expected.transform(X)), atol=1e-8)


@pytest.mark.parametrize("method", ["randomized", "pivoted-cholesky", "landmarks"])
def test_drawn_landmarks_are_those_of_the_kernel_it_is(method):
    X, _ = blobs()
    kernels = [(X, RBF(gamma=0.2)), (rbf_matrix(X, 0.2), Precomputed()), (X, FromFunction(RBF(gamma=0.2)))]
    first, *others = (of(data, 20, method, kernel=kernel) for data, kernel in kernels)
    for other in others:
        np.testing.assert_array_equal(other.index, first.index)
        np.testing.assert_allclose(np.abs(other.features), np.abs(first.features), atol=1e-7)


def spectrum(words, others):
    """How many letters two words share, with their numbers."""
    counts = [np.array([[w.count(c) for c in "abcdef"] for w in some], float) for some in (words, others)]
    return counts[0] @ counts[1].T


def test_objects_have_features_too(model):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdef"), size=8)) for _ in range(60)]
    model = clone(model).set_params(kernel=spectrum)
    D = model.fit_transform(words)
    assert model.n_components_ == 6
    np.testing.assert_allclose(D @ D.T, spectrum(words, words), atol=1e-9)
    np.testing.assert_allclose(model.transform(words[:7]), D[:7], atol=1e-9)
    assert set(model.landmarks_) <= set(words)


def test_landmarks_can_be_given():
    X, _ = blobs()
    Z = X[:30]
    model = KernelEigenMap(30, gamma=0.2, landmarks=Z).fit(X)
    assert model.method_ == "landmarks"
    assert model.landmark_indices_ is None
    D = model.transform(X)
    np.testing.assert_allclose(D @ D.T, nystroem_matrix(rbf_matrix(X, 0.2), np.arange(30)), atol=1e-9)
    by_number = KernelEigenMap(30, kernel="precomputed", landmarks=range(30)).fit(rbf_matrix(X, 0.2))
    np.testing.assert_allclose(by_number.eigenvalues_, model.eigenvalues_, rtol=1e-8)
    for container in (sparse.csr_array, np.asarray):
        S = KernelEigenMap(30, gamma=0.2, landmarks=container(Z)).fit(sparse.csr_array(X))
        np.testing.assert_allclose(S.eigenvalues_, model.eigenvalues_, rtol=1e-8)


def test_given_landmarks_need_no_names_and_are_called_by_theirs():
    X = np.random.default_rng(0).normal(size=(40, 3))
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"])
    named = KernelEigenMap(5, landmarks=X[:8]).fit(frame)
    np.testing.assert_array_equal(
        named.transform(frame), KernelEigenMap(5, landmarks=X[:8]).fit(X).transform(X)
    )
    np.testing.assert_array_equal(
        KernelEigenMap(5, landmarks=frame[:8]).fit(frame).eigenvalues_, named.eigenvalues_
    )
    with pytest.raises(ValueError, match="landmarks must have as many features as X, 3; got 2 features"):
        KernelEigenMap(5, landmarks=X[:8, :2]).fit(frame)
    with pytest.raises(ValueError, match="Input landmarks contains NaN"):
        KernelEigenMap(5, landmarks=X[:8] * np.nan).fit(X)


def test_auto_is_exact_for_few_rows():
    X = points(1400, 3)
    assert KernelEigenMap().fit(X[:1000]).method_ == "exact"
    assert KernelEigenMap().fit(np.tile(X[:900], (2, 1))).method_ == "exact"
    model = KernelEigenMap(random_state=0).fit(X)
    assert model.method_ == "pivoted-cholesky"
    assert len(model.landmarks_) == 110
    np.testing.assert_array_equal(model.landmarks_, X[model.landmark_indices_])


def test_more_components_than_rows_and_constant_features(model):
    X, _ = blobs()
    model.set_params(n_components=1000).fit(X[:25])
    assert model.n_components_ == len(model.eigenvalues_) <= 25
    assert model.trace_captured_ == pytest.approx(1.0)
    same = clone(model).set_params(gamma="scale").fit(np.ones((30, 4)))
    np.testing.assert_allclose(same.eigenvalues_, [30.0], rtol=1e-12)
    assert same.transform(np.ones((2, 4))) == pytest.approx(1.0)


def test_large_features(model):
    X, _ = blobs()
    small, large = (clone(model).set_params(gamma="scale").fit(scale * X) for scale in (1.0, 1e8))
    if model.method == "exact":  # others draw by the content of the rows
        np.testing.assert_allclose(large.eigenvalues_, small.eigenvalues_, rtol=1e-6)
    assert large.trace_captured_ == pytest.approx(small.trace_captured_, rel=0.02)
    with pytest.raises(ValueError, match=r"too large.*StandardScaler"):
        model.fit(1e300 * X)
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_names_and_frames(model):
    pd = pytest.importorskip("pandas")
    X, _ = blobs()
    frame = pd.DataFrame(X, columns=list("abcde"))
    model.set_params(n_components=3).set_output(transform="pandas")
    features = model.fit_transform(frame)
    assert features.columns.tolist() == [f"kerneleigenmap{i}" for i in range(3)]
    assert model.get_feature_names_out().tolist() == features.columns.tolist()
    assert model.transform(frame[:5]).shape == (5, 3)


def test_pickles_keep_the_features(model):
    X, _ = blobs()
    model.fit(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))


def test_a_linear_svm_on_all_features_is_the_kernel_svm():
    X, y = blobs()
    y = y > 0
    for C in (0.1, 10.0):
        exact = KernelSVC(C, gamma=0.2, tol=1e-9).fit(X, y)
        linear = make_pipeline(KernelEigenMap(300, gamma=0.2), LinearSVC(C, tol=1e-9)).fit(X, y)
        assert linear[-1].objective_ == pytest.approx(exact.objective_, rel=1e-7)
        np.testing.assert_allclose(linear.decision_function(X), exact.decision_function(X), atol=1e-4)


# ---- refusals and interruptions ----


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"n_components": 0}, "n_components must be an integer >= 1; got 0"),
        ({"n_components": 1.5}, "n_components must be an integer"),
        ({"method": "best"}, r"method must be one of \['auto', 'exact'.*; got 'best'"),
        ({"landmarks": 0}, "landmarks must be an integer >= 1; got 0"),
        ({"landmarks": 10, "method": "exact"}, "'landmarks' or 'pivoted-cholesky'; got 'exact'"),
        ({"landmarks": np.ones((3, 5)), "method": "pivoted-cholesky"}, "must be 'landmarks'; got"),
        ({"landmarks": np.ones((3, 4))}, "4 features"),
        ({"kernel": "precomputed"}, "square"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"kernel": "linear", "gamma": 1.0, "zero": True}, "no positive eigenvalue.*use 'rbf'"),
    ],
)
def test_refusals_say_what_to_do(parameters, match):
    X = blobs()[0] * (0.0 if parameters.pop("zero", False) else 1.0)
    with pytest.raises(ValueError, match=match):
        KernelEigenMap(**parameters).fit(X)


def test_columns_that_do_not_exist_are_refused():
    for landmarks in ([0, 300], [0.5], [[1, 2]]):
        with pytest.raises(ValueError, match="numbers of its columns, 0 to 299"):
            KernelEigenMap(kernel="precomputed", landmarks=landmarks).fit(rbf_matrix(blobs()[0], 1.0))


def test_exact_says_when_there_are_too_many_rows(monkeypatch):
    monkeypatch.setattr(features, "MAX_EXACT_ROWS", 100)
    with pytest.raises(ValueError, match=r"at most 100 different rows; got 300\. Use 'pivoted-cholesky'"):
        KernelEigenMap(method="exact").fit(blobs()[0])


@pytest.mark.parametrize(
    ("method", "owner", "name"),
    [
        ("exact", np.linalg, "eigh"),
        ("randomized", features, "eigh_descending"),
        ("randomized", KernelData, "matmul"),
        ("pivoted-cholesky", features, "add_random_pivots"),
        ("pivoted-cholesky", LandmarkPanel, "append"),
    ],
)
def test_ctrl_c_ends_a_fit(monkeypatch, method, owner, name):
    X = points(900, 5, np.float32)
    model = KernelEigenMap(50, method=method, random_state=0, n_jobs=2)
    interrupt_inside(monkeypatch, owner, name)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    with pytest.raises(NotFittedError):
        model.transform(X)
