"""Commands with --cluster, on a scheduler and a worker that are processes of their own."""

import json
import subprocess
import sys
import time

import dask
import pytest
from distributed import Client
from support.command_line import running, write_flowers

from maxmargin import io
from maxmargin.evaluation import evaluate
from maxmargin.training import train

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

SMALL = {"budget": 8, "alpha": 1e-3}


class Processes:
    """A scheduler and a worker on the loopback."""

    def __init__(self, folder):
        self.file = folder / "scheduler.json"
        given = ["--scheduler-file", str(self.file), "--host", "127.0.0.1", "--no-dashboard"]
        self.scheduler = self._started("dask_scheduler", *given, "--port", "0")
        self.worker = self._started("dask_worker", *given, "--no-nanny", "--nthreads", "1")
        while not self.file.exists():
            assert self.scheduler.poll() is None
            time.sleep(0.05)
        self.address = json.loads(self.file.read_text())["address"]

    def _started(self, module, *arguments):
        command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self):
        for process in (self.worker, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    found = Processes(tmp_path_factory.mktemp("cluster"))
    yield found
    found.end()


@pytest.fixture
def files(tmp_path):
    for k in range(3):
        write_flowers(tmp_path / f"rows{k}.csv", n=60, seed=k)
    return str(tmp_path / "rows*.csv")


def test_train_predict_and_evaluate_take_the_same_options(processes, files, tmp_path, capsys):
    run, model = running(capsys), tmp_path / "flowers.mm"
    there = ["--cluster", processes.address]
    given = ["--target", "flower", "--model", "sparse-kernel", "--budget", 8, "--out", model]
    made = run("train", files, *given, *there, "--persist")
    assert made.code == 0, made.err
    assert "passes over the file" in io.read_record(model)["fitted_on"]
    for command in ("predict", "evaluate"):
        here, far = (run(command, model, files, "--json", *more) for more in ([], there))
        assert (here.code, far.code) == (0, 0), far.err
        assert here.json | {"seconds": 0} == far.json | {"seconds": 0}


def test_an_address_without_a_scheduler_is_one_sentence(files, tmp_path, capsys):
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        said = running(capsys)(
            "train", files, "--target", "flower", "--out", tmp_path / "x.mm", "--cluster", "tcp://127.0.0.1:9"
        )
    assert said.code == 1
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:9'" in said.err
    assert "Traceback" not in said.err


def test_a_file_that_is_missing_on_a_worker_is_named(processes, files, tmp_path):
    source = io.open_source(files, target="flower")
    model = train(source, model="linear").model
    (tmp_path / "rows1.csv").unlink()
    with Client(processes.address) as client, pytest.raises(FileNotFoundError, match=r"rows1\.csv"):
        evaluate(model, source, client=client)


def test_a_scheduler_that_dies_ends_the_fit_in_one_sentence(processes, files):
    """The last test: the module's scheduler is gone after it."""
    source = io.open_source(files, target="flower")

    def end(event):
        if event.phase == "fit" and event.passes == 2:  # a pass begins
            processes.scheduler.kill()
            processes.scheduler.wait()

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        Client(processes.address) as client,
        pytest.raises(ConnectionError, match=r"the Dask scheduler at .* has gone"),
    ):
        train(source, model="sparse-kernel", parameters=SMALL, client=client, callback=end)
