"""Training and predicting on a cluster of real processes: the bits of training in passes on one machine."""

import numpy as np
import pytest
from distributed import Client, LocalCluster

from maxmargin.evaluation import evaluate, predictions
from maxmargin.io import open_source
from maxmargin.table.preparation import TableWarning
from maxmargin.training import from_file, train

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def client():
    options = {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1", "silence_logs": 50}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def files(tmp_path):
    """Three files, the last of them with a colour and a missing value that the others do not have."""
    rng = np.random.default_rng(0)
    for k in range(3):
        X = rng.normal(size=(150 + 40 * k, 2))
        lines = ["a,b,colour,kind"]
        for i, (a, b) in enumerate(X):
            colour = "green" if k == 2 and i % 7 == 0 else "red" if b > 0 else "blue"
            lines.append(
                f"{a:.4f},{'' if k == 2 and i == 5 else f'{b:.4f}'},{colour},{'in' if a * b > 0 else 'out'}"
            )
        (tmp_path / f"rows{k}.csv").write_text("\n".join(lines) + "\n")
    return str(tmp_path / "rows*.csv")


@pytest.mark.usefixtures("patient_clock")
@pytest.mark.parametrize(
    ("model", "parameters", "persist"),
    [
        ("sparse-kernel", {"budget": 8, "alpha": 1e-3}, False),
        ("sparse-kernel", {"budget": 8, "alpha": 1e-3}, True),
        ("linear", {"loss": "log"}, False),
        ("linear", {"loss": "log"}, True),
        ("auto", {"budget": 6, "max_seconds": 3.0, "cv": 2}, False),  # it chooses one of the others
    ],
)
def test_the_model_has_the_bits_of_passes_on_one_machine(
    client, files, monkeypatch, model, parameters, persist
):
    options = {"model": model, "parameters": parameters, "block_rows": 64}
    there = train(open_source(files, target="kind"), **options, client=client, persist=persist)
    monkeypatch.setattr(from_file, "ROWS_MEMORY_SHARE", 1e-9)  # so that the rows do not fit
    here = train(open_source(files, target="kind"), **options)
    assert "passes" in here.record["fitted_on"]
    assert there.record["fingerprint"] == here.record["fingerprint"]
    assert there.record["validation"] == here.record["validation"]
    source = open_source(files, target="kind")
    with pytest.warns(TableWarning, match=r"'b' \(1 rows\)"):
        mine, theirs = (list(predictions(here.model, source, client=each)) for each in (None, client))
    assert [part.labels.tolist() for part in mine] == [part.labels.tolist() for part in theirs]
    here, there = (evaluate(there.model, source, client=each).as_dict() for each in (None, client))
    assert here | {"seconds": 0} == there | {"seconds": 0}
    assert here["n_rows"] == 570
    assert here["notes"]
    wrong = [mistake["row"] for mistake in here["mistakes"]]
    assert model == "auto" or max(wrong) > 150  # counted over all files; auto has no mistake


def test_what_is_not_fitted_in_passes_is_refused(files):
    client = object()  # it is refused before anything is asked of the cluster
    with pytest.raises(ValueError, match="sparse-kernel, or linear with loss=squared-hinge or log"):
        train(open_source(files, target="kind"), model="linear", client=client)
