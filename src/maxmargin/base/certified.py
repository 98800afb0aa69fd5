"""What every certified fit has, whatever it predicts: limits, certificates, warnings, callbacks.

These are methods of estimators with the parameters ``tol, max_iter, max_seconds``, which take them over by
name: one more base class would be one too many.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from ..data import check_number
from ..solving import Deadline, Status, Stop, Summary, ended_in_time
from .callbacks import CallbackSupportMixin, plain_functions
from .decoded import forget

__all__ = [
    "SUCCESS",
    "check_stopping",
    "clone_with_functions",
    "first_step_of",
    "fit_deadline",
    "has_ended",
    "keep_certificates",
    "limits",
    "remedy",
    "set_callbacks",
    "warn_unless_success",
]

SUCCESS = (Status.CONVERGED, Status.BUDGET_FULL, Status.NO_LOSS_LEFT, Status.STOPPED)


def has_ended(self: Any) -> bool:
    """True between the end of a fit and the start of the next."""
    return hasattr(self, "status_")


def limits(self: Any, deadline: Deadline) -> Stop:
    """The limits of a fit."""
    return Stop(tol=self.tol, max_iter=self.max_iter, deadline=deadline)


def check_stopping(self: Any) -> None:
    """Check the stopping parameters that every solver has."""
    check_number("tol", self.tol, above=0.0)
    check_number("max_iter", self.max_iter, at_least=1, integer=True)
    check_number("max_seconds", self.max_seconds, above=0.0)


def keep_certificates(self: Any, found: Summary) -> None:
    """Store the certificates and the status; raise if coefficients are not finite."""
    self.history_, self.n_iter_ = found.history, found.n_iter
    self.objective_, self.dual_gap_ = found.objective, found.gap
    if not found.finite:
        forget(self, "status_")
        raise ValueError(
            f"{type(self).__name__} diverged: its coefficients are not finite. Scale the features, for "
            f"example with sklearn.preprocessing.StandardScaler, or {self._remedy_for_overflow}."
        )
    self.status_ = str(found.status)


def warn_unless_success(self: Any, worst: Status, undone: str = "") -> bool:
    """Warn if a part of the fit did not converge; True if there was a reason to."""
    if worst is Status.DIVERGED:
        warnings.warn(
            f"{type(self).__name__} diverged: on its own rows its outputs are not finite, or worse than "
            f"those of zero coefficients. The model is the best point that the fit kept; "
            f"{self._remedy_for_divergence}, or scale the features.",
            ConvergenceWarning,
            stacklevel=6,
        )
    elif worst not in self._success:
        gap = f" with relative duality gap {self.dual_gap_:.1e}" if self.dual_gap_ < float("inf") else ""
        warnings.warn(
            f"{type(self).__name__} stopped ({worst}){gap} after {self.n_iter_} iterations{undone}; "
            f"{self._remedy()}",
            ConvergenceWarning,
            stacklevel=6,
        )
    return worst is Status.DIVERGED or worst not in self._success


def remedy(self: Any) -> str:
    """Advice for a fit that stopped before it converged."""
    return "raise max_iter or max_seconds, raise tol, or scale the features."


def set_callbacks(self: Any, *callbacks: Any) -> Any:
    """Set the callbacks of later fits, replacing earlier ones; without arguments, remove them.

    Parameters
    ----------
    *callbacks : callables or scikit-learn callbacks
        Functions ``f(check, state) -> stop``, or objects that follow the ``sklearn.callback`` protocol.
    """
    functions, others = plain_functions(callbacks)
    if CallbackSupportMixin is not object:
        CallbackSupportMixin.set_callbacks(self, *others)
    self._functions = functions
    return self


def clone_with_functions(self: Any) -> Any:
    """A clone inherits plain functions, as it inherits scikit-learn's callbacks."""
    copy = BaseEstimator.__sklearn_clone__(self)
    if functions := getattr(self, "_functions", None):
        copy._functions = list(functions)
    return copy


def first_step_of(model: Any) -> str:
    """What a fit must at least have time for, in the words of an error."""
    return f"even the first step of {type(model).__name__}"


@contextmanager
def fit_deadline(model: Any, seconds: float | None = None) -> Iterator[Deadline]:
    """The deadline of a fit that begins now; a fit cut before its first step raises ``TimeoutError``."""
    forget(model, "status_")  # not fitted until this fit ends
    model._check_parameters()
    limit = model.max_seconds if seconds is None else seconds
    with Deadline(limit) as deadline, ended_in_time(deadline, first_step_of(model)):
        yield deadline
