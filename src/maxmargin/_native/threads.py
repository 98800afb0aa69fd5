"""The number of threads, from ``n_jobs``, the environment, and threadpoolctl's limits."""

from __future__ import annotations

import functools
import os
from numbers import Integral
from typing import Any

import joblib
import threadpoolctl

from .. import _core

__all__ = ["effective_n_threads"]


@functools.cache
def _n_cores() -> int:
    """The cores this process may use, given CPU affinity and container limits."""
    return int(joblib.cpu_count())


def _available() -> int:
    """The cores, or fewer if the environment sets a limit, as in joblib's workers."""
    asked = [os.environ.get(name, "") for name in ("MAXMARGIN_NUM_THREADS", "OMP_NUM_THREADS")]
    return min([_n_cores(), *(int(text) for text in asked if text.isdigit() and int(text) > 0)])


class _PoolController(threadpoolctl.LibController):  # type: ignore[misc]
    """Lets ``threadpoolctl.threadpool_limits`` control our threads."""

    user_api = "maxmargin"
    internal_api = "maxmargin"
    filename_prefixes = ("_core",)
    check_symbols = ("maxmargin_get_num_threads", "maxmargin_set_num_threads")

    def get_num_threads(self) -> int:
        """The limit in effect."""
        return self._get_symbol("maxmargin_get_num_threads")() or _available()

    def set_num_threads(self, num_threads: int) -> None:
        """Limit our threads; a limit of all available cores or more is stored as no limit."""
        self._get_symbol("maxmargin_set_num_threads")(num_threads if num_threads < _available() else 0)

    def get_version(self) -> None:
        """The library has no version of its own."""


threadpoolctl.register(_PoolController)


def effective_n_threads(n_jobs: Any = None) -> int:
    """The number of threads that ``n_jobs`` stands for at present.

    Parameters
    ----------
    n_jobs : int or None
        None: all cores this process may use, or the limit in the environment (``MAXMARGIN_NUM_THREADS``,
        ``OMP_NUM_THREADS``). ``k > 0``: k, but at most four times the cores, because more threads gain
        nothing and started threads are kept. ``-1``: all cores, ``-2``: all but one, and so on. A limit set
        by ``threadpoolctl.threadpool_limits`` always applies.
    """
    if n_jobs is None:
        wanted = _available()
    elif type(n_jobs) is int and 0 < n_jobs <= 4:  # without a question to the system
        wanted = n_jobs
    elif isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or int(n_jobs) == 0:
        raise ValueError(
            f"n_jobs must be None, a positive integer or a negative one; got {n_jobs!r}. "
            "Use 1 for one thread, -1 for all cores, None for the default."
        )
    else:
        wanted = int(n_jobs) if int(n_jobs) > 0 else max(1, _n_cores() + 1 + int(n_jobs))
        wanted = min(wanted, 4 * _n_cores())
    limit = _core.n_threads_limit()
    return min(wanted, limit) if limit > 0 else wanted
