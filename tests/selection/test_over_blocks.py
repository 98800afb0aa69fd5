"""``PathCV.fit_blocks``: a fold's model is that of its training rows, and all folds share their passes."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MaxAbsScaler

from maxmargin import KernelSVC, LinearSVC, PathCV, SparseKernelClassifier
from maxmargin.losses import loss_from_name
from maxmargin.methods.blocks import Folds
from maxmargin.selection import over_blocks


def digits(n=600):
    X, y = load_digits(return_X_y=True)
    return MaxAbsScaler().fit_transform(X[:n]), y[:n]


def moons(n=900):
    return make_moons(n, noise=0.3, random_state=0)


def cut(X, y, size=200, weight=None):
    rows = [slice(i, i + size) for i in range(0, X.shape[0], size)]
    return [(X[r], y[r]) if weight is None else (X[r], y[r], weight[r]) for r in rows]


def fold_of(X, n_folds=5, random_state=0):
    """The folds of a search with this ``random_state``."""
    return Folds(n_folds, int(np.random.RandomState(random_state).randint(2**31))).of(X)


def fold_scores(search):
    return np.column_stack([search.cv_results_[f"split{k}_test_score"] for k in range(search.n_splits_)])


@pytest.mark.parametrize(
    ("loss", "weighted", "code"),
    [
        ("squared-hinge", False, "one-vs-rest"),
        ("squared-hinge", True, "one-vs-one"),
        ("log", True, "one-vs-rest"),
    ],
)
def test_scores_are_those_of_separate_fits(loss, weighted, code):
    X, y = digits()
    weight = np.random.default_rng(0).integers(1, 4, size=len(y)).astype(float) if weighted else None
    model = LinearSVC(loss=loss, tol=1e-7, code=code, class_weight="balanced" if weighted else None)
    search = PathCV(model, Cs=[1e-3, 0.1], cv=3, refit=False, random_state=0)
    search.fit_blocks(cut(X, y, weight=weight), sample_rows=300)
    fold, scores = fold_of(X, 3), fold_scores(search)
    assert np.isin(np.bincount(fold), range(130, 270)).all()
    for c, C in enumerate([1e-3, 0.1]):
        for k in range(3):
            train, test = fold != k, fold == k
            alone = model.set_params(C=C).fit(X[train], y[train], None if weight is None else weight[train])
            w = np.ones(test.sum()) if weight is None else weight[test]
            assert scores[c, k] == pytest.approx(
                alone.score(X[test], y[test], w), abs=1.01 * w.max() / w.sum()
            )
    assert (search.cv_results_["max_dual_gap"] <= 1e-7).all()


def test_each_fold_of_a_kernel_model_is_the_optimum_on_its_training_rows(monkeypatch):
    """Coefficients that reach the scoring pass, against BFGS on the training rows alone."""
    X, y = moons(400)
    seen = []
    plain = over_blocks.ScoredFolds

    def noted(problem, V, decoder):
        seen.append((problem, V))
        return plain(problem, V, decoder)

    monkeypatch.setattr(over_blocks, "ScoredFolds", noted)
    model = SparseKernelClassifier(8, gamma=1.0, tol=1e-8, random_state=0)
    PathCV(model, alphas=[1e-1, 1e-3], cv=4, random_state=0).fit_blocks(cut(X, y), sample_rows=200)
    ((problem, points),) = seen
    fold, loss = fold_of(X, 4), loss_from_name("squared-hinge")
    phi = np.concatenate([part for _, part in problem.features.parts(_block(X, y), double=True)])
    signs = np.where(y == 1, 1.0, -1.0) * problem.code.matrix[1, 0]
    for alpha, V in zip([1e-1, 1e-3], points, strict=True):
        for k in range(4):
            own, t = phi[fold != k], signs[fold != k]

            def value(v, own=own, t=t, alpha=alpha):
                m = t * (own @ v)
                slope = own.T @ (loss.slope(m) * t) / len(t)
                return loss.value(m).mean() + 0.5 * alpha * v @ v, slope + alpha * v

            best = minimize(value, np.zeros(len(V)), jac=True, method="BFGS", options={"gtol": 1e-10})
            assert value(V[:, k])[0] == pytest.approx(best.fun, rel=1e-7)


def _block(X, y):
    from maxmargin.methods.blocks import row_block

    return row_block(X, y)


def test_a_search_and_its_refit_do_not_depend_on_threads_order_or_memory(monkeypatch):
    X, y = moons()
    search = PathCV(SparseKernelClassifier(10), alphas=[1e-2, 1e-4], gammas=[0.5, 4.0], random_state=0)
    first = search.set_params(n_jobs=1).fit_blocks(cut(X, y), sample_rows=300)
    scores, model = fold_scores(first), first.best_estimator_
    again = search.set_params(n_jobs=3).fit_blocks(cut(X, y), sample_rows=300)
    assert np.array_equal(fold_scores(again), scores)
    assert np.array_equal(again.best_estimator_.dual_coef_, model.dual_coef_)
    order = np.random.default_rng(1).permutation(len(y))
    shuffled = search.fit_blocks(cut(X[order], y[order], 333), sample_rows=300)
    assert np.abs(fold_scores(shuffled) - scores).max() < 0.02  # a row or two, by rounding
    monkeypatch.setattr(over_blocks, "MAX_HESSIAN_BYTES", 1)  # one fold at a time
    assert np.abs(fold_scores(search.fit_blocks(cut(X, y), sample_rows=300)) - scores).max() < 0.02


def test_the_chosen_point_is_fitted_to_all_rows():
    X, y = moons()
    search = PathCV(SparseKernelClassifier(10), alphas=[1.0, 1e-3], gammas=[1.0], random_state=0)
    search.fit_blocks(cut(X, y), sample_rows=300)
    direct = SparseKernelClassifier(
        10, alpha=1e-3, gamma=1.0, random_state=search.best_estimator_.random_state
    )
    direct.fit_blocks(cut(X, y), sample_rows=300)
    assert search.best_params_ == {"alpha": 1e-3, "gamma": 1.0}
    assert np.array_equal(search.decision_function(X), direct.decision_function(X))
    assert search.best_estimator_.n_rows_ == len(y)
    assert search.score(X, y) > 0.85
    assert list(search.classes_) == [0, 1]


def test_sparse_rows_and_strings():
    X, y = digits()
    names = np.array([f"digit {k}" for k in y])
    search = PathCV(LinearSVC(loss="squared-hinge"), Cs=[1e-4, 1.0], random_state=0)
    search.fit_blocks(cut(sparse.csr_array(X), names), sample_rows=300)
    assert search.best_params_ == {"C": 1.0}
    assert search.predict(sparse.csr_array(X[:3])).tolist() == names[:3].tolist()


def test_folds_keep_equal_rows_together_whatever_their_layout():
    X, _ = digits(50)
    fold = fold_of(np.vstack([X, X]))
    assert np.array_equal(fold[:50], fold[50:])
    assert np.array_equal(fold_of(sparse.csr_array(X)), fold[:50])
    assert np.array_equal(fold_of(X.astype(np.float32).astype(np.float64)), fold_of(X.astype(np.float32)))


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (PathCV(KernelSVC()), "needs an estimator with fit_blocks.*got KernelSVC"),
        (PathCV(LinearSVC()), "needs a loss with a curvature"),
        (PathCV(LinearSVC(loss="log"), cv=[([0], [1])]), "cv must be a number"),
        (PathCV(LinearSVC(loss="log"), cv=1), "cv must be"),
        (PathCV(LinearSVC(loss="log"), eliminate=True), "set eliminate=False"),
        (PathCV(LinearSVC(loss="log"), scoring="roc_auc"), "scoring must be None or 'accuracy'"),
        (PathCV(LinearSVC(loss="log", decoder="prior")), "learns from training rows"),
    ],
)
def test_what_passes_cannot_do_is_refused(search, message):
    with pytest.raises((TypeError, ValueError), match=message):
        search.fit_blocks(cut(*digits(300)))


def test_one_class_and_classes_in_one_fold_are_refused():
    X = moons(60)[0]
    search = PathCV(LinearSVC(loss="log", code="one-vs-one"), Cs=[1.0], random_state=0)
    with pytest.raises(ValueError, match="at least two classes"):
        search.fit_blocks(cut(X, np.zeros(60)))
    rare = np.where(fold_of(X) == 2, "b", "a")
    with pytest.raises(ValueError, match="all rows of the class 'b' are in one of 5 folds"):
        search.fit_blocks(cut(X, rare))


def test_weights_of_all_sizes_and_rows_without_weight():
    X, y = moons(300)
    weight = np.random.default_rng(0).uniform(0.5, 1.5, size=300)
    weight[7], weight[11] = 1e11, 0.0
    search = PathCV(LinearSVC(loss="squared-hinge"), Cs=[1e-10], refit=False, random_state=0)
    labels = np.where(np.arange(300) == 11, "left out", np.where(y, "yes", "no"))
    search.fit_blocks(cut(X, labels, weight=weight), sample_rows=100)
    assert search.classes_.tolist() == ["no", "yes"]


def test_folds_share_their_passes():
    X, y = moons()
    numbers = []
    model = SparseKernelClassifier(10, random_state=0)
    search = PathCV(model, alphas=[1e-2, 1e-3, 1e-4], gammas=[1.0], refit=False, random_state=0)
    search.fit_blocks(
        cut(X, y), sample_rows=600, progress=lambda n_passes, n_blocks: numbers.append(n_passes)
    )
    assert max(numbers) <= 2 + 3 * 6 + 1  # sample and weights of the folds; each point; the scores


def test_folds_at_once_are_limited_by_memory():
    assert over_blocks.folds_at_once(1, 100, 5) == 5
    assert over_blocks.folds_at_once(10, 1000, 5) == 1  # 76 MiB of Hessians for a fold
    assert over_blocks.folds_at_once(3, 1000, 5) == 4
    assert over_blocks.folds_at_once(10, 4000, 5) == 5  # products need none
    assert over_blocks.folds_at_once(435, 50, 5) == 1  # targets and costs of 435 columns


class Clock:
    """A clock that a source of blocks moves."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr("time.perf_counter", lambda: self.now)

    def source(self, X, y, seconds):
        def blocks():
            for block in cut(X, y, 100):
                self.now += seconds
                yield block

        return blocks


def searched(clock, seconds, model, **limits):
    search = PathCV(model, Cs=[1e-3, 1e-2, 0.1, 1.0], refit=False, n_jobs=1, random_state=0, **limits)
    return search.fit_blocks(clock.source(*moons(300), seconds), sample_rows=200)


def test_points_without_time_have_no_score_and_the_others_keep_theirs(monkeypatch):
    model = LinearSVC(loss="log", tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning) as told:
        search = searched(Clock(monkeypatch), 1.0, model, max_seconds=30)
    assert any("of 4 points scored on every fold" in str(each.message) for each in told)
    scored = np.isfinite(search.cv_results_["mean_test_score"])
    assert 0 < scored.sum() < 4
    assert np.isfinite(search.cv_results_["mean_fit_time"][scored]).all()


@pytest.mark.parametrize("seconds", [1.0, 50.0])
def test_too_little_time_is_a_timeout(monkeypatch, seconds):
    with pytest.raises(TimeoutError, match="raise max_seconds"):
        searched(Clock(monkeypatch), seconds, LinearSVC(loss="squared-hinge"), max_seconds=8)


def test_the_limit_of_the_estimator_holds_for_each_gamma(monkeypatch):
    clock = Clock(monkeypatch)
    with pytest.warns(ConvergenceWarning):
        searched(clock, 1.0, LinearSVC(loss="squared-hinge", max_seconds=25.0), max_seconds=1000)
    assert clock.now < 6 + 1.2 * 25 + 6  # the first two passes, the limit, the pass that had begun


def test_fits_above_their_tolerance_are_told():
    X, y = moons(300)
    search = PathCV(LinearSVC(loss="log", tol=1e-9, max_iter=1), Cs=[100.0], refit=False, random_state=0)
    with pytest.warns(ConvergenceWarning, match="5 of 5 fits of the search ended above tol=1e-09"):
        search.fit_blocks(cut(X, y), sample_rows=50)
