"""``AutoSVC.fit_blocks``: chosen on a sample, fitted to and certified over all rows."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import AutoSVC, LinearSVC, SparseKernelClassifier
from maxmargin.io import load, save

QUICK = {"budget": 12, "cv": 2, "random_state": 0, "n_jobs": 1}


def rows(n=1500, linear=False):
    X = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    y = X[:, 0] + X[:, 1] if linear else X[:, 0] * X[:, 1]
    X[:, 2] *= 1000.0
    return X, np.where(y > 0, "yes", "no")


def cut(X, y, size=400):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, X.shape[0], size)]


@pytest.mark.parametrize(("linear", "kind"), [(False, SparseKernelClassifier), (True, LinearSVC)])
def test_the_chosen_kind_of_model_is_fitted_to_all_rows(linear, kind, tmp_path):
    X, y = rows(linear=linear)
    model = AutoSVC(**QUICK).fit_blocks(cut(X, y), sample_rows=300)
    assert type(model.estimator_) is kind
    assert (model.n_rows_, model.status_) in [(1500, "converged"), (1500, "budget_full")]
    assert model.dual_gap_ <= 1e-3
    assert "where the final one has 1,500" in model.choice_
    assert model.score(X, y) > 0.9
    save(model, tmp_path / "auto.mm")
    np.testing.assert_array_equal(load(tmp_path / "auto.mm").decision_function(X), model.decision_function(X))
    scaled = [(model.scaling_.transform(A), t) for A, t in cut(X, y)]
    twin = type(model.estimator_)(**model.estimator_.get_params())
    if linear:  # the centres of a kernel model are those of the sample's fit
        assert twin.fit_blocks(scaled).objective_ == pytest.approx(model.objective_, rel=2e-4)


def test_no_exact_kernel_and_no_ramp_loss_are_tried():
    X, y = rows()
    y = np.where(np.random.default_rng(1).random(len(y)) < 0.2, "no", y)
    model = AutoSVC(**QUICK).fit_blocks(cut(X, y), sample_rows=300)
    budgets = {
        (kernel, budget) for kernel, budget in zip(*(model.candidates_[k] for k in ("kernel", "budget")))
    }
    assert ("linear", None) in budgets
    assert all(budget == 12 for kernel, budget in budgets if kernel != "linear")
    assert not any("ramp" in line for line in model.candidates_["candidate"])


def test_threads_and_class_weights_and_sparse_rows():
    X, y = rows(900)
    given = QUICK | {"class_weight": "balanced"}
    one, two = (
        AutoSVC(**given | {"n_jobs": n}).fit_blocks(cut(sparse.csr_array(X), y), sample_rows=300)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert one.estimator_.class_weight == "balanced"


def test_splits_of_rows_in_memory_are_refused():
    with pytest.raises(ValueError, match="cv must be a number of folds"):
        AutoSVC(cv=[([0], [1])]).fit_blocks(cut(*rows()))
