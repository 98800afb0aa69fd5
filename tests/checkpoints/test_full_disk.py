"""A full disk under the checkpoint of a search or of a fit to blocks: a warning, and the same model."""

import resource

import numpy as np
import pytest

from maxmargin import AutoSVC, SparseKernelClassifier
from maxmargin.io import Checkpoint, fingerprint

MAX_FILE_BYTES = 600


def rows(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def searched(model):
    return model.fit(*rows(60))


def in_blocks(model):
    X, y = rows(200)
    return model.fit_blocks([(X[:100], y[:100]), (X[100:], y[100:])], sample_rows=60)


@pytest.fixture
def full_disk():
    """No file may grow beyond a few hundred bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("make", "fit"),
    [
        (lambda: AutoSVC(random_state=0, learn_metric=None, cv=2), searched),
        (lambda: SparseKernelClassifier(5, random_state=0), in_blocks),
    ],
)
def test_a_checkpoint_that_cannot_be_written_is_a_warning(tmp_path, request, make, fit):
    expected = fingerprint(fit(make()))
    request.getfixturevalue("full_disk")
    model = make()
    model.set_checkpoint(Checkpoint(tmp_path / "fit.checkpoint", every_seconds=0.0))
    with pytest.warns(RuntimeWarning, match=r"could not be written.*fit\.checkpoint"):
        fit(model)
    assert fingerprint(model) == expected
    assert list(tmp_path.iterdir()) == []
