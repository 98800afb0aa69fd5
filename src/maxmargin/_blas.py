"""BLAS on one thread while our own threads call it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import threadpoolctl

__all__ = ["one_blas_thread"]

_lock = threading.Lock()
_n_inside = 0
_saved: list[int] = []
_libraries: list[tuple[Callable[[], int], Callable[[int], Any]]] | None = None


def _get_and_set(library: Any) -> tuple[Callable[[], int], Callable[[int], Any]]:
    """A BLAS's own functions for its number of threads.

    OpenBLAS is asked directly: threadpoolctl's setter does nothing outside the thread that first used it.
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
    # Looking through the loaded libraries takes milliseconds: once per process.
    controller = threadpoolctl.ThreadpoolController().select(user_api="blas")
    return [_get_and_set(library) for library in controller.lib_controllers]


def _enter() -> None:
    global _n_inside, _libraries, _saved
    with _lock:
        if _n_inside == 0:
            if _libraries is None:
                _libraries = _find_libraries()
            _saved = [get() for get, _ in _libraries]
            for _, set_n_threads in _libraries:
                set_n_threads(1)
        _n_inside += 1


def _leave() -> None:
    global _n_inside
    with _lock:
        _n_inside -= 1
        if _n_inside == 0:
            _restore()


def _restore() -> None:
    for (_, set_n_threads), n_threads in zip(_libraries or [], _saved):
        set_n_threads(n_threads)


def _forget_other_threads() -> None:
    """In a forked child: the threads that were inside, and perhaps held the lock, do not exist here."""
    global _lock, _n_inside
    _lock = threading.Lock()
    if _n_inside > 0:
        _n_inside = 0
        _restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold every BLAS of the process to one thread; the first in sets it, the last out restores it."""
    _enter()
    try:
        yield
    finally:
        _leave()
