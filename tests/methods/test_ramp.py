"""The ramp loss: steps that never raise the objective, a stationary end, and rows with suspicious labels."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import CalibratedSVC, KernelSVC, PathCV, SparseKernelClassifier
from maxmargin.losses import Hinge, Ramp, loss_from_name
from maxmargin.methods.budget import final_refit as budget_ramp
from maxmargin.methods.kernel_svm import ramp as svm_ramp


def noisy(n=300, share=0.2, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) if n_classes == 2 else X.argmax(axis=1)
    wrong = rng.random(n) < share
    return X, np.where(wrong, (y + 1) % n_classes, y), wrong


def test_the_ramp_is_the_hinge_cut_off():
    m = np.linspace(-4, 4, 81)
    np.testing.assert_array_equal(
        Ramp().value(m), np.minimum(Hinge().value(m), Hinge().value(np.array(-1.0)))
    )
    inside = np.abs(np.abs(m) - 1.0) > 1e-9
    slope = (Ramp().value(m + 1e-7) - Ramp().value(m - 1e-7)) / 2e-7
    np.testing.assert_allclose(Ramp().slope(m)[inside], slope[inside], atol=1e-6)
    assert loss_from_name("ramp") == Ramp()


def test_a_class_is_never_set_aside_whole():
    y = np.array([1.0, 1.0, -1.0, -1.0])
    outputs = np.array([[-3.0, 0.0], [-2.0, -5.0], [0.0, 3.0], [5.0, 0.5]])
    kept = Ramp().kept(outputs, np.column_stack([y, y]))
    assert kept.tolist() == [[True, True], [True, False], [True, False], [False, True]]
    assert Ramp().kept(outputs[:, 0], y).tolist() == kept[:, 0].tolist()


def ramp_objective(model, X, y, cost):
    f = model.decision_function(X)
    a = np.zeros(len(y))
    a[model.support_] = model.dual_coef_[0]
    K = model.kernel_(X)
    return 0.5 * a @ K @ a + cost @ Ramp().value(np.where(y == 1, f, -f))


@pytest.mark.parametrize("C", [0.3, 10.0])
def test_kernel_svc_ends_at_the_svm_of_the_rows_it_keeps(C):
    X, y, _ = noisy()
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    hinge = KernelSVC(C, gamma=0.5, tol=1e-8).fit(X, y, weight)
    model = KernelSVC(C, gamma=0.5, tol=1e-8, loss="ramp").fit(X, y, weight)
    values = [ramp_objective(m, X, y, C * weight) for m in (hinge, model)]
    assert values[1] <= values[0]
    f = model.decision_function(X)
    margins = np.where(y == 1, f, -f)
    kept = margins >= -1.0
    again = KernelSVC(C, gamma=0.5, tol=1e-8).fit(X[kept], y[kept], weight[kept])
    np.testing.assert_allclose(again.decision_function(X), f, atol=1e-4)
    assert not np.isin(model.support_, np.flatnonzero(~kept)).any()
    assert model.dual_gap_ <= 1e-8
    if C == 10.0:
        assert values[1] < values[0]
        assert 0 < (~kept).sum() < len(y) / 2


@pytest.mark.parametrize("module", [svm_ramp, budget_ramp])
def test_no_accepted_step_raises_the_objective(module, monkeypatch):
    X, y, _ = noisy()
    values = []
    if module is svm_ramp:
        inner = module._value_and_rows
        monkeypatch.setattr(
            module, "_value_and_rows", lambda *a: values.append((found := inner(*a))[0]) or found
        )
        KernelSVC(10.0, loss="ramp").fit(X, y)
    else:
        inner = module.ramp_objective
        monkeypatch.setattr(module, "ramp_objective", lambda *a: values.append(found := inner(*a)) or found)
        SparseKernelClassifier(40, alpha=1e-4, loss="ramp", random_state=0, tol=1e-6).fit(X, y)
        values = values[:1] + values[1::2]  # a step is evaluated when it is compared and when it is accepted
    assert len(values) > 2
    falls = np.diff(values[:-1])  # the last may be a step that was refused
    assert (falls <= 1e-9 * abs(values[0])).all()


def test_the_budgeted_model_ends_at_the_hinge_fit_of_the_rows_it_keeps():
    X, y, _ = noisy()
    model = SparseKernelClassifier(30, alpha=1e-3, gamma=0.5, loss="ramp", tol=1e-7, random_state=0).fit(X, y)
    f, a = model.decision_function(X), model.dual_coef_[0]
    signs = np.where(y == 1, 1.0, -1.0)
    kept = signs * f >= -1.0
    assert 0 < (~kept).sum() < 150
    K, Kz = model.kernel_(X, model.support_vectors_), model.kernel_(model.support_vectors_)
    rng = np.random.default_rng(0)

    def convex(a):  # of the rows kept, normalised by all
        return Hinge().value(signs * (K @ a))[kept].sum() / len(y) + 0.5e-3 * a @ Kz @ a

    assert model.objective_ == pytest.approx(convex(a), rel=1e-6)
    best = convex(a)
    for size in (1e-3, 1e-2, 0.1):
        assert all(convex(a + size * rng.normal(size=len(a))) >= best * (1 - 1e-6) for _ in range(50))
    assert model.dual_gap_ <= 1e-7


MODELS = {
    "svc": KernelSVC(10.0, loss="ramp"),
    "budget": SparseKernelClassifier(25, loss="ramp", random_state=0),
    "fixed alpha": SparseKernelClassifier(25, loss="ramp", alpha=1e-3, random_state=0),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_weights_are_repetitions_and_threads_change_no_bit(name, n_classes):
    X, y, _ = noisy(n_classes=n_classes)
    weight = np.random.default_rng(2).integers(0, 3, len(y))
    weighted = clone(MODELS[name]).fit(X, y, weight)
    repeated = clone(MODELS[name]).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)
    threaded = clone(MODELS[name]).set_params(n_jobs=2).fit(X, y, weight)
    single = clone(MODELS[name]).set_params(n_jobs=1).fit(X, y, weight)
    assert threaded.decision_function(X).tobytes() == single.decision_function(X).tobytes()


@pytest.mark.parametrize("name", MODELS)
def test_it_withstands_flipped_labels_of_two_classes_better_than_the_hinge(name):
    X, y, _ = noisy(600)
    new, clean, _ = noisy(2000, share=0.0, seed=1)
    hinge = clone(MODELS[name]).set_params(loss="hinge").fit(X, y).score(new, clean)
    assert clone(MODELS[name]).fit(X, y).score(new, clean) > hinge


def test_searches_calibration_and_many_features():
    X, y, _ = noisy(150, n_classes=3)
    search = PathCV(KernelSVC(loss="ramp", gamma=0.5, tol=1e-6), Cs=[1.0, 10.0], cv=3).fit(X, y)
    assert search.best_estimator_.loss == "ramp"
    calibrated = CalibratedSVC(KernelSVC(10.0, loss="ramp"), cv=3).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
    wide = np.concatenate([X, np.zeros((150, 500))], axis=1)  # columns of two classes share kernel values
    np.testing.assert_allclose(
        KernelSVC(10.0, loss="ramp", gamma=0.5, tol=1e-8).fit(wide, y).decision_function(wide),
        KernelSVC(10.0, loss="ramp", gamma=0.5, tol=1e-8).fit(X, y).decision_function(X),
        atol=1e-4,
    )


def test_what_the_ramp_cannot_be_combined_with_is_refused():
    X, y, _ = noisy(50)
    with pytest.raises(ValueError, match=r"ramp.*refit='newton'"):
        SparseKernelClassifier.as_published(5, loss="ramp").fit(X, y)


@pytest.mark.parametrize("name", MODELS)
def test_suspects_are_the_flipped_rows(name):
    X, y, wrong = noisy(400, share=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        order = MODELS[name].suspects(X, y)
    assert sorted(order) == list(range(400))
    assert wrong[order[: wrong.sum()]].mean() > 0.6
    assert wrong[order[:10]].mean() >= 0.9
    assert not hasattr(MODELS[name], "classes_")  # this estimator itself is not fitted


def test_suspects_of_kernel_matrices_strings_lone_labels_and_splitters():
    X, y, _ = noisy(200, share=0.1)
    K = KernelSVC(10.0, loss="ramp", kernel="precomputed").suspects(
        np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(2)), y
    )
    np.testing.assert_array_equal(K, KernelSVC(10.0, loss="ramp", gamma=0.5).suspects(X, y))
    words = ["aa", "ab", "ba", "xx", "xy", "yx"] * 5
    shared = KernelSVC(kernel=lambda A, B: [[float(len(set(a) & set(b))) for b in B] for a in A])
    labels = np.array([0, 0, 0, 1, 1, 1] * 5)
    labels[4] = 0
    assert shared.suspects(words, labels)[0] == 4
    lone = y.copy()
    lone[7] = 9
    assert MODELS["svc"].suspects(X, lone)[-1] == 7
    with pytest.raises(ValueError, match="label for each of the 200"):
        MODELS["svc"].suspects(X, y[:-1])
    with pytest.raises(ValueError, match="loss must be"):
        KernelSVC(loss="rmap").suspects(X, y)
