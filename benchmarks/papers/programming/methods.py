"""Every formulation as an estimator with a cost to choose, in three groups: linear, kernel, all at once."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from maxmargin import (
    AllPairsSVC,
    KernelSVC,
    LagrangianSVC,
    LeastSquaresClassifier,
    LinearProgramSVC,
    LinearSVC,
)

COSTS = tuple(10.0 ** np.arange(-3.0, 3.0))
PROGRAM_COSTS = tuple(10.0 ** np.arange(-2.0, 2.0))
KERNEL_COSTS = tuple(10.0 ** np.arange(-1.0, 3.0))
WIDTHS = (0.5, 2.0, 8.0)  # gamma as multiples of the median heuristic's, chosen with the kernel SVM


@dataclass(frozen=True)
class Method:
    """``make(C, gamma, n_components)`` gives an estimator."""

    group: str
    name: str
    make: Callable
    costs: tuple = COSTS
    nonlinear: bool = False
    per_row: bool = False  # with two classes, the cost is divided by the growth of the rows: see measure.py


def _linear(name, make, costs=COSTS):
    return Method("linear", name, lambda C, gamma, n_components: make(C), costs)


REFERENCE = Method(
    "kernel", "kernel SVM", lambda C, gamma, s: KernelSVC(C, gamma=gamma), KERNEL_COSTS, nonlinear=True
)
METHODS = [
    _linear("least squares", lambda C: LeastSquaresClassifier(penalty=None), (1.0,)),
    _linear("ridge", lambda C: LeastSquaresClassifier(C, penalty="ridge")),
    _linear("lasso", lambda C: LeastSquaresClassifier(C, penalty="lasso", tol=1e-3)),
    _linear("hinge LP", lambda C: LinearProgramSVC(penalty=None, tol=1e-3), (1.0,)),
    _linear("1-norm SVM", lambda C: LinearSVC(C, tol=1e-3)),
    _linear("2-norm SVM", lambda C: LinearSVC(C, loss="squared-hinge", tol=1e-3)),
    _linear("L1 SVM", lambda C: LinearProgramSVC(C, tol=1e-3), PROGRAM_COSTS),
    _linear("Lagrangian SVM", lambda C: LagrangianSVC(C)),
    REFERENCE,
    Method(
        "kernel",
        "eigen + L1 SVM",
        lambda C, gamma, s: LinearProgramSVC(
            C,
            kernel="rbf",
            gamma=gamma,
            features="eigen",
            n_components=s,
            code="one-vs-one",
            tol=1e-2,
            random_state=0,
        ),
        KERNEL_COSTS,
        nonlinear=True,
        per_row=True,
    ),
    Method(
        "kernel",
        "eigen + Lagrangian SVM",
        lambda C, gamma, s: LagrangianSVC(
            C, kernel="rbf", gamma=gamma, n_components=s, code="one-vs-one", random_state=0
        ),
        KERNEL_COSTS,
        nonlinear=True,
    ),
]
AT_ONCE = [
    Method("at once", "kernel SVM, one-vs-one", REFERENCE.make, KERNEL_COSTS, nonlinear=True),
    Method(
        "at once",
        "all-pairs M-SVM",
        lambda C, gamma, s: AllPairsSVC(C, gamma=gamma, random_state=0),
        KERNEL_COSTS,
        nonlinear=True,
    ),
    Method(
        "at once",
        "L1 SVM, one-vs-rest",
        lambda C, gamma, s: LinearProgramSVC(C, tol=1e-3),
        PROGRAM_COSTS,
        per_row=True,
    ),
    Method(
        "at once",
        "joint L1 SVM",
        lambda C, gamma, s: LinearProgramSVC(C, multi_class="joint", tol=1e-3),
        PROGRAM_COSTS,
        per_row=True,
    ),
]


def sizes(model, n_train):
    """Support vectors and non-zero features of a fitted model, None where it has no such thing."""
    coef = getattr(model, "coef_", None)
    if isinstance(model, LeastSquaresClassifier):
        return n_train, int((coef != 0.0).any(axis=0).sum())
    if isinstance(model, LinearProgramSVC):
        return None, int(model.n_nonzero_)
    if isinstance(model, LagrangianSVC) and getattr(model, "space_", "") == "eigen":
        return None, int(model.n_components_)
    features = None if coef is None else int((np.asarray(coef) != 0.0).any(axis=0).sum())
    return int(model.n_support_), features
