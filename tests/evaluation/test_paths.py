"""Paths over budgets and costs as tables: what the fits and searches behind them say."""

import json

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from support.memory_source import MemorySource

from maxmargin import KernelSVC, LinearSVC, SparseKernelClassifier
from maxmargin.evaluation.paths import budget_path, cost_path
from maxmargin.metrics.confusion import share_interval
from maxmargin.table.preparation import TablePreparation


@pytest.fixture(scope="module")
def rings():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 2))
    inside = (X**2).sum(axis=1) < 1.4
    return MemorySource(X, np.where(inside ^ (rng.random(240) < 0.1), "in", "out"))


def test_budgets_are_those_of_one_fit(rings):
    path = budget_path(rings, budget=20, validate=0.25, seed=1)
    model = SparseKernelClassifier(20, validation_fraction=0.25, random_state=1)
    model.fit(TablePreparation().fit_transform(rings.X), rings.y)
    assert [p.budget for p in path.points] == model.budget_path_["budget"].tolist()
    np.testing.assert_allclose([p.error for p in path.points], 1 - model.budget_path_["score"], rtol=1e-12)
    assert path.chosen.budget == model.choose_budget()
    assert sum(p.chosen for p in path.points) == 1
    assert "60 held-out rows" in path.notes[0]
    first = path.points[0]
    assert first.error_interval == share_interval(round(first.error * 60), 60)
    assert path.n_rows == 240
    json.dumps(path.as_dict(), allow_nan=False)


def test_a_budget_path_needs_rows_held_out(rings):
    with pytest.raises(ValueError, match="held out"):
        budget_path(rings, validate=None)


def test_costs_are_those_of_cross_validation(rings):
    path = cost_path(rings, LinearSVC(tol=1e-6, random_state=0), values=[0.01, 1.0], folds=4)
    X = TablePreparation().fit_transform(rings.X)
    for point, C in zip(path.points, (0.01, 1.0)):
        assert point.parameters == {"C": C}
        assert point.regularisation == pytest.approx(1 / (C * 240))
        scores = [path.estimator.cv_results_[f"split{k}_test_score"][int(C == 1.0)] for k in range(4)]
        assert point.error == pytest.approx(1 - np.mean(scores))
        assert point.standard_error == pytest.approx(np.std(scores, ddof=1) / 2)
        other = cross_val_score(LinearSVC(C, tol=1e-6, random_state=0), X, rings.y, cv=4)
        assert abs(point.error - (1 - other.mean())) < 0.05  # other folds, the same error nearly
    assert path.chosen.error == min(p.error for p in path.points)
    assert path.as_dict()["chosen"]["parameters"] == path.chosen.parameters


def test_one_standard_error_chooses_no_weaker_regularisation(rings):
    best = cost_path(rings, KernelSVC(), folds=3)
    careful = cost_path(rings, KernelSVC(), folds=3, rule="one-standard-error")
    assert len(best.points) == 8
    assert careful.chosen.regularisation >= best.chosen.regularisation
    assert careful.chosen.error <= best.chosen.error + best.chosen.standard_error


def test_alphas_and_gammas_are_paths_too(rings):
    path = cost_path(
        rings, SparseKernelClassifier(5, random_state=0), values=[1e-2, 1.0], gammas=[0.5, 2.0], folds=2
    )
    assert [sorted(p.parameters) for p in path.points] == [["alpha", "gamma"]] * 4
    assert {p.regularisation for p in path.points} == {1e-2, 1.0}


def test_large_files_are_sampled_and_it_is_told(rings):
    path = cost_path(rings, LinearSVC(random_state=0), values=[1.0], folds=2, most_rows=100)
    assert path.n_rows == 80
    assert "a sample of the 240 rows" in path.notes[1]


def test_paths_are_drawn(rings, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    for path in (budget_path(rings, budget=10), cost_path(rings, LinearSVC(random_state=0), folds=2)):
        display = path.plot()
        display.figure_.savefig(tmp_path / f"{path.kind}.svg")
        assert (tmp_path / f"{path.kind}.svg").read_text().startswith("<?xml")
