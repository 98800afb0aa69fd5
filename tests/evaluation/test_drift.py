"""Drift, promises, held-out groups and leaks, on tables built to have a known answer."""

import warnings

import numpy as np
import pytest
from support.command_line import running
from support.page_checks import check_page
from support.report_samples import NASTY

from maxmargin import io
from maxmargin.evaluation import drift, promise_of
from maxmargin.training import train
from maxmargin.training.leaks import LeakWarning


def write(path, columns):
    """A CSV file of named columns."""
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values()))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def rows(n, seed, moved=0.0, flipped=False):
    """Two classes that "size" decides; "moved" is added to "weight"; "plain" and "colour" are noise."""
    rng = np.random.default_rng(seed)
    yes = rng.random(n) < 0.4
    size = rng.normal(size=n) + 3.0 * (yes ^ flipped)
    return {
        "size": np.round(size, 4),
        "weight": np.round(rng.normal(size=n) + moved, 4),
        "plain": np.round(rng.normal(size=n), 4),
        "colour": rng.choice(
            ["red", "blue", "green"], n, p=[0.5, 0.3, 0.2] if not moved else [0.2, 0.3, 0.5]
        ),
        "class": np.where(yes, "yes", "no"),
    }


def opened(path):
    return io.open_source(path, target="class")


def dated(n, seed, year=2019):
    """Noise: unique values, free text, dates."""
    rng = np.random.default_rng(seed)
    words = np.array(["late", "parcel", "refund", "box", "broken", "thanks"])
    days = np.datetime64(f"{year}-01-01") + rng.integers(0, 700, n)
    return {
        "key": [f"k{k}" for k in rng.integers(0, 10**9, n)],
        "note": [" ".join(rng.choice(words, 6)) + f" {k}" for k in rng.integers(0, 10**6, n)],
        "day": days.astype(str),
        "class": rng.choice(["yes", "no"], n),
    }


def test_values_that_occur_once_do_not_tell_files_apart(tmp_path):
    old, new = write(tmp_path / "old.csv", dated(900, 2)), write(tmp_path / "new.csv", dated(900, 3))
    found = drift(opened(old), opened(new))
    assert not found.found
    assert 0.4 < found.auc < 0.6


@pytest.mark.parametrize("year", [2014, 2024])
def test_dates_that_moved_by_years_are_found(year, tmp_path):
    old, new = write(tmp_path / "old.csv", dated(300, 2)), write(tmp_path / "new.csv", dated(300, 3, year))
    found = drift(opened(old), opened(new))
    (moved,) = found.columns
    assert (moved.name, moved.kind, moved.statistic) == ("day", "date", 1.0)
    assert moved.old[:4] in ("2019", "2020")
    assert moved.new[:4] in (str(year), str(year + 1))
    assert found.auc > 0.95


def test_equally_frequent_categories_that_moved_are_told_apart(tmp_path):
    old = write(tmp_path / "old.csv", {"colour": ["red"] * 300 + ["blue"] * 100, "class": ["a", "b"] * 200})
    new = write(tmp_path / "new.csv", {"colour": ["red"] * 100 + ["blue"] * 300, "class": ["a", "b"] * 200})
    assert drift(opened(old), opened(new)).auc > 0.7


def test_the_columns_that_moved_are_named_and_no_others(tmp_path):
    old, new = write(tmp_path / "old.csv", rows(1500, 2)), write(tmp_path / "new.csv", rows(1000, 3, 0.7))
    found = drift(opened(old), opened(new))
    assert {c.name for c in found.columns} == {"weight", "colour"}
    assert found.n_moved == 2
    assert found.auc_interval[0] > 0.6
    weight = next(c for c in found.columns if c.name == "weight")
    assert weight.statistic == pytest.approx(0.27, abs=0.06)  # 2 Phi(0.35) - 1
    colour = next(c for c in found.columns if c.name == "colour")
    assert colour.statistic == pytest.approx(0.3, abs=0.06)


def test_files_that_are_alike_have_not_moved(tmp_path):
    found = [
        drift(
            opened(write(tmp_path / f"{seed}.csv", rows(400, seed))),
            opened(write(tmp_path / f"{seed}b.csv", rows(400, seed + 50))),
        )
        for seed in range(4)
    ]
    assert [each.n_moved for each in found] == [0, 0, 0, 0]
    assert sum(each.auc_interval[0] > 0.5 for each in found) <= 1


def test_missing_values_are_a_difference(tmp_path):
    old, new = rows(800, 0), rows(800, 1)
    new["plain"] = np.where(np.arange(800) % 4 == 0, "", new["plain"])
    found = drift(opened(write(tmp_path / "a.csv", old)), opened(write(tmp_path / "b.csv", new)))
    assert [c.name for c in found.columns] == ["plain"]
    assert found.columns[0].missing_new == 0.25


def test_a_promise_is_kept_or_not():
    record = {"validation": {"n_rows": 100, "n_errors": 2}}
    assert not promise_of(record, 493, 1000).kept
    assert "below what validation promised" in promise_of(record, 493, 1000).text
    assert promise_of(record, 35, 1000).kept
    assert promise_of({}, 1, 10) is None


def test_evaluate_and_report_say_that_the_rows_are_others(tmp_path, capsys):
    run = running(capsys)
    names = {"class": "class"} | {name: NASTY[k] for k, name in enumerate(("weight", "plain"))}
    old, new = ({names.get(n, n): v for n, v in t.items()} for t in (rows(500, 0), rows(400, 1, 1.0, True)))
    train_file, test_file = write(tmp_path / "old.csv", old), write(tmp_path / "new.csv", new)
    assert (
        run(
            "train",
            train_file,
            "--target",
            "class",
            "--model",
            "sparse-kernel",
            "--budget",
            8,
            "--out",
            tmp_path / "m.mm",
        ).code
        == 0
    )
    said = run("evaluate", tmp_path / "m.mm", test_file)
    assert "below what validation promised" in said.err
    assert "Columns that moved" in said.out
    document = run("evaluate", tmp_path / "m.mm", test_file, "--json").json
    assert not document["promise"]["kept"]
    assert {c["name"] for c in document["drift"]["columns"]} >= {NASTY[0], "colour"}
    assert run("report", tmp_path / "m.mm", test_file, "--out", tmp_path / "m.html").code == 0
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    check_page(page)
    assert 'class="alarm"' in page
    assert 'id="drift"' in page
    alike = write(tmp_path / "alike.csv", {names.get(n, n): v for n, v in rows(400, 3).items()})
    assert run("evaluate", tmp_path / "m.mm", alike, "--json").json["drift"] is None
    assert run("report", tmp_path / "m.mm", alike, "--out", tmp_path / "m.html").code == 0
    assert 'class="alarm"' not in (tmp_path / "m.html").read_text(encoding="utf-8")


def test_groups_stay_together_and_the_copying_is_found_out(tmp_path):
    """Every group has its own noise and its own class: rows of a group held out singly are too easy."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(60), 10)
    mark, label = rng.normal(size=(60, 3))[group], (rng.random(60) < 0.5)[group]
    mark = mark + 0.01 * rng.normal(size=mark.shape)
    table = {f"x{j}": np.round(mark[:, j], 4) for j in range(3)}
    table |= {"patient": [f"p{g}" for g in group], "class": np.where(label, "yes", "no")}
    path = write(tmp_path / "groups.csv", table)
    parameters = {"model": "kernel", "parameters": {"gamma": 30.0, "C": 100.0}}
    singly = train(io.open_source(path, target="class", drop=["patient"]), **parameters)
    whole = train(opened(path), group="patient", **parameters)
    assert singly.record["validation"]["accuracy"] > 0.95
    assert whole.record["validation"]["accuracy"] < 0.8
    assert whole.record["split"]["text"].startswith("12 of 60 groups of 'patient' (120 of 600 rows)")
    assert whole.record["data"]["n_features"] == 3
    assert whole.record["data"]["options"]["drop"] == ["patient"]


def test_the_latest_rows_are_held_out(tmp_path, capsys):
    table = rows(400, 0)
    days = np.datetime64("2024-01-01") + np.random.default_rng(1).permutation(400)
    table["day"] = days.astype(str)
    late = days >= np.sort(days)[320]
    table["class"] = np.where(late, np.where(table["class"] == "yes", "no", "yes"), table["class"])
    path = write(tmp_path / "t.csv", table)
    run = running(capsys)
    said = run(
        "train",
        path,
        "--target",
        "class",
        "--time",
        "day",
        "--model",
        "sparse-kernel",
        "--budget",
        5,
        "--out",
        tmp_path / "t.mm",
    )
    assert said.code == 0, said.err
    record = io.read_record(tmp_path / "t.mm")
    assert record["validation"]["accuracy"] < 0.2  # the latest rows have the opposite classes
    assert record["validation"]["n_rows"] == 80
    assert f"from {np.sort(days)[320]} on" in said.out
    assert run("evaluate", tmp_path / "t.mm", path).code == 0


def test_leaks_are_warned_of(tmp_path):
    table = rows(400, 0)
    table["customer"] = np.arange(400) + 1000
    table["outcome"] = np.where(table["class"] == "yes", "won", "lost")
    for name in ("size", "weight", "plain", "colour"):  # every fourth row is there twice
        table[name][1::4] = table[name][::4]
    table["class"][1::4] = table["class"][::4]
    table["outcome"] = np.where(table["class"] == "yes", "won", "lost")
    path = write(tmp_path / "leak.csv", table)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with_all = train(opened(path), model="sparse-kernel", parameters={"budget": 5})
        source = io.open_source(path, target="class", drop=["customer", "outcome"])
        without = train(source, model="sparse-kernel", parameters={"budget": 5})
    said = [str(w.message) for w in caught if isinstance(w.message, LeakWarning)]
    assert any("'customer' numbers the rows" in text for text in said)
    assert any("'outcome' alone predicts the target" in text for text in said)
    assert (with_all.record["leaks"]["ids"], with_all.record["leaks"]["target_copies"]) == (
        ["customer"],
        ["outcome"],
    )
    leaks = without.record["leaks"]
    assert leaks["ids"] == leaks["target_copies"] == []
    assert 0.2 < leaks["share_of_copies"] < 0.6
    assert any("are copies of training rows" in text for text in said)


def test_a_sound_table_has_no_warning(tmp_path):
    trained = train(
        opened(write(tmp_path / "a.csv", rows(400, 0))), model="sparse-kernel", parameters={"budget": 5}
    )
    assert trained.record["leaks"] == {"ids": [], "target_copies": []}


def test_ids_are_carried_through_predict(tmp_path, capsys):
    run = running(capsys)
    table = rows(120, 0)
    table["who"] = [f'"a,{i}"' for i in range(120)]
    path = write(tmp_path / "a.csv", table)
    made = run(
        "train", path, "--target", "class", "--id", "who", "--drop", "plain", "--out", tmp_path / "a.mm"
    )
    assert made.code == 0, made.err
    assert io.read_record(tmp_path / "a.mm")["data"]["n_features"] == 3
    lines = run("predict", tmp_path / "a.mm", path).out.splitlines()
    assert lines[0] == "who,prediction"
    assert lines[5].startswith('"a,4",')
    bare = write(tmp_path / "b.csv", {n: v for n, v in table.items() if n not in ("who", "plain", "class")})
    assert run("predict", tmp_path / "a.mm", bare).out.splitlines()[0] == "prediction"
    rows_json = run("predict", tmp_path / "a.mm", path, "--json").json
    assert rows_json["columns"] == ["who", "prediction"]
    assert rows_json["rows"][4][0] == "a,4"
    wrong = run("train", path, "--target", "class", "--drop", "plane", "--out", tmp_path / "c.mm")
    assert wrong.code == 1
    assert "'plain'" in wrong.err
