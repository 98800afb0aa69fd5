"""Sources that change, fail or mix labels between passes, and time limits: a true gap or no model."""

import itertools
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted
from support.cuts import Cuts

from maxmargin import SparseKernelClassifier
from maxmargin.methods.blocks import newton


def rows(n=300):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def classifier(**parameters):
    return SparseKernelClassifier(**{"budget": 10, "random_state": 0, "n_jobs": 1} | parameters)


def assert_refused(source, words, error=ValueError):
    model = classifier()
    with pytest.raises(error, match=words):
        model.fit_blocks(source, sample_rows=60)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


def test_fewer_rows_in_a_later_pass_are_no_certificate():
    X, y = rows()
    passes = itertools.count(1)
    assert_refused(
        lambda: iter([(X[: 300 // (n := next(passes))], y[: 300 // n])]), "the same rows each time"
    )


@pytest.mark.parametrize("n_good", [1, 2])
def test_a_source_that_fails_in_a_later_pass_leaves_no_model(n_good):
    X, y = rows()
    passes = itertools.count()

    def blocks():
        yield X[:200], y[:200]
        if next(passes) >= n_good:
            raise OSError("the disk is gone")
        yield X[200:], y[200:]

    assert_refused(blocks, "the disk is gone", OSError)


def test_an_iterator_that_is_read_once_leaves_no_model():
    once = iter([rows()])
    assert_refused(lambda: once, "there are no rows")


@pytest.mark.parametrize("others", [str, bool, bytes])
def test_labels_of_another_type_in_a_later_block_are_refused(others):
    X, y = rows()
    assert_refused([(X[:150], y[:150]), (X[150:], y[150:].astype(others))], "mixes labels of different types")


def test_missing_labels_are_refused_with_their_block():
    X, y = rows()
    assert_refused([(X, y), (X, np.full(len(y), None))], "block 1 of the source: y has no labels")


def test_a_sample_without_time_is_not_converged():
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = classifier(max_seconds=1e-9).fit_blocks([rows()])
    assert model.status_ == "time_limit"
    assert len(model.predict(rows()[0])) == 300


@pytest.mark.parametrize(("first_late", "gap_is_known"), [(1, False), (2, False), (3, False), (9, True)])
def test_a_pass_that_is_cut_returns_the_last_model(monkeypatch, first_late, gap_is_known):
    X, y = rows()
    cuts, passes = Cuts(monkeypatch), itertools.count()

    def blocks():
        if next(passes) >= first_late:
            cuts.cut()
        return iter([(X, y), (X, y)])

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = classifier().fit_blocks(blocks, sample_rows=60)
    assert bool(np.isfinite(model.dual_gap_)) == gap_is_known
    assert (model.status_ == "time_limit") != gap_is_known
    assert any("time_limit" in str(w.message) for w in seen) != gap_is_known
    assert len(model.predict(X)) == len(y)


@pytest.mark.parametrize("sums", ["newton_sums", "product_sums"])
def test_work_within_a_block_is_cut(monkeypatch, sums):
    X, y = rows()
    cuts, parts = Cuts(monkeypatch), []
    monkeypatch.setattr("maxmargin.methods.blocks.features.ROWS_AT_ONCE", 64)
    if sums == "product_sums":
        monkeypatch.setattr("maxmargin.methods.blocks.newton.MAX_HESSIAN_BYTES", 0)
    plain = getattr(newton, sums)

    def late(block, task):
        if len(block) < len(y):  # of the start on the sample
            return plain(block, task)

        def values(margins):
            parts.append(len(margins))
            cuts.cut()
            return plain_values(margins)

        plain_values = task.problem.loss.curvature
        loss = SimpleNamespace(**{n: getattr(task.problem.loss, n) for n in ("value", "slope", "name")})
        loss.curvature = values
        return plain(block, replace(task, problem=replace(task.problem, loss=loss)))

    monkeypatch.setattr(newton, sums, late)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = classifier().fit_blocks([(X, y)], sample_rows=60)
    assert model.status_ == "time_limit"
    assert parts == [64]  # of 300 rows
