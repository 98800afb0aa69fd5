"""LinearSVC against its peers, its parameters, and what it refuses."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.multiclass import OneVsOneClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.svm import LinearSVC as PeerSVC
from support.reference import svm_objective, svm_primal

from maxmargin import LinearSVC
from maxmargin.codes import Code, one_vs_rest
from maxmargin.kernels import Linear


def standardised(load, classes=None):
    X, y = load(return_X_y=True)
    if classes is not None:
        X, y = X[np.isin(y, classes)], y[np.isin(y, classes)]
    return StandardScaler().fit_transform(X), y


TWO_CLASS = {
    "breast cancer": lambda: standardised(load_breast_cancer),
    "iris": lambda: standardised(load_iris, [1, 2]),
    "wine": lambda: standardised(load_wine, [0, 1]),
    "digits": lambda: standardised(load_digits, [3, 8]),
}


@pytest.mark.parametrize("name", TWO_CLASS)
def test_it_equals_svc_with_a_linear_kernel(name):
    X, y = TWO_CLASS[name]()
    ours = LinearSVC(tol=1e-10).fit(X, y)
    peer = SVC(kernel="linear", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-4)
    assert ours.dual_gap_ <= 1e-10


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_it_equals_the_referee(name, loss):
    X, y = TWO_CLASS[name]()
    weight = np.random.default_rng(0).uniform(0.1, 3.0, size=len(y))
    ours = LinearSVC(C=2.0, loss=loss, tol=1e-10).fit(X, y, sample_weight=weight)
    target = np.where(y == y.max(), 1.0, -1.0)
    w, _, best = svm_primal(X, target, 2.0 * weight, loss, "free")
    assert ours.objective_ == pytest.approx(best, rel=1e-6)
    assert ours.objective_ == pytest.approx(
        svm_objective(ours.coef_[0], ours.intercept_[0], X, target, 2.0 * weight, loss, "free"), rel=1e-12
    )
    np.testing.assert_allclose(ours.coef_[0], w, atol=1e-3)


@pytest.mark.parametrize("solver", ["newton", "truncated-newton", "dual-cd"])
@pytest.mark.parametrize("balance", [0.5, 0.8])
@pytest.mark.parametrize("C", [1e-6, 1e-12])
def test_a_small_cost_orders_the_samples_all_the_same(solver, balance, C):
    """At w = 0 the gap is as good as zero already, but that is no classifier."""
    X, y = make_classification(
        400, 20, n_informative=5, flip_y=0.02, weights=[balance], shift=0.0, random_state=0
    )
    for loss in ["squared-hinge"] if solver == "truncated-newton" else ["hinge", "squared-hinge"]:
        model = LinearSVC(C, loss=loss, solver=solver).fit(X, y)
        assert model.status_ == "converged"
        assert roc_auc_score(y, model.decision_function(X)) > 0.8
        gaps = [check.gap for check in model.history_[0]]
        assert min(gaps) >= -1e-12


@pytest.mark.parametrize(("loss", "factor"), [("hinge", 1.0), ("squared_hinge", 2.0)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_penalised_intercept_is_what_scikit_learn_does(loss, factor, fit_intercept):
    """Its squared hinge has no 1/2, so that its C is half of ours."""
    X, y = TWO_CLASS["iris"]()
    peer = PeerSVC(C=0.7, loss=loss, fit_intercept=fit_intercept, tol=1e-10, max_iter=10**6, random_state=0)
    ours = LinearSVC(
        C=0.7 * factor, loss=loss, fit_intercept=fit_intercept, penalize_intercept=True, tol=1e-12
    )
    peer.fit(X, y)
    ours.fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(np.ravel(ours.intercept_), np.ravel(peer.intercept_), atol=1e-4)


def test_one_vs_one_equals_scikit_learn():
    X, y = standardised(load_iris)
    ours = LinearSVC(code="one-vs-one", tol=1e-10).fit(X, y)
    peer = OneVsOneClassifier(SVC(kernel="linear", tol=1e-8)).fit(X, y)
    for column, binary in enumerate(peer.estimators_):
        np.testing.assert_allclose(ours.coef_[column], binary.coef_[0], atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))


def test_one_vs_rest_is_one_problem_a_class():
    X, y = standardised(load_wine)
    ours = LinearSVC(tol=1e-10).fit(X, y)
    for k in range(3):
        column = LinearSVC(tol=1e-10).fit(X, y == k)
        np.testing.assert_allclose(ours.coef_[k], column.coef_[0], atol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), X @ ours.coef_.T + ours.intercept_, atol=1e-12)


def test_any_code_and_decoder():
    X, y = standardised(load_wine)
    own = Code(np.array([[1, -1, 1], [-1, 1, 1], [0, 1, -1]], dtype=np.int8))
    model = LinearSVC(code=own, decoder="hinge").fit(X, y)
    assert model.coef_.shape == (3, 13)
    assert model.score(X, y) > 0.95
    same = LinearSVC(code=one_vs_rest(3)).fit(X, y)
    np.testing.assert_array_equal(same.coef_, LinearSVC().fit(X, y).coef_)


def test_solvers_agree_and_auto_says_which_it_took():
    X, y = TWO_CLASS["breast cancer"]()
    newton = LinearSVC(C=0.01, tol=1e-8).fit(X, y)
    descent = LinearSVC(C=0.01, tol=1e-8, solver="dual-cd", max_iter=100_000, random_state=0).fit(X, y)
    assert (newton.solver_, descent.solver_) == ("newton", "dual-cd")
    assert descent.objective_ == pytest.approx(newton.objective_, rel=2e-8)
    wide = np.random.default_rng(0).normal(size=(2100, 2100)).astype(np.float32)
    labels = wide[:, 0] > 0
    assert LinearSVC(tol=1e-2).fit(wide, labels).solver_ == "dual-cd"


@pytest.mark.parametrize(
    ("shape", "parameters", "solver"),
    [
        ((600, 20), {}, "newton"),
        ((30, 700), {}, "newton"),
        ((600, 700), {}, "dual-cd"),
        ((600, 700), {"loss": "hinge"}, "newton"),
    ],
)
def test_auto_looks_at_shape_and_loss(shape, parameters, solver):
    X = np.random.default_rng(0).normal(size=shape)
    model = LinearSVC(**{"C": 1e-3, "loss": "squared-hinge", "tol": 1e-2} | parameters)
    assert model.fit(X, X[:, 0] > 0).solver_ == solver


@pytest.mark.parametrize(
    ("C", "tol", "solver"),
    [(1.0, 1e-2, "dual-cd"), (20.0, 1e-2, "truncated-newton"), (1.0, 1e-5, "truncated-newton")],
)
def test_auto_looks_at_cost_and_tol_where_both_sides_of_sparse_rows_are_large(C, tol, solver):
    X = sparse.random_array((2100, 2050), density=0.01, random_state=0, format="csr")
    X = X / np.sqrt((X**2).sum(axis=1).mean())
    model = LinearSVC(C, loss="squared-hinge", tol=tol).fit(X.tocsr(), np.arange(2100) % 2)
    assert model.solver_ == solver


def test_truncated_newton_is_not_for_the_hinge():
    X, y = TWO_CLASS["iris"]()
    with pytest.raises(
        ValueError, match=r"loss='squared-hinge' or 'log'; got loss='hinge'. Use solver='auto'"
    ):
        LinearSVC(solver="truncated-newton").fit(X, y)


def test_support_rows_are_counted():
    X, y = TWO_CLASS["iris"]()
    ours, peer = LinearSVC(tol=1e-12).fit(X, y), SVC(kernel="linear", tol=1e-8).fit(X, y)
    assert ours.n_support_ == len(peer.support_)


def test_separable_data_have_the_maximal_margin():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]])
    model = LinearSVC(C=1e6, tol=1e-10).fit(X, [0, 0, 1, 1])
    np.testing.assert_allclose(model.coef_, [[1.0, 0.0]], atol=1e-5)
    np.testing.assert_allclose(model.intercept_, [-1.0], atol=1e-5)


def test_without_free_vectors_the_intercept_is_in_the_middle():
    """Two points of each class on one spot, C so small that every multiplier is at its bound."""
    X, y = np.array([[-1.0], [-1.0], [1.0], [1.0]]), [0, 0, 1, 1]
    model = LinearSVC(C=1e-3, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.intercept_, [0.0], atol=1e-6)


@pytest.mark.parametrize("C", [1e-8, 1e8])
def test_extreme_costs(C):
    X, y = TWO_CLASS["iris"]()
    model = LinearSVC(C=C, tol=1e-6).fit(X, y)
    assert model.status_ == "converged"


def test_huge_and_tiny_scales_converge_or_warn_with_the_gap():
    X, y = TWO_CLASS["iris"]()
    for scale in (1e-100, 1e-8, 1e8, 1e100):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = LinearSVC(tol=1e-4, max_iter=200).fit(X * scale, y)
        told = any("relative duality gap" in str(warning.message) for warning in caught)
        assert model.dual_gap_ <= 1e-4 or told
        assert np.isfinite(model.decision_function(X * scale)).all()


BAD_PARAMETERS = {
    "C": (-1.0, r"C must be a finite number > 0; got -1\.0"),
    "loss": ("hinje", r"loss must be one of \['hinge', 'log'.*got 'hinje'"),
    "fit_intercept": ("yes", "fit_intercept must be True or False; got 'yes'"),
    "penalize_intercept": (2, "penalize_intercept must be True or False; got 2"),
    "code": (
        "ovo",
        r"code must be a Code or one of \['dense-random', .*'one-vs-rest', 'sparse-random'\]; got 'ovo'",
    ),
    "decoder": ("vote", "decoder must be a Decoder or one of .*'votes'.*got 'vote'"),
    "class_weight": ("even", "class_weight must be None, 'balanced' or a dict; got 'even'"),
    "solver": (
        "smo",
        r"solver must be one of \['auto', 'dual-cd', 'newton', 'truncated-newton'\]; got 'smo'",
    ),
    "tol": (0.0, r"tol must be a finite number > 0; got 0\.0"),
    "max_iter": (1.5, r"max_iter must be an integer >= 1; got 1\.5"),
    "max_seconds": (np.nan, "max_seconds must be a finite number > 0; got nan"),
    "n_jobs": (0, "n_jobs"),
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters_are_refused_by_name(name):
    value, match = BAD_PARAMETERS[name]
    with pytest.raises(ValueError, match=match):
        LinearSVC(**{name: value}).fit(*standardised(load_iris))


def test_class_weight_of_an_unknown_class_is_refused():
    with pytest.raises(ValueError, match=r"class_weight names \['rose'\].*\[0, 1, 2\]"):
        LinearSVC(class_weight={"rose": 2.0}).fit(*standardised(load_iris))


def test_stopping_early_warns_with_the_gap_and_the_remedy():
    X, y = TWO_CLASS["breast cancer"]()
    with pytest.warns(
        ConvergenceWarning, match=r"LinearSVC stopped \(max_iter\).*gap.*after 2 iterations; raise max_iter"
    ):
        model = LinearSVC(max_iter=2, tol=1e-12).fit(X, y)
    assert model.status_ == "max_iter"
    assert model.dual_gap_ > 1e-12


def test_the_linear_kernel_engine_gives_the_same_scores():
    X, y = standardised(load_wine)
    model = LinearSVC().fit(X, y)
    np.testing.assert_allclose(
        Linear()(X, model.coef_) + model.intercept_, model.decision_function(X), atol=1e-12
    )


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_wide_float32_rows_converge(layout):
    """Inner products of long rows need double precision: rounded to float32, Newton's steps do not end."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 20_000)).astype(np.float32)
    model = LinearSVC(max_iter=50).fit(layout(X), rng.integers(0, 2, size=40))
    assert model.solver_ == "newton"
    assert model.status_ == "converged"
