"""Fits that were cut by their time limit and are resumed: the bits of a fit that nobody disturbed."""

import zlib
from contextlib import suppress

import pytest
from support.checkpoint_cases import CASES, fitted, problem
from support.cuts import Cuts

from maxmargin.checkpoints.checkpoint import Checkpoint
from maxmargin.solving.journal import Journal

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def new(name):
    model = CASES[name]()
    return model.set_params(random_state=3) if "random_state" in model.get_params(deep=False) else model


@pytest.mark.parametrize("name", CASES)
def test_a_cut_fit_resumes_to_the_same_bits(name, monkeypatch, tmp_path):
    whole, cuts, puts, put = (
        new(name).set_params(n_jobs=1).fit(*problem()),
        Cuts(monkeypatch),
        [],
        Journal.put,
    )

    def put_and_cut(self, key, entry):
        put(self, key, entry)
        puts.append(key)
        if len(puts) == 1 + zlib.crc32(name.encode()) % 4:
            cuts.cut()

    checkpoint = Checkpoint(tmp_path / "checkpoint", 0.0, resume=True)
    monkeypatch.setattr(Journal, "put", put_and_cut)
    with suppress(TimeoutError):  # of a calibration, which the resumed fit makes up for
        new(name).set_params(n_jobs=1).set_checkpoint(checkpoint).fit(*problem())
    monkeypatch.setattr(Journal, "put", put)
    assert checkpoint.exists()
    resumed = new(name).set_params(n_jobs=1).set_checkpoint(checkpoint).fit(*problem())
    assert fitted(resumed) == fitted(whole)
