"""Callbacks of an estimator: scikit-learn's protocol where it exists (1.9 and later), plain functions always.

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

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

        def set_callbacks(self, *callbacks: Any) -> Any:
            """Nothing but plain functions can be accepted here."""
            if callbacks:
                raise TypeError("this version of scikit-learn has no callbacks; give plain functions.")
            return self

    FitCallback = ()

    def with_callbacks(method: Callable) -> Callable:
        """The method itself."""
        return method


__all__ = ["CallbackSupport", "with_callbacks"]


class CallbackSupport(CallbackSupportMixin):  # type: ignore[misc]
    """Adds ``set_callbacks`` to an estimator, and ``_running_callbacks`` to its fit."""

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set the callbacks of the next fits, replacing earlier ones; none removes them.

        Parameters
        ----------
        *callbacks : callables or scikit-learn callbacks
            Functions ``f(check, state) -> stop`` or objects of ``sklearn.callback``'s protocol.
        """
        functions = [c for c in callbacks if callable(c) and not isinstance(c, FitCallback)]
        super().set_callbacks(*(c for c in callbacks if c not in functions))
        self._functions = functions
        return self

    def __sklearn_clone__(self) -> Any:
        """Plain functions go with a clone, as scikit-learn's callbacks do."""
        copy = super().__sklearn_clone__()
        if functions := getattr(self, "_functions", None):
            copy._functions = list(functions)
        return copy

    def __getstate__(self) -> Any:
        """Plain functions stay behind: only data is pickled."""
        state = dict(super().__getstate__())
        state.pop("_functions", None)
        return state

    @contextmanager
    def _running_callbacks(self, X: Any, y: Any) -> Iterator[Callback | None]:
        """One function for the solvers to call, or None; columns solved in parallel take turns."""
        functions = list(getattr(self, "_functions", []))
        context = None
        if getattr(self, "_skl_callbacks", None) or hasattr(self, "_parent_callback_ctx"):
            context = self._init_callback_context(max_subtasks=None)
            context.call_on_fit_task_begin(estimator=self, X=X, y=y)
            functions.append(self._protocol(context, X, y))
        yield _in_turn(functions) if functions else None
        if context is not None:
            context.call_on_fit_task_end(estimator=self, X=X, y=y)

    def _protocol(self, context: Any, X: Any, y: Any) -> Callback:
        def call(check: Check, state: State) -> bool:
            task = context.subcontext(task_name="certificate")
            task.call_on_fit_task_begin(estimator=self, X=X, y=y)
            return bool(task.call_on_fit_task_end(estimator=self, X=X, y=y))

        return call


def _in_turn(functions: list[Callback]) -> Callback:
    """All functions, one caller at a time; once one has said stop, every later call says so too."""
    lock, stopped = threading.Lock(), threading.Event()

    def call(check: Check, state: State) -> bool:
        with lock:
            if not stopped.is_set() and any([bool(function(check, state)) for function in functions]):  # noqa: C419
                stopped.set()
        return stopped.is_set()

    return call
