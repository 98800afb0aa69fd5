"""Training on a file as it goes by: the same bits as by hand and after any break, in constant memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.command_line import running, write_flowers
from support.rings import RISING, codes_of, rings
from support.table_sources import TableSource

from maxmargin import SparseKernelClassifier, io
from maxmargin.checkpoints.record import CheckpointError
from maxmargin.table.preparation import TablePreparation
from maxmargin.training import TrainingProgress
from maxmargin.training.from_file import train
from maxmargin.training.held_out import HeldOut

SMALL = {"budget": 8, "alpha": 1e-3, "n_jobs": 1}
N, CUT = 600, 150


def source(order: np.ndarray | None = None) -> TableSource:
    table, y = rings(N)
    order = np.arange(N) if order is None else order
    return TableSource({k: [v[i] for i in order] for k, v in table.items()}, y[order], block_rows=CUT)


class Broken(Exception):
    """What breaks a training off."""


def break_at(n_rows: int):
    def off(event):
        if event.phase == "learn" and event.done >= n_rows:
            raise Broken

    return off


@pytest.fixture(scope="module")
def whole():
    """A training that nobody disturbs."""
    return train(source(), parameters=SMALL, stream=True)


def test_a_stream_is_what_partial_fit_makes_of_the_blocks(whole):
    table, y = rings(N)
    frame, held_out = pd.DataFrame(table), HeldOut(0.2, 0).of_block(*codes_of(y))
    preparation = TablePreparation().fit(frame[~held_out])
    X = preparation.transform(frame)
    model = SparseKernelClassifier(random_state=0, **SMALL)
    for start in range(0, N, CUT):
        rows = np.arange(start, start + CUT)
        rows = rows[~held_out[rows]]
        model.partial_fit(X[rows], y[rows], classes=["in", "out"])
    np.testing.assert_array_equal(whole.model["model"].dual_coef_, model.dual_coef_)
    np.testing.assert_array_equal(whole.model["model"].support_vectors_, model.support_vectors_)
    n_errors = int((model.predict(X[held_out]) != y[held_out]).sum())
    told = whole.record["validation"]
    assert (told["n_rows"], told["n_errors"]) == (held_out.sum(), n_errors)
    assert told["accuracy"] > 0.9
    assert whole.record["fitted_on"] == "all rows but those held out, block by block"
    assert whole.record["data"]["n_rows"] == N


@pytest.mark.parametrize("at", [CUT, 3 * CUT, N])
def test_a_broken_stream_goes_on_at_the_block(at, whole, tmp_path, monkeypatch):
    path = tmp_path / "c"
    with pytest.raises(Broken):
        train(source(), parameters=SMALL, stream=True, checkpoint=path, callback=break_at(at))
    assert [file.name for file in tmp_path.iterdir()] == ["c.stream"]
    n_learnt, learn = [], SparseKernelClassifier.partial_fit
    monkeypatch.setattr(
        SparseKernelClassifier,
        "partial_fit",
        lambda self, X, y, **more: n_learnt.append(len(y)) or learn(self, X, y, **more),
    )
    seen = []
    again = train(source(), parameters=SMALL, stream=True, checkpoint=path, resume=True, callback=seen.append)
    assert len(n_learnt) == (N - at) // CUT
    assert {event.phase for event in seen} == {"learn", "validate"}  # the statistics are in the file
    assert again.record["fingerprint"] == whole.record["fingerprint"]
    for name in whole.record.keys() - {"date", "seconds"}:
        assert again.record[name] == whole.record[name], name
    again.remove_checkpoints()
    assert not list(tmp_path.iterdir())


def test_other_work_is_not_gone_on_with(tmp_path):
    table, y = rings(200)
    data, path = tmp_path / "rings.csv", tmp_path / "c"
    pd.DataFrame(table | {"y": y}).to_csv(data, index=False)
    how = {"parameters": SMALL, "stream": True, "checkpoint": path, "block_rows": 100}
    with pytest.raises(Broken):
        train(io.open_source(data, target="y"), callback=break_at(100), **how)
    left = (tmp_path / "c.stream").read_bytes()
    for other, differs in [
        ({"seed": 1}, "seed is 0 there and 1 here"),
        ({"parameters": SMALL | {"budget": 9}}, r"budget is 8.0 there and 9.0 here"),
        ({"block_rows": 50}, "rows of a block is 100 there and 50 here"),
    ]:
        with pytest.raises(CheckpointError, match=differs):
            train(io.open_source(data, target="y"), resume=True, **(how | other))
    with data.open("a") as file:
        file.write("1.0,2.0,yes,in\n")
    with pytest.raises(CheckpointError, match="the file's SHA-256 is"):
        train(io.open_source(data, target="y"), resume=True, **how)
    assert (tmp_path / "c.stream").read_bytes() == left
    (tmp_path / "c.stream").write_bytes(left[:-9])
    with pytest.raises(CheckpointError, match="Start over"):
        train(io.open_source(data, target="y"), resume=True, **how)


def test_a_file_sorted_by_class_is_learnt():
    order = np.argsort(rings(N)[1], kind="stable")
    trained = train(source(order), parameters=SMALL, stream=True)
    assert trained.record["validation"]["accuracy"] > 0.9


def test_models_that_cannot_stream_say_which_can():
    with pytest.raises(
        ValueError, match=r"'linear' cannot be trained on a stream.*these can: sparse-kernel\."
    ):
        train(source(), model="linear", stream=True)


def test_a_file_that_grows_while_it_is_read_is_refused():
    class Growing(TableSource):
        passes = 0

        def blocks(self, n_rows=CUT):
            self.passes += 1
            blocks = list(super().blocks(n_rows))
            return iter(blocks[:-1] if self.passes == 1 else blocks)

    growing = Growing(*rings(N), block_rows=CUT)
    with pytest.raises(ValueError, match=f"had {N - CUT} rows when it was first read and {N} now"):
        train(growing, parameters=SMALL, stream=True)


@pytest.mark.slow
def test_a_stream_takes_the_same_memory_for_any_file():
    script = RISING.replace(
        'model="least-squares", refit=False, memory_mb=64',
        'parameters={"budget": 2, "alpha": 1.0, "n_jobs": 1}, stream=True, memory_mb=64',
    ).replace("(10, 10, 50)", "(3, 3, 24)")
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    peaks = np.array([line.split()[0] for line in told.splitlines()], dtype=int)
    assert peaks[2] - peaks[1] < 15_000  # KiB, where 172,000 more rows would take 40,000


def test_ctrl_c_in_a_stream_prints_how_to_resume(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, options = running(capsys), ("--stream", "--block-rows", "60", "--set", "alpha=0.01", "--budget", "8")
    write_flowers(tmp_path / "flowers.csv", n=240)
    command = ("train", "flowers.csv", "--target", "flower", *options, "--out", "m.mm")
    assert run(*command).code == 0
    wanted = io.fingerprint(io.load("m.mm"))
    with monkeypatch.context() as patched:

        def call(self, event):
            if event.phase == "learn" and event.done == 120:
                raise KeyboardInterrupt

        patched.setattr(TrainingProgress, "__call__", call)
        ran = run(*command)
    assert ran.code == 130
    assert "m.mm.checkpoint.stream. Resume with:" in ran.err
    assert ran.err.rstrip().endswith("--out m.mm --resume")
    assert "no unfinished work" in run(*command[:4], "--budget", "3", "--validate", "0", "--resume").err
    assert run(*command, "--resume").code == 0
    assert io.fingerprint(io.load("m.mm")) == wanted
    assert not list(tmp_path.glob("m.mm.*"))


@pytest.mark.slow
def test_kills_lose_no_bit_of_a_training():
    """The quick variant of the soak."""
    script = Path(__file__).parents[1] / "soak" / "killed_training.py"
    command = [sys.executable, str(script), "--kills", "1", "--rows", "500", "--ways", "stream"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "in all 1 kills" in done.stdout
