"""Fits on a cluster of real processes: the bits of the local fit, whatever happens to the workers."""

import os
import signal
import sys
import time
from types import SimpleNamespace

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from dask.delayed import delayed
from distributed import Client, LocalCluster
from sklearn.base import clone

from maxmargin import LinearSVC, PathCV, SparseKernelClassifier
from maxmargin._native import Cancelled
from maxmargin.clusters import of_files, results
from maxmargin.clusters import passes as dask_passes
from maxmargin.clusters.passes import DaskPasses
from maxmargin.dask import DaskLinearSVC, DaskSparseKernelClassifier
from maxmargin.io import load, save
from maxmargin.methods.blocks import row_block
from maxmargin.solving import Deadline

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

CHUNK = 300


@pytest.fixture(scope="module")
def cluster():
    import dask

    options = {"distributed.scheduler.allowed-failures": 1, "distributed.worker.profile.enabled": False}
    with (
        dask.config.set(options),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", silence_logs=50
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        client.wait_for_workers(1)
        yield client


def rows(n=2000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    return X, np.array(["in", "out", "rim"])[(np.linalg.norm(X[:, :2], axis=1) // 0.9).clip(0, 2).astype(int)]


def parameters():
    return {"budget": 12, "alpha": 1e-3, "random_state": 0, "n_jobs": 1}


def local():
    X, y = rows()
    blocks = [(X[i : i + CHUNK], y[i : i + CHUNK]) for i in range(0, len(y), CHUNK)]
    return SparseKernelClassifier(**parameters()).fit_blocks(blocks, sample_rows=500)


def collections(n=2000):
    X, y = rows(n)
    return da.from_array(X, chunks=(CHUNK, -1)), da.from_array(y, chunks=CHUNK)


@pytest.mark.parametrize("persisted", [False, True])
def test_a_fit_has_the_bits_of_the_local_one(client, persisted, tmp_path):
    X, y = collections()
    if persisted:
        X, y = client.persist(X), client.persist(y)
    model, twin = DaskSparseKernelClassifier(**parameters()), local()
    model.fit(X, y, sample_rows=500)
    save(model.to_local(), tmp_path / "cluster.mm")
    save(twin, tmp_path / "here.mm")
    assert model.dual_coef_.tobytes() == twin.dual_coef_.tobytes()
    assert (model.dual_gap_, model.n_passes_) == (twin.dual_gap_, twin.n_passes_)
    there, here = (load(tmp_path / name) for name in ("cluster.mm", "here.mm"))
    assert there.decision_function(rows()[0]).tobytes() == here.decision_function(rows()[0]).tobytes()


@pytest.mark.parametrize("loss", ["squared-hinge", "log"])
def test_a_linear_fit_has_the_bits_of_the_local_one(client, loss, tmp_path):
    X, y = rows()
    blocks = [(X[i : i + CHUNK], y[i : i + CHUNK]) for i in range(0, len(y), CHUNK)]
    given = {"loss": loss, "random_state": 0, "n_jobs": 1}
    here = LinearSVC(**given).fit_blocks(blocks, sample_rows=500)
    there = DaskLinearSVC(**given).fit(*collections(), sample_rows=500)
    save(here, tmp_path / "here.mm")
    save(there.to_local(), tmp_path / "there.mm")
    assert type(there.to_local()) is LinearSVC
    assert there.coef_.tobytes() == here.coef_.tobytes()
    assert (there.dual_gap_, there.n_passes_) == (here.dual_gap_, here.n_passes_)
    loaded = load(tmp_path / "there.mm")
    np.testing.assert_array_equal(loaded.decision_function(X), here.decision_function(X))
    lazy = there.decision_function(collections()[0])
    np.testing.assert_array_equal(lazy.compute(), here.decision_function(X))
    assert hasattr(there, "predict_proba") == (loss == "log")
    assert there.score(*collections()) == here.score(*rows())


def test_the_linear_default_is_the_squared_hinge_and_the_hinge_is_refused(client):
    assert DaskLinearSVC().loss == "squared-hinge"
    assert clone(DaskLinearSVC(2.0)).C == 2.0
    with pytest.raises(ValueError, match="Use loss='squared-hinge'"):
        DaskLinearSVC(loss="hinge").fit(*collections())


def test_ctrl_c_leaves_no_task_behind(client, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(results, "wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        passes_over(client, 40).run(waits, None)
    until_no_task_is_left(client)


def waiting():
    """A function that workers get by value: they cannot import this file."""

    def waits_for(model, file, seconds):
        time.sleep(seconds)
        return model + file

    return waits_for


def test_ctrl_c_leaves_no_file_behind(client, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    assert list(of_files(client, waiting(), 1, [10, 20, 30], 0.0)) == [11, 21, 31]
    monkeypatch.setattr(results, "wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        list(of_files(client, waiting(), 1, list(range(40)), 0.05))
    until_no_task_is_left(client, "waits_for")


def dying():
    def dies_at(model, file):
        if file.name == "poisoned.csv":
            os.kill(os.getpid(), signal.SIGKILL)
        return model

    return dies_at


def test_a_file_that_ends_every_worker_is_named_and_the_next_one_is_read(client):
    files = [SimpleNamespace(name=name) for name in ("fine.csv", "poisoned.csv")]
    with pytest.raises(RuntimeError, match=r"poisoned\.csv ends every worker that reads it"):
        list(of_files(client, dying(), 1, files))
    client.wait_for_workers(1)
    assert list(of_files(client, dying(), 1, files[:1])) == [1]


def test_predictions_are_lazy_and_those_of_the_local_model(client):
    X, y = collections()
    model = DaskSparseKernelClassifier(**parameters()).fit(X, y, sample_rows=500)
    there, here = X, rows()[0]
    for method in ("predict", "decision_function", "predict_proba"):
        answer = getattr(model, method)(there)
        assert isinstance(answer, da.Array)
        assert answer.chunks[0] == X.chunks[0]
        np.testing.assert_array_equal(answer.compute(), getattr(model.to_local(), method)(here))
    assert model.score(there, y) == model.to_local().score(here, rows()[1])
    assert clone(model).client is None


def test_data_frames_with_categories_of_their_own_in_each_partition(client):
    X, y = rows()
    order = np.argsort(y, kind="stable")  # the last class is in the last partitions only

    def part(start):
        some = order[start : start + CHUNK]
        return pd.DataFrame(X[some], columns=list("abcd")), pd.Series(pd.Categorical(y[some]))

    dd = pytest.importorskip("dask.dataframe")
    parts = [part(start) for start in range(0, len(y), CHUNK)]
    frames = dd.from_delayed([delayed(x) for x, _ in parts], meta=parts[0][0].iloc[:0])
    labels = dd.from_delayed([delayed(t.astype(object)) for _, t in parts], meta=pd.Series(dtype=object))
    model = DaskSparseKernelClassifier(**parameters()).fit(frames, labels, sample_rows=500)
    assert model.classes_.tolist() == ["in", "out", "rim"]
    assert model.feature_names_in_.tolist() == list("abcd")
    here = SparseKernelClassifier(**parameters()).fit_blocks(
        [(x.to_numpy(), t.astype(object).to_numpy()) for x, t in parts], sample_rows=500
    )
    assert model.dual_coef_.tobytes() == here.dual_coef_.tobytes()


class Total:
    def __init__(self, value):
        self.value = value

    def copy(self):
        return self

    def plus(self, other):
        return Total(self.value + other.value)


def passes_over(client, n_blocks=6, deadline=None):
    blocks = [
        delayed(row_block, pure=False)(np.full((5, 1), float(i)), np.arange(5)) for i in range(n_blocks)
    ]
    return DaskPasses(client, blocks, deadline or Deadline())


def dies_once(block, folder):
    """Ends its worker when the third block comes for the first time."""
    sign = os.path.join(folder, "seen")
    if block.X[0, 0] == 2.0 and not os.path.exists(sign):
        open(sign, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return Total(float(block.X.sum()))


def test_a_killed_worker_changes_nothing(client, tmp_path):
    found = passes_over(client).run(dies_once, str(tmp_path))
    assert (tmp_path / "seen").exists()
    assert found.value == 5.0 * sum(range(6))


def dies_always(block, task):
    if block.X[0, 0] == 4.0:
        os.kill(os.getpid(), signal.SIGKILL)
    return Total(0.0)


def test_a_block_that_ends_every_worker_is_named_and_the_next_pass_works(client):
    with pytest.raises(RuntimeError, match="block 4 of 6 ends every worker"):
        passes_over(client).run(dies_always, None)
    client.wait_for_workers(1)
    assert passes_over(client, 4).run(dies_always, None).value == 0.0


def waits(block, task):
    time.sleep(0.05)
    return Total(0.0)


def test_a_pass_that_is_cut_leaves_no_task_behind(client):
    deadline = Deadline()
    deadline.cut()
    with pytest.raises(Cancelled):
        passes_over(client, 40, deadline).run(waits, None)
    until_no_task_is_left(client)


def until_no_task_is_left(client, name="maxmargin-block"):
    def tasks(dask_scheduler):
        return [str(key) for key in dask_scheduler.tasks if name in str(key)]

    client.submit(int, pure=False).result()  # the scheduler has read all that this client sent before
    for _ in range(200):
        if not client.run_on_scheduler(tasks):
            break
        time.sleep(0.05)
    assert client.run_on_scheduler(tasks) == []


def test_bad_partitions_are_named(client):
    X, y = collections()
    with pytest.raises(TypeError, match="y must be a Dask array or data frame; got ndarray"):
        DaskSparseKernelClassifier(**parameters()).fit(X, rows()[1])
    short = da.concatenate([y[:CHUNK], y[CHUNK : 2 * CHUNK - 1], y[2 * CHUNK :]])
    short._chunks = ((np.nan,) * short.numblocks[0],)
    with pytest.raises(ValueError, match=r"partition 1: X, y and sample_weight have \[300, 299\] rows"):
        DaskSparseKernelClassifier(**parameters()).fit(X, short)
    bad = da.concatenate([X[:CHUNK], X[CHUNK : 2 * CHUNK] * np.float32("nan"), X[2 * CHUNK :]])
    with pytest.raises(ValueError, match="partition 1: Input contains NaN"):
        DaskSparseKernelClassifier(**parameters()).fit(bad, y)


def test_another_version_on_a_worker_is_refused(client, monkeypatch):
    monkeypatch.setattr(dask_passes, "__version__", "9.9")
    with pytest.raises(RuntimeError, match=r"and the client 9\.9; install the same"):
        passes_over(client)


def test_without_the_extra_the_import_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    for name in [name for name in sys.modules if name.startswith(("maxmargin.dask", "maxmargin.clusters"))]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r"pip install 'maxmargin\[dask\]'"):
        from maxmargin.dask import DaskSparseKernelClassifier  # noqa: F401


def test_a_search_has_the_scores_and_the_bits_of_the_local_one(cluster):
    with Client(cluster, set_as_default=False) as client:
        check_search(client)


def check_search(client):
    X, y = rows(900)
    blocks = [(X[i : i + CHUNK], y[i : i + CHUNK]) for i in range(0, len(y), CHUNK)]
    own = parameters() | {"alpha": "auto"}
    grid = {"alphas": [1e-2, 1e-4], "gammas": [0.5], "cv": 2, "random_state": 0}
    here = PathCV(SparseKernelClassifier(**own), n_jobs=1, **grid).fit_blocks(blocks)
    asked = DaskSparseKernelClassifier(**own)
    asked.client = client
    there = PathCV(asked, **grid).fit(*collections(900))
    assert there.best_params_ == here.best_params_
    for name in ("mean_test_score", "std_test_score", "max_dual_gap"):
        assert np.array_equal(there.cv_results_[name], here.cv_results_[name])
    assert np.array_equal(there.best_estimator_.dual_coef_, here.best_estimator_.dual_coef_)
    assert there.score(*collections(900)) == here.score(X, y)
    with pytest.raises(TypeError, match="Dask array or data frame"):
        PathCV(asked, **grid).fit(X, y)
