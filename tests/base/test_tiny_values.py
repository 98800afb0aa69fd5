"""Values whose squares underflow: what a fit does with them does not depend on NumPy's error state."""

import numpy as np
import pytest
from support.saved_models import EVERY, data, quiet


def outcome(name, X, y):
    """Answers about the rows, or the sentence of a refusal."""

    def run():
        try:
            model = EVERY[name]()
            model = (model.set_params(random_state=0) if hasattr(model, "random_state") else model).fit(X, y)
        except ValueError as error:
            return str(error)
        return [
            getattr(model, m)(X) for m in ("decision_function", "predict", "transform") if hasattr(model, m)
        ]

    return quiet(run)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("size", [1e-160, 1e-300])
def test_underflow_raises_nothing(name, size):
    X, y = data()
    expected = outcome(name, X * size, y)
    with np.errstate(all="raise"):
        found = outcome(name, X * size, y)
    if isinstance(expected, str):
        assert found == expected
        assert "cale the features" in found
    else:
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("name", [name for name in EVERY if hasattr(EVERY[name](), "gamma")])
def test_a_gamma_in_numbers_fits_tiny_values(name):
    X, y = data()
    with np.errstate(all="raise"):
        model = quiet(lambda: EVERY[name]().set_params(kernel="rbf", gamma=1e300).fit(X * 1e-160, y))
        answers = model.transform if name == "KernelEigenMap" else model.predict
        assert len(quiet(lambda: answers(X * 1e-160))) == len(y)
