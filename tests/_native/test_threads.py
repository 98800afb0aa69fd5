"""How many threads: n_jobs, the environment, threadpoolctl, and BLAS held to one meanwhile."""

import itertools
import os
import sys

import joblib
import numpy as np
import pytest
import threadpoolctl

from maxmargin._native import blas, effective_n_threads
from maxmargin.kernels import RBF

N_CORES = joblib.cpu_count()


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("MAXMARGIN_NUM_THREADS", raising=False)


def test_n_jobs_as_joblib_counts():
    assert effective_n_threads(None) == effective_n_threads(-1) == N_CORES
    assert effective_n_threads(-2) == max(1, N_CORES - 1)
    assert effective_n_threads(np.int64(3)) == 3


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_what_is_no_number_of_jobs(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be"):
        effective_n_threads(n_jobs)


@pytest.mark.parametrize("n_jobs", [4 * N_CORES + 1, 3000, 2**40])
def test_no_more_than_four_threads_for_each_core(n_jobs):
    assert effective_n_threads(4 * N_CORES) == effective_n_threads(n_jobs) == 4 * N_CORES


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads as Linux shows them")
def test_a_huge_number_of_jobs_leaves_few_threads_behind():
    X, before = np.random.default_rng(0).normal(size=(3000, 3)), len(os.listdir("/proc/self/task"))
    expected = RBF(gamma=1.0)(X, n_jobs=1)
    for n_jobs in (3000, 2**40):
        np.testing.assert_array_equal(RBF(gamma=1.0)(X, n_jobs=n_jobs), expected)
    assert len(os.listdir("/proc/self/task")) < before + 4 * N_CORES


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "MAXMARGIN_NUM_THREADS"])
def test_the_environment_lowers_the_default(name, monkeypatch):
    monkeypatch.setenv(name, "1")
    assert effective_n_threads(None) == 1
    assert effective_n_threads(3) == 3


def test_threadpoolctl_limits_us_while_it_is_active():
    with threadpoolctl.threadpool_limits(1):
        assert effective_n_threads(None) == effective_n_threads(4) == 1
    assert effective_n_threads(4) == 4


def test_blas_is_held_to_one_thread_and_given_back():
    def counts():
        return [lib["num_threads"] for lib in threadpoolctl.threadpool_info() if lib["user_api"] == "blas"]

    before = counts()
    with blas.one_blas_thread():
        with blas.one_blas_thread():
            pass
        assert set(counts()) == {1}
    assert counts() == before


class _Blas:
    """A library that counts its calls and is interrupted at one of them, before or after it obeyed."""

    def __init__(self, interrupted_call, obeys):
        self.n_threads, self.n_calls = 7, 0
        self.interrupted_call, self.obeys = interrupted_call, obeys

    def get(self):
        self._call()
        return self.n_threads

    def set(self, n_threads):
        if self.obeys:
            self.n_threads = n_threads
        self._call()
        self.n_threads = n_threads

    def _call(self):
        self.n_calls += 1
        if self.n_calls == self.interrupted_call:
            raise KeyboardInterrupt


def _use_twice():
    """Whether a Ctrl-C came."""
    try:
        with blas.one_blas_thread(), blas.one_blas_thread():
            pass
    except KeyboardInterrupt:
        return True
    return False


@pytest.mark.parametrize("obeys", [False, True])
def test_blas_gets_its_threads_back_when_ctrl_c_hits_a_library(obeys, monkeypatch):
    for call in itertools.count(1):
        library = _Blas(call, obeys)
        monkeypatch.setattr(blas, "_libraries", [(library.get, library.set)] * 2)
        interrupted, library.interrupted_call = _use_twice(), None
        assert library.n_threads == 7
        assert not _use_twice()
        assert library.n_threads == 7
        if not interrupted:
            break
    assert call > 6  # two libraries: read, set to 1, set back


def test_blas_gets_its_threads_back_when_ctrl_c_hits_a_function(monkeypatch):
    """Python looks for signals where a function starts: there, one after the other, comes a Ctrl-C."""
    for call in itertools.count(1):
        library = _Blas(None, True)
        monkeypatch.setattr(blas, "_libraries", [(library.get, library.set)])
        n_calls = itertools.count(1)

        def trace(frame, event, _, call=call, n_calls=n_calls):
            if frame.f_code.co_filename == blas.__file__ and next(n_calls) == call:
                raise KeyboardInterrupt

        previous = sys.gettrace()
        sys.settrace(trace)
        try:
            interrupted = _use_twice()
        finally:
            sys.settrace(previous)
        assert library.n_threads == 7
        assert not _use_twice()
        assert library.n_threads == 7
        if not interrupted:
            break
    assert call > 5  # one_blas_thread, _enter and _leave, twice
