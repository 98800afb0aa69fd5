"""Every classifier at its time limit: cut at a certificate, before the solver, or after it."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from support.contract import at_work, learns_out_of_fold, three_classes, watched
from support.cuts import Cuts

import maxmargin as mm
from maxmargin._native import Cancelled
from maxmargin.base import kernel_rows
from maxmargin.methods.eigen_map import transformer
from maxmargin.solving import Deadline


@pytest.mark.parametrize("n_before", [1, 3])
def test_a_cut_fit_says_so_and_predicts(estimator, n_before, monkeypatch):
    """After the cut no column and no fold goes beyond its first certificates."""
    X, y = three_classes()
    cuts, seen = Cuts(monkeypatch), []

    def cut(check, state):
        seen.append(check)
        if len(seen) == n_before:
            cuts.cut()

    model = watched(estimator, cut)
    if "tol" in at_work(model).get_params():
        at_work(model).set_params(tol=1e-300, n_jobs=1)
    if n_before == 1 and isinstance(model, mm.KernelMatchingPursuit):
        with pytest.raises(TimeoutError, match="even the first step of KernelMatchingPursuit"):
            model.fit(X, y)
        return
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model.fit(X, y)
    assert getattr(model, "status_", "time_limit") == "time_limit"
    assert np.isfinite(model.decision_function(X)).all()
    n_folds = 5 if learns_out_of_fold(model) else 0
    assert len(seen) <= n_before + 2 * model.code_.n_columns * (1 + n_folds)


def test_time_counts_from_the_start_of_fit(estimator, monkeypatch):
    """The clock jumps while the rows are put into order, before any solver has begun."""
    X, y = three_classes()
    now, inner = [0.0], at_work(estimator)
    canonical = type(inner)._canonical

    def slow(*arguments):
        now[0] += 100.0
        return canonical(*arguments)

    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    monkeypatch.setattr(type(inner), "_canonical", slow)
    if "tol" in inner.get_params():
        inner.set_params(tol=1e-300)
    inner.set_params(max_seconds=10.0)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        estimator.fit(X, y)
    assert getattr(estimator, "status_", "time_limit") == "time_limit"


def cut_after_the_solver(model, X, y, monkeypatch):
    cuts, store = Cuts(monkeypatch), type(model)._store

    def stored(self, *arguments):
        store(self, *arguments)
        cuts.cut()

    monkeypatch.setattr(type(model), "_store", stored)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model.fit(X, y)
    assert model.status_ == "time_limit"
    assert model.predict(X).shape == y.shape
    return model


def test_folds_for_a_decoder_are_cut(monkeypatch):
    X, y = three_classes()
    model = mm.KernelSVC(C=10.0, decoder="probabilistic", tol=1e-9, n_jobs=1)
    assert cut_after_the_solver(model, X, y, monkeypatch).fold_gap_ > model.tol


def test_a_decoder_that_could_not_be_trained_leaves_the_default(monkeypatch):
    X, y = three_classes()
    cuts = Cuts(monkeypatch)

    def cut(*arguments):
        cuts.cut()
        raise mm._native.Cancelled("cancelled")

    monkeypatch.setattr(mm.KernelSVC, "_out_of_fold", cut)
    model = mm.KernelSVC(decoder="probabilistic")
    with pytest.warns(ConvergenceWarning, match=r"time_limit.*before its decoder was trained"):
        model.fit(X, y)
    assert model.status_ == "time_limit"
    assert model.decoder_.name == mm.KernelSVC().fit(X, y).decoder_.name
    assert model.score(X, y) > 0.5


def test_the_gap_to_the_kernel_is_cut(monkeypatch):
    X, y = three_classes(3000)
    model = mm.LagrangianSVC(kernel="rbf", n_components=20, kernel_gap=True, n_jobs=1)

    def cut(*arguments):
        raise mm._native.Cancelled("cancelled")

    monkeypatch.setattr(mm.methods.lagrangian.spaces.EigenSpace, "kernel_gap", cut)
    assert cut_after_the_solver(model, X, y, monkeypatch).kernel_gap_ == np.inf


def test_leave_one_out_scores_are_cut(monkeypatch):
    X, y = three_classes()
    model = cut_after_the_solver(mm.LeastSquaresClassifier(), X, y, monkeypatch)
    assert not hasattr(model, "loo_scores_")


def test_eigen_features_without_time_are_an_error(monkeypatch):
    cuts, X = Cuts(monkeypatch), np.random.default_rng(0).normal(size=(300, 5))
    kernel_data = transformer.kernel_data

    def cut(*arguments):
        cuts.cut()
        return kernel_data(*arguments)

    monkeypatch.setattr(transformer, "kernel_data", cut)
    features = mm.KernelEigenMap(200, method="pivoted-cholesky", max_seconds=5.0)
    with pytest.raises(TimeoutError, match="max_seconds=5 was too short for the features of KernelEigenMap"):
        features.fit(X)
    assert not hasattr(features, "projection_")
    with pytest.raises(ValueError, match="max_seconds must be a finite number > 0"):
        mm.KernelEigenMap(max_seconds=0).fit(X)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_outputs_within_a_fit_are_cut_and_have_the_same_bits(monkeypatch, layout):
    X = np.random.default_rng(0).normal(size=(700, 3))
    X, y = layout(X), (X[:, 0] > 0).astype(int)
    model = mm.KernelSVC().fit(X, y)
    expected = model.decision_function(X)
    monkeypatch.setattr(kernel_rows, "MAX_VALUES_UNCUT", 1)
    with Deadline(1000.0) as deadline:
        assert np.array_equal(model.decision_function(X), expected)
        deadline.cut()
        with pytest.raises(Cancelled):
            model.decision_function(X)
    with Deadline(np.inf):  # nothing to look at
        assert np.array_equal(model.decision_function(X), expected)
