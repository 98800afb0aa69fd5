"""Columns by joblib's workers: the same bits, gathered warnings, weights and metadata."""

import warnings

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning, UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.noisy_classes import LOGISTIC, noisy

from maxmargin import LinearSVC, OutputCodeClassifier

# ---- workers ----


class Grumbler(GaussianNB):
    """Warns of large features."""

    def fit(self, X, y):
        if X.max() > 50.0:
            warnings.warn("large", ConvergenceWarning, stacklevel=2)
        return super().fit(X, y)


@pytest.mark.slow
def test_every_backend_gives_the_same_bits():
    X, y = noisy()
    inner = make_pipeline(StandardScaler(), RandomForestClassifier(3))
    models = [OutputCodeClassifier(inner, random_state=0).fit(X, y)]
    for backend in ("threading", "loky"):
        with parallel_config(backend, n_jobs=2):
            models.append(OutputCodeClassifier(inner, random_state=0).fit(X, y))
    models.append(OutputCodeClassifier(inner, random_state=0, n_jobs=2).fit(X, y))
    outputs = [model.column_outputs(X) for model in models]
    assert all((outputs[0] == F).all() for F in outputs[1:])


def test_each_column_has_a_seed_of_its_own_unless_one_was_given():
    X, y = noisy()
    inner = make_pipeline(StandardScaler(), RandomForestClassifier(2))
    model = OutputCodeClassifier(inner, code="one-vs-one", random_state=0).fit(X, y)
    seeds = [fitted[-1].random_state for fitted in model.estimators_]
    assert len(set(seeds)) == 6
    again = OutputCodeClassifier(inner, code="one-vs-one", random_state=0).fit(X, y)
    assert seeds == [fitted[-1].random_state for fitted in again.estimators_]
    given = inner.set_params(randomforestclassifier__random_state=5)
    model = OutputCodeClassifier(given, code="one-vs-one").fit(X, y)
    assert {fitted[-1].random_state for fitted in model.estimators_} == {5}
    assert inner[-1].random_state == 5
    assert not hasattr(inner[-1], "classes_")


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_warnings_of_columns_are_one_warning_that_names_them(backend):
    X, y = noisy()
    model = OutputCodeClassifier(LogisticRegression(max_iter=2), code="one-vs-one")
    with parallel_config(backend, n_jobs=2), pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    (only,) = caught
    assert str(only.message).startswith("OutputCodeClassifier: 6 of 6 fits warned (column 0, column 1, ")
    assert "lbfgs failed to converge" in str(only.message)
    assert only.filename == __file__
    with warnings.catch_warnings():  # the state of the module is as it was
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="mine"):
            warnings.warn("mine", stacklevel=1)


def test_only_columns_that_warn_are_named():
    X, y = noisy(n_classes=3)
    X[y == 2] += 100.0
    with pytest.warns(ConvergenceWarning, match=r"2 of 3 fits warned \(column 1, column 2\).*large"):
        OutputCodeClassifier(Grumbler(), code="one-vs-one").fit(X, y)


def test_the_worst_column_is_told():
    X, y = noisy(n_classes=3)
    model = OutputCodeClassifier(LinearSVC(max_iter=1, solver="dual-cd", class_weight={}), code="one-vs-one")
    with pytest.warns(ConvergenceWarning, match=r"fits warned.*LinearSVC stopped \(max_iter\) with relative"):
        model.fit(X, y)
    assert model.status_ == "max_iter"
    assert model.dual_gap_ == max(fitted.dual_gap_ for fitted in model.estimators_) > 1e-3


# ---- weights and metadata ----


def test_weights_equal_repetitions_where_they_do_for_the_estimator():
    X, y = noisy()
    weight = np.random.default_rng(0).integers(0, 3, size=len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    for inner in (GaussianNB(), LOGISTIC):
        weighted = OutputCodeClassifier(inner, random_state=0).fit(X, y, sample_weight=weight)
        repeated = OutputCodeClassifier(inner, random_state=0).fit(X[rows], y[rows])
        assert_allclose(weighted.column_outputs(X), repeated.column_outputs(X), rtol=1e-4, atol=1e-4)


def test_class_weights_are_sample_weights_and_a_class_without_weight_leaves():
    X, y = noisy()
    by_class = OutputCodeClassifier(GaussianNB(), class_weight={0: 2.0, 3: 0.0}, random_state=0).fit(X, y)
    assert by_class.classes_.tolist() == [0, 1, 2]
    by_row = OutputCodeClassifier(GaussianNB(), random_state=0)
    by_row.fit(X[y < 3], y[y < 3], np.array([2.0, 1.0, 1.0])[y[y < 3]])
    assert_array_equal(by_class.decision_function(X), by_row.decision_function(X))


def test_a_pipeline_s_last_step_gets_the_weights():
    X, y = noisy()
    weight = np.random.default_rng(0).uniform(0.1, 2.0, size=len(y))
    model = OutputCodeClassifier(make_pipeline(StandardScaler(), GaussianNB()), code="one-vs-rest")
    model.fit(X, y, sample_weight=weight)
    Z = StandardScaler().fit_transform(X)
    own = GaussianNB().fit(Z, y == 2, weight)
    assert_allclose(model.estimators_[2].predict_proba(X), own.predict_proba(Z))


def test_estimators_without_weights_refuse_them():
    X, y = noisy()
    with pytest.raises(ValueError, match=r"whose fit takes sample_weight; that of KNeighborsClassifier\(\)"):
        OutputCodeClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(ValueError, match="takes sample_weight"):
        OutputCodeClassifier(KNeighborsClassifier(), class_weight="balanced").fit(X, y)
    with pytest.raises(ValueError, match=r"fit got \['groups'\].*enable_metadata_routing"):
        OutputCodeClassifier(LOGISTIC).fit(X, y, groups=y)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


class Recorder(GaussianNB):
    """Keeps the metadata that its fit was given."""

    def fit(self, X, y, sample_weight=None, note=None):
        self.note_, self.weight_ = note, sample_weight
        return super().fit(X, y, sample_weight)


@pytest.mark.usefixtures("routing")
def test_metadata_are_routed_and_cut_to_the_rows_of_a_column():
    X, y = noisy()
    weight, note = np.arange(1.0, len(y) + 1), np.arange(len(y))
    inner = Recorder().set_fit_request(sample_weight=True, note=True)
    model = OutputCodeClassifier(inner, code="one-vs-one").fit(X, y, sample_weight=weight, note=note)
    for t, fitted in enumerate(model.estimators_):
        rows, _ = model.code_.column(y, t)
        assert_array_equal(fitted.note_, rows)
        assert_array_equal(fitted.weight_, weight[rows])
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        OutputCodeClassifier(Recorder()).fit(X, y, sample_weight=weight)
    deaf = Recorder().set_fit_request(sample_weight=False)
    model = OutputCodeClassifier(deaf, code="one-vs-one").fit(X, y, sample_weight=(y != 3) * 1.0)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.estimators_[0].weight_ is None
    with pytest.raises(ValueError, match=r"set_fit_request\(sample_weight=True\)"):
        OutputCodeClassifier(deaf, class_weight="balanced").fit(X, y)


@pytest.mark.usefixtures("routing")
def test_metadata_reach_columns_through_a_search_and_a_pipeline():
    X, y = noisy()
    weight = np.random.default_rng(0).integers(1, 3, size=len(y)).astype(float)
    scaler = StandardScaler().set_fit_request(sample_weight=True)
    inner = make_pipeline(scaler, GaussianNB().set_fit_request(sample_weight=True))
    model = OutputCodeClassifier(inner).set_fit_request(sample_weight=True)
    model.set_score_request(sample_weight=True)
    search = GridSearchCV(model, {"code": ["one-vs-one", "one-vs-rest"]}, cv=2)
    search.fit(X, y, sample_weight=weight)
    best = search.best_estimator_
    plain = OutputCodeClassifier(inner, code=best.code).fit(X, y)
    assert (best.column_outputs(X) != plain.column_outputs(X)).any()
    OutputCodeClassifier().fit(X, y, sample_weight=weight)  # the default wants them
