"""What every test shares: hypothesis without a deadline, and data sets by name."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# A shared machine may stop a test for a second at any moment: time is no property of an example.
settings.register_profile("maxmargin", deadline=None, print_blob=True)
settings.load_profile("maxmargin")


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


@pytest.fixture(autouse=True)
def own_interrupt():
    """Ctrl-C raises KeyboardInterrupt, whatever was there before.

    A shell script that starts the tests in the background has SIGINT ignored, and so have they: Python
    installs its handler only where the signal is not ignored.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
