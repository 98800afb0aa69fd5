"""``AutoSVC`` on rows with few possible values, and its full metric."""

import numpy as np
import pytest

import maxmargin
from maxmargin import AutoSVC


def patterns(n, seed):
    """Rows with few possible values, whose labels are right four times in five."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, 5)).astype(float)
    y = (X.sum(axis=1) > 2).astype(int)
    return X, np.where(rng.random(n) < 0.2, 1 - y, y)


def test_held_out_error_of_discrete_rows_is_that_of_new_rows():
    model = AutoSVC(random_state=0).fit(*patterns(300, 0))
    new = 1.0 - model.score(*patterns(5000, 1))
    assert np.nanmin(model.candidates_["loss"]) == pytest.approx(new, abs=0.05)


def test_weights_equal_repetitions_of_discrete_rows():
    X, y = patterns(150, 0)
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = AutoSVC(random_state=0).fit(X, y, sample_weight=weight)
    repeated = AutoSVC(random_state=0).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


def test_a_full_metric_combines_columns(tmp_path):
    def turned(n, seed):
        X = np.random.default_rng(seed).normal(size=(n, 6))
        turn = np.linalg.qr(np.random.default_rng(9).normal(size=(6, 6)))[0]
        return X, (np.sin(4.0 * (X @ turn)[:, 0]) > 0).astype(int)

    X, y = turned(300, 0)
    model = AutoSVC(random_state=0, learn_metric="full").fit(X, y)
    assert "full metric is accepted" in model.choice_
    assert model.scaling_.rotation.shape == (6, 6)
    assert model.score(*turned(2000, 1)) > AutoSVC(random_state=0).fit(X, y).score(*turned(2000, 1))
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(maxmargin.importance(model, X).sum(), 1.0)
    maxmargin.save(model, tmp_path / "model.mm")
    np.testing.assert_array_equal(
        maxmargin.load(tmp_path / "model.mm").predict_proba(X), model.predict_proba(X)
    )
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(maxmargin.io.to_onnx(model).SerializeToString())
    (scores,) = session.run(["scores"], {"X": X})
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-6)
