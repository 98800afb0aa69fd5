"""Training on all rows of a file that memory does not hold."""

import numpy as np
import pandas as pd
import pytest
from support.rings import rings

from maxmargin import io
from maxmargin.table import TablePreparation
from maxmargin.training import train
from maxmargin.training.all_rows import PreparedBlocks
from maxmargin.training.in_memory import Request
from maxmargin.training.models import model_kind

QUICK = {"budget": 20, "alpha": 1e-3, "n_jobs": 1}
N_ROWS = 3000


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A CSV file whose rows do not fit into what training may use."""
    monkeypatch.setattr("maxmargin.training.from_file.ROWS_MEMORY_SHARE", 0.0005)
    table, y = rings(N_ROWS)
    path = tmp_path / "rings.csv"
    pd.DataFrame({**table, "kind": y}).to_csv(path, index=False)
    return path


def trained_on(file, **options):
    given = {"model": "sparse-kernel", "parameters": QUICK, "memory_mb": 64, "block_rows": 400} | options
    return train(io.open_source(file, target="kind"), **given)


def test_all_rows_are_trained_on_in_passes(file):
    trained = trained_on(file)
    model, record = trained.model["model"], trained.record
    assert model.n_rows_ == N_ROWS
    assert record["fitted_on"] == f"all rows, in {model.n_passes_} passes over the file"
    assert record["data"]["n_rows_kept"] == N_ROWS
    assert record["gap"] == model.dual_gap_ <= 1e-3
    assert record["validation"]["n_rows"] == pytest.approx(N_ROWS / 5, abs=3)  # all that are held out
    table, y = rings(400, seed=1)
    assert (trained.model.predict(pd.DataFrame(table)) == y).mean() > 0.93


def test_held_out_rows_are_not_trained_on(file):
    trained = trained_on(file, refit=False)
    held_out = trained.record["validation"]["n_rows"]
    assert trained.model["model"].n_rows_ == N_ROWS - held_out
    assert trained.record["fitted_on"].startswith("all rows but those held out, in ")


def test_parts_of_a_file_are_all_of_it(file):
    source, preparation = io.open_source(file, target="kind"), TablePreparation()
    for block in source.blocks():
        preparation.partial_fit(block)
    request = Request(model_kind("sparse-kernel"), {}, 0, 64, 0.25, True, None, 30.0, False, 170)
    sizes = {}
    for part in ("all", "training", "held-out"):
        rows = [block.X for block in PreparedBlocks(source, preparation, request, part).blocks()]
        sizes[part] = {tuple(row) for row in np.vstack(rows).tolist()}
    assert sizes["training"] | sizes["held-out"] == sizes["all"]
    assert not sizes["training"] & sizes["held-out"]


def test_other_models_and_sample_use_a_sample(file):
    for options in (
        {"sample": True},
        {"model": "linear", "parameters": {}},
        {"parameters": QUICK | {"loss": "hinge"}},
    ):
        assert trained_on(file, **options).record["fitted_on"].startswith("a uniform sample of ")


def test_auto_chooses_on_a_sample_and_fits_all_rows(file):
    trained = trained_on(file, model="auto", parameters={"budget": 12, "cv": 2, "n_jobs": 1})
    model, record = trained.model["model"], trained.record
    assert type(model.estimator_).__name__ == "SparseKernelClassifier"
    assert model.n_rows_ == N_ROWS
    assert record["fitted_on"] == f"all rows, in {model.n_passes_} passes over the file"
    assert record["gap"] == model.dual_gap_ <= 1e-3
    assert record["chosen"] == model.choice_


def test_a_file_that_fits_is_kept_in_memory(file, monkeypatch):
    monkeypatch.setattr("maxmargin.training.from_file.ROWS_MEMORY_SHARE", 0.4)
    assert trained_on(file).record["fitted_on"] == "all rows"


def test_resumed_training_in_passes_is_bit_identical(file, tmp_path):
    want = trained_on(file).model["model"]

    class Broken(Exception):
        pass

    def break_off(event):
        if event.phase == "refit" and event.done >= 5:
            raise Broken

    path = tmp_path / "model.checkpoint"
    with pytest.raises(Broken):
        trained_on(file, checkpoint=path, checkpoint_seconds=0, callback=break_off)
    again = trained_on(file, checkpoint=path, resume=True).model["model"]
    assert again.dual_coef_.tobytes() == want.dual_coef_.tobytes()
