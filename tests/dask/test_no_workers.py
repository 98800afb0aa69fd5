"""A scheduler without workers: the work waits for new ones, but not for ever."""

import os
import signal
from types import SimpleNamespace

import dask
import dask.array as da
import numpy as np
import pytest
from dask.delayed import delayed
from distributed import Client, LocalCluster

from maxmargin.clusters import connected, of_files, results
from maxmargin.clusters.passes import DaskPasses
from maxmargin.dask import DaskLinearSVC
from maxmargin.methods.blocks import row_block
from maxmargin.solving import Deadline

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

NO_WORKERS = r"the Dask scheduler at \S+ has had no workers for 0 seconds; start some \('dask worker tcp://"


@pytest.fixture
def client():
    options = {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1", "silence_logs": 50}
    with LocalCluster(n_workers=0, **options) as cluster, Client(cluster) as client:
        yield client


def passes_over_one_block(client):
    block = delayed(row_block, pure=False)(np.full((5, 2), 3.0), np.arange(5))
    return DaskPasses(client, [block], Deadline())


def total():
    return lambda block, task: float(block.X.sum())  # workers get it by value


def test_the_watch_raises_after_the_limit_and_starts_again_with_each_worker(monkeypatch):
    counts = iter([0, 0, 2, None, 0, None, 0, 0])
    times = iter([0.0, 0.0, 299.0, 400.0, 500.0, 600.0, 700.0, 890.0, 900.0])
    monkeypatch.setattr(results, "count_workers", lambda client: next(counts))
    client = SimpleNamespace(scheduler=SimpleNamespace(address="tcp://there:1"))
    watch = results.WorkerWatch(client, clock=lambda: next(times))
    for _ in range(7):
        watch.check()
    with pytest.raises(ConnectionError, match=r"tcp://there:1 has had no workers for 300 seconds;"):
        watch.check()


def test_workers_are_not_counted_at_every_look(monkeypatch):
    seen, times = [], iter([0.0, 0.0, 0.5, 1.9, 2.0, 3.9])
    monkeypatch.setattr(results, "count_workers", seen.append)
    watch = results.WorkerWatch("the client", clock=lambda: next(times))
    for _ in range(5):
        watch.check()
    assert seen == ["the client"] * 2


def test_a_scheduler_that_does_not_answer_is_not_one_without_workers():
    def refuses(*arguments, **options):
        raise OSError

    client = SimpleNamespace(scheduler=SimpleNamespace(ncores=None), sync=refuses)
    assert results.count_workers(client) is None


def test_without_workers_a_fit_ends_in_one_sentence_and_the_next_work_is_done(client, monkeypatch):
    monkeypatch.setattr(results, "MAX_SECONDS_WITHOUT_WORKERS", 0.0)
    X = da.ones((40, 2), chunks=(10, -1))
    with pytest.raises(ConnectionError, match=NO_WORKERS):
        DaskLinearSVC().fit(X, X[:, 0])
    with pytest.raises(ConnectionError, match=NO_WORKERS):
        list(of_files(client, lambda model, file: file, 1, [10, 20]))
    client.cluster.scale(1)
    client.wait_for_workers(1)
    assert passes_over_one_block(client).run(total(), None) == 30.0


def test_work_goes_on_when_a_worker_comes(client, monkeypatch):
    count, counted = results.count_workers, []

    def count_and_scale(client):
        counted.append(count(client))
        if len(counted) == 1:
            client.cluster.scale(1)
        return counted[-1]

    monkeypatch.setattr(results, "count_workers", count_and_scale)
    assert passes_over_one_block(client).run(total(), None) == 30.0
    assert counted[0] == 0


def dies_once(sign):
    def total_or_death(block, task):
        if not os.path.exists(sign):
            open(sign, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return float(block.X.sum())

    return total_or_death


def test_workers_that_their_cluster_gives_up_are_started_again(tmp_path):
    sign = str(tmp_path / "seen")
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "0s"}),  # a lost worker is dropped at once
        connected(None, 1) as client,
    ):
        first = client.cluster.workers[0]
        assert passes_over_one_block(client).run(dies_once(sign), None) == 30.0
        assert client.cluster.workers[0] is not first


def test_a_worker_whose_start_failed_is_started_again():
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10h"}),  # Dask itself drops none
        connected(None, 1) as client,
    ):
        first = client.cluster.workers[0]
        client.cluster.sync(first.close)
        assert passes_over_one_block(client).run(total(), None) == 30.0
        assert client.cluster.workers[0] is not first
