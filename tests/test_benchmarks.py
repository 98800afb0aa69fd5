"""The benchmark runner: records that survive an interruption, failures that do not end a run, one commit."""

import importlib
import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parent.parent
HARNESS = ROOT / "benchmarks"
sys.path.append(str(HARNESS))

MODULE = '''
"""What is measured."""
import os, signal, time
from pathlib import Path
from clock import row

TITLE = "A table"
LIMIT_SECONDS = 30
LOG = Path(__file__).with_name("log.txt")

def cells(suite):
    return {"bench": ["good", "raises", "dies", "last"], "hard": ["good", "hard"]}.get(suite, [])

def measure(cell, quick):
    with LOG.open("a") as log:
        log.write(cell + "\\n")
    if cell == "raises":
        raise ValueError("a reason")
    if cell == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    return {"ours": 1.0, "peer": 2.0 if cell == "good" else 0.5}

def rows(records):
    return [row(cell, r["ours"], "peer", r["peer"], 1.5) for cell, r in records.items()]
'''


@pytest.fixture
def project(tmp_path):
    """A repository with the runner, one benchmark and one commit."""
    folder = tmp_path / "benchmarks"
    (folder / "harness").mkdir(parents=True)
    for path in [HARNESS / "run.py", HARNESS / "clock.py", *(HARNESS / "harness").glob("*.py")]:
        (folder / path.relative_to(HARNESS)).write_text(path.read_text())
    (folder / "kinds.py").write_text(MODULE)
    (tmp_path / ".gitignore").write_text("build/\n__pycache__/\nlog.txt\n")
    committed(tmp_path, "first")
    return tmp_path


def committed(project, message):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(project)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", message]):
        subprocess.run([*git, *command], check=True)
    shown = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return shown.stdout.strip()


def run(project, *options):
    output = project / "benchmarks" / "results"
    command = [sys.executable, project / "benchmarks" / "run.py", "--output", output, *options]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


def page(project):
    return (project / "benchmarks" / "results" / "README.md").read_text()


def measured(project):
    log = project / "benchmarks" / "log.txt"
    return log.read_text().split() if log.exists() else []


@pytest.mark.slow
def test_failures_are_recorded_and_the_run_continues_once(project):
    done = run(project)
    assert done.returncode == 0, done.stderr
    assert measured(project) == ["good", "raises", "dies", "last"]
    text = page(project)
    assert "**1 of 2 targets met.**" in text
    assert "| raises | ValueError: a reason |" in text
    assert "| dies | its process ended with status -9 |" in text
    assert "| last | peer | >= 1.5 | 0.50 |" in text
    assert run(project).returncode == 0
    assert measured(project) == ["good", "raises", "dies", "last"]
    run(project, "--retry")
    assert measured(project)[4:] == ["raises", "dies"]


@pytest.mark.slow
def test_suites_share_the_records_of_one_commit(project):
    run(project)
    run(project, "--suite", "hard")
    assert measured(project) == ["good", "raises", "dies", "last", "hard"]
    assert "| hard | 1 s | peer | 0.5 s |" in page(project)


@pytest.mark.slow
def test_results_belong_to_the_parent_of_the_commit_that_stores_them(project):
    run(project)
    head = committed(project, "results")
    run(project)  # nothing but results has changed
    stored = json.loads((project / "benchmarks" / "results" / "records.json").read_text())
    assert stored["commit"] != head
    assert stored["commit"] in page(project)
    assert measured(project).count("good") == 1
    (project / "benchmarks" / "kinds.py").write_text(MODULE + "\n")
    refused = run(project)
    assert refused.returncode == 1
    assert "benchmarks/kinds.py" in refused.stderr
    changed = committed(project, "a change")
    run(project)
    assert measured(project).count("good") == 2
    assert changed in page(project)


@pytest.mark.slow
def test_a_run_without_time_measures_nothing_and_says_so(project):
    done = run(project, "--minutes", "0")
    assert "4 cells left" in done.stdout
    assert measured(project) == []
    assert "4 cells are not measured yet" in page(project)


@pytest.mark.slow
def test_a_cell_over_its_limit_is_stopped(project):
    waits = MODULE.replace("LIMIT_SECONDS = 30", "LIMIT_SECONDS = 2")
    waits = waits.replace('if cell == "raises":', 'if cell == "raises":\n        time.sleep(600)')
    (project / "benchmarks" / "kinds.py").write_text(waits)
    committed(project, "a slow cell")
    run(project)
    assert "| raises | over 2 s |" in page(project)
    assert measured(project)[-1] == "last"


def test_benchmarks_take_turns_that_grow(monkeypatch):
    run_module = importlib.import_module("run")
    cells = {"first": ["a", "b", "c"], "second": ["d"], "third": []}
    clock = [0.0]
    monkeypatch.setattr(run_module.time, "time", lambda: clock[0])
    done = set()
    store = SimpleNamespace(status=lambda name, cell: "done" if (name, cell) in done else "missing")
    benchmarks = [SimpleNamespace(name=name, cells=lambda _, of=of: of) for name, of in cells.items()]
    options = SimpleNamespace(suite="bench", minutes=2.0, until=120.0)
    seen = []
    for benchmark, until in run_module.turns(store, benchmarks, options):
        seen.append((benchmark.name, until - clock[0]))
        cell = next(c for c in cells[benchmark.name] if (benchmark.name, c) not in done)
        done.add((benchmark.name, cell))
        clock[0] += 50.0
    assert seen == [("first", 60.0), ("second", 60.0), ("first", 20.0)]  # the last ends with the run


def test_the_readme_has_the_table_of_the_stored_records():
    command = [sys.executable, str(HARNESS / "readme_table.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_readme_table_is_made_from_records(tmp_path):
    import readme_table

    facts = {"n": 16_000, "d": 16, "fit_seconds": 0.5, "predict_seconds": 12.0, "support_vectors": 7000}
    facts |= {"gap": 1e-4, "accuracy": 97.0, "dtype": "float32"}
    methods = [facts | {"method": "maxmargin"}, {"method": "thundersvm", "dtype": "float32", "failure": "no"}]
    entry = {"cell": "letter", "status": "done", "record": {"methods": methods}}
    failed = {"cell": "mnist", "status": "failed", "failure": "over 3600 s"}
    stored = {"commit": "0" * 40, "date": "2026-01-01", "machine": {"cpu": "a", "cores": 2}}
    text = readme_table.table(stored | {"records": {"kernel_svm": [entry, failed]}})
    assert (
        "| letter | 16,000 x 16 | `KernelSVC` | **0.50 s** | **12.0 s** | 7,000 | 1e-04 | 97.00 % |" in text
    )
    assert "ThunderSVM" not in text
    assert readme_table.table(stored | {"records": {}}) is None
    page = f"before\n{readme_table.BEGIN}old\n{readme_table.END}after\n"
    new = readme_table.with_table(page, text)
    assert "old" not in new
    assert readme_table.with_table(new, text) == new


@pytest.mark.slow
def test_a_terminated_run_ends_its_worker_and_resumes(project):
    first = 'if cell == "raises" and LOG.read_text().count(cell) == 1:\n        time.sleep(600)\n    '
    waits = MODULE.replace('if cell == "raises":', first + 'if cell == "raises":')
    (project / "benchmarks" / "kinds.py").write_text(waits)
    committed(project, "a cell that waits once")
    output = project / "benchmarks" / "results"
    command = [sys.executable, str(project / "benchmarks" / "run.py"), "--output", str(output)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while "raises" not in measured(project):
            assert process.poll() is None
            time.sleep(0.05)
        process.terminate()
        assert "the same command resumes here" in process.communicate()[1]
    assert "3 cells are not measured yet" in page(project)
    run(project)
    assert measured(project) == ["good", "raises", "raises", "dies", "last"]


def test_measuring_a_method_again_keeps_all_other_records(tmp_path, monkeypatch):
    tables = importlib.import_module("tables")
    file = tmp_path / "tables.json"
    cells = ["a 0 AutoSVC", "a 1 AutoSVC", "a 0 SVC()", "b 0 AutoSVC"]
    file.write_text(json.dumps({cell: {"accuracy": 1.0, "seconds": 1.0} for cell in cells}))
    monkeypatch.setattr(tables, "measure", lambda cell, quick: {"accuracy": 2.0, "seconds": 1.0})
    kept = tables.collect(file, ["a 0 AutoSVC", "a 0 SVC()", "c 0 SVC()"], ["AutoSVC"])[1]
    assert kept == []
    found = {cell: record["accuracy"] for cell, record in json.loads(file.read_text()).items()}
    assert found == dict.fromkeys(cells, 1.0) | {"a 0 AutoSVC": 2.0, "c 0 SVC()": 2.0}
    assert [path.name for path in tmp_path.iterdir()] == ["tables.json"]

    def killed(cell, quick):
        raise KeyboardInterrupt

    monkeypatch.setattr(tables, "measure", killed)
    with pytest.raises(KeyboardInterrupt):
        tables.collect(file, ["a 0 AutoSVC"], ["AutoSVC"])
    assert "a 0 AutoSVC" in json.loads(file.read_text())


def test_tables_in_limited_time_say_what_they_lack(tmp_path, monkeypatch):
    tables = importlib.import_module("tables")
    monkeypatch.setattr(tables, "measure", lambda cell, quick: {"accuracy": 1.0, "seconds": 1.0})
    wanted = [f"iris {fold} {method}" for fold in range(5) for method in tables.METHODS]
    assert tables.collect(tmp_path / "none.json", wanted, seconds=0.0) == ({}, [])
    assert tables.missing({}, ("iris", "nowhere")) == {"iris": "all", "nowhere": "its file"}
    records, _ = tables.collect(tmp_path / "tables.json", wanted[: 4 * len(tables.METHODS) - 1])
    last = tables.METHODS[-1]
    assert tables.missing(records, ("iris",)) == {"iris": f"fold 3: {last}; fold 4: all"}
    whole, _ = tables.collect(tmp_path / "tables.json", wanted)
    assert tables.missing(whole, ("iris",)) == {}


def test_cells_that_got_no_time_to_be_measured_again_are_listed(tmp_path, monkeypatch):
    tables = importlib.import_module("tables")
    file = tmp_path / "tables.json"
    file.write_text(json.dumps({f"a {fold} AutoSVC": {"accuracy": 1.0, "seconds": 1.0} for fold in range(3)}))
    clock = iter(range(100))
    monkeypatch.setattr(tables, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(tables, "measure", lambda cell, quick: {"accuracy": 2.0, "seconds": 1.0})
    wanted = ["a 0 AutoSVC", "a 1 AutoSVC", "a 2 AutoSVC", "a 3 AutoSVC"]
    records, kept = tables.collect(file, wanted, ["AutoSVC"], seconds=1.5)
    assert [records[cell]["accuracy"] for cell in wanted[:3]] == [2.0, 1.0, 1.0]
    assert kept == wanted[1:3]  # the last one has no record: it is missing
    assert "a 3 AutoSVC" not in records
