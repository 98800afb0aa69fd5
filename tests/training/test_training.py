"""From a source to a model: rows held out, the record, samples of large files, resumed fits, bad targets."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import binom
from support.rings import RISING, codes_of, rings
from support.table_sources import TableSource

from maxmargin.io import open_source
from maxmargin.table.preparation import TablePreparation
from maxmargin.training.from_file import train
from maxmargin.training.gather import Gathering
from maxmargin.training.held_out import HeldOut
from maxmargin.training.models import MODELS, model_kind, parameters_from_text
from maxmargin.training.progress import Reporter

QUICK = {"budget": 20, "n_jobs": 1}
NAMES = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"]
NAMES += [
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]


def source(n: int = 600, **how) -> TableSource:
    table, y = rings(n)
    return TableSource(table, y, **how)


@settings(deadline=None, max_examples=60)
@given(
    counts=st.lists(st.integers(1, 60), min_size=1, max_size=4),
    share=st.sampled_from([0.1, 0.2, 0.25, 1 / 3, 0.5, 0.7]),
    seed=st.integers(0, 9),
    cut=st.integers(1, 50),
)
def test_each_class_gives_its_share(counts, share, seed, cut):
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    whole = HeldOut(share, seed).of_block(*codes_of(y))
    pieces = HeldOut(share, seed)
    cuts = [pieces.of_block(*codes_of(y[s : s + cut])) for s in range(0, len(y), cut)]
    np.testing.assert_array_equal(whole, np.concatenate(cuts))
    for label, n in enumerate(counts):
        assert abs(whole[y == label].sum() - share * n) <= 2.0
        assert not whole[np.argmax(y == label)]


def test_every_place_has_its_chance_to_be_held_out():
    drawn = sum(HeldOut(0.2, seed).of_block([0], np.zeros(50, dtype=int)) for seed in range(400))
    low, high = binom.ppf([1e-5, 1 - 1e-5], 400, 0.2)
    assert (drawn[5:] >= low).all()
    assert (drawn[5:] <= high).all()


@pytest.mark.parametrize("share", [-0.1, 1.0, 2, "a"])
def test_bad_shares_are_refused(share):
    with pytest.raises(ValueError, match="validate"):
        HeldOut(share, 0)


def test_train_learns_and_tells_how():
    events = []
    trained = train(source(), model="sparse-kernel", parameters=QUICK, callback=events.append)
    record = json.loads(json.dumps(trained.record))
    table, y = rings(400, seed=1)
    assert (trained.model.predict(pd.DataFrame(table)) == y).mean() > 0.95
    assert record["validation"]["accuracy"] > 0.9
    low, high = record["validation"]["accuracy_interval"]
    assert low < record["validation"]["accuracy"] < high
    assert record["data"]["n_rows"] == 600
    assert record["data"]["class_counts"] == {
        "in": int((rings()[1] == "in").sum()),
        "out": int((rings()[1] == "out").sum()),
    }
    assert record["data"]["columns"][2] == {"name": "hint", "kind": "words"}
    assert record["parameters"]["budget"] == 20
    assert record["fitted_on"] == "all rows"
    assert record["gap"] <= 1e-3
    assert {name: said["rule"] for name, said in record["choice"].items()} == {
        "alpha": "auto",
        "gamma": "median",
    }
    assert {"read", "fit", "validate", "refit"} == {event.phase for event in events}
    fits = [event for event in events if event.phase == "refit"]
    assert fits[-1].done <= fits[-1].total == 20
    assert {"reading", "preparation", "solver", "validation", "total"} <= record["seconds"].keys()


def test_validation_is_of_rows_the_model_had_not_seen():
    table, y = rings()
    kept = train(source(), model="sparse-kernel", parameters=QUICK, refit=False)
    held_out = HeldOut(0.2, 0).of_block(*codes_of(y))
    rows = pd.DataFrame(table)[held_out]
    n_errors = int((kept.model.predict(rows) != y[held_out]).sum())
    assert kept.record["validation"]["n_errors"] == n_errors
    assert kept.record["validation"]["n_rows"] == held_out.sum()
    assert kept.record["fitted_on"] == "all rows but those held out"
    used = np.array(kept.record["fit"]["support_rows"])
    assert not held_out[used].any()
    numbers = kept.model["table"].transform_noting(pd.DataFrame(table).iloc[used])[0]
    np.testing.assert_array_equal(numbers, kept.model["model"].support_vectors_)


def test_refit_uses_all_rows_with_the_same_preparation():
    table, y = rings()
    trained = train(source(), model="sparse-kernel", parameters=QUICK)
    prepared = TablePreparation().fit(pd.DataFrame(table)[~HeldOut(0.2, 0).of_block(*codes_of(y))])
    np.testing.assert_array_equal(
        prepared.transform(pd.DataFrame(table)), trained.model["table"].transform(pd.DataFrame(table))
    )
    alone = model_kind("sparse-kernel").make(QUICK, 0).fit(prepared.transform(pd.DataFrame(table)), y)
    np.testing.assert_array_equal(alone.dual_coef_, trained.model["model"].dual_coef_)


def test_blocks_change_no_bit_of_a_model():
    whole, pieces = (train(source(block_rows=b), model="sparse-kernel", parameters=QUICK) for b in (None, 37))
    np.testing.assert_array_equal(whole.model["model"].dual_coef_, pieces.model["model"].dual_coef_)
    assert whole.record["validation"] == pieces.record["validation"]


def gathered(n: int, limit: float, block_rows: int) -> tuple:
    preparation = TablePreparation()
    found = Gathering(HeldOut(0.2, 0), preparation, limit, 0, Reporter()).read(
        source(n, block_rows=block_rows)
    )
    return found, preparation


def test_large_files_leave_a_sample_and_exact_statistics():
    everything, whole = gathered(4000, np.inf, 500)
    some, sampled = gathered(4000, 40_000, 500)
    assert everything.share == 1.0
    assert some.share < 0.5
    assert some.n_kept == pytest.approx(4000 * some.share, rel=0.2)
    assert some.counts == everything.counts
    assert whole.plans_ == sampled.plans_
    rows = np.concatenate([part.rows for part in some.parts])
    assert abs(rows.mean() - 2000) < 250  # from the whole file
    other, _ = gathered(4000, 40_000, 123)
    assert other.share == some.share
    np.testing.assert_array_equal(np.concatenate([part.rows for part in other.parts]), rows)


def test_a_sample_has_every_class_and_lets_words_go():
    n = 3000
    labels = np.array([*["common"] * (n - 3), *["rare"] * 3])
    table = {"id": [f"name {i}" for i in range(n)], "x": list(range(n))}
    found = Gathering(HeldOut(0.2, 0), TablePreparation(), 20_000, 0, Reporter()).read(
        TableSource(table, labels, block_rows=700)
    )
    kept = np.concatenate([part.block.target for part in found.parts])
    assert len(kept) < 400
    assert (kept == "rare").sum() == 3
    assert sum(len(part.block.features["id"].values) for part in found.parts) == len(kept)
    named = found.parts[-1].block.features["id"]
    assert named.values[named.codes[-1]] == "name 2999"


def test_a_sample_is_told(monkeypatch):
    monkeypatch.setattr("maxmargin.training.from_file.ROWS_MEMORY_SHARE", 0.0005)
    trained = train(source(3000), model="sparse-kernel", parameters=QUICK, memory_mb=64, sample=True)
    data = trained.record["data"]
    assert data["n_rows"] == 3000
    assert data["n_rows_kept"] < 1500
    told = f"a uniform sample of {data['n_rows_kept']:,} of 3,000 rows"
    assert trained.record["fitted_on"] == told
    table, y = rings(400, seed=1)
    assert (trained.model.predict(pd.DataFrame(table)) == y).mean() > 0.93


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file():
    told = subprocess.run([sys.executable, "-c", RISING], capture_output=True, text=True, check=True).stdout
    peaks, kept = np.array([line.split() for line in told.splitlines()], dtype=int).T
    assert kept.max() < 80_000
    assert peaks[2] - peaks[1] < 25_000  # KiB, where 328,000 more rows would take 77,000


def test_resumed_training_is_bit_identical(tmp_path):
    want = train(source(), model="sparse-kernel", parameters=QUICK).model["model"]

    class Broken(Exception):
        pass

    def break_off(event):
        if event.phase == "refit" and event.done >= 10:
            raise Broken

    path = tmp_path / "model.checkpoint"
    with pytest.raises(Broken):
        train(
            source(),
            model="sparse-kernel",
            parameters=QUICK,
            checkpoint=path,
            checkpoint_seconds=0,
            callback=break_off,
        )
    assert {file.name for file in tmp_path.iterdir()} == {"model.checkpoint.fit", "model.checkpoint.refit"}
    seen = []
    trained = train(
        source(), model="sparse-kernel", parameters=QUICK, checkpoint=path, resume=True, callback=seen.append
    )
    np.testing.assert_array_equal(trained.model["model"].dual_coef_, want.dual_coef_)
    np.testing.assert_array_equal(trained.model["model"].support_vectors_, want.support_vectors_)
    assert min(event.done for event in seen if event.phase == "refit") >= 10
    trained.remove_checkpoints()
    assert not list(tmp_path.iterdir())


def test_files_are_named_by_their_hash(tmp_path):
    table, y = rings(200)
    path = tmp_path / "rings.csv"
    pd.DataFrame(table | {"y": y}).to_csv(path, index=False)
    trained = train(open_source(path, target="y"), model="sparse-kernel", parameters=QUICK)
    assert trained.record["data"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert trained.record["data"]["options"]["target"] == "y"
    assert open_source(path, **trained.record["data"]["options"]).target == "y"


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a"] * 40, "one class, 'a'; at least two"),
        ([str(i) for i in range(40)], r"40 different labels in 40 rows \('0', '1', '2', ...\), too many"),
        ([*["a", "b"] * 19, "a", ""], "row 39, counted from 0, has no label"),
        (np.array([*["a", "b"] * 19, None, "a"], dtype=object), "row 38, counted from 0, has no label"),
    ],
)
def test_bad_targets_are_refused_before_any_fit(y, message, monkeypatch):
    monkeypatch.setattr("maxmargin.SparseKernelClassifier.fit", None)
    with pytest.raises(ValueError, match=message):
        train(TableSource({"x": list(range(40))}, y))


def test_a_source_without_target_is_refused():
    untold = source()
    untold.target = None
    with pytest.raises(ValueError, match="needs a target"):
        train(untold)


def test_bad_parameters_are_refused_before_the_file_is_read():
    class Unread:
        name, target = "file", "y"

    for parameters, message in [
        ({"budgt": 3}, "has no parameter 'budgt'; it has budget, .*Did you mean 'budget'"),
        ({"budget": -3}, "budget must be"),
        ({"random_state": 3}, "has no parameter 'random_state'"),
    ]:
        with pytest.raises(ValueError, match=message):
            train(Unread(), parameters=parameters)
    with pytest.raises(ValueError, match=r"one of auto, sparse-kernel, kernel.*Did you mean 'linear'"):
        train(Unread(), model="liner")


def test_parameters_of_other_tasks_are_named_with_the_task():
    with pytest.raises(
        ValueError, match=r"no parameter 'nu'.*For 'kernel-regression' \(task 'regression'\) or"
    ):
        train(source(), parameters={"nu": 0.1})


def test_several_numbers_in_a_text_are_a_tuple():
    found = parameters_from_text(["quantiles=0.1, 0.5,0.9", "a=1,x", "b=1,"])
    assert found == {"quantiles": (0.1, 0.5, 0.9), "a": "1,x", "b": "1,"}


def test_the_default_chooses_and_reports_what_over_what():
    trained = train(source(), parameters={"n_jobs": 1})
    assert trained.record["model"] == "auto"
    assert "held-out error" in trained.record["chosen"]
    assert trained.record["candidates"]["outcome"].count("chosen") == 1
    assert trained.record["given_parameters"] == {"n_jobs": 1}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_trains(name):
    table, y = rings(120)
    trained = train(TableSource(table, y), model=name)
    assert trained.record["model"] == name
    assert trained.record["gap"] < 0.05
    assert set(trained.model.predict(pd.DataFrame(table))) <= {"in", "out"}


def test_parameters_of_a_model_around_another():
    model = model_kind("calibrated").make({"C": 7, "method": "isotonic"})
    assert (model.method, model.estimator.C, model.estimator.random_state) == ("isotonic", 7, 0)


def test_parameters_from_text():
    texts = ["C=10", "tol=1e-3", "loss=squared-hinge", "fit_intercept=False", "class_weight=none"]
    assert parameters_from_text(texts) == {
        "C": 10,
        "tol": 1e-3,
        "loss": "squared-hinge",
        "fit_intercept": False,
        "class_weight": None,
    }
    for bad in (["C"], ["=3"], ["C="], ["C=1", "C=2"]):
        with pytest.raises(ValueError, match=r"C|name=value"):
            parameters_from_text(bad)


def test_sparse_rows_with_whole_numbers_as_labels():
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 40), density=0.2, random_state=rng, format="csr")
    y = (X[:, [0]].toarray().ravel() > 0).astype(np.int64) + 3
    trained = train(TableSource(X, y), model="linear", parameters={"C": 100})
    assert trained.model.predict(X).dtype == np.int64
    assert trained.model.score(X, y) == 1.0


@pytest.mark.slow
def test_raw_adult_by_the_budgeted_model():
    folder = Path(os.environ.get("MAXMARGIN_DATA", ""))
    if not (folder / "adult.data.gz").exists():
        pytest.skip("data set adult: MAXMARGIN_DATA names no folder with it")
    given = open_source(folder / "adult.data.gz", names=NAMES, target="income")
    trained = train(given, model="sparse-kernel", validate=0)
    with gzip.open(folder / "adult.test.gz", "rt") as file:
        rows = [[field.strip() for field in row] for row in csv.reader(file) if len(row) == len(NAMES)]
    frame = pd.DataFrame(rows, columns=NAMES).replace("?", None)
    kinds = trained.model["table"].kinds_
    frame = frame.astype({name: float for name, kind in kinds.items() if kind == "number"})
    right = trained.model.predict(frame[list(kinds)]) == frame["income"].str.rstrip(".")
    assert right.mean() >= 0.855
