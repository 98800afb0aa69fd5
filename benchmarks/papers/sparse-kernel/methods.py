"""Every method that is compared, as a function of its budget and the strength of its regularisation."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maxmargin import BudgetPerceptron, KernelMatchingPursuit, KernelPegasos, LaSVM, SparseKernelClassifier

SELECTIONS = ("random", "perceptron", "loss", "active", "loss-probabilistic")
N_CANDIDATES = 60  # m of the paper
STRENGTHS = tuple(10.0 ** -np.arange(0.0, 8.0))  # alpha as a share of the mean of k(x, x)


@dataclass(frozen=True)
class Method:
    """``make(budget, alpha, n_rows)`` gives the parameters of an estimator."""

    group: str
    name: str
    estimator: Callable
    make: Callable
    strengths: tuple = STRENGTHS  # to choose from
    slow: bool = False  # a fit is minutes rather than seconds: few budgets
    nested: bool = False  # the model of a small budget is a stage on the way to a large one

    def fit(self, task, budget, strength, seed):
        """The estimator, fitted to the task's training rows."""
        parameters = self.make(budget, strength * task.scale, len(task.y))
        model = self.estimator(**parameters, **task.kernel, n_jobs=1, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # LaSVM: one epoch leaves a gap, as published
            return model.fit(task.X, task.y)

    def models(self, task, budgets, strength, seed):
        """A model for each budget, from one fit where the method allows it."""
        if not self.nested:
            for budget in budgets:
                yield budget, self.fit(task, budget, strength, seed)
            return
        largest = self.fit(task, max(budgets), strength, seed)
        for budget in budgets:
            yield budget, largest.truncate(min(budget, largest.n_support_))


def _published(selection, back_fit):
    def make(budget, alpha, n_rows):
        return {
            "budget": budget,
            "alpha": alpha,
            "selection": selection,
            "back_fit": back_fit,
            "n_candidates": N_CANDIDATES,
        }

    return make


def _lasvm(selection):
    def make(budget, alpha, n_rows):
        return {
            "C": 1.0 / (n_rows * alpha),
            "selection": selection,
            "n_candidates": N_CANDIDATES,
            "max_support": budget,
            "max_iter": 1,
        }

    return make


def _pegasos(budget, alpha, n_rows):
    return {"alpha": alpha, "max_iter": 1}


def _budget_perceptron(budget, alpha, n_rows):
    return {"budget": budget, "max_iter": 1}


def _matching_pursuit(budget, alpha, n_rows):
    return {"budget": budget, "n_candidates": N_CANDIDATES, "pre_fit": False}


def _default(budget, alpha, n_rows):
    return {"budget": budget}


PUBLISHED = SparseKernelClassifier.as_published
METHODS = (
    # Stronger ones make every row a support vector.
    Method("unbudgeted", "kernel Pegasos", KernelPegasos, _pegasos, STRENGTHS[3:]),
    *(Method("selection", name, PUBLISHED, _published(name, None), nested=True) for name in SELECTIONS),
    *(Method("back-fit", name, PUBLISHED, _published(name, "n/B")) for name in SELECTIONS),
    Method("comparison", "budget perceptron", BudgetPerceptron, _budget_perceptron, ()),
    Method("comparison", "LaSVM active", LaSVM, _lasvm("active")),
    Method("comparison", "LaSVM gradient", LaSVM, _lasvm("gradient")),
    Method("comparison", "matching pursuit", KernelMatchingPursuit, _matching_pursuit, (), slow=True),
    Method("comparison", "maxmargin's own", SparseKernelClassifier, _default, (), slow=True),
)
