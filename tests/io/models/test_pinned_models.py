"""Files written by earlier versions are loaded and predict what they did then."""

import numpy as np
import pytest
from support.pinned_models import FOLDER, MAKERS, answers

from maxmargin.archive import archive
from maxmargin.io import load, read_record

SINGLE = ("csr", "table")  # of rows in single precision, whose sums processors round differently


def test_every_kind_of_model_is_pinned_in_this_format():
    assert {path.stem for path in FOLDER.glob("*.mm")} == set(MAKERS)
    assert FOLDER.name == f"version-{archive.VERSION}"


@pytest.mark.parametrize("name", MAKERS)
def test_a_pinned_model_predicts_the_same(name):
    model = load(FOLDER / f"{name}.mm")
    assert read_record(FOLDER / f"{name}.mm") == {"name": name}
    found = answers(model, name)
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as file:
        expected = dict(file)
    assert set(found) == set(expected)
    for method, values in expected.items():
        if values.dtype.kind == "f" and method != "predict":
            atol = (1e-5 if name in SINGLE else 1e-9) * np.abs(values).max()
            np.testing.assert_allclose(found[method], values, rtol=0.0, atol=atol)
        else:
            np.testing.assert_array_equal(found[method], values)
