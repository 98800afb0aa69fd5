"""KernelEigenMap: scikit-learn's checks, its inputs, its landmarks, and what it refuses."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from support.eigen_cases import METHODS, of, points, rbf_matrix
from support.interrupts import interrupt_inside
from support.reference_eigen import nystroem_matrix

from maxmargin import KernelEigenMap, KernelSVC, LinearSVC
from maxmargin.kernels import RBF, FromFunction, Precomputed
from maxmargin.kernels.data import KernelData
from maxmargin.methods.eigen_map import features
from maxmargin.methods.eigen_map.landmarks import LandmarkPanel


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
def test_fit_transform_equals_fit_then_transform(model, dtype, tol):
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


def test_row_order_changes_no_bit_and_weights_equal_repetitions(model):
    X, _ = blobs()
    order = np.random.default_rng(0).permutation(300)
    features = clone(model).fit_transform(X)
    np.testing.assert_array_equal(clone(model).fit_transform(X[order]), features[order])
    weight = np.random.default_rng(1).integers(0, 3, size=300)
    weighted = clone(model).fit(X, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_array_equal(weighted.transform(X), repeated.transform(X))
    assert weighted.trace_captured_ == repeated.trace_captured_


def test_seed_determines_the_landmarks():
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


def test_precomputed_and_callable_equal_the_named_kernel():
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
def test_drawn_landmarks_equal_those_of_the_named_kernel(method):
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


def test_objects_with_a_callable_kernel(model):
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


def test_given_landmarks_need_no_feature_names():
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


def test_feature_names_and_frames(model):
    pd = pytest.importorskip("pandas")
    X, _ = blobs()
    frame = pd.DataFrame(X, columns=list("abcde"))
    model.set_params(n_components=3).set_output(transform="pandas")
    features = model.fit_transform(frame)
    assert features.columns.tolist() == [f"kerneleigenmap{i}" for i in range(3)]
    assert model.get_feature_names_out().tolist() == features.columns.tolist()
    assert model.transform(frame[:5]).shape == (5, 3)


def test_pickle_keeps_the_features(model):
    X, _ = blobs()
    model.fit(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))


def test_linear_svm_on_all_features_equals_the_kernel_svm():
    X, y = blobs()
    y = y > 0
    for C in (0.1, 10.0):
        exact = KernelSVC(C, gamma=0.2, tol=1e-9).fit(X, y)
        linear = make_pipeline(KernelEigenMap(300, gamma=0.2), LinearSVC(C, tol=1e-9)).fit(X, y)
        assert linear[-1].objective_ == pytest.approx(exact.objective_, rel=1e-7)
        np.testing.assert_allclose(linear.decision_function(X), exact.decision_function(X), atol=1e-4)


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
def test_bad_parameters_are_refused(parameters, match):
    X = blobs()[0] * (0.0 if parameters.pop("zero", False) else 1.0)
    with pytest.raises(ValueError, match=match):
        KernelEigenMap(**parameters).fit(X)


def test_columns_that_do_not_exist_are_refused():
    for landmarks in ([0, 300], [0.5], [[1, 2]]):
        with pytest.raises(ValueError, match="numbers of its columns, 0 to 299"):
            KernelEigenMap(kernel="precomputed", landmarks=landmarks).fit(rbf_matrix(blobs()[0], 1.0))


def test_exact_refuses_too_many_rows(monkeypatch):
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
