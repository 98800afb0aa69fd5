"""Training that is broken off, by Ctrl-C or for good, and gone on with: the same bits."""

import shlex
import signal
import subprocess
import sys

import pytest
from support.command_line import running, write_flowers

from maxmargin import io
from maxmargin.training import TrainingProgress

MODEL = ("--model", "sparse-kernel", "--budget", "30", "--set", "alpha=0.001")
OPTIONS = ("--target", "flower", *MODEL, "--out", "m.mm")
# A process that sends itself a signal at a certificate of its second fit. The clock of its checkpoints stands
# still, so that every certificate is written, however slow the machine is.
CHILD = """
import os, sys
from types import SimpleNamespace
from maxmargin.checkpoints import record
from maxmargin.cli import main
from maxmargin.training import TrainingProgress

record.time = SimpleNamespace(perf_counter=lambda: 0.0)
signal, at = int(sys.argv[1]), int(sys.argv[2])
show, seen = TrainingProgress.__call__, []

def call(self, event):
    seen.append(event.phase)
    if seen.count("refit") == at:
        os.kill(os.getpid(), signal)
    return show(self, event)

TrainingProgress.__call__ = call
sys.exit(main(sys.argv[3:]))
"""


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_flowers(tmp_path / "flowers.csv", n=300)
    return running(capsys)


@pytest.fixture
def whole(run):
    """The fingerprint of a training that nobody disturbs."""
    assert run("train", "flowers.csv", *OPTIONS).code == 0
    return io.fingerprint(io.load("m.mm"))


def child(number, at, *arguments):
    command = [sys.executable, "-c", CHILD, str(int(number)), str(at), *arguments, "--checkpoint-every", "0"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_ctrl_c_says_how_to_go_on_and_that_gives_the_same_bits(run, whole, tmp_path):
    (tmp_path / "m.mm").unlink()
    ended = child(signal.SIGINT, 4, "train", "flowers.csv", *OPTIONS)
    assert (ended.returncode, ended.stdout) == (130, "")
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "m.mm").exists()
    assert "m.mm.checkpoint.refit" in ended.stderr
    name, *arguments = shlex.split(ended.stderr.splitlines()[-1])
    assert (name, arguments[-1]) == ("maxmargin", "--resume")
    assert run(*arguments).code == 0
    assert io.fingerprint(io.load("m.mm")) == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flowers.csv", "m.mm"]


def test_a_kill_loses_the_work_since_the_last_checkpoint_only(run, whole, tmp_path, monkeypatch):
    (tmp_path / "m.mm").unlink()
    assert child(signal.SIGKILL, 12, "train", "flowers.csv", *OPTIONS).returncode == -signal.SIGKILL
    assert (tmp_path / "m.mm.checkpoint.refit").exists()
    events = []
    monkeypatch.setattr(TrainingProgress, "__call__", lambda self, event: events.append(event))
    assert run("train", "flowers.csv", *OPTIONS, "--resume").code == 0
    assert io.fingerprint(io.load("m.mm")) == whole
    first = next(event for event in events if event.phase == "refit")
    assert first.done > 0  # a fit that begins has no support vector


@pytest.fixture
def broken_off(run, monkeypatch):
    """Ctrl-C in the first fit."""

    def call(self, event):
        if event.phase == "fit" and event.done >= 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(TrainingProgress, "__call__", call)
        ran = run("train", "flowers.csv", *OPTIONS)
    assert ran.code == 130
    assert "m.mm.checkpoint.fit" in ran.err
    return ran


def test_without_resume_training_starts_anew(whole, broken_off, run):
    ran = run("train", "flowers.csv", *OPTIONS)
    assert ran.code == 0
    assert "--resume would have resumed m.mm.checkpoint.fit" in ran.err
    assert io.fingerprint(io.load("m.mm")) == whole


def test_unfinished_work_of_other_parameters_is_refused(broken_off, run):
    ran = run("train", "flowers.csv", *OPTIONS, "--seed", "1", "--resume")
    assert ran.code == 1
    assert "m.mm.checkpoint.fit" in ran.err


def test_with_nothing_to_resume_training_starts(run):
    ran = run("train", "flowers.csv", *OPTIONS, "--resume")
    assert ran.code == 0
    assert "starting from the beginning" in ran.err
