"""The choice of alpha: the one-standard-error rule, its floor, and what it reports."""

import inspect

import numpy as np
import pytest

from maxmargin import SparseKernelClassifier
from maxmargin.io import load, save
from maxmargin.methods.budget.growth_sample import ALPHA_FACTOR, AlphaSearch, AlphaTrial
from maxmargin.methods.budget.published_fit import PublishedFit
from maxmargin.methods.budget.reduced_newton import Refit

ROWS = 400
SOLVED = Refit(np.zeros(0), np.zeros(0), np.ones(1), np.zeros(1))


def search(losses, default=np.inf, uncertified=(), start=0, keep=False):
    """A search along a grid: ``losses[k]`` for the alpha ``ALPHA_FACTOR**k``; others cost 100 a row."""

    class Search(AlphaSearch):
        def __init__(self):
            self.trials, self.default, self.share, self.tol = [], default, 1.0, 1e-3

        def _next(self, last, factor):
            return self._try(last.alpha * factor, None)

        def _try(self, alpha, fitted):
            k = round(np.log(alpha) / np.log(ALPHA_FACTOR))
            each = losses.get(k, np.full(ROWS, 100.0)) / ROWS
            self.trials.append(AlphaTrial(alpha, SOLVED, each, k not in uncertified))
            return self.trials[-1]

    found = Search()
    chosen = found.choose(ALPHA_FACTOR**start, SOLVED, keep=keep)
    return round(np.log(chosen.alpha) / np.log(ALPHA_FACTOR)), found


def noisy(mean, seed):
    return mean + 0.5 * np.random.default_rng(seed).normal(size=ROWS)


def test_clearly_better_alpha_is_taken():
    losses = {0: noisy(1.0, 0), -1: noisy(0.8, 0), -2: noisy(0.6, 0), -3: noisy(0.7, 0)}
    assert search(losses)[0] == -2


def test_gains_that_chance_explains_are_not():
    losses = {0: noisy(1.0, 0), -1: noisy(0.99, 1), -2: noisy(0.98, 2), -3: noisy(0.97, 3)}
    for k in losses:
        losses[k] += 1.0 + 0.01 * k - losses[k].mean()  # standard errors are about 0.035
    chosen, found = search(losses)
    assert chosen == 0
    table = found.table()
    assert len(table) == len(found.trials)
    best = table[table[:, 1].argmin()]
    assert best[2] == 0.0
    assert table[0, 1] == pytest.approx(100.0)  # above the first there is nothing
    naive = np.sqrt(ROWS) * np.std((losses[0] - losses[-3]) / ROWS)
    assert table[np.isclose(table[:, 0], 1.0), 2][0] == pytest.approx(naive)


def test_search_goes_up_while_the_loss_is_as_good():
    losses = {k: noisy(1.0, 1 + k) for k in range(-1, 6)}
    for k in losses:
        losses[k] += 1.0 - losses[k].mean() + (0.001 * k if k <= 3 else 1.0)
    assert search(losses)[0] == 3
    assert search(losses, keep=True)[0] == 0
    assert search(losses, default=ALPHA_FACTOR**1.5)[0] == 1
    falling = {k: losses[k] - 0.3 * k for k in range(-1, 3)}
    assert search(falling, default=1.0)[0] == 2


def test_alpha_that_cannot_be_certified_is_not_taken():
    losses = {k: np.full(ROWS, 10.0 + k) for k in range(-9, 3)}
    chosen, found = search(losses, uncertified=range(-9, -2))
    assert chosen == -2
    assert min(trial.alpha for trial in found.trials) == pytest.approx(ALPHA_FACTOR**-3)
    assert search(losses, uncertified=(-1, 0, 1))[0] == 2  # the present one is raised


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nearly_separable_rows_are_certified(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3)).astype(dtype)
    y = (X @ [1.0, 2.0, -1.0] > 0.0).astype(int)
    model = SparseKernelClassifier(60, random_state=0).fit(X, y)
    assert model.dual_gap_ <= model.tol
    assert model.alpha_ >= 1e-13
    assert np.isclose(model.alpha_search_["alpha"], model.alpha_, rtol=1e-6).any()


def test_alphas_tried_are_reported_and_stored(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=600) > 0.0).astype(int)
    model = SparseKernelClassifier(20, random_state=0).fit(X, y)
    table = model.alpha_search_
    assert set(table) == {"budget", "alpha", "loss", "standard_error", "gap"}
    last = table["budget"] == table["budget"][-1]
    alpha, loss, error = (table[name][last] for name in ("alpha", "loss", "standard_error"))
    chosen = np.isclose(alpha, model.alpha_)
    assert chosen.sum() == 1
    assert loss[chosen] - loss.min() <= error[chosen]
    assert (loss > 0.0).all()
    save(model, tmp_path / "model.zip")
    np.testing.assert_array_equal(load(tmp_path / "model.zip").alpha_search_["loss"], table["loss"])
    assert len(SparseKernelClassifier(20, alpha=1e-3).fit(X, y).alpha_search_["alpha"]) == 0


def test_the_published_grid_is_the_one_documented(monkeypatch):
    """Powers of ten times the mean of k(x, x), which is about 100 here; a value of the grid is chosen."""
    X = 10.0 * np.random.default_rng(0).normal(size=(60, 1))
    tried, run = [], PublishedFit._run
    monkeypatch.setattr(PublishedFit, "_run", lambda *args, **kw: tried.append(args[1]) or run(*args, **kw))
    model = SparseKernelClassifier.as_published(5, kernel="linear", random_state=0).fit(X, X[:, 0] > 0)
    grid = np.mean(X**2) * 10.0 ** -np.arange(8)
    np.testing.assert_allclose(tried[:-1], grid)
    assert np.isclose(model.alpha_, grid).any()
    documented = " ".join(inspect.getdoc(SparseKernelClassifier.as_published).split())
    assert "tries 1, 1e-1, 1e-2, ..., 1e-7, each times the mean of k(x, x)" in documented
