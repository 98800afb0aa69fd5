"""Training on data frames, and files as pandas writes them."""

import numpy as np
import pytest
from support.command_line import running

from maxmargin import io
from maxmargin.training import train

pandas = pytest.importorskip("pandas")


def frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n)
    colour = rng.choice(["red", "blue"], n)
    yes = size + (colour == "red") + 0.5 * rng.normal(size=n) > 0.5
    return pandas.DataFrame({"size": np.round(size, 4), "colour": colour, "kind": np.where(yes, "yes", "no")})


def test_a_frame_trains_the_model_of_its_file(tmp_path):
    table = frame()
    table.to_csv(tmp_path / "a.csv", index=False)
    of_file = train(io.open_source(tmp_path / "a.csv", target="kind"), model="linear")
    of_frame = train(table, target="kind", model="linear")
    assert of_frame.record["fingerprint"] == of_file.record["fingerprint"]
    rows = table.drop(columns="kind")
    assert of_frame.model.predict(rows).tolist() == of_file.model.predict(rows).tolist()


def test_a_polars_frame_trains_it_too(tmp_path):
    polars = pytest.importorskip("polars")
    table = frame()
    of_polars = train(polars.from_pandas(table), target="kind", model="linear")
    of_pandas = train(table, target="kind", model="linear")
    assert of_polars.record["fingerprint"] == of_pandas.record["fingerprint"]


def test_a_frame_needs_a_target_that_it_has():
    with pytest.raises(ValueError, match="target="):
        train(frame())
    with pytest.raises(ValueError, match="no column 'kin'"):
        train(frame(), target="kin")
    with pytest.raises(ValueError, match="a source or a data frame"):
        train(3, target="kind")


def test_the_index_that_pandas_writes_is_left_out(tmp_path):
    table = frame()
    table.to_csv(tmp_path / "a.csv")
    source = io.open_source(tmp_path / "a.csv", target="kind")
    assert [c.name for c in source.columns] == ["size", "colour"]
    assert source.n_features == 2
    assert list(next(source.blocks()).features) == ["size", "colour"]
    again = io.open_source(tmp_path / "a.csv", **source.options())
    assert [c.name for c in again.columns] == ["size", "colour"]


def test_spreadsheet_errors_are_missing_values(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n#N/A,b\n<NA>,a\n")
    block = next(io.open_source(tmp_path / "a.csv", target="y").blocks())
    assert np.isnan(block.features["x"]).tolist() == [False, True, True]


def test_a_first_line_of_data_is_warned_of(tmp_path, capsys):
    run = running(capsys)
    rng = np.random.default_rng(0)
    lines = [f"{a:.3f},{b:.3f},{k}" for (a, b), k in zip(rng.normal(size=(60, 2)), "ab" * 30)]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    said = run("train", tmp_path / "a.csv", "--target", 2, "--model", "linear", "--out", tmp_path / "a.mm")
    assert "looks like data" in said.err
    quiet = run(
        "train",
        tmp_path / "a.csv",
        "--target",
        2,
        "--model",
        "linear",
        "--no-header",
        "--out",
        tmp_path / "b.mm",
    )
    assert "looks like data" not in quiet.err
