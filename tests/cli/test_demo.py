"""The commands that run others: demo and reproduce; and what the frame does beside a command's work."""

import pytest
from support.command_line import running, write_flowers

import maxmargin.cli.commands.reproduce as reproduce
from maxmargin.cli.frame import Show, bar
from maxmargin.evaluation.predict import ahead
from maxmargin.training import TrainingProgress
from maxmargin.training.progress import Progress


@pytest.fixture
def run(capsys):
    return running(capsys)


@pytest.mark.slow
def test_the_demo_leaves_a_report_and_says_where(run, tmp_path):
    ran = run("demo", "--folder", tmp_path / "d", "--json")
    assert ran.code == 0, ran.err
    answers = {entry["command"].split()[1]: entry["answer"] for entry in ran.json["commands"]}
    assert list(answers) == ["train", "evaluate", "predict", "report"]
    assert answers["evaluate"]["accuracy"] > 0.9
    assert answers["evaluate"]["n_rows"] == answers["predict"]["rows"] == 171
    page = tmp_path / "d" / "report.html"
    assert ran.json["report"] == str(page)
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.slow
def test_the_demo_shows_each_command_before_its_answer(run, tmp_path, monkeypatch):
    import maxmargin.cli.commands.demo as demo

    short = [["inspect", str(tmp_path / "none.mm")], ["never", "reached"]]
    monkeypatch.setattr(demo, "commands", lambda folder: iter(short))
    ran = run("demo", "--folder", tmp_path)
    assert ran.code == 1
    assert ran.out.splitlines()[-1] == f"$ maxmargin inspect {tmp_path / 'none.mm'}"
    assert "none.mm" in ran.err


def test_papers_are_listed_in_a_clone_only(run, tmp_path, monkeypatch):
    assert "top-k" in run("reproduce", "--json").json["papers"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reproduce, "__file__", str(tmp_path / "site-packages/maxmargin/cli/reproduce.py"))
    ran = run("reproduce", "top-k")
    assert (ran.code, ran.out) == (1, "")
    assert "clone" in ran.err


@pytest.mark.parametrize(("status", "code", "as_expected"), [(0, 0, True), (1, 1, False)])
def test_a_paper_is_run_and_its_verdict_is_the_exit_code(
    run, tmp_path, monkeypatch, status, code, as_expected
):
    folder = tmp_path / "benchmarks" / "papers" / "mine"
    folder.mkdir(parents=True)
    (folder / "run.py").write_text(f"import sys; print('said', *sys.argv[1:]); sys.exit({status})\n")
    monkeypatch.chdir(tmp_path)
    ran = run("reproduce", "mine", "--quick", "--out", "here", "--json")
    assert ran.code == code
    assert ran.json["as_expected"] is as_expected
    assert ran.json["said"] == ["said --output here --quick"]


def test_a_paper_without_its_data_says_what_to_set(run, tmp_path, monkeypatch):
    folder = tmp_path / "benchmarks" / "papers" / "mine"
    folder.mkdir(parents=True)
    (folder / "run.py").write_text("import sys; sys.exit(77)\n")
    monkeypatch.chdir(tmp_path)
    ran = run("reproduce", "mine")
    assert (ran.code, ran.out) == (1, "")
    assert "MAXMARGIN_DATA" in ran.err


def test_a_fit_that_does_not_converge_is_a_warning_and_a_model(run, tmp_path):
    data = write_flowers(tmp_path / "flowers.csv")
    options = ["--model", "linear", "--set", "max_iter=1", "--set", "solver=dual-cd", "--validate", "0"]
    ran = run("train", data, "--target", "flower", *options, "--out", tmp_path / "m.mm", "--json")
    assert ran.code == 0
    assert ran.err.startswith("warning: ")
    (warning,) = ran.json["warnings"]
    assert "gap" in warning
    assert (tmp_path / "m.mm").exists()


def test_what_training_tells_becomes_a_share():
    told = []

    class Line:
        def start(self, what):
            told.append(what)

        def count_down(self, left):
            assert left() is None  # nothing is known yet

        def tell(self, what, done=None, total=None, remark=""):
            told.append((done, total, remark))

    shown = TrainingProgress(Line(), tol=1e-3)
    for event in (
        Progress("read", 1000),
        Progress("fit", 0, None, 1.0),
        Progress("fit", 5, None, 10**-1.5),
        Progress("fit", 9, None, 0.0),
        Progress("refit", 30, 120, 1e-2),
    ):
        shown(event)
    assert told[:2] == ["reading", (1000, None, "1,000 rows")]
    shares = [entry[0] for entry in told[3:6]]
    assert shares == pytest.approx([0.0, 0.5, 1.0])
    assert told[-1] == (30, 120, "30 support vectors, gap 1.0e-02")


def test_there_is_no_bar_where_nobody_looks(capsys):
    with bar(Show()) as line:
        line.start("working")
        line.tell("working", 1, 2, "half")
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal_shows_the_remark_and_the_time_left(capsys, monkeypatch):
    import sys

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with bar(Show()) as line:
        line.start("training")
        line.tell("training", 0.5, 1.0, "gap 1.0e-02")
    said = capsys.readouterr()
    assert said.out == ""
    assert "gap 1.0e-02" in said.err
    assert "left:" in said.err


def test_items_are_made_ahead_in_their_order_and_no_further():
    made = []

    def items():
        for k in range(100):
            made.append(k)
            yield k

    assert list(ahead(items())) == list(range(100))
    made.clear()
    some = ahead(items(), depth=2)
    assert next(some) == 0
    some.close()  # the thread ends
    assert len(made) <= 5


def test_an_error_comes_at_its_place():
    def items():
        yield 1
        raise ValueError("in line 2")

    got = ahead(items())
    assert next(got) == 1
    with pytest.raises(ValueError, match="in line 2"):
        next(got)
