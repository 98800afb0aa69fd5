"""KernelSVC against scikit-learn's SVC, a QP referee and itself: other kernels, inputs, memory and starts."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from support.reference import kernel_svm_bounds, kernel_svm_dual

from maxmargin import KernelSVC
from maxmargin.kernels import RBF
from maxmargin.methods.kernel_svm import working_set

LOSSES = ["hinge", "squared-hinge"]


def blobs(n=300, centers=2, spread=3.0, seed=0):
    X, y = make_blobs(n, n_features=4, centers=centers, cluster_std=spread, random_state=seed)
    return X / 4.0, y


def coefficients(model, n, column=0):
    a = np.zeros(n)
    a[model.support_] = model.dual_coef_[column]
    return a


def kernel_matrix(name, X):
    """By its formula, with gamma = 1/2, degree 2 and coef0 = 1."""
    if name in ("rbf", "laplacian"):
        differences = X[:, None] - X[None]
        return np.exp(-0.5 * (differences**2 if name == "rbf" else np.abs(differences)).sum(axis=2))
    return X @ X.T if name == "linear" else (0.5 * X @ X.T + 1.0) ** 2


# ---- the problem ----


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf", "laplacian"])
@pytest.mark.parametrize("C", [1e-2, 1.0, 100.0])
def test_the_objective_is_that_of_the_referee(loss, kernel, C):
    X, y = blobs(60)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=60)
    model = KernelSVC(C, loss=loss, kernel=kernel, gamma=0.5, degree=2, coef0=1.0).fit(X, y, weight)
    K = kernel_matrix(kernel, X)
    signs, a = np.where(y == 1, 1.0, -1.0), coefficients(model, 60)
    _, best = kernel_svm_dual(K, signs, C * weight, loss)
    primal, dual = kernel_svm_bounds(a, model.intercept_[0], K, signs, C * weight, loss)
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert primal == pytest.approx(best, rel=1e-6)
    assert dual == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(X), K @ a + model.intercept_[0], atol=1e-9 * C + 1e-9)


@pytest.mark.parametrize(
    ("C", "kernel"), [(1e-6, "rbf"), (0.1, "rbf"), (1e3, "rbf"), (1.0, "poly"), (1.0, "linear")]
)
def test_it_solves_the_problem_of_svc(C, kernel):
    X, y = blobs()
    weight = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float)
    kernel = {"kernel": kernel, "gamma": 0.5, "degree": 2, "coef0": 1.0}
    peer = SVC(C=C, tol=1e-10, **kernel).fit(X, y, weight)
    model = KernelSVC(C, **kernel).fit(X, y, weight)
    scale = np.abs(peer.decision_function(X)).max()
    np.testing.assert_allclose(  # its kernel values are of single precision
        model.decision_function(X) - model.intercept_,
        peer.decision_function(X) - peer.intercept_,
        atol=1e-4 * scale,
    )
    K, a, theirs = kernel_matrix(kernel["kernel"], X), coefficients(model, len(y)), np.zeros(len(y))
    theirs[peer.support_] = peer.dual_coef_[0]
    ours, theirs = (c @ np.where(y == 1, 1.0, -1.0) - 0.5 * c @ K @ c for c in (a, theirs))
    assert ours == pytest.approx(theirs, rel=1e-6)
    assert ours >= theirs * (1 - 1e-12)
    assert model.objective_ == pytest.approx(ours, rel=1e-9)


def test_the_squared_hinge_is_a_hard_margin_with_a_ridge():
    """SVC with an unbounded C and K + I / C, for the loss max(0, 1 - m)^2 / 2."""
    X, y = blobs(120)
    C, K = 3.0, RBF(0.5)(blobs(120)[0])
    peer = SVC(C=1e9, kernel="precomputed", tol=1e-10).fit(K + np.eye(120) / C, y)
    model = KernelSVC(C, loss="squared-hinge", gamma=0.5).fit(X, y)
    expected = np.zeros(120)
    expected[peer.support_] = peer.dual_coef_[0]
    np.testing.assert_allclose(coefficients(model, 120), expected, atol=1e-6)
    assert model.intercept_[0] == pytest.approx(peer.intercept_[0], abs=1e-6)
    assert KernelSVC(C, loss="squared_hinge", gamma=0.5).fit(X, y).intercept_ == model.intercept_


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
def test_the_unit_of_the_features_does_not_matter(loss, scale, C):
    X, y = blobs(150)
    plain = KernelSVC(C, loss=loss).fit(X, y)
    scaled = KernelSVC(C, loss=loss).fit(scale * X, y)  # gamma="scale" goes along
    assert scaled.status_ == "converged"
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-7)


def test_kkt_conditions():
    X, y = blobs()
    model = KernelSVC(1.0, gamma=0.5).fit(X, y)
    margins = np.where(y == 1, 1.0, -1.0) * model.decision_function(X)
    a = np.abs(coefficients(model, len(y)))
    assert margins[a == 0.0].min() > 1.0 - 1e-10
    assert margins[a == 1.0].max() < 1.0 + 1e-10
    np.testing.assert_allclose(margins[(a > 0.0) & (a < 1.0)], 1.0, atol=1e-10)
    assert model.history_[0][-1].violation < 1e-9


def test_the_intercept_without_any_free_vector():
    X, y = blobs(100)
    even = KernelSVC(1e-6, gamma=0.5).fit(X, y)
    assert (np.abs(even.dual_coef_) == 1e-6).all()
    peer = SVC(C=1e-6, gamma=0.5, tol=1e-12).fit(X, y)
    assert even.intercept_[0] == pytest.approx(peer.intercept_[0], abs=1e-6)
    uneven = KernelSVC(1e-6, gamma=0.5).fit(X[y == 0][:20], np.arange(20) < 13)
    assert uneven.intercept_[0] == pytest.approx(1.0, abs=1e-4)
    assert uneven.objective_ == pytest.approx(14e-6, rel=1e-4)  # seven samples lose 2 each


# ---- inputs ----


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [150, 1300])
def test_dense_equals_sparse_and_precomputed(loss, n):
    X, y = blobs(n, centers=3)
    X[np.abs(X) < 0.5] = 0.0
    parameters = {"loss": loss, "gamma": 0.5, "tol": 1e-8}
    dense = KernelSVC(3.0, **parameters).fit(X, y)
    S = sparse.csr_array(X)
    thin = KernelSVC(3.0, **parameters).fit(S, y)
    K = RBF(0.5)(X)
    given_K = KernelSVC(3.0, kernel="precomputed", **parameters).fit(K, y)
    assert thin.objective_ == pytest.approx(dense.objective_, rel=1e-7)
    assert given_K.objective_ == pytest.approx(dense.objective_, rel=1e-7)
    np.testing.assert_allclose(thin.decision_function(S), dense.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(given_K.decision_function(K), dense.decision_function(X), atol=1e-3)
    np.testing.assert_array_equal(given_K.support_vectors_, given_K.support_)


@pytest.mark.parametrize("loss", LOSSES)
def test_float32_is_close_to_float64(loss):
    X, y = blobs(1500, centers=3)
    double = KernelSVC(1.0, loss=loss, tol=1e-5).fit(X, y)
    single = KernelSVC(1.0, loss=loss, tol=1e-5).fit(X.astype(np.float32), y)
    assert single.status_ == "converged"
    assert single.objective_ == pytest.approx(double.objective_, rel=3e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 10.0, 1e3])
def test_weights_equal_repetitions_where_nothing_is_merged(loss, C):
    X, y = blobs(120)
    weight = np.random.default_rng(0).integers(0, 4, size=120)
    rows = np.repeat(np.arange(120), weight)
    K = RBF(0.5)(X)
    weighted = KernelSVC(C, loss=loss, kernel="precomputed").fit(K, y, weight)
    repeated = KernelSVC(C, loss=loss, kernel="precomputed").fit(K[np.ix_(rows, rows)], y[rows])
    np.testing.assert_allclose(
        weighted.decision_function(K), repeated.decision_function(K[:, rows]), rtol=1e-7, atol=1e-7
    )
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-10)


def test_a_callable_is_asked_for_support_vectors_alone():
    X, y = blobs(200)
    sizes = []

    def kernel(left, right):
        sizes.append((len(left), len(right)))
        return np.exp(-0.5 * ((np.asarray(left)[:, None] - np.asarray(right)[None]) ** 2).sum(axis=2))

    model = KernelSVC(1.0, kernel=kernel).fit(X, y)
    named = KernelSVC(1.0, gamma=0.5).fit(X, y)
    assert model.objective_ == pytest.approx(named.objective_, rel=1e-9)
    sizes.clear()
    np.testing.assert_allclose(model.decision_function(X[:30]), named.decision_function(X[:30]), atol=1e-7)
    assert model.n_support_ < 200
    assert sum(rows * columns for rows, columns in sizes) == 30 * model.n_support_


def test_strings():
    words = ["oak", "oaks", "soak", "fir", "firs", "rifle", "elm", "elms", "melt"]
    y = [word[:1] for word in ["o", "o", "o", "f", "f", "f", "e", "e", "e"]]

    def same_letters(left, right):
        return np.array([[len(set(a) & set(b)) / len(set(a) | set(b)) for b in right] for a in left])

    for loss in LOSSES:
        model = KernelSVC(10.0, loss=loss, kernel=same_letters).fit(words, y)
        assert model.score(words, y) == 1.0
        assert set(model.support_vectors_) <= set(words)
        assert model.predict(["oakum"])[0] == "o"


# ---- memory, threads, starts ----


@pytest.mark.parametrize("loss", LOSSES)
def test_memory_and_shrinking_change_the_way_and_not_the_end(loss, monkeypatch):
    monkeypatch.setattr(working_set, "MAX_POLISHED_SAMPLES", 0)
    monkeypatch.setattr(working_set, "N_INITIAL_ROWS", 100)
    X, y = blobs(400, centers=3)
    exact = KernelSVC(1.0, loss=loss, tol=1e-7).fit(X, y)
    for cache_mb in (1e-6, 0.05, 1.0, "auto"):
        for shrinking in (True, False):
            model = KernelSVC(1.0, loss=loss, tol=1e-3, cache_mb=cache_mb, shrinking=shrinking).fit(X, y)
            assert model.status_ == "converged"
            assert model.objective_ == pytest.approx(exact.objective_, rel=1e-3)
            assert model.objective_ >= exact.objective_ * (1 - 1e-7)
            assert 0.0 <= model.history_[0][-1].hit_rate <= 1.0


@pytest.mark.parametrize("cache_mb", [0.2, 1.0, "auto"])
@pytest.mark.parametrize("code", ["one-vs-one", "one-vs-rest"])
def test_threads_change_no_bit(cache_mb, code):
    """Nor does the memory that columns share, which are solved at one time or one after the other."""
    X, y = blobs(1800, centers=4)
    first, *others = (
        KernelSVC(1.0, code=code, tol=1e-4, cache_mb=cache_mb, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 2, 4)
    )
    for other in others:
        np.testing.assert_array_equal(other.dual_coef_, first.dual_coef_)
        np.testing.assert_array_equal(other.intercept_, first.intercept_)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_warm_start_ends_at_the_same_optimum_sooner(loss, monkeypatch):
    monkeypatch.setattr(working_set, "MAX_POLISHED_SAMPLES", 0)
    X, y = blobs(1500, centers=3)
    model = KernelSVC(1.0, loss=loss, tol=1e-5, warm_start=True).fit(X, y)
    again = model.n_iter_
    assert model.fit(X, y).n_iter_ < again
    for C in (1.5, 0.5):
        cold = KernelSVC(C, loss=loss, tol=1e-5).fit(X, y)
        model.set_params(C=C).fit(X, y)
        assert model.status_ == "converged"
        assert model.objective_ == pytest.approx(cold.objective_, rel=2e-5)
    few = KernelSVC(0.5, loss=loss, tol=1e-5).fit(X[:300], y[:300])
    assert model.fit(X[:300], y[:300]).objective_ == few.objective_  # another problem: a cold start


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n", "centers"), [(300, 3), (6200, 2)])
def test_a_path_over_C_is_the_fits_and_computes_less(loss, n, centers):
    """Up, down and twice the same; recomputed bounds of every model, the settled samples' included."""
    X, y = blobs(n, centers=centers)
    Cs, given = [0.01, 0.3, 10.0, 10.0, 0.1], np.where(np.arange(n) % 3, 1.0, 2.0)
    base = KernelSVC(loss=loss, gamma=0.2, tol=1e-4)
    models = base.path(X, y, Cs, sample_weight=given)
    assert not hasattr(base, "status_")
    computed, K = 0, RBF(gamma=0.2)(X, X)
    for C, model in zip(Cs, models):
        assert (model.C, model.status_) == (C, "converged")
        cold = KernelSVC(C, loss=loss, gamma=0.2, tol=1e-4).fit(X, y, given)
        computed += sum(history[-1].kernel_values for history in cold.history_)
        assert model.objective_ == pytest.approx(cold.objective_, rel=2e-4)
        for t in range(model.code_.n_columns):
            pair = np.isin(y, model.classes_[model.code_.matrix[:, t] != 0])
            target = np.where(y[pair] == model.classes_[model.code_.matrix[:, t] > 0][0], 1.0, -1.0)
            a, cost = coefficients(model, n, t)[pair], C * given[pair]
            a *= 1.0 - 1e-13  # rounding at the bound is none of the referee's business
            primal, dual = kernel_svm_bounds(
                a, model.intercept_[t], K if pair.all() else K[np.ix_(pair, pair)], target, cost, loss
            )
            assert primal - dual <= 1.01e-4 * primal
    if n > 300:
        assert sum(history[-1].kernel_values for history in models[-1].history_) < 0.7 * computed


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", LOSSES)
def test_a_stationary_point_of_an_indefinite_kernel_ends_a_fit(loss):
    """Where no pair gains anything, though the gap is wide, more rounds would change nothing."""
    X, y = blobs(300, centers=3)
    base = KernelSVC(10.0, loss=loss, kernel="sigmoid", gamma=0.2, tol=1e-4)
    for model in [clone(base).fit(X, y), *base.path(X, y, [0.01, 10.0, 0.1])]:
        assert model.status_ == "stalled"
        assert model.dual_gap_ == np.inf
        assert np.isfinite(model.dual_coef_).all()
        assert model.n_iter_ < 200


def test_a_path_refuses_what_is_no_grid():
    X, y = blobs()
    for Cs in ([], [1.0, -1.0], "wide", [[1.0]], [np.nan]):
        with pytest.raises(ValueError, match="Cs must be a list"):
            KernelSVC().path(X, y, Cs)


def test_the_history_tells_what_was_computed():
    X, y = blobs(2000)
    model = KernelSVC(1.0, gamma=0.5).fit(X, y)
    history = model.history_[0]
    assert history[-1].kernel_values >= 2000 * model.n_support_ * 0.2
    assert all(later.kernel_values >= earlier.kernel_values for earlier, later in itertools.pairwise(history))
    assert model.cache_mb_ <= 1000
    assert model.n_support_ == len(model.support_) == history[-1].n_support


# ---- peers ----


def rows_of(dataset, name, limit):
    arrays = dataset(name)
    X, y = (arrays[key] if key in arrays else arrays[f"{key}_train"] for key in "Xy")
    order = np.random.default_rng(0).permutation(len(y))[:limit]
    return StandardScaler().fit_transform(X[order].astype(np.float64)), y[order]


def leaves(dataset):
    X, y = rows_of(dataset, "leaves100", 1600)
    return X[y < 12], y[y < 12]


def messages(dataset):
    arrays = dataset("sms_spam")
    return TfidfVectorizer().fit_transform(arrays["text"][:1000]), arrays["y"][:1000]


def flowers(dataset):
    arrays = dataset("flowers17_features")
    return np.sqrt(arrays["hsv_bow"][arrays["trn1"] - 1].astype(np.float64)), arrays["y"][arrays["trn1"] - 1]


DATA = {
    "iris": lambda dataset: load_iris(return_X_y=True),
    "wine": lambda dataset: load_wine(return_X_y=True),
    "breast_cancer": lambda dataset: load_breast_cancer(return_X_y=True),
    "digits": lambda dataset: tuple(part[:900] for part in load_digits(return_X_y=True)),
    "glass": lambda dataset: rows_of(dataset, "glass", 214),
    "yeast": lambda dataset: rows_of(dataset, "yeast", 1484),
    "zoo": lambda dataset: rows_of(dataset, "zoo", 101),
    "usps": lambda dataset: rows_of(dataset, "usps", 800),
    "letter": lambda dataset: rows_of(dataset, "letter", 1500),
    "isolet": lambda dataset: rows_of(dataset, "isolet", 500),
    "leaves100": leaves,
    "flowers17": flowers,
    "sms_spam": messages,
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("C", [1.0, 30.0])
def test_predictions_are_those_of_svc(name, C, dataset):
    """Pair by pair, but where a decision is nearly a draw."""
    X, y = DATA[name](dataset)
    train = np.arange(len(y)) % 3 > 0
    kept = np.isin(y, np.unique(y[train]))
    X, y, train = X[kept], y[kept], train[kept]
    peer = SVC(C=C, tol=1e-6, decision_function_shape="ovo").fit(X[train], y[train])
    model = KernelSVC(C, tol=1e-6, gamma=peer._gamma).fit(X[train], y[train])
    assert model.status_ == "converged"
    ours, theirs = model._column_outputs(X), peer.decision_function(X).reshape(len(y), -1)
    if len(model.classes_) > 2:
        theirs = -theirs if np.corrcoef(ours[:, 0], theirs[:, 0])[0, 1] < 0 else theirs
    clear = np.abs(theirs) >= 1e-3
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(ours[clear] > 0, theirs[clear] > 0)
    sure = clear.all(axis=1)
    if len(model.classes_) == 2:
        np.testing.assert_array_equal(model.predict(X)[sure], peer.predict(X)[sure])
    else:  # votes; ties are broken differently
        votes = peer.set_params(break_ties=False, decision_function_shape="ovr").decision_function(X).round()
        votes = np.sort(votes, axis=1)
        sure &= votes[:, -1] > votes[:, -2]
        assert sure.mean() > 0.5
        np.testing.assert_array_equal(model.predict(X)[sure], peer.predict(X)[sure])


# ---- problems that are hard ----


def test_what_makes_libsvm_run_for_ever_ends_in_time():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6)) * np.array([1.0, 1e3, 1e5, 1e-2, 10.0, 1e4])
    y = (X[:, 0] + rng.normal(size=1500) > 0).astype(int)
    for kernel in ("linear", "polynomial"):
        with pytest.warns(
            ConvergenceWarning, match=r"(time_limit|stalled).*relative duality gap \d.*scale the features"
        ):
            model = KernelSVC(1e10, kernel=kernel, gamma=1.0, max_seconds=0.5).fit(X, y)
        assert model.status_ in ("time_limit", "stalled")  # no further step is longer than rounding
        assert np.isfinite(model.decision_function(X)).all()
        assert model.tol < model.dual_gap_ < np.inf


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [200, 1400])
@pytest.mark.parametrize(
    "kernel", [{"kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0}, {"gamma": 1e-12}], ids=str
)
def test_indefinite_and_nearly_singular_kernels_end_finite(loss, n, kernel):
    X, y = blobs(n)
    for C in (1.0, 1e6):
        model = KernelSVC(C, loss=loss, max_seconds=0.7, **kernel).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        assert np.isfinite(model.objective_)
        assert np.isfinite(model.dual_gap_) == ("kernel" not in kernel)
        assert (model.status_ == "converged") == (model.dual_gap_ <= model.tol)


@pytest.mark.parametrize("n", [600, 1000])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_small_problems_are_exact(n, loss, kernel):
    X, y = blobs(n)
    model = KernelSVC(10.0, loss=loss, kernel=kernel).fit(X, y)
    assert model.status_ == "converged"
    assert model.dual_gap_ < 1e-11


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
def test_one_sample_of_a_class(loss, C):
    X = np.array([[0.0], [1.0], [2.0]])
    model = KernelSVC(C, loss=loss, kernel="linear").fit(X, [0, 1, 1])
    assert model.status_ == "converged"
    assert model.dual_gap_ < 1e-9
    pair = KernelSVC(C, loss=loss, kernel="linear").fit(X[:2], [0, 1])
    a = min(C, 2.0) if loss == "hinge" else 2.0 / (1.0 + 2.0 / C)
    np.testing.assert_allclose(pair.dual_coef_, [[-a, a]], rtol=1e-9)
    assert pair.intercept_[0] == pytest.approx(-0.5 * a, abs=1e-9)


def test_bad_parameters_are_refused_clearly():
    X, y = blobs(20)
    for model, match in [
        (KernelSVC(C=0), "C must be a finite number > 0"),
        (KernelSVC(loss="log"), "loss must be one of"),
        (KernelSVC(kernel="gauss"), "kernel must be"),
        (KernelSVC(cache_mb=0), "cache_mb must be a finite number > 0"),
        (KernelSVC(cache_mb="much"), "cache_mb must be"),
        (KernelSVC(shrinking="yes"), "shrinking must be"),
        (KernelSVC(warm_start=1), "warm_start must be"),
        (KernelSVC(tol=0.0), "tol must be"),
        (KernelSVC(C=1e200), "C times the weights"),
    ]:
        with pytest.raises(ValueError, match=match):
            model.fit(X, y)
    with pytest.raises(ValueError, match="square"):
        KernelSVC(kernel="precomputed").fit(X, y)
