"""How many threads: n_jobs, the environment, threadpoolctl, and BLAS held to one meanwhile."""

import joblib
import numpy as np
import pytest
import threadpoolctl

from maxmargin import _blas
from maxmargin.threads import effective_n_threads

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
    with _blas.one_blas_thread():
        with _blas.one_blas_thread():
            pass
        assert set(counts()) == {1}
    assert counts() == before
