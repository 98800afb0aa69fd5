"""Closed or full streams, and full disks: no work is lost, and an error names its file."""

import csv
import errno
import io as text_io
import os
import subprocess
import sys
import warnings
from importlib import import_module

import pytest
from support.command_line import running, write_flowers

from maxmargin import io
from maxmargin.cli import main
from maxmargin.cli.commands.predict import safe_field
from maxmargin.cli.frame.messages import say
from maxmargin.cli.streams import open_streams

written = import_module("maxmargin.archive.whole_file")
TRAIN = ("train", "naïve.csv", "--target", "flower", "--model", "linear", "--out", "m.mm")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_flowers(tmp_path / "naïve.csv")
    return running(capsys)


@pytest.fixture
def whole(run, tmp_path):
    """The fingerprint of a training that nobody disturbs."""
    assert run(*TRAIN).code == 0
    found = io.fingerprint(io.load("m.mm"))
    (tmp_path / "m.mm").unlink()
    return found


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_a_training_without_a_stream_ends_with_its_model(whole, monkeypatch, stream):
    monkeypatch.setattr(sys, stream, None)
    assert main(list(TRAIN)) == 0
    assert io.fingerprint(io.load("m.mm")) == whole


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_training_whose_answer_is_not_ascii_ends_with_its_model(whole, monkeypatch, options):
    answer = text_io.BytesIO()
    monkeypatch.setattr(sys, "stdout", text_io.TextIOWrapper(answer, "ascii"))
    assert main([*TRAIN, *options]) == 0
    assert io.fingerprint(io.load("m.mm")) == whole
    assert b"na\\xefve.csv" in answer.getvalue() or b"na\\u00efve.csv" in answer.getvalue()


@pytest.mark.parametrize("variable", ["", "PYTHONOPTIMIZE"])
def test_a_process_without_streams_or_docstrings_trains(whole, variable):
    script = 'exec "$@" <&- >&- 2>&-' if not variable else 'exec "$@"'
    call = ["sh", "-c", script, "sh", sys.executable, "-m", "maxmargin", *TRAIN]
    env = os.environ | ({variable: "2"} if variable else {})
    done = subprocess.run(call, capture_output=True, env=env, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert io.fingerprint(io.load("m.mm")) == whole


def test_a_closed_descriptor_is_taken_before_a_file_can_have_its_number():
    code = """
import os, sys
from maxmargin.cli.streams import open_streams
open_streams()
with open(sys.argv[1], "w") as file:
    assert file.fileno() > 2
os.write(1, b"to nobody"), os.write(2, b"to nobody"), print("to nobody"), sys.exit(os.read(0, 1) != b"")
"""
    call = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", code, os.devnull]
    assert subprocess.run(call, check=False).returncode == 0


def test_streams_that_are_open_stay_as_they_are(monkeypatch):
    before = [os.fstat(number) for number in range(3)]
    monkeypatch.setattr(sys, "stdout", stream := text_io.StringIO())  # cannot be reconfigured
    open_streams()
    assert sys.stdout is stream
    assert [os.fstat(number).st_ino for number in range(3)] == [status.st_ino for status in before]


class Unwritable(text_io.StringIO):
    """A stream whose reader has gone, or whose disk is full."""

    def write(self, text):
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EPIPE, errno.EIO])
def test_remarks_that_nobody_can_read_stop_nothing(monkeypatch, number):
    monkeypatch.setattr(sys, "stderr", stream := Unwritable())
    stream.number = number
    say("careful")
    assert sys.stderr is not stream
    say("again")


def test_an_error_keeps_its_code_when_nobody_reads_its_document(run, monkeypatch):
    monkeypatch.setattr(sys, "stdout", stream := Unwritable())
    stream.number = errno.EPIPE
    assert main(["inspect", "none.mm", "--json"]) == 1


def test_a_full_standard_output_is_named(run, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", stream := Unwritable())
    stream.number = errno.ENOSPC
    assert main(list(TRAIN)) == 1
    assert capsys.readouterr().err == "error: standard output: No space left on device\n"
    assert io.load("m.mm").classes_.size == 3


@pytest.fixture
def full(monkeypatch):
    """Every file that is written as a whole meets a full disk, if ``full`` is asked to."""
    write = written._NamedFile.write

    def fill(*names):
        def failing(self, data):
            if any(name in os.fspath(self._path) for name in names):
                with written._naming(self._path):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write(self, data)

        monkeypatch.setattr(written._NamedFile, "write", failing)

    return fill


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_full_disk_names_the_file_and_leaves_the_old_one(run, tmp_path, full, options):
    (tmp_path / "m.mm").write_text("old")
    full("m.mm")
    ran = run(*TRAIN, *options)
    assert ran.code == 1
    assert ran.err.startswith("warning: the checkpoint could not be written")
    assert "error: m.mm: No space left on device\n" in ran.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.mm", "naïve.csv"]
    assert (tmp_path / "m.mm").read_text() == "old"


def test_a_model_that_could_not_be_saved_is_in_its_checkpoint(run, whole, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(
            "maxmargin.io.save", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "full", "m.mm"))
        )
        ran = run(*TRAIN)
    assert ran.code == 1
    assert "m.mm: full. The fit is kept in m.mm.checkpoint.refit" in ran.err
    assert ran.err.endswith(" --resume\n")
    assert run(*TRAIN, "--resume").code == 0
    assert io.fingerprint(io.load("m.mm")) == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.mm", "naïve.csv"]


def test_a_full_disk_under_the_checkpoint_of_a_stream_is_a_warning(run, tmp_path, full):
    stream = ("train", "naïve.csv", "--target", "flower", "--budget", 3, "--stream", "--block-rows", 30)
    assert run(*stream, "--out", "m.mm").code == 0
    full("checkpoint")
    ran = run(*stream, "--out", "n.mm")
    assert ran.code == 0
    assert "the checkpoint could not be written; the training continues without it" in ran.err
    assert "No space left on device: 'n.mm.checkpoint.stream'" in ran.err
    assert io.fingerprint(io.load("n.mm")) == io.fingerprint(io.load("m.mm"))


@pytest.mark.parametrize("option", ["--out", "--checkpoint"])
@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_a_missing_folder_is_refused_before_training(run, monkeypatch, option, stream):
    monkeypatch.setattr("maxmargin.training.gather.Gathering.read", lambda *_: pytest.fail("rows were read"))
    if option == "--out" or stream:
        ran = run("train", "naïve.csv", "--target", "flower", option, "none/x", *stream)
        assert ran.code == 1
        assert "none" in ran.err
        assert "create it" in ran.err


@pytest.mark.parametrize("out", [".", "folder", "/proc/m.mm"])
@pytest.mark.parametrize("command", ["train", "predict", "report", "path"])
def test_a_place_for_no_file_is_refused_before_the_work(run, tmp_path, monkeypatch, out, command):
    if out.startswith("/proc") and not os.path.isdir("/proc/self"):
        pytest.skip("no folder that nobody can write to")
    (tmp_path / "folder").mkdir()
    for work in ("training.train", "io.load", "evaluation.budget_path"):
        monkeypatch.setattr(f"maxmargin.{work}", lambda *_, **__: pytest.fail("the work was begun"))
    target = ["--target", "flower"]
    arguments = {
        "train": ["naïve.csv", *target, "--out", out],
        "predict": ["m.mm", "naïve.csv", "--out", out],
        "report": ["m.mm", "naïve.csv", "--out", out],
        "path": ["naïve.csv", *target, "--plot", out if out.startswith("/") else "folder.svg"],
    }[command]
    if command == "path":
        (tmp_path / "folder.svg").mkdir()
        arguments[-1] = "/proc/m.svg" if out.startswith("/") else "folder.svg"
    ran = run(command, *arguments)
    assert ran.code == 1
    assert ("is a folder" if not out.startswith("/") else "the folder /proc cannot be written to") in ran.err


def test_a_folder_without_permission_is_named(tmp_path, monkeypatch):
    def refused(self, part, path):
        raise PermissionError(errno.EACCES, "Permission denied", str(part))

    monkeypatch.setattr(written._NamedFile, "__init__", refused)
    with pytest.raises(
        PermissionError, match=r"cannot be written to \(Permission denied\); give another"
    ) as info:
        written.check_writable(tmp_path / "m.mm")
    assert info.value.filename == str(tmp_path / "m.mm")


def test_asking_whether_a_file_can_be_written_leaves_nothing(tmp_path):
    (tmp_path / "m.mm").write_text("old")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        written.check_writable(tmp_path / "m.mm")
    assert [path.name for path in tmp_path.iterdir()] == ["m.mm"]
    assert (tmp_path / "m.mm").read_text() == "old"


FORMULAS = ["=cmd|' /C calc'!A0", "+A1", "-B2*3", "@SUM(A1)", " =1+1", "\t=1", "\uff1dcmd", '="x"']
HARMLESS = ["-1", "+1.5e3", "plain", "a=b", 'so "blue"', "a;=b", "1,5"]


@pytest.mark.parametrize("word", FORMULAS + HARMLESS)
def test_no_field_of_a_safe_csv_is_a_formula(word):
    ((read,),) = csv.reader([safe_field(word)])
    assert read == (f"'{word}" if word in FORMULAS else word)
    assert ";" not in word or safe_field(word).startswith('"')  # the separator of some spreadsheets


def test_predictions_for_a_spreadsheet(run, tmp_path):
    lines = [f"{i},{'=cmd|x!A0' if i % 2 else -1}" for i in range(40)]
    (tmp_path / "d.csv").write_text("\n".join(["x,y", *lines]), encoding="utf-8")
    assert run("train", "d.csv", "--target", "y", "--model", "linear").code == 0
    plain = run("predict", "d.mm", "d.csv", "--scores")
    safe = run("predict", "d.mm", "d.csv", "--scores", "--safe-csv")
    before, after = (list(csv.reader(text.out.splitlines())) for text in (plain, safe))
    assert {row[0] for row in before[1:]} == {"=cmd|x!A0", "-1"}
    assert {row[0] for row in after[1:]} == {"'=cmd|x!A0", "-1"}
    assert [row[1:] for row in before] == [row[1:] for row in after]
    assert run("predict", "d.mm", "d.csv", "--safe-csv", "--json").code == 2
