"""Training on targets that are numbers: which task is taken, what is recovered, samples, bad targets."""

import numpy as np
import pandas as pd
import pytest
from support.rings import rings
from support.table_sources import TableSource

from maxmargin import KernelSVR
from maxmargin.io import load, open_source, save
from maxmargin.training import task_of, train
from maxmargin.training.numbers import exact_rows
from maxmargin.training.regression import RegressionSearch

QUICK = {"C": 10.0, "gamma": 0.1, "kernel": "rbf", "epsilon": 0.1, "n_jobs": 1}


def line(n=300, noise=0.0, seed=0):
    """y = 2 a - 3 b + 4 (colour is blue) + 5."""
    rng = np.random.default_rng(seed)
    a, b, blue = rng.normal(size=n), 100.0 * rng.normal(size=n), rng.random(n) < 0.5
    y = 2.0 * a - 0.03 * b + 4.0 * blue + 5.0 + noise * rng.normal(size=n)
    return pd.DataFrame({"a": a, "b": b, "colour": np.where(blue, "blue", "red"), "y": y})


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_linear_target_is_recovered(scale):
    old, new = line(), line(seed=1)
    trained = train(old.assign(y=scale * old["y"]), target="y", parameters={"n_jobs": 1})
    assert trained.record["task"] == "regression"
    assert trained.record["validation"]["r2"] > 0.999
    error = trained.model.predict(new.drop(columns="y")) - scale * new["y"]
    assert np.abs(error).max() < 0.05 * scale * new["y"].std()


def test_a_bent_target_takes_a_bent_kernel():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, size=400)
    trained = train(pd.DataFrame({"x": x, "y": np.sin(2 * x)}), target="y", parameters={"n_jobs": 1})
    assert trained.model[-1].kernel == "rbf"
    assert trained.record["validation"]["r2"] > 0.99
    assert "of 24 held-out absolute errors" in trained.record["chosen"]
    assert len(trained.record["candidates"]) == 24


def test_the_choice_is_the_candidate_with_the_smallest_error():
    record = train(line(noise=1.0), target="y", parameters={"n_jobs": 1}).record
    losses = [each["loss"] for each in record["candidates"]]
    best = record["candidates"][int(np.argmin(losses))]
    assert record["parameters"]["C"] == best["C"]
    assert record["parameters"]["epsilon"] == best["epsilon"]


def test_candidates_of_a_small_table_are_fitted_in_doubles():
    seen = set()

    class Recording(KernelSVR):
        def fit(self, X, y, sample_weight=None):
            seen.add(X.dtype.name)
            return super().fit(X, y, sample_weight)

    X = line()[["a", "b"]].to_numpy().astype(np.float32)
    search = RegressionSearch(lambda given: Recording(**given), {"kernel": "linear"}, 0, 10.0)
    search.run(X, X[:, 0].astype(np.float64))
    assert seen == {"float64"}


def test_given_parameters_are_kept_and_not_searched():
    trained = train(line(), target="y", task="regression", parameters=QUICK)
    assert {name: trained.record["parameters"][name] for name in QUICK} == QUICK
    assert (trained.record["chosen"], trained.record["candidates"]) == (None, None)
    some = train(
        line(), target="y", task="regression", parameters={"loss": "pinball", "quantile": 0.9, "n_jobs": 1}
    )
    assert "held-out pinball losses, " in some.record["chosen"]
    assert "epsilon" not in some.record["candidates"][0]


def test_training_twice_gives_the_same_bits_whatever_the_blocks():
    frame = line(noise=0.5)
    table = {name: frame[name].tolist() for name in ("a", "b", "colour")}
    prints = {
        train(TableSource(table, frame["y"].to_numpy(), block_rows=rows), parameters={"n_jobs": 1}).record[
            "fingerprint"
        ]
        for rows in (7, 300)
    }
    assert len(prints) == 1


def test_a_resumed_training_is_bit_identical(tmp_path):
    given = {
        "target": "y",
        "task": "regression",
        "parameters": QUICK | {"C": 30.0, "gamma": 1.0, "tol": 1e-6},
    }
    frame = line(5000, noise=1.0)
    whole = train(frame, **given).record["fingerprint"]
    seen = []

    def stop(event):
        seen.append(event.phase)
        if seen.count("fit") == 3:
            raise KeyboardInterrupt

    kept = {"checkpoint": tmp_path / "cp", "checkpoint_seconds": 0}
    with pytest.raises(KeyboardInterrupt):
        train(frame, **given, **kept, callback=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["cp.fit"]
    assert train(frame, **given, **kept, resume=True).record["fingerprint"] == whole


@pytest.mark.parametrize(
    ("refit", "n_rows", "deviation"),  # of the share of new rows inside: sqrt(0.09 / n_rows)
    [(False, 160, 0.024), (True, 800, 0.0106)],
)
def test_intervals_cover_new_rows(tmp_path, refit, n_rows, deviation):
    trained = train(line(800, noise=1.0), target="y", task="regression", parameters=QUICK, refit=refit)
    save(trained.model, tmp_path / "model.mm", record=trained.record)
    model, new = load(tmp_path / "model.mm"), line(2000, noise=1.0, seed=2)
    assert len(model[-1].calibration_scores_) == n_rows
    ends = model[-1].predict_interval(model[:-1].transform(new.drop(columns="y")), 0.9)
    inside = ((ends[:, 0] <= new["y"]) & (new["y"] <= ends[:, 1])).mean()
    assert abs(inside - 0.9) <= 2.5 * np.hypot(deviation, np.sqrt(0.09 / 2000))


@pytest.mark.parametrize(("refit", "learnt"), [(False, 48), (True, 60)])
def test_the_model_is_fitted_to_all_rows_and_its_intervals_to_rows_that_a_fit_did_not_use(refit, learnt):
    frame, given = line(60, noise=1.0), QUICK | {"C": 1e5, "gamma": 4.0}  # it interpolates its rows
    trained = train(frame, target="y", task="regression", parameters=given, refit=refit)
    error = np.abs(frame["y"] - trained.model.predict(frame.drop(columns="y")))
    assert (error <= 0.1 + 1e-2).sum() == learnt
    assert np.median(trained.model[-1].calibration_scores_) > 0.5
    said = "all rows; intervals from 5 fits" if refit else "all rows but those held out"
    assert trained.record["fitted_on"].startswith(said)
    assert trained.record["validation"]["n_rows"] == 12


def test_a_second_fit_that_diverges_is_not_taken():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    frame["y"] = frame["a"] + 0.1 * rng.normal(size=200)
    frame.loc[:4, "b"] = 1.0  # one of these five rows is held out
    found = {}
    for row in range(5):
        changed = frame.copy()
        changed.loc[row, "b"] = 1e12
        given = {"kernel": "linear", "C": 100.0, "epsilon": 0.001}
        trained = train(changed, target="y", task="regression", parameters=given)
        found[trained.record["fitted_on"]] = trained
    kept = next(found[said] for said in found if said.startswith("all rows but those held out"))
    assert kept.model[-1].status_ == "converged"
    assert np.abs(kept.model.predict(frame[["a", "b"]]) - frame["y"]).mean() < 0.2


def test_intervals_cover_over_many_small_sets():
    inside = []
    for seed in range(60):
        old, new = line(40, noise=1.0, seed=seed), line(400, noise=1.0, seed=1000 + seed)
        model = train(old, target="y", task="regression", parameters=QUICK).model
        ends = model[-1].predict_interval(model[:-1].transform(new.drop(columns="y")), 0.8)
        inside.append(((ends[:, 0] <= new["y"]) & (new["y"] <= ends[:, 1])).mean())
    assert np.mean(inside) >= 0.8 - 2.5 * np.std(inside) / np.sqrt(len(inside))
    assert np.mean(inside) <= 0.9


def test_rows_held_out_by_group_are_the_only_ones_that_intervals_are_made_of():
    frame = line(400, noise=0.1).assign(site=np.arange(400) % 8)
    trained = train(frame, target="y", task="regression", parameters=QUICK, group="site")
    assert len(trained.model[-1].calibration_scores_) == 100
    assert "intervals from the rows held out" in trained.record["fitted_on"]


def test_a_resumed_second_fit_is_bit_identical(tmp_path):
    frame, given = line(2000, noise=1.0), QUICK | {"C": 30.0, "gamma": 1.0, "tol": 1e-6}
    whole = train(frame, target="y", task="regression", parameters=given).record["fingerprint"]

    def stop(event):
        if event.phase == "refit":
            raise KeyboardInterrupt

    kept = {"checkpoint": tmp_path / "cp", "checkpoint_seconds": 0, "task": "regression", "target": "y"}
    with pytest.raises(KeyboardInterrupt):
        train(frame, parameters=given, **kept, callback=stop)
    assert train(frame, parameters=given, **kept, resume=True).record["fingerprint"] == whole


def test_several_quantiles():
    given = {"loss": "pinball", "quantiles": (0.1, 0.5, 0.9), "n_jobs": 1}
    trained = train(line(noise=0.5), target="y", task="regression", parameters=given)
    assert "held-out pinball losses, " in trained.record["chosen"]
    assert trained.record["validation"]["r2"] > 0.9
    new = line(1000, noise=0.5, seed=1)
    below = (new["y"].to_numpy()[:, None] <= trained.model.predict(new.drop(columns="y"))).mean(axis=0)
    np.testing.assert_allclose(below, [0.1, 0.5, 0.9], atol=0.08)


def test_without_held_out_rows_there_are_no_intervals():
    trained = train(line(), target="y", task="regression", parameters=QUICK, validate=0)
    assert trained.record["fitted_on"] == "all rows"
    assert trained.record["validation"] is None
    assert not hasattr(trained.model[-1], "calibration_scores_")


@pytest.mark.parametrize(
    ("target", "task"),
    [
        ([str(k % 3 / 7) for k in range(40)], None),  # as before: texts, and few of them
        ([k % 3 for k in range(40)], None),
        ([k % 3 / 7 for k in range(40)], "regression"),
        ([str(k * k / 7) for k in range(40)], "regression"),
        ([k * k / 7 for k in range(40)], "regression"),
        ([k * k for k in range(40)], "regression"),
    ],
)
def test_many_different_numbers_are_no_classes(target, task):
    found = train(TableSource({"x": list(range(40))}, target), parameters={"max_seconds": 5.0, "n_jobs": 1})
    assert found.record.get("task") == task


@pytest.mark.parametrize("given", [{"model": "linear"}, {"task": "classification"}])
def test_what_is_asked_for_is_not_replaced_by_regression(given):
    with pytest.raises(ValueError, match=r"too many for classes.*give task='regression'"):
        train(TableSource({"x": list(range(40))}, [k * k / 7 for k in range(40)]), **given)


def test_numbers_that_count_the_rows_are_no_target_unless_asked_for():
    counted = TableSource({"x": list(range(40))}, list(range(100, 140)))
    with pytest.raises(ValueError, match="Is it the right column"):
        train(counted)
    assert train(counted, task="regression", parameters=QUICK).record["task_because"] == "asked for"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"task": "banana"}, "task must be one of classification, regression, novelty; got 'banana'"),
        (
            {"task": "novelty", "model": "kernel"},
            r"'kernel' is for classification, not for novelty.*one-class",
        ),
        ({"task": "regression", "stream": True}, "stream: only for classification"),
        ({"task": "regression", "cost": {"false-negative": 2}}, "costs of errors: only for classification"),
        (
            {"task": "regression", "parameters": {"budget": 3}},
            "'kernel-regression' has no parameter 'budget'",
        ),
        ({"task": "regression", "parameters": {"C": -1}}, "C must be"),
    ],
)
def test_bad_requests_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        train(line(), target="y", **given)


def test_bad_targets_are_refused():
    frame = line(30)
    with pytest.raises(ValueError, match="the target is 3 in all 30 rows"):
        train(frame.assign(y=3.0), target="y", task="regression")
    with pytest.raises(ValueError, match="row 7, counted from 0, has no target"):
        train(frame.assign(y=frame["y"].where(frame.index != 7)), target="y", task="regression")
    with pytest.raises(ValueError, match="row 0, counted from 0, has the target 'red'"):
        train(frame.assign(y="red"), target="y", task="regression")
    with pytest.raises(ValueError, match="at least two rows; got 1"):
        train(frame[:1], target="y", task="regression")


@pytest.mark.parametrize("n", [2, 3, 5])
def test_tiny_tables(n):
    frame = pd.DataFrame({"a": np.arange(n) / 2.0, "y": np.arange(n) * 1.5 + 0.1})
    trained = train(frame, target="y", parameters={"n_jobs": 1})
    assert np.isfinite(trained.model.predict(frame[["a"]])).all()
    assert trained.record["task"] == "regression"


def test_an_outlier_in_the_target_does_not_stretch_the_rest():
    frame = line(noise=0.1)
    frame.loc[5, "y"] = 1e7
    trained = train(frame, target="y", parameters={"n_jobs": 1})
    new = line(seed=3)
    assert np.median(np.abs(trained.model.predict(new.drop(columns="y")) - new["y"])) < 0.2


def test_twenty_thousand_columns_end_in_time():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20_000)).astype(np.float64)
    y = X[:, :50].sum(axis=1)
    trained = train(TableSource(X, y), task="regression", parameters={"max_seconds": 4.0})
    assert trained.record["seconds"]["total"] < 30.0
    assert trained.model.predict(X).shape == (60,)


def test_many_rows_are_sampled_and_the_record_says_so(monkeypatch):
    monkeypatch.setattr("maxmargin.training.numbers.ROWS_IN_A_SECOND", 20)
    given = QUICK | {"max_seconds": 50.0}
    trained = train(line(2000, noise=0.5), target="y", task="regression", parameters=given)
    n_rows = exact_rows(25.0, trained.record["data"]["n_features_out"])
    assert n_rows < 100
    assert trained.record["fitted_on"].startswith(f"a uniform sample of {n_rows:,} rows of all rows but")
    assert "than max_seconds=50 allows" in trained.record["fitted_on"]
    assert trained.model[-1].n_support_ <= n_rows


def test_groups_are_held_out_whole():
    frame = line(400, noise=0.1).assign(site=np.arange(400) % 8)
    record = train(frame, target="y", task="regression", parameters=QUICK, group="site").record
    assert record["split"]["kind"] == "group"
    assert record["validation"]["n_rows"] == 100


def test_a_decimal_comma(tmp_path):
    frame, path = line(80), tmp_path / "german.csv"
    frame.to_csv(path, sep=";", decimal=",", index=False)
    with pytest.raises(ValueError, match="If they are numbers, give the decimal sign"):
        train(open_source(path, target="y"))
    record = train(open_source(path, target="y", decimal=","), task="regression", parameters=QUICK).record
    assert record["target_range"][0] == pytest.approx(frame["y"].min())


def test_whole_numbers_and_fractions_in_libsvm_text(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{k * k / 4:g} 1:{k} 2:{k % 3}\n" for k in range(50)))
    trained = train(open_source(path))
    assert trained.record["task"] == "regression"
    assert trained.record["data"]["options"]["kinds"] == {"label": "words"}


# ---- rows unlike the others ----


def cloud(n=400, seed=0, **more):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)} | more)


def test_novelty_needs_no_target_and_finds_what_is_far():
    trained = train(cloud(), task="novelty")
    assert task_of(trained.model) == "novelty"
    assert trained.model.predict(pd.DataFrame({"a": [0.0, 9.0], "b": [0.0, -9.0]})).tolist() == [1, -1]
    found = trained.record["validation"]
    assert found["share_interval"][0] <= 0.05 <= found["share_interval"][1] + 0.05
    assert trained.record["parameters"]["nu"] == 0.05


def test_a_novelty_model_of_many_rows_takes_a_sample(monkeypatch):
    monkeypatch.setattr("maxmargin.training.numbers.ROWS_IN_A_SECOND", 1)
    given = {"nu": 0.1, "max_seconds": 1000.0}
    fitted_on = train(cloud(), task="novelty", parameters=given).record["fitted_on"]
    assert fitted_on.startswith("a uniform sample of 99 rows of all rows; an exact fit to more takes longer")


def test_the_target_of_a_novelty_model_is_not_a_feature_and_is_not_looked_at():
    with_gaps = [None if k % 2 else "x" for k in range(400)]
    trained = train(cloud(kind=with_gaps), target="kind", task="novelty")
    assert trained.record["data"]["n_features"] == 2
    assert trained.record["fingerprint"] == train(cloud(), task="novelty").record["fingerprint"]


def test_a_classifier_is_what_it_was():
    table, y = rings(120)
    record = train(TableSource(table, y), model="linear").record
    assert "task" not in record
    assert record["data"]["class_counts"]
