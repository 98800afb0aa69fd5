"""Every public classifier with callbacks, interrupts and a time limit."""

import os
import signal

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from support.contract import (
    at_work,
    is_certified,
    is_joint,
    learns_out_of_fold,
    never_content,
    three_classes,
    two_classes,
    watched,
)


def test_callbacks_see_every_certificate_and_can_stop(estimator):
    X, y = two_classes()
    seen = []
    model = watched(clone(estimator), lambda check, state: seen.append(check)).fit(X, y)
    assert tuple(seen[: len(model.history_[0])]) == model.history_[0]
    assert (len(seen) > len(model.history_[0])) == learns_out_of_fold(model)
    stopped = watched(clone(estimator), lambda check, state: True).fit(X, y)
    assert stopped.status_ == "stopped"
    assert len(stopped.history_[0]) == 1


def test_scikit_learn_callbacks(estimator):
    pytest.importorskip("sklearn.callback")

    class Counter:
        def __init__(self):
            self.tasks = []

        def setup(self, estimator, context):
            self.tasks.append("setup")

        def on_fit_task_begin(self, estimator, context):
            self.tasks.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator, context):
            self.tasks.append(f"end {context.task_name}")

        def teardown(self, estimator, context):
            self.tasks.append("teardown")

    counter = Counter()
    model = watched(estimator, counter).fit(*two_classes())
    n_checks = len(model.history_[0])
    assert counter.tasks[:2] == ["setup", "begin fit"]
    assert counter.tasks[-2:] == ["end fit", "teardown"]
    n_seen = counter.tasks.count("end certificate")
    assert n_seen == counter.tasks.count("begin certificate")
    assert n_seen > n_checks if learns_out_of_fold(model) else n_seen == n_checks


@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_ctrl_c_raises(estimator, data):
    """SIGINT ends a fit, in whichever thread a column is solved; the estimator can be fitted again."""
    X, y = data()

    def interrupt(check, state):
        if not sent:
            sent.append(check)
            os.kill(os.getpid(), signal.SIGINT)

    for n_jobs in (1, 2):
        sent = []
        model = watched(never_content(clone(estimator)).set_params(n_jobs=n_jobs), interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert not hasattr(model, "coef_")
        with pytest.raises(NotFittedError):
            model.predict(X)
        if is_certified(model):
            at_work(model).set_params(tol=1e-3)
        watched(model).fit(X, y)


def test_time_limit_is_kept_and_reported(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 30)), rng.integers(0, 3, size=3000)
    gap = "relative duality gap .*" if is_certified(estimator) else ""
    model = never_content(clone(estimator))
    at_work(model).set_params(max_seconds=1e-6)
    with pytest.warns(ConvergenceWarning, match=rf"time_limit.*{gap}raise max_iter or max_seconds"):
        model.fit(X, y)
    assert model.status_ == "time_limit"
    assert np.isfinite(model.dual_gap_) == is_certified(estimator)


def test_callbacks_are_cloned_and_stop_every_column(estimator):
    X, y = three_classes()
    seen = []
    costs = [name for name in ("C", "estimator__C") if name in estimator.get_params()]
    grid = {costs[0]: [0.1, 1.0]} if costs else {"class_weight": [None, "balanced"]}
    search = GridSearchCV(watched(estimator, lambda check, state: seen.append(check)), grid, cv=2)
    search.fit(X, y)
    n_histories = 1 if is_joint(estimator) else 3
    assert len(seen) > 5 * n_histories  # five fits of three columns
    once = iter([True])
    model = watched(clone(estimator).set_params(n_jobs=2), lambda check, state: next(once, False)).fit(X, y)
    assert model.status_ == "stopped"
    assert all(len(history) <= 2 for history in model.history_)
