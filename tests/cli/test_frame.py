"""The frame of the command line: help, exit codes, what goes where."""

import json
import os
import subprocess
import sys
import warnings

import pytest
from support.command_line import running

from maxmargin.cli import main
from maxmargin.cli.commands.reproduce import near
from maxmargin.cli.frame import app
from maxmargin.cli.frame.invocation import Invocation
from maxmargin.cli.frame.messages import OPTIONS, Interrupted, option, printable
from maxmargin.cli.frame.output import PIPE_WIDTH, Show, facts, table
from maxmargin.json_values import plain


@pytest.fixture
def run(capsys):
    return running(capsys)


def commands():
    return [name for name in app.build() if not name.startswith("-")]


def test_every_command_is_listed_with_a_text(run):
    lines = run("--help").out.splitlines()
    assert set(commands()) == set(app.COMMANDS)
    for name in app.COMMANDS:
        (line,) = [line for line in lines if line.strip("│ ").startswith(f"{name} ")]
        assert len(line.strip("│ ").split(maxsplit=1)[1]) > 10


@pytest.mark.parametrize("name", app.COMMANDS)
def test_every_option_has_a_text(name):
    arguments = app.build(name)[name].assemble_argument_collection(parse_docstring=True)
    assert {argument.name for argument in arguments} >= {"--json", "--quiet"}
    for argument in arguments:
        if argument.show and not argument.children:
            assert argument.parameter.help, argument.name


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trian"], 'Did you mean "train"?'),
        (["train", "x.csv", "--tarmet", "y"], "Did you mean --target?"),
        (["train"], "DATA"),
        (["inspect", "a", "b"], "b"),
        (["train", "x.csv", "--budget", "many"], "many"),
        (["reproduce", "topk"], "Did you mean 'top-k'?"),
        (["train", "x.csv", "--names", "@no/such/file"], "no/such/file cannot be read"),
        (["evaluate", "m", "d", "--unknown-labels", "wrnog"], 'Did you mean "wrong"?'),
    ],
)
def test_wrong_usage_is_2_with_the_near_name(run, arguments, said):
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.startswith("error: ")
    assert "see: maxmargin" in ran.err


def test_wrong_usage_with_json_is_one_document(run):
    ran = run("train", "x.csv", "--tarmet", "y", "--json")
    assert ran.code == ran.json["exit_code"] == 2
    assert "--target" in ran.json["error"]


def test_what_is_missing_is_1_without_a_traceback(run, tmp_path):
    ran = run("inspect", tmp_path / "none.mm")
    assert (ran.code, ran.out) == (1, "")
    assert "none.mm" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("error", [ValueError, OSError, ImportError, MemoryError, TypeError])
def test_errors_that_are_expected_become_one_line(run, monkeypatch, error):
    _replace_inspect(monkeypatch, lambda show: (_ for _ in ()).throw(error("the reason")))
    ran = run("inspect", "x.mm")
    assert ran.code == 1
    assert ran.err.startswith("error: ")
    assert "the reason" in ran.err


def test_a_bug_keeps_its_traceback(run, monkeypatch):
    _replace_inspect(monkeypatch, lambda show: (_ for _ in ()).throw(AssertionError("a bug")))
    with pytest.raises(AssertionError, match="a bug"):
        run("inspect", "x.mm")


def test_an_interrupt_is_130(run, monkeypatch):
    _replace_inspect(monkeypatch, lambda show: (_ for _ in ()).throw(KeyboardInterrupt))
    assert run("inspect", "x.mm").code == 130
    _replace_inspect(monkeypatch, lambda show: (_ for _ in ()).throw(Interrupted("kept in a file")))
    ran = run("inspect", "x.mm")
    assert (ran.code, ran.out) == (130, "")
    assert "kept in a file" in ran.err


def test_a_warning_is_said_once_and_part_of_the_document(run, monkeypatch):
    def twice(show):
        warnings.warn("not converged", UserWarning, stacklevel=1)
        warnings.warn("not converged", UserWarning, stacklevel=1)
        warnings.warn("for programmers", DeprecationWarning, stacklevel=1)
        show.answer({"a": 1})

    _replace_inspect(monkeypatch, twice)
    ran = run("inspect", "x.mm", "--json")
    assert ran.json == {"a": 1, "warnings": ["not converged"]}
    assert ran.err == "warning: not converged\n"
    assert run("reproduce", "--json").json["warnings"] == []  # not those of the command before


def _replace_inspect(monkeypatch, function):
    import maxmargin.cli.commands.inspect as module

    def inspect(model: str, /, *, show: Show = Show()) -> None:  # noqa: B008
        """Stands in."""
        function(show)

    monkeypatch.setattr(module, "inspect", inspect)


def test_numbers_that_json_has_not_are_null(capsys):
    import numpy as np

    Show(json=True).answer({"a": [np.float64("nan"), np.inf, np.int8(3)], "b": np.arange(2), 3: (None, True)})
    document = json.loads(capsys.readouterr().out)
    assert document == {"a": [None, None, 3], "b": [0, 1], "3": [None, True], "warnings": []}
    with pytest.raises(TypeError, match="object"):
        plain({"a": object()})


def test_text_of_data_moves_no_cursor_and_is_no_markup(capsys):
    Show().answer({}, facts("a\x1b[2J", {"b": "[red]c[/red]\x07"}), table("", ["\u202eh"], [["\r"]]))
    out = capsys.readouterr().out
    assert "[red]c[/red]\\x07" in out
    assert "a\\x1b[2J" in out
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(out)
    assert printable("a\nb\tc", keep="\n") == "a\nb\\tc"


def test_lines_in_a_pipe_are_not_folded(capsys):
    long = "word " * 200
    Show().answer({}, facts("title", {"name": long}), table("t" * 300, ["a", "b"], [["x" * 500, 1]]))
    lines = capsys.readouterr().out.splitlines()
    assert any(long.rstrip() in line for line in lines)
    assert any("x" * 500 in line for line in lines)
    assert "t" * 300 in lines
    assert all(line == line.rstrip() for line in lines)
    assert len(long) < PIPE_WIDTH


def test_quiet_is_about_remarks_only(capsys):
    Show(quiet=True).remark("by the way")
    Invocation().warn("careful")
    assert capsys.readouterr().err == "warning: careful\n"


@pytest.mark.parametrize("name", OPTIONS.values())
def test_the_table_of_parameters_names_options_that_exist(name):
    options = {
        argument.name
        for command in app.COMMANDS
        for argument in app.build(command)[command].assemble_argument_collection(parse_docstring=True)
    }
    assert name.split()[0] in options


def test_parameters_of_the_library_as_options():
    assert option("target") == "--target"
    assert option("delimiter", "|") == "--delimiter '|'"
    assert option("kinds", {"zip code": "words"}) == "--words 'zip code'"
    assert option("zero_based", True) == "--zero-based"
    assert option("names") == "--names a,b,c"
    assert option("resume", False) == "no --resume"


def test_near_names():
    assert near("kernal", ["kernel", "linear"]) == " Did you mean 'kernel'?"
    assert near("zzz", ["kernel"]) == ""


def test_the_version_is_the_packages(run):
    import maxmargin

    assert run("--version").out.strip() == maxmargin.__version__


def test_without_the_extra_one_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cyclopts", None)
    monkeypatch.delitem(sys.modules, "maxmargin.cli.frame")
    monkeypatch.delitem(sys.modules, "maxmargin.cli.frame.app")
    assert main(["--help"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == ["error: the command line needs cyclopts: pip install 'maxmargin[cli]'"]


def test_help_imports_no_numpy():
    code = "import sys; from maxmargin.cli import main; main(['--help']); main(['train', '--help'])"
    check = "; sys.exit(any(m in sys.modules for m in ('numpy', 'scipy', 'sklearn')))"
    subprocess.run([sys.executable, "-c", code + check], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("arguments", [["reproduce", "--json"], ["--help"], ["reproduce"]], ids=" ".join)
def test_a_pipe_that_nobody_reads_ends_quietly(arguments):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "maxmargin", *arguments]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
