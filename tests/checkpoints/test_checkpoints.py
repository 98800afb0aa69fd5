"""Fits that are broken off and gone on with: the same bits, or a clear error."""

import functools
import os
import pickle
import signal
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from support.checkpoint_cases import CASES, fitted, problem

import maxmargin as mm
from maxmargin.checkpoints.checkpoint import Checkpoint
from maxmargin.checkpoints.identity import STATE_FORMAT
from maxmargin.checkpoints.record import CheckpointError
from maxmargin.io import fingerprint, save
from maxmargin.solving.journal import Journal

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def new(name, n_jobs=1):
    model = CASES[name]().set_params(n_jobs=n_jobs)
    return model.set_params(random_state=3) if "random_state" in model.get_params(deep=False) else model


@pytest.fixture
def broken_off(monkeypatch):
    """A function that fits, broken off by Ctrl-C once the fit has kept something for the n-th time.

    It returns how often that was, and raises nothing where the fit ended before.
    """
    put = Journal.put

    def fit(model, n):
        n_puts = 0

        def put_and_count(self, key, entry):
            nonlocal n_puts
            put(self, key, entry)
            with self.lock:
                n_puts += 1
                if n_puts == n:
                    raise KeyboardInterrupt

        monkeypatch.setattr(Journal, "put", put_and_count)
        try:
            model.fit(*problem())
        except KeyboardInterrupt:
            assert n_puts >= n
        finally:
            monkeypatch.setattr(Journal, "put", put)
        return n_puts

    return fit


@pytest.mark.parametrize("name", CASES)
def test_a_fit_that_is_broken_off_twice_has_the_bits_of_one_that_is_not(name, broken_off, tmp_path):
    path = tmp_path / "checkpoint"
    whole = new(name)
    n_puts = broken_off(whole.set_checkpoint(Checkpoint(tmp_path / "whole", 0.0)), 0)
    first = 1 + zlib.crc32(name.encode()) % (n_puts - 1)
    assert broken_off(new(name, 2).set_checkpoint(Checkpoint(path, 0.0)), first) >= first
    going_on = Checkpoint(path, 0.0, resume=True)
    n_more = broken_off(new(name).set_checkpoint(going_on), max(1, (n_puts - first) // 2))
    assert n_more <= n_puts - first  # nothing was done again
    model = new(name).set_checkpoint(going_on).fit(*problem())
    assert fitted(model) == fitted(whole)
    assert fingerprint(model) == fingerprint(whole) == fingerprint(new(name).fit(*problem()))


def test_what_is_compared_sees_another_fit():
    models = [mm.LinearSVC(solver="dual-cd", random_state=seed).fit(*problem()) for seed in (0, 1)]
    assert fitted(models[0]) != fitted(models[1])
    assert fingerprint(models[0]) != fingerprint(models[1])


def test_a_fit_that_has_ended_gives_its_model_again_without_a_step(tmp_path):
    checkpoint, seen = Checkpoint(tmp_path / "checkpoint", resume=True), []
    model = new("linear-newton").set_checkpoint(checkpoint).fit(*problem())
    again = new("linear-newton").set_callbacks(lambda check, state: seen.append(check))
    again.set_checkpoint(checkpoint).fit(*problem())
    assert fitted(again) == fitted(model)
    assert not seen
    checkpoint.remove()
    assert not checkpoint.exists()
    again.set_checkpoint(None).fit(*problem())
    assert seen
    assert not checkpoint.exists()


def test_ctrl_c_writes_the_file_before_it_leaves_the_fit(tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoint", every_seconds=3600.0, resume=True)

    def interrupt(check, state):
        if check.n_iter >= 20:
            os.kill(os.getpid(), signal.SIGINT)

    model = new("linear-dual-cd").set_checkpoint(checkpoint).set_callbacks(interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*problem())
    assert checkpoint.exists()
    seen = []
    model.set_callbacks(lambda check, state: seen.append(check.n_iter)).fit(*problem())
    assert seen[0] > 0  # it went on
    assert fitted(model) == fitted(new("linear-dual-cd").fit(*problem()))


@pytest.mark.parametrize("end", ["time", "callback"])
def test_a_fit_that_was_told_to_end_can_be_gone_on_with(end, tmp_path):
    """A certificate that a limit of time brings about is at no place of the whole fit, so it is not kept."""
    checkpoint, kept = Checkpoint(tmp_path / "checkpoint", 0.0, resume=True), []
    model = new("linear-dual-cd").set_checkpoint(checkpoint)
    model.set_callbacks(lambda check, state: kept.append(check.n_iter) or len(kept) > 5)
    if end == "callback":
        model.fit(*problem())
        assert model.status_ == "stopped"
    model.set_callbacks().set_params(max_seconds=1e-9).fit(*problem())
    assert model.status_ == "time_limit"
    model.set_params(max_seconds=3600.0).fit(*problem())
    assert fitted(model) == fitted(new("linear-dual-cd").fit(*problem()))


def test_max_iter_counts_in_all(broken_off, tmp_path):
    def model():
        return mm.LinearSVC(solver="dual-cd", tol=1e-12, max_iter=30, random_state=0)

    checkpoint = Checkpoint(tmp_path / "checkpoint", 0.0, resume=True)
    broken_off(model().set_checkpoint(checkpoint), 5)
    found = model().set_checkpoint(checkpoint).fit(*problem())
    assert found.n_iter_ == 30
    assert fitted(found) == fitted(model().fit(*problem()))


def test_the_seed_that_was_drawn_is_the_files(broken_off, tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoint", 0.0, resume=True)
    first = mm.LinearSVC(solver="dual-cd").set_checkpoint(checkpoint)
    broken_off(first, 5)
    found = mm.LinearSVC(solver="dual-cd").set_checkpoint(checkpoint).fit(*problem())
    assert found._seed == first._seed
    chosen = mm.LinearSVC(solver="dual-cd")
    chosen._draw_seed = lambda record: setattr(chosen, "_seed", first._seed)
    np.testing.assert_array_equal(found.coef_, chosen.fit(*problem()).coef_)


def _moved_row(X, y):
    X = X.copy()
    X[7, 3] = np.nextafter(X[7, 3], 9.0)
    return X, y


def _other_label(X, y):
    return X, np.where(np.arange(len(y)) == 7, (y[7] + 1) % 3, y)


@pytest.mark.parametrize(
    ("change", "parameters", "message"),
    [
        (None, {"C": 4.0}, "C is 3.0 there and 4.0 here"),
        (None, {"class_weight": {0: 2.0}}, "class_weight is None there and {0: 2.0} here"),
        (None, {"random_state": 4}, "seed is .* there and .* here"),
        (_moved_row, {}, "the data's SHA-256 is"),
        (_other_label, {}, "the data's SHA-256 is"),
        (
            lambda X, y: (X[:-1], y[:-1]),
            {},
            r"X is dense float64 \(240, 8\) there and dense float64 \(239, 8\)",
        ),
        (lambda X, y: (X.astype(np.float32), y), {}, "X is dense float64"),
    ],
)
def test_the_file_of_another_fit_is_refused(change, parameters, message, tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoint", resume=True)
    new("linear-newton").set_checkpoint(checkpoint).fit(*problem())
    model = new("linear-newton").set_params(**parameters).set_checkpoint(checkpoint)
    data = problem() if change is None else change(*problem())
    before = checkpoint.path.read_bytes()
    with pytest.raises(CheckpointError, match=f"another fit: {message}"):
        model.fit(*data)
    assert not hasattr(model, "status_")
    assert checkpoint.path.read_bytes() == before
    model.set_checkpoint(Checkpoint(checkpoint.path)).fit(*data)  # which replaces it
    new("linear-newton").set_params(**parameters, n_jobs=2, max_seconds=7.0).set_checkpoint(checkpoint).fit(
        *data
    )


def test_other_classes_and_versions_are_refused(monkeypatch, tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoint", resume=True)
    new("calibrated").set_checkpoint(checkpoint).fit(*problem())
    with pytest.raises(CheckpointError, match="class is CalibratedSVC there and LinearSVC here"):
        mm.LinearSVC().set_checkpoint(checkpoint).fit(*problem())
    other = new("calibrated").set_params(estimator__C=9.0).set_checkpoint(checkpoint)
    with pytest.raises(CheckpointError, match=r"C of the SVM is 10\.0 there and 9\.0 here"):
        other.fit(*problem())
    monkeypatch.setattr("maxmargin.checkpoints.identity.__version__", "0.0.9")
    with pytest.raises(CheckpointError, match=r"version is .* there and 0\.0\.9 here"):
        new("calibrated").set_checkpoint(checkpoint).fit(*problem())


def test_a_checkpoint_of_an_earlier_commit_is_refused_with_a_sentence(tmp_path):
    file = Path(__file__).parents[1] / "data" / "checkpoints-5ac6f2f" / "matching-pursuit.checkpoint"
    checkpoint = Checkpoint(tmp_path / "checkpoint", resume=True)
    checkpoint.path.write_bytes(file.read_bytes())
    with pytest.raises(CheckpointError, match=f"checkpoint format is absent there and {STATE_FORMAT} here"):
        new("matching-pursuit").set_params(random_state=0).set_checkpoint(checkpoint).fit(*problem())
    assert checkpoint.path.read_bytes() == file.read_bytes()


class Bump:
    """A kernel with its width in a slot, as an object and as a method."""

    __slots__ = ("gamma",)

    def __init__(self, gamma):
        self.gamma = gamma

    def __call__(self, X, Z):
        return mm.kernels.RBF(self.gamma)(X, Z)

    def method(self, X, Z):
        return self(X, Z)


def bump(X, Z, gamma):
    return mm.kernels.RBF(gamma)(X, Z)


def closed(gamma):
    return lambda X, Z: bump(X, Z, gamma)


KERNELS = {
    "object": Bump,
    "method": lambda gamma: Bump(gamma).method,
    "partial": lambda gamma: functools.partial(bump, gamma=gamma),
    "closure": closed,
    "lines": lambda gamma: (lambda X, Z: bump(X, Z, 0.1)) if gamma == 0.1 else (lambda X, Z: bump(X, Z, 0.5)),
}


@pytest.mark.parametrize("kind", KERNELS)
def test_another_kernel_function_of_the_same_name_is_refused(kind, tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoint", resume=True)
    X, y = problem()
    mm.KernelSVC(kernel=KERNELS[kind](0.1)).set_checkpoint(checkpoint).fit(X, y)
    mm.KernelSVC(kernel=KERNELS[kind](0.1)).set_checkpoint(checkpoint).fit(X, y)
    with pytest.raises(CheckpointError, match=r"another fit: kernel is .* there and .* here"):
        mm.KernelSVC(kernel=KERNELS[kind](0.5)).set_checkpoint(checkpoint).fit(X, y)


def test_a_damaged_file_is_refused(tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoint", resume=True)
    new("linear-newton").set_checkpoint(checkpoint).fit(*problem())
    whole = checkpoint.path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(len(whole), size=25):
        checkpoint.path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(CheckpointError, match="resume=False"):
            new("linear-newton").set_checkpoint(checkpoint).fit(*problem())
    checkpoint.path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match="resume=False"):
        new("linear-newton").set_checkpoint(checkpoint).fit(*problem())


def test_a_model_file_is_no_checkpoint_and_a_folder_is_needed(tmp_path):
    model = new("linear-newton").fit(*problem())
    save(model, tmp_path / "model")
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        model.set_checkpoint(Checkpoint(tmp_path / "model", resume=True)).fit(*problem())
    with pytest.raises(CheckpointError, match="does not exist"):
        model.set_checkpoint(tmp_path / "nowhere" / "checkpoint").fit(*problem())
    for resume in (False, True):
        with pytest.raises(CheckpointError, match="is a folder; give the name of a file"):
            model.set_checkpoint(Checkpoint(tmp_path, resume=resume)).fit(*problem())


def test_clones_and_pickles_leave_the_file_behind(tmp_path):
    model = new("linear-newton").set_checkpoint(tmp_path / "checkpoint")
    assert "checkpoint" not in str(model.get_params())
    for other in (clone(model), pickle.loads(pickle.dumps(model))):
        other.fit(*problem())
    assert not (tmp_path / "checkpoint").exists()


def test_what_cannot_have_a_checkpoint_says_so(tmp_path):
    with pytest.raises(ValueError, match="warm_start=True"):
        mm.KernelSVC(warm_start=True).set_checkpoint(tmp_path / "checkpoint").fit(*problem())
    weighted = mm.OutputCodeClassifier(mm.KernelSVC(class_weight="balanced"))
    with pytest.raises(CheckpointError, match="fits column by column"):
        weighted.set_checkpoint(tmp_path / "checkpoint").fit(*problem())


def test_a_file_that_cannot_be_written_stops_no_fit(monkeypatch, tmp_path):
    def full(path, kept):
        raise OSError("No space left on device")

    monkeypatch.setattr("maxmargin.checkpoints.record.write_checkpoint", full)
    model = new("linear-newton").set_checkpoint(tmp_path / "checkpoint")
    with pytest.warns(RuntimeWarning, match="No space left"):
        model.fit(*problem())
    assert model.status_ == "converged"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_kill_9_loses_no_bit():
    """The quick variant of the soak: a few kills at random moments."""
    script = Path(__file__).parents[1] / "soak" / "killed_fits.py"
    command = [sys.executable, str(script), "--kills", "4", "--longest", "0.3", "--models", "linear"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
