"""The core uses SciPy's BLAS, limited to one thread while our own threads call it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import threadpoolctl
from scipy.linalg import cython_blas, cython_lapack

from .. import _core

__all__ = ["one_blas_thread"]

_core.set_blas(
    *(cython_blas.__pyx_capi__[name] for name in ("sgemm", "dgemm", "ssyrk", "dsyrk", "dtrsm")),
    *(cython_lapack.__pyx_capi__[name] for name in ("dgesv", "dpotrf", "dpotrs")),
)

_lock = threading.Lock()
_inside: set[Any] = set()  # the guards that are currently entered
_saved: list[int] = []
_libraries: list[tuple[Callable[[], int], Callable[[int], Any]]] | None = None


def _get_and_set(library: Any) -> tuple[Callable[[], int], Callable[[int], Any]]:
    """The functions of a BLAS that get and set its number of threads.

    OpenBLAS is called directly: threadpoolctl's setter has no effect outside the thread that first used it.
    """
    if library.internal_api == "openblas" and library.threading_layer == "pthreads":
        for prefix in ("", "scipy_"):
            for suffix in ("", "64_", "_64"):
                getter = getattr(library.dynlib, f"{prefix}openblas_get_num_threads{suffix}", None)
                setter = getattr(library.dynlib, f"{prefix}openblas_set_num_threads{suffix}", None)
                if getter is not None and setter is not None:
                    return getter, setter
    return library.get_num_threads, library.set_num_threads


def _find_libraries() -> list[tuple[Callable[[], int], Callable[[int], Any]]]:
    # Inspecting the loaded libraries takes milliseconds, so do it once per process.
    controller = threadpoolctl.ThreadpoolController().select(user_api="blas")
    return [_get_and_set(library) for library in controller.lib_controllers]


# KeyboardInterrupt can arrive between any two statements here; the guard then calls _leave, again if need be.
# So a guard is registered before anything is set, and until everything is restored.


def _enter(guard: Any) -> None:
    global _libraries, _saved
    with _lock:
        if _libraries is None:
            _libraries = _find_libraries()
        if _inside:
            _inside.add(guard)
            return
        _saved = [get() for get, _ in _libraries]
        _inside.add(guard)
        for _, set_n_threads in _libraries:
            set_n_threads(1)


def _leave(guard: Any) -> None:
    """Safe to call twice: it completes an interrupted call, and otherwise does nothing."""
    if guard in _inside:
        with _lock:
            if _inside == {guard}:
                _restore()
            _inside.discard(guard)


def _restore() -> None:
    for (_, set_n_threads), n_threads in zip(_libraries or [], _saved):
        set_n_threads(n_threads)


def _forget_other_threads() -> None:
    """In a forked child, the parent's threads, one of which may have held the lock, do not exist."""
    global _lock
    _lock = threading.Lock()
    if _inside:
        _inside.clear()
        _restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit every BLAS of the process to one thread: the first guard sets it, the last one restores it."""
    return _core.Guard(_enter, _leave)
