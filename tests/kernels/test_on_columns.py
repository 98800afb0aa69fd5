"""A kernel of some columns: its values, what it refuses, and models with sums of such kernels."""

import numpy as np
import pytest
import scipy.sparse as sp
from support.kernel_cases import rows

import maxmargin
from maxmargin import KernelSVC, SparseKernelClassifier
from maxmargin.kernels import RBF, Laplacian, Linear, OnColumns, Polynomial

KERNEL = 0.25 * OnColumns(RBF(0.4), [3, 0]) + 0.75 * OnColumns(Laplacian(0.2), (1, 2))


@pytest.mark.parametrize("inner", [RBF(0.4), Linear(), Polynomial(2, gamma=0.5, coef0=1.0)])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_the_values_are_those_of_the_columns(inner, convert):
    X, Z, own = rows(7, 5, seed=0), rows(4, 5, seed=1), [4, 1]
    kernel = OnColumns(inner, own)
    np.testing.assert_allclose(kernel(convert(X), convert(Z)), inner(X[:, own], Z[:, own]), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(convert(X)), inner.diagonal(X[:, own]), rtol=1e-12)
    A = rows(4, 3, seed=2)
    np.testing.assert_allclose(kernel.matmul(convert(X), convert(Z), A), kernel(X, Z) @ A, rtol=1e-12)


def test_a_word_is_resolved_from_the_columns():
    X = rows(30, 4) * [1.0, 1.0, 100.0, 100.0]
    kernel = OnColumns(RBF("scale"), [0, 1]).resolve(X, np.random.default_rng(0))
    assert kernel.kernel == RBF("scale").resolve(X[:, :2], np.random.default_rng(0))


@pytest.mark.parametrize("wrong", [[], [0.5], [-1], [1, 1], "ab", 3])
def test_wrong_columns_are_refused(wrong):
    with pytest.raises(ValueError, match="columns must be"):
        OnColumns(Linear(), wrong)


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="column 5, but X has 3"):
        OnColumns(Linear(), [5])(rows(2, 3))


@pytest.mark.parametrize(
    "model", [KernelSVC(kernel=KERNEL), SparseKernelClassifier(20, kernel=KERNEL, random_state=0)]
)
def test_models_certificates_and_files(model, tmp_path):
    X = rows(120, 4)
    y = (X[:, 0] * X[:, 3] > X[:, 1]).astype(int)
    model.fit(X, y)
    assert model.dual_gap_ <= model.tol
    assert model.score(X, y) > 0.85
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    maxmargin.save(model, tmp_path / "model.npz")
    again = maxmargin.load(tmp_path / "model.npz")
    assert again.kernel_ == model.kernel_
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_onnx_gives_the_same_outputs():
    pytest.importorskip("onnx")
    reference = pytest.importorskip("onnx.reference")
    X = rows(60, 4)
    model = KernelSVC(kernel=KERNEL).fit(X, X[:, 0] > X[:, 1] * X[:, 2])
    session = reference.ReferenceEvaluator(maxmargin.io.to_onnx(model))
    outputs = session.run(None, {session.input_names[0]: X})
    np.testing.assert_array_equal(outputs[0].ravel(), model.predict(X))
