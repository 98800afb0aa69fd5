"""SparseKernelClassifier: its budget, its optimum, its smaller models, its streams, and what it refuses."""

import itertools
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from support.budget_optimum import best
from support.properties import examples
from support.reference import svm_primal

from maxmargin import KernelMatchingPursuit, KernelPerceptron, LaSVM, SparseKernelClassifier
from maxmargin.calibration.scores import log_odds_to_probabilities
from maxmargin.evaluation.evaluate import evaluate_rows
from maxmargin.kernels import RBF
from maxmargin.losses import LOSSES
from maxmargin.methods.budget import growth_sample
from maxmargin.methods.budget.path import PATH_TOL, stated_budgets
from maxmargin.methods.budget.selectors import SELECTORS

OWN_LOSSES = ["squared-hinge", "log", "squared", "hinge"]


def noisy(n=150, n_classes=2, seed=0, d=3, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    latent = X[:, 0] + 0.5 * X[:, 1] ** 2 + noise * rng.normal(size=n)
    return X, np.digitize(latent, np.quantile(latent, np.arange(1, n_classes) / n_classes))


def fitted(X, y, budget=12, weight=None, **parameters):
    parameters = {"alpha": 1e-2, "gamma": 0.5, "random_state": 0} | parameters
    return SparseKernelClassifier(budget, **parameters).fit(X, y, weight)


def objective_of(model, X, y, weight=None):
    """The objective from the stored support vectors and coefficients, and nothing else."""
    weight = np.ones(len(y)) if weight is None else weight
    Y = model.code_.targets(np.searchsorted(model.classes_, y))
    kernel, a, loss = RBF(gamma=model.gamma_), model.dual_coef_.T, LOSSES[model.loss]
    c = np.where(Y != 0, weight[:, None], 0.0)
    losses = (c / c.sum(axis=0) * loss.value(Y * (kernel(X, model.support_vectors_) @ a))).sum()
    Z = model.support_vectors_
    return losses + 0.5 * model.alpha_ * np.einsum("it,ij,jt->", a, kernel(Z, Z), a)


# ---- the budget ----


@pytest.mark.slow
@examples(10, 25, suppress_health_check=[HealthCheck.too_slow])
@given(
    n=st.integers(8, 30),
    excess=st.integers(-30, 5),
    n_classes=st.integers(2, 4),
    seed=st.integers(0, 10**6),
    loss=st.sampled_from([*OWN_LOSSES, "perceptron"]),
    selection=st.sampled_from(["gain", *SELECTORS]),
    code=st.sampled_from(["one-vs-rest", "one-vs-one"]),
    own=st.booleans(),
    move=st.sampled_from([False, False, True]),
    alpha=st.sampled_from(["auto", 1e-4, 0.1]),
    duplicates=st.booleans(),
)
def test_the_budget_is_never_exceeded(
    n, excess, n_classes, seed, loss, selection, code, own, move, alpha, duplicates
):
    X, y = noisy(n, n_classes, seed, noise=1.0)
    y[:n_classes] = np.arange(n_classes)
    if duplicates:
        X[n // 2 :] = X[: n - n // 2]
    budget = max(1, n + excess)
    own = own and loss != "perceptron"
    model = SparseKernelClassifier(
        budget,
        loss=loss,
        refit="newton" if own else None,
        selection=selection if own or selection != "gain" else "loss",
        back_fit=None if own else "n/B",
        code=code,
        alpha=alpha,
        move_centers=move and own,
        gamma=0.5,
        random_state=seed,
    )
    half = n // 2

    def check(model, budget):
        assert model.n_support_ == len(model.dual_coef_.T) == model.support_vectors_.shape[0] <= budget
        assert model.dual_coef_.shape[0] == model.code_.n_columns
        assert np.isfinite(model.decision_function(X)).all()
        if model.support_ is not None:
            assert len(set(model.support_.tolist())) == model.n_support_
            np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
        assert (np.diff(model.budget_path_["budget"]) > 0).all()
        assert {len(v) for v in model.budget_path_.values()} == {len(model.budget_path_["budget"])}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a wild published step may overflow
        try:
            check(clone(model).fit(X, y), budget)
            stream = clone(model).partial_fit(X[:half], y[:half], classes=range(n_classes))
            check(stream.partial_fit(X[half:], y[half:]), budget)
            warm = clone(model).set_params(warm_start=True).fit(X, y)
            check(warm.set_params(budget=budget + 3).fit(X, y), budget + 3)
            check(clone(model).set_params(merge_duplicates=False).fit(X, y), budget)
        except ValueError as error:
            if own or "coefficients are not finite" not in str(error):
                raise


# ---- the optimum ----


@pytest.mark.parametrize("loss", ["squared-hinge", "hinge"])
@pytest.mark.parametrize("seed", range(2))
def test_with_a_budget_for_all_rows_it_is_the_svm_without_intercept(loss, seed):
    X, y = noisy(70, seed=seed)
    model = fitted(X, y, 75, loss=loss, tol=1e-9, alpha=0.01)
    K = RBF(gamma=0.5)(X, X)
    Phi = np.linalg.cholesky(K + 1e-13 * np.eye(70))
    Y = 2.0 * y - 1.0
    exact = 0.01 * svm_primal(Phi, Y, np.full(70, 1 / (70 * 0.01)), loss.replace("-", "_"), "none")[2]
    assert model.objective_ == pytest.approx(exact, rel=1e-6)
    assert model.dual_gap_ <= 1e-9
    assert model.status_ == "no_loss_left"


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("code", ["one-vs-rest", "one-vs-one"])
@pytest.mark.parametrize("loss", OWN_LOSSES)
def test_the_objective_is_that_of_what_is_stored(loss, code, n_classes):
    X, y = noisy(120, n_classes)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, 120)
    model = fitted(X, y, 10, weight, loss=loss, code=code, tol=1e-5)
    assert model.objective_ == pytest.approx(objective_of(model, X, y, weight), rel=1e-9)
    assert model.status_ == "budget_full"
    assert 0 <= model.dual_gap_ <= 1e-5
    with pytest.warns(ConvergenceWarning, match=r"max_iter.*relative duality gap"):
        early = fitted(X, y, 10, weight, loss=loss, code=code, max_iter=6)
    assert early.n_support_ == 6
    assert early.objective_ == pytest.approx(objective_of(early, X, y, weight), rel=1e-9)


def test_every_scaling_of_the_weights_is_the_same_problem():
    X, y = noisy(100)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, 100)
    one, two = fitted(X, y, 10, weight), fitted(X, y, 10, 64.0 * weight)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


# ---- smaller models ----


@pytest.mark.parametrize("loss", OWN_LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_truncate_is_a_refit_of_the_prefix(loss, n_classes):
    X, y = noisy(130, n_classes)
    model = fitted(X, y, 20, loss=loss, tol=1e-7)
    again = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match=r"does not remember.*give X and y\. Budgets of its path: \[1, 2"):
        again.truncate(5)
    kernel = RBF(gamma=0.5)
    for b in (1, 2, 5, 13, 20):
        small = model.truncate(b)
        assert small.n_support_ == b
        np.testing.assert_array_equal(small.support_, model.support_[:b])
        K_nS = kernel(X, X[small.support_])
        exact = sum(
            reference_optimum(K_nS, small.support_, column, loss)
            for column in model.code_.targets(y).T.astype(float)
        )
        assert small.objective_ == pytest.approx(exact, rel=1e-6)
        assert objective_of(small, X, y) == pytest.approx(exact, rel=1e-6)
        np.testing.assert_array_equal(model.truncate(20).truncate(b).dual_coef_, small.dual_coef_)
        given = again.truncate(b, X, y)
        np.testing.assert_array_equal(given.dual_coef_, small.dual_coef_)
        assert small.budget_path_["budget"].max() <= b
        assert (small.predict_proba(X).argmax(axis=1) == small.predict(X)).all()
    assert model.n_support_ == 20  # as it was
    with pytest.raises(ValueError, match="budget=21, but this model has only 20"):
        model.truncate(21)
    with pytest.raises(ValueError, match="budget must be an integer >= 1; got 0"):
        model.truncate(0)
    with pytest.raises(ValueError, match=r"y has the classes .* but the model was fitted on"):
        again.truncate(5, X, y + 1)


def reference_optimum(K_nS, support, y, loss, alpha=1e-2):
    return best(K_nS, K_nS[support], y[:, None], np.ones(len(y)), loss, alpha)


def test_truncate_with_data_holds_out_the_same_rows():
    X, y = noisy(200)
    model = fitted(X, y, 10, validation_fraction=0.25)
    given = pickle.loads(pickle.dumps(model)).truncate(4, X, y)
    np.testing.assert_array_equal(given.dual_coef_, model.truncate(4).dual_coef_)


def test_published_truncate_restores_the_path():
    X, y = noisy(200)
    model = SparseKernelClassifier.as_published(
        24, alpha=0.1, gamma=0.5, random_state=0, validation_fraction=0.3
    ).fit(X, y)
    assert model.budget_path_["budget"].tolist() == [b for b in stated_budgets(24) if b <= model.n_support_]
    seen = {check.n_support: check.primal for check in model.history_[0]}
    for b in (1, 7, 20, 24):
        small = model.truncate(b)
        shorter = SparseKernelClassifier.as_published(
            24, alpha=0.1, gamma=0.5, random_state=0, validation_fraction=0.3, max_iter=int(small.n_iter_)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            shorter.fit(X, y)
        np.testing.assert_array_equal(small.support_, shorter.support_)
        np.testing.assert_allclose(small.dual_coef_, shorter.dual_coef_, rtol=1e-12)
        assert small.objective_ == seen[b]
        P = small.predict_proba(X)
        np.testing.assert_array_equal(small.classes_[P.argmax(axis=1)], small.predict(X))
    with pytest.raises(ValueError, match=r"stored for the budgets \[1, 2.* only; got budget=17"):
        model.truncate(17)
    assert not hasattr(pickle.loads(pickle.dumps(model)).truncate(7), "predict_proba")


@pytest.mark.parametrize("loss", OWN_LOSSES)
def test_the_path_falls_and_ends_with_the_model(loss):
    X, y = noisy(150, 3)
    model = fitted(X, y, 30, loss=loss, validation_fraction=0.2)
    path = model.budget_path_
    assert path["budget"].tolist() == stated_budgets(30)
    objective = [model.truncate(int(b)).objective_ if b < 30 else model.objective_ for b in path["budget"]]
    assert (np.diff(objective) <= 1e-3 * np.array(objective[1:])).all()
    assert (np.diff(path["loss"]) <= 0.03 * path["loss"][:-1]).all()  # the norm is a part of the objective
    assert (path["gap"] <= PATH_TOL + 1e-9).all() or loss == "hinge"
    assert path["gap"][-1] == pytest.approx(model.dual_gap_)
    assert ((path["score"] >= 0) & (path["score"] <= 1)).all()
    b = model.choose_budget(0.0)
    assert path["score"][path["budget"] == b] == path["score"].max()
    assert model.choose_budget(1.0) == 1
    with pytest.raises(ValueError, match="fit with validation_fraction"):
        fitted(X, y).choose_budget()
    with pytest.raises(ValueError, match="tolerance must be a finite number >= 0"):
        model.choose_budget(-1.0)


def test_held_out_rows_are_never_trained_on():
    """Labels of the rows that were held out may be anything: neither set nor coefficients change."""
    X, y = noisy(200)
    model = fitted(X, y, 10, validation_fraction=0.2)
    rows = model._training.rows
    assert rows.n_held_out == 40
    held_out = rows.data.rows.index[-40:]
    other = y.copy()
    other[held_out] = 1 - other[held_out]
    X_other = X.copy()
    same = fitted(X_other, other, 10, validation_fraction=0.2)
    assert set(held_out.tolist()).isdisjoint(model.support_.tolist())
    assert set(same._training.rows.data.rows.index[-40:].tolist()) == set(held_out.tolist())
    np.testing.assert_array_equal(same.dual_coef_, model.dual_coef_)


# ---- warm starts and streams ----


def test_a_warm_start_extends_the_model():
    X, y = noisy(300)
    model = fitted(X, y, 8, alpha="auto", warm_start=True)
    first, alpha, support = model.objective_, model.alpha_, model.support_
    model.set_params(budget=24).fit(X, y)
    assert model.n_support_ == 24
    assert model.support_ is not None
    assert model.budget_path_["budget"].tolist() == stated_budgets(24)
    again = clone(model).fit(X, y)  # a clone knows nothing
    assert again.n_support_ == 24
    same = fitted(X, y, 8, alpha="auto", warm_start=True).fit(X, y)
    assert same.alpha_ == pytest.approx(alpha)
    assert same.objective_ <= first * (1 + 2e-3)
    assert same.budget_path_["budget"].tolist() == list(range(1, 9))
    assert len(set(support) & set(same.support_)) >= 4
    with pytest.raises(ValueError, match=r"with 24 support vectors.*budget=5.*raise the budget"):
        model.set_params(budget=5).fit(X, y)
    with pytest.raises(ValueError, match=r"another kind: they have shape \(8, 3\), X has shape \(300, 2\)"):
        same.fit(X[:, :2], y)
    with pytest.raises(ValueError, match=r"of the classes \[0, 1\], but y has \['no', 'yes'\]; set"):
        same.fit(X, np.where(y == 1, "no", "yes"))


@pytest.mark.parametrize("alpha", [1e-3, "auto"])
def test_a_published_warm_start_chooses_no_row_twice(alpha):
    X, y = noisy(60)
    model = SparseKernelClassifier.as_published(20, alpha=alpha, warm_start=True, random_state=0).fit(X, y)
    first = model.support_
    model.set_params(budget=100).fit(X, y)
    assert model.support_[: len(first)].tolist() == first.tolist()
    assert len(np.unique(model.support_)) == model.n_support_
    np.testing.assert_array_equal(X[model.support_], model.support_vectors_)
    model.fit(X, y)
    assert len(np.unique(model.support_)) == model.n_support_


def test_warm_starts_keep_the_alpha_that_was_chosen_where_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(growth_sample, "MIN_SAMPLE_ROWS", 400)
    monkeypatch.setattr(growth_sample, "CHEAP_ROWS_TIMES_COLUMNS", 400)
    X, y = make_moons(4000, noise=0.3, random_state=0)
    model = SparseKernelClassifier(20, warm_start=True, random_state=0).fit(X, y)
    chosen = model.alpha_
    for budget in (22, 24, 26):  # at none of these is alpha chosen anew
        model.set_params(budget=budget).fit(X, y)
    assert model.alpha_ == pytest.approx(chosen)


def test_a_warm_start_on_a_precomputed_kernel_without_its_support_vectors():
    X, y = noisy(100)
    K = RBF(gamma=0.5)(X, X)
    model = fitted(K, y, 6, kernel="precomputed", warm_start=True)
    weight = np.ones(100)
    weight[model.support_] = 0.0
    before = model.support_
    model.set_params(budget=10).fit(K, y, weight)
    assert model.n_support_ == 10
    assert np.isin(model.support_, np.arange(100)).all()
    assert len(set(before) & set(model.support_)) >= 1
    np.testing.assert_array_equal(model.support_vectors_, model.support_)


def test_a_stream_ends_near_the_fit_of_all_its_rows():
    X, y = noisy(600, 3)
    whole = fitted(X, y, 25)
    stream = SparseKernelClassifier(25, alpha=1e-2, gamma=0.5, random_state=0)
    for rows in np.array_split(np.arange(600), 6):
        stream.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        assert stream.support_ is None
        assert stream.n_support_ <= 25
    assert objective_of(stream, X, y) <= 1.05 * whole.objective_
    assert stream.objective_ == pytest.approx(objective_of(stream, X, y), rel=1e-8)  # the sample is all rows
    assert len(stream.budget_path_["budget"])


def test_a_stream_keeps_the_alpha_that_was_chosen():
    X, y = noisy(900, noise=1.5)
    stream = SparseKernelClassifier(15, gamma=0.5, random_state=0)
    parts = np.array_split(np.arange(900), 3)
    alphas = [stream.partial_fit(X[rows], y[rows], classes=[0, 1]).alpha_ for rows in parts]
    whole = SparseKernelClassifier(15, gamma=0.5, random_state=0).fit(X, y)
    assert 0.1 <= alphas[-1] / whole.alpha_ <= 10
    assert 0.1 <= alphas[1] / alphas[0] <= 10


def test_an_interrupted_batch_can_be_given_again():
    X, y = noisy(200)
    model = SparseKernelClassifier(8, alpha=1e-2, gamma=0.5, random_state=0)
    model.partial_fit(X[:100], y[:100], classes=[0, 1])
    straight = pickle.loads(pickle.dumps(model)).partial_fit(X[100:], y[100:])

    def interrupt(check, state):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(interrupt).partial_fit(X[100:], y[100:])
    model = pickle.loads(pickle.dumps(model)).partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(model.dual_coef_, straight.dual_coef_)


def test_a_fit_ends_the_stream_before_it():
    X, y = noisy(200)
    other, labels = noisy(200, seed=9)
    model = SparseKernelClassifier(10, alpha=1e-2, gamma=0.5, random_state=0)
    model.partial_fit(other, 1 - labels, classes=[0, 1]).fit(X[:100], y[:100])
    model.partial_fit(X[100:], y[100:])
    straight = fitted(X[:100], y[:100], 10).partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(model.decision_function(X), straight.decision_function(X))


# ---- probabilities ----


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "parameters",
    [
        {"loss": "log"},
        {"loss": "log", "code": "one-vs-one"},
        {"loss": "log", "decoder": "hamming"},
        {"loss": "squared-hinge"},
        {"loss": "hinge", "alpha": "auto"},
        {"loss": "squared", "validation_fraction": 0.3},
    ],
    ids=str,
)
def test_probabilities_agree_with_predictions(parameters, n_classes):
    X, y = noisy(250, n_classes)
    model = fitted(X, y, 20, **parameters)
    P = model.predict_proba(X)
    assert P.shape == (250, n_classes)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    assert (P >= 0).all()
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    np.testing.assert_array_equal(model.predict_log_proba(X), np.log(P))
    own = -np.log(P[np.arange(250), y]).mean()
    assert own < np.log(n_classes) - 0.2  # they tell something
    f = model.decision_function(X)
    if parameters["loss"] == "log" and n_classes == 2 and "decoder" not in parameters:
        np.testing.assert_allclose(P[:, 1], 1 / (1 + np.exp(-f)), rtol=1e-12)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict_proba(X), P)


def test_probabilities_of_many_classes_are_calibrated():
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    model = SparseKernelClassifier(40, n_jobs=2, random_state=0).fit(X, y)
    found = evaluate_rows(model, X_test, y_test).calibration
    assert found.expected_calibration_error < 0.025
    assert found.log_loss < 0.1
    assert found.brier < 0.05
    P = model.predict_proba(X_test)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X_test))
    names = np.array([f"class {i}" for i in range(10)])
    renamed = SparseKernelClassifier(40, n_jobs=1, random_state=0).fit(X, names[y])
    np.testing.assert_array_equal(renamed.predict_proba(X_test), P)


def test_weights_are_repetitions_for_probabilities_too():
    X, y = noisy(150, 4)
    weight = np.random.default_rng(1).integers(0, 4, size=150)
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(150), weight))
    weighted = fitted(X, y, 20, weight, alpha="auto").predict_proba(X)
    np.testing.assert_allclose(
        fitted(X[rows], y[rows], 20, alpha="auto").predict_proba(X), weighted, atol=1e-9
    )


def test_log_odds_near_zero_keep_their_side():
    f = np.array([1e-20, -1e-20, 0.0, 5e-324, 800.0, -800.0])
    P = log_odds_to_probabilities(f)
    np.testing.assert_array_equal(P.argmax(axis=1), f > 0)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)


def test_models_without_probabilities_say_why():
    X, y = noisy(100)
    model = SparseKernelClassifier.as_published(5, alpha=0.1)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model.fit(X, y), "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(X)
    assert "refit='newton', with validation_fraction, with loss='log'" in str(caught.value.__cause__)
    assert "decoder='probabilistic'" in str(caught.value.__cause__)
    assert hasattr(model.set_params(loss="log").fit(X, y), "predict_proba")
    with_rows = model.set_params(loss="hinge", validation_fraction=0.3).fit(X, y)
    P = with_rows.predict_proba(X)
    np.testing.assert_array_equal(with_rows.classes_[P.argmax(axis=1)], with_rows.predict(X))


# ---- odd data ----


@pytest.mark.parametrize("own", [True, False])
def test_repeated_rows_are_weights(own):
    X, y = noisy(60)
    make = SparseKernelClassifier if own else SparseKernelClassifier.as_published
    model = make(8, alpha=0.1, gamma=0.5, merge_duplicates=True, random_state=0)
    once = clone(model).fit(X, y)
    thrice = clone(model).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    np.testing.assert_array_equal(once.decision_function(X), thrice.decision_function(X))
    apart = clone(model).set_params(merge_duplicates=False).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert apart.n_support_ <= 8


def test_the_same_row_with_two_labels():
    X, y = noisy(50)
    model = fitted(np.vstack([X, X]), np.concatenate([y, 1 - y]), 20)
    np.testing.assert_allclose(model.decision_function(X), 0.0, atol=1e-6)
    assert model.objective_ == pytest.approx(0.5)
    X2, y2 = np.vstack([X, X[:5]]), np.concatenate([y, 1 - y[:5]])
    mixed = fitted(X2, y2, 60, tol=1e-6)
    assert len(np.unique(mixed.support_vectors_, axis=0)) == mixed.n_support_ <= 50


def test_separable_with_no_loss_left():
    X = np.repeat(np.eye(2) * 5, 20, axis=0) + 0.01 * np.random.default_rng(0).normal(size=(40, 2))
    y = np.repeat([0, 1], 20)
    model = fitted(X, y, 30, alpha=1e-8)
    assert model.status_ == "no_loss_left"
    assert model.n_support_ < 30
    assert model.score(X, y) == 1.0
    published = SparseKernelClassifier.as_published(30, alpha=1e-3, gamma=0.5, back_fit=None, random_state=0)
    assert published.fit(X, y).status_ == "no_loss_left"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("alpha", [1e-12, 1e6])
@pytest.mark.parametrize("loss", OWN_LOSSES)
def test_extreme_alpha_ends_with_a_bound(loss, alpha, dtype):
    X, y = noisy(100)
    X = X.astype(dtype)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fitted(X, y, 15, loss=loss, alpha=alpha)
    assert np.isfinite(model.decision_function(X)).all()
    assert (model.status_ == "stalled") == bool(caught)
    assert (model.dual_gap_ <= model.tol) == (model.status_ in ("budget_full", "no_loss_left"))
    assert model.objective_ == pytest.approx(
        objective_of(model, X.astype(float), y), rel=1e-8 if dtype is np.float64 else 0.05
    )


def test_labels_that_are_noise():
    X, _ = noisy(200)
    y = np.random.default_rng(5).integers(0, 2, 200)
    model = fitted(X, y, 30, alpha="auto")
    assert model.status_ in ("budget_full", "no_loss_left")
    assert model.objective_ <= 0.5 + 1e-9  # no worse than f = 0
    P = model.predict_proba(X)
    assert np.abs(P - 0.5).mean() < 0.25


@pytest.mark.parametrize(
    "y", [[0, 1], [0, 1, 1, 1, 1], [0, 1, 2, 3, 3], ["b", "a", "b", "a", "a"], [0] + [1] * 30]
)
@pytest.mark.parametrize("own", [True, False])
def test_very_few_rows(y, own):
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    make = SparseKernelClassifier if own else SparseKernelClassifier.as_published
    for code in ("one-vs-rest", "one-vs-one"):
        model = make(10, gamma=1.0, code=code, random_state=0).fit(X, y)
        assert model.n_support_ <= min(10, len(y))
        assert set(model.predict(X)) <= set(y)
        if own:
            assert model.score(X, y) >= 0.5
        if hasattr(model, "predict_proba"):
            np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("model", "kernel", "scale"),
    [
        (SparseKernelClassifier(5), "polynomial", 1e4),
        (SparseKernelClassifier(5), "linear", 1e10),  # the squares overflow
        (KernelMatchingPursuit(5), "polynomial", 1e4),
        (SparseKernelClassifier(5, selection="loss"), lambda A, B: np.full((len(A), len(B)), np.nan), 1.0),
    ],
)
def test_kernel_values_beyond_float32_are_refused(model, kernel, scale):
    X, y = noisy(60)
    model = clone(model).set_params(kernel=kernel, gamma=1.0, degree=5, random_state=0)
    with pytest.raises(ValueError, match=r"kernel values.*overflow in float32.*float64"):
        model.fit((scale * X).astype(np.float32), y)
    if isinstance(kernel, str):
        assert model.fit(scale * X, y).score(scale * X, y) > 0.6


def test_constant_features():
    X, y = noisy(60)
    model = fitted(np.column_stack([X, np.full(60, 3.0)]), y, 10)
    np.testing.assert_allclose(
        model.decision_function(np.column_stack([X, np.full(60, 3.0)])),
        fitted(X, y, 10).decision_function(X),
        atol=0.2,
    )  # another order, another set
    alike = fitted(np.ones((20, 2)), np.arange(20) % 2, 5)
    assert alike.n_support_ <= 1
    with pytest.raises(ValueError, match="gamma"):
        fitted(np.ones((20, 2)), np.arange(20) % 2, 5, gamma="median")


@pytest.mark.parametrize("spread", [8, 140])
def test_weights_of_widely_different_size(spread):
    X, y = noisy(120)
    weight = 10.0 ** np.random.default_rng(0).uniform(-spread, spread, 120)
    model = fitted(X, y, 15, weight)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.dual_gap_ <= model.tol
    assert model.objective_ == pytest.approx(objective_of(model, X, y, weight), rel=1e-8)
    published = SparseKernelClassifier.as_published(15, alpha=0.1, gamma=0.5, random_state=0)
    assert np.isfinite(published.fit(X, y, weight).decision_function(X)).all()


def test_float32_ends_at_the_same_objective():
    X, y = noisy(150, 3)
    single, double = fitted(X.astype(np.float32), y, 30), fitted(X.astype(np.float32).astype(float), y, 30)
    assert single.support_vectors_.dtype == np.float32
    assert single.objective_ == pytest.approx(double.objective_, rel=0.01)


@pytest.mark.parametrize("move", [False, True])
def test_csr_is_dense(move):
    X, y = noisy(100)
    X[np.abs(X) < 0.4] = 0.0
    dense, csr = fitted(X, y, 8, move_centers=move), fitted(sparse.csr_array(X), y, 8, move_centers=move)
    assert csr.objective_ == pytest.approx(dense.objective_, rel=1e-6)
    np.testing.assert_allclose(
        csr.decision_function(sparse.csr_array(X)), dense.decision_function(X), atol=1e-4
    )
    if not move:
        np.testing.assert_array_equal(csr.support_, dense.support_)


def test_precomputed_and_callable_are_the_kernel_itself():
    """The rows come in another order, so they find another set: both are at its optimum, and near."""
    X, y = noisy(100, 3)
    K = RBF(gamma=0.5)(X, X)
    rbf = fitted(X, y, 100, tol=1e-8)
    for model in (
        fitted(K, y, 100, kernel="precomputed", tol=1e-8),
        fitted(X, y, 100, kernel=lambda A, B: RBF(gamma=0.5)(A, B), tol=1e-8),
    ):
        assert model.objective_ == pytest.approx(rbf.objective_, rel=1e-6)
        data = K if model.kernel == "precomputed" else X
        np.testing.assert_allclose(model.decision_function(data), rbf.decision_function(X), atol=1e-3)
    pre = fitted(K, y, 12, kernel="precomputed")
    small = fitted(K, y, 12, kernel="precomputed").truncate(5)
    assert small.n_support_ == 5
    np.testing.assert_array_equal(small.support_, pre.support_[:5])


@pytest.mark.parametrize("alpha", ["auto", 1e-3])
@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "poly", "coef0": 1.0},
        {"kernel": "laplacian"},
        {"kernel": "sigmoid", "gamma": 2.0},
        {"kernel": "sigmoid", "gamma": 0.1, "coef0": -1.0},
        {"kernel": "linear"},
    ],
    ids=str,
)
def test_other_kernels_end_with_an_honest_status(kernel, alpha):
    X, y = noisy(150)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fitted(X, y, 25, alpha=alpha, **kernel)
    assert np.isfinite(model.decision_function(X)).all()
    assert (model.status_ in ("budget_full", "no_loss_left")) == (model.dual_gap_ <= model.tol)
    assert bool(caught) == (model.status_ == "stalled")
    if kernel["kernel"] != "sigmoid":
        assert model.objective_ < 0.5


@pytest.mark.slow
def test_objects_with_a_callable_kernel(dataset):
    """DNA sequences as strings, compared letter by letter."""
    splice = dataset("splice_seq")
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(splice["y"]))[:900]
    X, y = [str(s) for s in splice["seq"][rows]], splice["y"][rows]

    def same_letters(A, B):
        letters = [np.array([list(s) for s in S]) for S in (A, B)]
        return np.stack([np.exp(-0.05 * (letters[1] != row).sum(axis=1)) for row in letters[0]])

    model = SparseKernelClassifier(60, kernel=same_letters, random_state=0).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.85
    assert model.n_support_ <= 60
    assert model.support_vectors_.tolist() == [X[i] for i in model.support_]
    model.partial_fit(X[600:], y[600:])
    assert model.n_support_ <= 60


def test_objects_that_are_arrays_of_different_lengths():
    rng = np.random.default_rng(0)
    series = np.empty(40, dtype=object)
    series[:] = [rng.normal(i % 2, 1.0, size=5 + i % 3) for i in range(40)]

    def of_means(A, B):
        return np.exp(-np.square(np.subtract.outer([a.mean() for a in A], [b.mean() for b in B])))

    y = np.arange(40) % 2
    model = fitted(series, y, 4, kernel=of_means, warm_start=True)
    assert model.truncate(2).n_support_ == 2
    first = model.support_
    model.set_params(budget=6).fit(series, y)
    assert model.support_ is not None
    assert len(first) == 4


def test_a_sparse_precomputed_kernel_is_refused():
    X, y = noisy(30)
    for model in (SparseKernelClassifier(5), LaSVM(), KernelMatchingPursuit(5), KernelPerceptron()):
        with pytest.raises(ValueError, match=r"precomputed kernel matrix must be dense.*toarray"):
            model.set_params(kernel="precomputed").fit(sparse.csr_array(X @ X.T), y)


def test_moved_centres_are_not_rows():
    X, y = noisy(150)
    there, moved = fitted(X, y, 5, tol=1e-6), fitted(X, y, 5, tol=1e-6, move_centers=True)
    assert moved.support_ is None
    assert moved.objective_ < 0.999 * there.objective_
    assert moved.objective_ == pytest.approx(objective_of(moved, X, y), rel=1e-8)
    assert not np.isin(moved.support_vectors_, X).all()
    small = moved.truncate(3)
    np.testing.assert_array_equal(small.support_vectors_, moved.support_vectors_[:3])
    assert small.support_ is None
    assert moved.budget_path_["budget"].tolist() == [5]


# ---- what it refuses ----

OWN, PUBLISHED = {}, {"refit": None, "selection": "loss"}
REFUSED = [
    ({"budget": 0}, r"budget must be an integer >= 1; got 0\."),
    ({"budget": 2.5}, r"budget must be an integer >= 1; got 2\.5\."),
    ({"loss": "l2"}, r"loss must be one of \['hinge', .*\]; got 'l2'\."),
    ({"selection": "best"}, r"selection must be one of \['active', 'gain', .*\]; got 'best'\."),
    ({"refit": "sgd"}, r"refit must be .*'newton'.*; got 'sgd'\."),
    ({"refit": None}, r"selection='gain' .*choose one of \['active'.*or refit='newton'\."),
    ({"back_fit": 3}, r"back_fit=3 is part of the published method.*Set refit=None, or back_fit=None\."),
    (PUBLISHED | {"back_fit": "n"}, r"back_fit must be None, an integer >= 0 or 'n/B'; got 'n'\."),
    (PUBLISHED | {"back_fit": -1}, r"back_fit must be an integer >= 0; got -1\."),
    (PUBLISHED | {"move_centers": True}, r"move_centers=True needs refit='newton'; got refit=None\."),
    ({"loss": "perceptron"}, r"loss='perceptron' is 0 for f = 0.*use another loss, or refit=None\."),
    ({"move_centers": True, "kernel": "poly"}, r"move_centers=True needs kernel='rbf'; got 'poly'\."),
    ({"move_centers": 1}, r"move_centers must be True or False; got 1\."),
    ({"warm_start": "yes"}, r"warm_start must be True or False; got 'yes'\."),
    ({"merge_duplicates": None}, r"merge_duplicates must be True or False; got None\."),
    ({"n_candidates": 0}, r"n_candidates must be an integer >= 1; got 0\."),
    ({"alpha": 0.0}, r"alpha must be a finite number > 0.*; got 0\.0\."),
    ({"alpha": "best"}, r"alpha must be .*'auto'.*; got 'best'\."),
    ({"alpha": None}, r"alpha must be .*; got None\."),
    ({"cache_mb": 0}, r"cache_mb must be a finite number > 0; got 0\."),
    ({"validation_fraction": 1.0}, r"validation_fraction must be below 1; got 1\.0\."),
    ({"validation_fraction": 0}, r"validation_fraction must be a finite number > 0; got 0\."),
    ({"kernel": "gauss"}, r"kernel must be .*; got 'gauss'\."),
    ({"gamma": -1.0}, r"gamma must be .*; got -1\.0\."),
    ({"code": "ovo"}, r"code must be a Code or one of .*; got 'ovo'\."),
    ({"decoder": "best"}, r"decoder must be .*; got 'best'\."),
    ({"tol": 0.0}, r"tol must be a finite number > 0; got 0\.0\."),
    ({"max_iter": 0}, r"max_iter must be an integer >= 1; got 0\."),
    ({"max_seconds": 0}, r"max_seconds must be a finite number > 0; got 0\."),
    ({"cache_mb": 1e-5}, r"cache_mb is too small.*Raise cache_mb, or lower the budget\."),
]


@pytest.mark.parametrize(("parameters", "match"), REFUSED, ids=lambda value: str(value)[:50])
def test_bad_parameters_are_refused_clearly(parameters, match):
    X, y = noisy(60)
    with pytest.raises(ValueError, match=match):
        SparseKernelClassifier(**parameters).fit(X, y)


def test_streams_refuse_what_they_cannot_do():
    X, y = noisy(60)
    with pytest.raises(ValueError, match="the first call of partial_fit needs classes"):
        SparseKernelClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="cannot work with kernel='precomputed'"):
        SparseKernelClassifier(kernel="precomputed").partial_fit(X @ X.T, y, classes=[0, 1])
    with pytest.raises(ValueError, match="not among the classes of the first call"):
        SparseKernelClassifier().partial_fit(X, y + 1, classes=[0, 1])


def test_the_published_grid_shares_the_time_limit(monkeypatch):
    X, y = noisy(3000)
    ticks = (0.001 * k for k in itertools.count())  # a clock that no other process can slow down
    monkeypatch.setattr("time.perf_counter", lambda: next(ticks))
    model = SparseKernelClassifier.as_published(400, max_seconds=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model.fit(X, y)
    assert model.history_[0][-1].seconds < 0.3
    assert model.n_support_ > 0  # the grid leaves time for the model itself
