"""Models as ONNX graphs: onnxruntime predicts what the model predicts."""

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, PolynomialFeatures, StandardScaler
from support.saved_models import EVERY, WORDS, data, quiet, special

import maxmargin as mm
from maxmargin import kernels
from maxmargin.io import to_onnx
from maxmargin.table.preparation import TablePreparation

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

NOT_EXPORTED = {"probabilistic", "coupling", "table", "search without refit"}


def run(model, X, **options):
    session = runtime.InferenceSession(to_onnx(model, **options).SerializeToString())
    (given,) = session.get_inputs()
    dtype = {"tensor(double)": np.float64, "tensor(float)": np.float32}[given.type]
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": np.asarray(X, dtype=dtype)})))


def assert_agree(model, X, rtol=1e-9, **options):
    found = run(model, X, **options)
    if "features" in found:
        expected = model.transform(X)
        assert np.abs(found["features"] - expected).max() <= rtol * np.abs(expected).max()
        return found
    if "prediction" in found:
        expected = model.predict(X)
        assert found["prediction"].shape == expected.shape
        assert np.abs(found["prediction"] - expected).max() <= rtol * np.abs(expected).max()
        return found
    scores = model.decision_function(X)
    assert found["scores"].shape == scores.shape
    assert np.abs(found["scores"] - scores).max() <= rtol * np.abs(scores).max()
    labels = model.predict(X)
    inside = np.abs(scores) > rtol * np.abs(scores).max() if hasattr(model, "offset_") else slice(None)
    np.testing.assert_array_equal(found["label"].astype(labels.dtype)[inside], labels[inside])
    if "probabilities" in found:
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=max(rtol, 1e-9))
    return found


@pytest.mark.parametrize("form", [(2, "float64", "dense"), (3, "float32", "csr")], ids=str)
@pytest.mark.parametrize("name", EVERY)
def test_every_estimator_is_exported(name, form):
    X, y = data(*form)
    model = quiet(lambda: EVERY[name]().fit(X, y))
    rows = data(form[0], form[1], "dense")[0]
    assert_agree(model, rows, rtol=1e-5 if form[1] == "float32" else 1e-9)


@pytest.mark.parametrize("name", sorted(set(special()) - NOT_EXPORTED))
def test_every_part_of_a_model_is_exported(name):
    model, (X, _) = quiet(special()[name]), data()
    single = name in ("numbers", "sparse table", "sparse scaled", "columns of tables")
    assert_agree(model, X @ X.T if "precomputed" in name else X, rtol=1e-5 if single else 1e-9)


@pytest.mark.parametrize(
    "name", ["isotonic two", "probabilistic two", "calibrated rest", "sparse log", "sparse hinge"]
)
def test_probabilities_are_exported(name):
    found = assert_agree(quiet(special()[name]), data(2 if "two" in name else 3)[0])
    assert "probabilities" in found


@pytest.mark.parametrize("code", ["one-vs-one", "one-vs-rest", "exhaustive"])
@pytest.mark.parametrize(
    "decoder", ["margins", "votes", "hamming", "hinge", "squared-hinge", "log", "perceptron", "squared"]
)
def test_codes_and_fixed_decoders(code, decoder):
    X, y = data()
    assert_agree(mm.KernelSVC(code=code, decoder=decoder).fit(X, y), X)


def test_isotonic_curves_between_and_beyond_the_knots():
    X, y = data(2)
    model = mm.CalibratedSVC(method="isotonic", cv=3).fit(X, y)
    rng = np.random.default_rng(0)
    assert_agree(model, rng.standard_normal((200, 4)) * 3.0)


@pytest.mark.parametrize("fill", [0, 1.5, None])
def test_missing_values_filled_by_an_imputer(fill):
    X, y = data()
    X = X.copy()
    X[::5, 1] = np.nan
    imputer = SimpleImputer() if fill is None else SimpleImputer(strategy="constant", fill_value=fill)
    assert_agree(make_pipeline(imputer, mm.LinearSVC()).fit(X, y), X)


def test_missing_values_in_numeric_tables():
    X, y = data()
    X = X.copy()
    X[::5, 1] = np.nan
    table = TablePreparation(dtype="float64")
    assert_agree(Pipeline([("table", table), ("model", mm.LinearSVC())]).fit(X, y), X)


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_steps_with_options(norm):
    X, y = data()
    scaler = MinMaxScaler(feature_range=(-1.0, 2.0), clip=True)
    model = make_pipeline(scaler, Normalizer(norm), mm.LinearSVC()).fit(X[:40], WORDS[y[:40]])
    assert_agree(model, 3.0 * X)


def test_far_from_the_origin_and_single_input(tmp_path):
    X, y = data()
    model = mm.KernelSVC(gamma=0.5).fit(X + 1e4, y)
    assert_agree(model, X + 1e4, rtol=1e-6)
    near = mm.KernelSVC().fit(X, y)
    assert_agree(
        near, X.astype(np.float32).astype(np.float64), rtol=1e-9, dtype="float32", path=tmp_path / "m.onnx"
    )
    onnx.checker.check_model(str(tmp_path / "m.onnx"))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: special()["coupling"](), "decoder 'coupling' cannot be written"),
        (lambda: special()["probabilistic"](), "decoder 'probabilistic' cannot be written"),
        (lambda: special()["table"](), "table with categorical columns .*colour"),
        (lambda: mm.KernelSVC(kernel=lambda X, Z: X @ Z.T).fit(*data()), "FromFunction"),
        (lambda: make_pipeline(PolynomialFeatures(), mm.LinearSVC()).fit(*data()), "PolynomialFeatures"),
        (lambda: make_pipeline(StandardScaler()).fit(*data()), "estimators of maxmargin"),
        (
            lambda: mm.KernelSVC(kernel=2.0 * kernels.FromFunction(lambda X, Z: X @ Z.T)).fit(*data()),
            "FromFunction",
        ),
    ],
)
def test_models_without_a_formula_are_refused(make, match):
    with pytest.raises(ValueError, match=match):
        to_onnx(quiet(make))


def test_wrong_types_are_refused():
    with pytest.raises(ValueError, match="dtype must be"):
        to_onnx(mm.LinearSVC().fit(*data()), dtype="int8")
