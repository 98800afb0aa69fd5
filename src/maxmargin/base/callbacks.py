"""Estimator callbacks: plain functions, and scikit-learn's protocol where it exists (1.9 and later).

A plain function is called as ``function(check, state)`` after every certificate, with a ``Check`` and the
solver's ``State``. A true return value ends the fit: every column stops at its next certificate.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..solving import Callback, Check, State

try:
    from sklearn.callback import CallbackSupportMixin, FitCallback, with_callbacks
except ImportError:  # scikit-learn before 1.9
    CallbackSupportMixin, FitCallback = object, ()

    def with_callbacks(method: Callable) -> Callable:
        """The method itself."""
        return method


__all__ = ["CallbackSupportMixin", "fit_callback", "plain_functions", "with_callbacks"]


def plain_functions(callbacks: tuple[Any, ...]) -> tuple[list[Callback], list[Any]]:
    """The plain functions among the callbacks, and scikit-learn's callbacks."""
    functions = [c for c in callbacks if callable(c) and not isinstance(c, FitCallback)]
    others = [c for c in callbacks if c not in functions]
    if others and CallbackSupportMixin is object:
        raise TypeError("this version of scikit-learn has no callbacks; pass plain functions.")
    return functions, others


@contextmanager
def fit_callback(model: Any, X: Any, y: Any) -> Iterator[Callback | None]:
    """The function that solvers call during a fit, or None; calls from parallel columns are serialised."""
    functions = list(getattr(model, "_functions", []))
    context = None
    if getattr(model, "_skl_callbacks", None) or hasattr(model, "_parent_callback_ctx"):
        context = model._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=model, X=X, y=y)
        functions.append(_protocol(model, context, X, y))
    yield _in_turn(functions) if functions else None
    if context is not None:
        context.call_on_fit_task_end(estimator=model, X=X, y=y)


def _protocol(model: Any, context: Any, X: Any, y: Any) -> Callback:
    """scikit-learn's callbacks as one function: every certificate is a subtask of the fit."""

    def call(check: Check, state: State) -> bool:
        task = context.subcontext(task_name="certificate")
        task.call_on_fit_task_begin(estimator=model, X=X, y=y)
        return bool(task.call_on_fit_task_end(estimator=model, X=X, y=y))

    return call


def _in_turn(functions: list[Callback]) -> Callback:
    """Call all functions, one thread at a time; once one asks to stop, every later call returns True."""
    lock, stopped = threading.Lock(), threading.Event()

    def call(check: Check, state: State) -> bool:
        with lock:
            if not stopped.is_set() and any([bool(function(check, state)) for function in functions]):  # noqa: C419
                stopped.set()
        return stopped.is_set()

    return call
