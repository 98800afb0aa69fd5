"""The importance of columns: against differences of outputs, through pipelines, for every model."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import maxmargin as mm
from maxmargin import importance
from maxmargin.table import TablePreparation

N, D = 150, 5


def data(n_classes=3, seed=0):
    """Classes that depend on columns 0 and 3, which have very different scales."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)) * np.array([1.0, 1.0, 1.0, 100.0, 1.0])
    score = X[:, 0] + X[:, 3] / 100 + 0.1 * rng.normal(size=N)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


SCALED = np.array([1.0, 1.0, 1.0, 0.01, 1.0])
MODELS = {
    "KernelSVC": lambda: mm.KernelSVC(),
    "KernelSVR": lambda: mm.KernelSVR(loss="pinball", quantiles=(0.2, 0.6)),
    "SparseKernelRegressor": lambda: mm.SparseKernelRegressor(15, loss="huber", random_state=0),
    "exponential": lambda: mm.KernelSVC(kernel="exponential"),
    "laplacian": lambda: mm.KernelSVC(kernel="laplacian", code="one-vs-rest"),
    "polynomial": lambda: mm.KernelSVC(kernel="polynomial", degree=2, coef0=1.0),
    "linear": lambda: mm.KernelSVC(kernel="linear"),
    "SparseKernelClassifier": lambda: mm.SparseKernelClassifier(15, random_state=0),
    "TopKSVC": lambda: mm.TopKSVC(k=1, kernel="rbf"),
    "TopKSVC linear": lambda: mm.TopKSVC(k=1),
    "AllPairsSVC": lambda: mm.AllPairsSVC(),
    "LagrangianSVC": lambda: mm.LagrangianSVC(kernel="rbf"),
    "LagrangianSVC eigen": lambda: mm.LagrangianSVC(kernel="rbf", n_components=20, random_state=0),
    "LagrangianSVC linear": lambda: mm.LagrangianSVC(),
    "LinearProgramSVC": lambda: mm.LinearProgramSVC(),
    "LinearProgramSVC kernel": lambda: mm.LinearProgramSVC(kernel="rbf"),
    "LinearProgramSVC eigen": lambda: mm.LinearProgramSVC(kernel="rbf", features="eigen", n_components=9),
    "LinearProgramSVC joint": lambda: mm.LinearProgramSVC(kernel="rbf", multi_class="joint"),
    "LaSVM": lambda: mm.LaSVM(random_state=0),
    "KernelPerceptron": lambda: mm.KernelPerceptron(random_state=0),
    "BudgetPerceptron": lambda: mm.BudgetPerceptron(random_state=0),
    "KernelPegasos": lambda: mm.KernelPegasos(random_state=0),
    "KernelMatchingPursuit": lambda: mm.KernelMatchingPursuit(10, random_state=0),
    "LinearSVC": lambda: mm.LinearSVC(),
    "LinearSVR": lambda: mm.LinearSVR(),
    "LeastSquaresClassifier": lambda: mm.LeastSquaresClassifier(),
}


def by_differences(model, X, h=1e-6):
    """Shares from differences of the outputs of the columns."""
    shares = np.empty(X.shape[1])
    for k in range(X.shape[1]):
        step = h * np.eye(X.shape[1])[k]
        slope = (model._column_outputs(X + step) - model._column_outputs(X - step)) / (2 * h)
        shares[k] = (slope**2).sum() * X[:, k].var()
    return shares / shares.sum()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_shares_equal_differences_of_the_outputs(name, n_classes):
    X, y = data(n_classes)
    model = MODELS[name]().fit(X * SCALED, y)
    new = data(seed=1)[0] * SCALED
    shares = importance(model, new)
    np.testing.assert_allclose(shares, by_differences(model, new), atol=1e-5)
    assert shares.sum() == pytest.approx(1.0)
    own = model.feature_importances_
    assert own.shape == (D,)
    assert own.sum() == pytest.approx(1.0)
    assert set(np.argsort(own)[-2:]) == {0, 3}
    if hasattr(model, "support_vectors_"):
        np.testing.assert_allclose(own, importance(model, model.support_vectors_), rtol=1e-12)


def test_own_importances_are_computed_once_a_fit_and_not_stored_in_files(tmp_path, monkeypatch):
    X, y = data()
    model = mm.KernelSVC().fit(X * SCALED, y)
    first = model.feature_importances_
    calls = []
    monkeypatch.setattr(
        "maxmargin.base.importance.importances_at", lambda *a: calls.append(a) or np.ones(D) / D
    )
    np.testing.assert_array_equal(model.feature_importances_, first)
    model.feature_importances_[:] = -1.0  # a copy
    np.testing.assert_array_equal(model.feature_importances_, first)
    assert not calls
    mm.save(model, tmp_path / "model.mm")
    loaded = mm.load(tmp_path / "model.mm")
    assert loaded.feature_importances_.tolist() == [1 / D] * D
    model.fit(X, y)
    assert model.feature_importances_.tolist() == [1 / D] * D
    assert len(calls) == 2


def test_scalers_and_searches_pass_importance_on():
    X, y = data()
    for scaler in (StandardScaler(), MaxAbsScaler()):
        pipeline = make_pipeline(scaler, mm.KernelSVC()).fit(X, y)
        np.testing.assert_allclose(importance(pipeline, X), importance(pipeline[-1], scaler.transform(X)))
        assert set(np.argsort(importance(pipeline, X))[-2:]) == {0, 3}
    pipeline = make_pipeline(StandardScaler(), "passthrough", mm.CalibratedSVC(cv=3)).fit(X, y)
    np.testing.assert_array_equal(
        importance(pipeline, X), importance(pipeline[-1].estimator_, pipeline[0].transform(X))
    )
    calibrated = mm.CalibratedSVC(cv=3).fit(X, y)
    np.testing.assert_array_equal(calibrated.feature_importances_, calibrated.estimator_.feature_importances_)
    search = GridSearchCV(make_pipeline(StandardScaler(), mm.KernelSVC()), {"kernelsvc__C": [1.0]}, cv=2).fit(
        X, y
    )
    np.testing.assert_array_equal(importance(search, X), importance(search.best_estimator_, X))
    path = mm.PathCV(mm.KernelSVC(gamma=0.1), Cs=[1.0], cv=2).fit(X, y)
    np.testing.assert_array_equal(importance(path, X), importance(path.best_estimator_, X))
    codes = mm.OutputCodeClassifier(make_pipeline(StandardScaler(), mm.KernelSVC()), code="one-vs-rest").fit(
        X, y
    )
    columns = [importance(column, X) for column in codes.estimators_]
    np.testing.assert_allclose(importance(codes, X), np.mean(columns, axis=0))


def test_indicators_count_for_their_column():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"noise": rng.normal(size=300), "word": rng.choice(list("abc"), 300), "twice": np.arange(300.0)}
    )
    y = (table["word"] == "b").to_numpy()
    pipeline = make_pipeline(TablePreparation(), mm.KernelSVC()).fit(table, y)
    shares, inner = importance(pipeline, table), importance(pipeline[-1], pipeline[0].transform(table))
    assert len(inner) == 5
    np.testing.assert_allclose(shares, [inner[0], inner[1:4].sum(), inner[4]])
    assert shares.argmax() == 1


def test_sparse_rows_many_rows_and_frames():
    X, y = data()
    X = np.where(abs(X * SCALED) > 0.3, X * SCALED, 0.0)
    model = mm.KernelSVC().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(importance(model, sp.csr_array(X)), importance(model, X), rtol=1e-9)
    many = np.repeat(X, 30, axis=0)
    np.testing.assert_allclose(importance(model, many), importance(model, X), atol=0.02)
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = mm.KernelSVC().fit(frame, y)
    np.testing.assert_allclose(importance(named, frame), importance(mm.KernelSVC().fit(X, y), X))
    with pytest.raises(ValueError, match="feature names"):
        importance(named, frame[list("edcba")])


def test_it_selects_columns_for_scikit_learn():
    X, y = data()
    selector = SelectFromModel(mm.KernelSVC(), max_features=2, threshold=-np.inf).fit(X * SCALED, y)
    assert selector.get_support().tolist() == [True, False, False, True, False]


def test_what_has_no_importance_is_refused_with_the_remedy():
    X, y = data()
    X = X * SCALED
    for model, rows in (
        (mm.KernelSVC(kernel="precomputed").fit(X @ X.T, y), X @ X.T),
        (mm.KernelSVC(kernel=lambda A, B: A @ B.T).fit(X, y), X),
        (
            mm.KernelSVC(kernel=lambda A, B: [[len(set(a) & set(b)) for b in B] for a in A]).fit(
                ["ab", "c"], [0, 1]
            ),
            ["ab"],
        ),
    ):
        with pytest.raises(ValueError, match="permutation_importance"):
            importance(model, rows)
        assert not hasattr(model, "feature_importances_")
        with pytest.raises(AttributeError, match="permutation_importance"):
            _ = model.feature_importances_
    with pytest.raises(ValueError, match=r"PCA mixes columns.*pipeline\[-1\]"):
        importance(make_pipeline(PCA(2), mm.KernelSVC()).fit(X, y), X)
    with pytest.raises(ValueError, match="estimator of maxmargin"):
        importance(PCA(2).fit(X), X)
    assert not hasattr(mm.KernelSVC(), "feature_importances_")  # not fitted


def test_a_constant_function_has_no_important_column():
    X, y = data(2)
    model = mm.LinearSVC().fit(X, y)
    model.coef_ = np.zeros_like(model.coef_)
    assert not importance(model, X).any()


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e200])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_the_unit_of_the_columns_does_not_matter(scale, layout):
    X, y = data()
    model = mm.LinearSVC().fit(layout(X), y)
    expected = importance(model, layout(X))
    with np.errstate(all="raise"):
        model.coef_ = model.coef_ / scale
        assert importance(model, layout(X * scale)) == pytest.approx(expected)
