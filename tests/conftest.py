"""What every test shares: hypothesis' profile, data sets by name, and a checkout that stays as it is."""

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from support.properties import load_profile
from support.work_tree import changed_files

from maxmargin.solving import deadline

load_profile()

FILES_BEFORE = pytest.StashKey[set]()
FILES_WRITTEN = pytest.StashKey[list]()


def pytest_sessionstart(session):
    if not hasattr(session.config, "workerinput"):  # one process looks, not each of its workers
        session.config.stash[FILES_BEFORE] = changed_files()


def pytest_sessionfinish(session):
    """A run that has written into the checkout has failed."""
    before = session.config.stash.get(FILES_BEFORE, None)
    if before is None:
        return
    session.config.stash[FILES_WRITTEN] = sorted(changed_files() - before)
    if session.config.stash[FILES_WRITTEN] and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    if files := config.stash.get(FILES_WRITTEN, []):
        terminalreporter.section("files that the tests wrote outside temporary folders", red=True)
        terminalreporter.write_line("\n".join(files))


def pytest_collection_modifyitems(items):
    """Tests that take seconds come first, so that no worker is left with one of them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(scope="session", autouse=True)
def time_for_certificates():
    """However busy the machine is, a fit at its time limit is not cut before its last certificate.

    Tests of the cut call ``Deadline.cut`` themselves.
    """
    before, deadline.MIN_GRACE_SECONDS = deadline.MIN_GRACE_SECONDS, 3600.0
    yield
    deadline.MIN_GRACE_SECONDS = before


@pytest.fixture(scope="session")
def dataset():
    """A function ``dataset(name) -> mapping of arrays``; skips the test where the data set is not here."""

    def load(name):
        folder = os.environ.get("MAXMARGIN_DATA")
        if not folder:
            pytest.skip(f"data set {name}: MAXMARGIN_DATA names no folder")
        path = Path(folder) / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"data set {name}: no {path}")
        with np.load(path) as arrays:
            return dict(arrays)

    return load


@pytest.fixture
def array_api(monkeypatch):
    """What scikit-learn's checks of array-API dispatch want to see."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@pytest.fixture
def patient_clock(monkeypatch):
    """Time limits count processor time, so that they have room for the same work on a busy machine."""
    monkeypatch.setattr("time.perf_counter", lambda: time.process_time() / (os.cpu_count() or 1))


@pytest.fixture(autouse=True)
def same_draws():
    """``random_state=None`` draws from NumPy's global generator: every test finds it in the same state."""
    np.random.seed(0)  # noqa: NPY002 - scikit-learn draws from this one


@pytest.fixture(autouse=True)
def own_interrupt():
    """Ctrl-C raises KeyboardInterrupt, whatever was there before.

    A shell script that starts the tests in the background has SIGINT ignored, and so have they: Python
    installs its handler only where the signal is not ignored.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
