"""Many classes by any binary classifier: the columns, their decoding, and scikit-learn's conventions."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError, UnsetMetadataPassedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multiclass import OutputCodeClassifier as PeerClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import (
    KernelPerceptron,
    KernelSVC,
    LinearProgramSVC,
    LinearSVC,
    OutputCodeClassifier,
    SparseKernelClassifier,
)
from maxmargin.codes import Code
from maxmargin.decoders import Hamming

LOGISTIC = LogisticRegression(solver="liblinear", tol=1e-8, random_state=0)  # one thread: small and quick


def noisy(n=240, n_classes=4, seed=0):
    return make_classification(
        n, 8, n_informative=6, n_classes=n_classes, n_clusters_per_class=1, flip_y=0.1, random_state=seed
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some checks use unscaled data
@parametrize_with_checks(
    [
        OutputCodeClassifier(GaussianNB(), code="one-vs-one", decoder="hamming"),
        OutputCodeClassifier(LinearSVC(tol=1e-8, class_weight={}), code="one-vs-rest"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ---- against scikit-learn's reductions ----


@pytest.mark.parametrize("inner", [LOGISTIC, SVC(C=2.0), LinearSVC(tol=1e-8, class_weight={})], ids=str)
def test_one_vs_rest_is_that_of_scikit_learn(inner):
    X, y = noisy()
    model = OutputCodeClassifier(inner, code="one-vs-rest").fit(X, y)
    peer = OneVsRestClassifier(inner).fit(X, y)
    assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-12)
    assert_array_equal(model.predict(X), peer.predict(X))


@pytest.mark.parametrize("inner", [LOGISTIC, SVC(C=2.0)], ids=str)
def test_one_vs_one_votes_are_those_of_scikit_learn(inner):
    """Both break ties by the sum of margins; the peer adds at most a third of it, we at most a fifth."""
    X, y = noisy()
    model = OutputCodeClassifier(inner, code="one-vs-one").fit(X, y)
    peer = OneVsOneClassifier(inner).fit(X, y)
    assert_array_equal(model.predict(X), peer.predict(X))
    votes, theirs = model.decision_function(X), peer.decision_function(X)
    assert_array_equal(np.rint(votes), np.rint(theirs))


class Dictated(np.random.RandomState):
    """Draws from which the peer makes this code."""

    def __init__(self, matrix):
        super().__init__(0)
        self.matrix = matrix

    def uniform(self, size):
        return (self.matrix + 1) / 2.0


def test_on_the_matrix_of_scikit_learn_s_output_code():
    X, y = noisy(n_classes=5)
    code = Code.dense_random(5, 9, random_state=1)
    peer = PeerClassifier(LOGISTIC, code_size=9.5 / 5, random_state=Dictated(code.matrix)).fit(X, y)
    assert_array_equal(peer.code_book_, code.matrix)
    model = OutputCodeClassifier(LOGISTIC, code=code, decoder="squared").fit(X, y)
    theirs = np.column_stack([estimator.decision_function(X) for estimator in peer.estimators_])
    assert_allclose(model.column_outputs(X), theirs, atol=1e-12)
    assert_array_equal(model.predict(X), peer.predict(X))  # (1 - c f)^2 = (c - f)^2: the nearest row


def test_probabilities_become_outputs_between_minus_one_and_one():
    X, y = noisy()
    inner = KNeighborsClassifier(7)
    model = OutputCodeClassifier(inner, code="sparse-random", random_state=0).fit(X, y)
    F = model.column_outputs(X)
    for t, fitted in enumerate(model.estimators_):
        rows, targets = model.code_.column(y, t)
        own = clone(inner).fit(X[rows], targets)
        assert_allclose(F[:, t], own.predict_proba(X)[:, 1] - own.predict_proba(X)[:, 0])
        assert_array_equal(fitted.classes_, [0, 1])


# ---- one fit for all columns ----

CODED = [
    KernelSVC(C=2.0, gamma=0.1, tol=1e-8),
    LinearSVC(tol=1e-10),
    LinearProgramSVC(tol=1e-9),
]


@pytest.mark.parametrize("inner", CODED, ids=str)
@pytest.mark.parametrize("code", ["designed", "sparse-random", "one-vs-one"])
def test_one_fit_answers_as_clones_do(inner, code):
    X, y = noisy()
    together = OutputCodeClassifier(inner, code=code, random_state=0).fit(X, y)
    apart = OutputCodeClassifier(clone(inner).set_params(class_weight={}), code=code, random_state=0).fit(
        X, y
    )
    assert together.code_ == apart.code_
    assert len(together.estimators_) == 1
    assert len(apart.estimators_) == apart.code_.n_columns
    assert_allclose(together.column_outputs(X), apart.column_outputs(X), atol=1e-5)
    assert_allclose(together.objective_, apart.objective_, rtol=1e-6)
    assert together.status_ == apart.status_ == "converged"
    assert max(together.dual_gap_, apart.dual_gap_) <= inner.tol
    assert len(together.history_) == len(apart.history_) == apart.code_.n_columns


def test_columns_of_ours_count_kernel_values_once():
    """With a code, the estimator of ours is the one that it is with code=: nothing is computed twice."""
    X, y = noisy()
    code = Code.designed(4, random_state=0)
    model = OutputCodeClassifier(KernelSVC(), code=code).fit(X, y)
    own = KernelSVC(code=code).fit(X, y)
    assert_array_equal(model.decision_function(X), own.decision_function(X))
    work = [check.kernel_values for history in model.history_ for check in history]
    assert work == [check.kernel_values for history in own.history_ for check in history]


def test_joint_problems_and_class_weights_of_the_estimator_belong_to_columns():
    X, y = noisy()
    for inner in (LinearProgramSVC(multi_class="joint"), LinearSVC(class_weight="balanced")):
        model = OutputCodeClassifier(inner, code="one-vs-rest").fit(X, y)
        assert len(model.estimators_) == 4
        for t, fitted in enumerate(model.estimators_):
            own = clone(inner).fit(X, (y == t).astype(int))
            assert_array_equal(fitted.decision_function(X), own.decision_function(X))


# ---- classes ----


@pytest.mark.parametrize("inner", [LOGISTIC, KernelSVC(gamma=0.1)], ids=str)
@pytest.mark.parametrize("decoder", ["auto", "hamming", "log"])
def test_permuting_classes_permutes_answers(inner, decoder):
    X, y = noisy(n_classes=5)
    order = np.array([3, 0, 4, 1, 2])  # class k is now called order[k]
    code = Code.sparse_random(5, 12, random_state=0)
    permuted = Code(code.matrix[np.argsort(order)])
    first = OutputCodeClassifier(inner, code=Code(code.matrix), decoder=decoder).fit(X, y)
    second = OutputCodeClassifier(inner, code=permuted, decoder=decoder).fit(X, order[y])
    assert_array_equal(order[first.predict(X)], second.predict(X))
    assert_allclose(first.decision_function(X), second.decision_function(X)[:, order], atol=1e-6)


@pytest.mark.parametrize("inner", [GaussianNB(), LinearSVC()], ids=str)
def test_two_classes_have_one_column_and_one_value(inner):
    X, y = noisy(n_classes=2)
    for code in ("designed", "one-vs-one", "sparse-random"):
        model = OutputCodeClassifier(inner, code=code).fit(X, y)
        assert model.code_.n_columns == len(model.estimators_) == 1
        values = model.decision_function(X)
        assert values.shape == (len(y),)
        assert_array_equal(model.predict(X), (values > 0).astype(int))


@pytest.mark.parametrize("inner", [GaussianNB(), LinearSVC()], ids=str)
def test_a_hundred_classes(inner):
    X, y = make_blobs(600, n_features=20, centers=100, random_state=0)
    model = OutputCodeClassifier(inner, code=Code.dense_random(100, 60, random_state=0)).fit(X, y)
    assert model.decision_function(X).shape == (600, 100)
    assert model.score(X, y) > 0.5


def with_a_lonely_row():
    X, y = load_iris(return_X_y=True)
    X, y = np.vstack([X, [[9.0, 1.0, 9.0, 4.0]]]), np.append(y, 3)
    return X, y


@pytest.mark.parametrize("inner", [LOGISTIC, KernelSVC(C=10.0)], ids=str)
@pytest.mark.parametrize("code", ["one-vs-one", "designed"])
def test_a_class_with_one_row(inner, code):
    X, y = with_a_lonely_row()
    model = OutputCodeClassifier(inner, code=code, random_state=0).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("decoder", ["probabilistic", "coupling"])
@pytest.mark.parametrize("inner", [LOGISTIC, GaussianNB(), KernelSVC(C=10.0), LinearSVC()], ids=str)
def test_decoders_that_learn_out_of_fold_know_a_class_with_one_row(inner, decoder):
    X, y = with_a_lonely_row()
    model = OutputCodeClassifier(inner, code="one-vs-one", decoder=decoder, cv=3, random_state=0).fit(X, y)
    P = model.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1.0)
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    assert model.score(X, y) > 0.9


class Rote:
    """A decoder that keeps what it was taught."""

    name = "rote"

    def __init__(self, learns_from):
        self.learns_from = learns_from

    def fit(self, F, y, code, sample_weight=None):
        taught = Rote(self.learns_from)
        taught.F, taught.y, taught.weight = F, y, sample_weight
        return taught

    def scores(self, F, code):
        return F @ code.matrix.T


@pytest.mark.parametrize("inner", [GaussianNB(), KernelSVC(gamma=0.1, tol=1e-8)], ids=str)
def test_decoders_learn_from_the_outputs_they_ask_for(inner):
    X, y = noisy()
    weight = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float)
    kept, fold = np.flatnonzero(weight), np.arange(len(y)) % 3
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    model = OutputCodeClassifier(inner, code="one-vs-rest", decoder=Rote("outputs")).fit(X, y, weight)
    assert_array_equal(model.decoder_.F, model.column_outputs(X)[kept])
    assert_array_equal(model.decoder_.y, y[kept])
    assert_array_equal(model.decoder_.weight, weight[kept])
    model.set_params(decoder=Rote("out-of-fold"), cv=splits).fit(X, y, weight)
    for k in range(3):
        train, held = np.flatnonzero((fold != k) & (weight > 0)), fold[kept] == k
        part = OutputCodeClassifier(inner, code="one-vs-rest").fit(X[train], y[train], weight[train])
        assert_allclose(model.decoder_.F[held], part.column_outputs(X[kept][held]), atol=1e-6)


def test_a_stream_has_no_decoder_that_learns():
    with pytest.raises(ValueError, match="partial_fit cannot learn a decoder"):
        OutputCodeClassifier(SGDClassifier(), decoder="coupling").partial_fit(*noisy(), classes=range(4))


@pytest.mark.parametrize("code", ["one-vs-one", "designed", "sparse-random"])
@pytest.mark.parametrize("inner", [LOGISTIC, KernelSVC(C=10.0)], ids=str)
def test_both_training_error_bounds_hold(inner, code):
    X, y = noisy(n_classes=6)
    model = OutputCodeClassifier(inner, code=code, decoder="hamming", random_state=0).fit(X, y)
    weight = np.random.default_rng(0).uniform(size=len(y))
    bound = model.code_.training_error_bound(model.column_outputs(X), y, weight)
    error = 1.0 - model.score(X, y, weight)
    assert 0.0 < error <= min(bound.printed, bound.refined)


# ---- workers ----


class Grumbler(GaussianNB):
    """Warns of large features."""

    def fit(self, X, y):
        if X.max() > 50.0:
            warnings.warn("large", ConvergenceWarning, stacklevel=2)
        return super().fit(X, y)


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


# ---- streams ----


def test_partial_fit_updates_each_column_with_the_rows_of_its_classes():
    X, y = noisy(n_classes=3)
    X = StandardScaler().fit_transform(X)
    inner = SGDClassifier(random_state=0)
    model = OutputCodeClassifier(inner, code="one-vs-one")
    twins = [clone(inner) for _ in range(3)]
    batches = [np.flatnonzero(y == 0), np.arange(0, 120), np.arange(120, 240)]
    for k, batch in enumerate(batches):
        model.partial_fit(X[batch], y[batch], classes=[0, 1, 2] if k == 0 else None)
        for t, twin in enumerate(twins):
            rows, targets = model.code_.column(y[batch], t)
            if len(rows):
                twin.partial_fit(X[batch][rows], targets, classes=[-1.0, 1.0])
        if k == 0:
            assert model.estimators_[2] is None  # classes 1 and 2 have not come
            assert (model.column_outputs(X)[:, 2] == 0.0).all()
    expected = np.column_stack([twin.decision_function(X) for twin in twins])
    assert_array_equal(model.column_outputs(X), expected)
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize(
    "inner", [SparseKernelClassifier(budget=20, random_state=0), KernelPerceptron(random_state=0)], ids=str
)
def test_partial_fit_of_ours_is_one_model(inner):
    X, y = noisy(n_classes=3)
    code = Code.designed(3, random_state=0)
    model, own = OutputCodeClassifier(inner, code=code), clone(inner).set_params(code=code)
    for batch in (slice(0, 100), slice(100, 240)):
        model.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
        own.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
    assert_array_equal(model.decision_function(X), own.decision_function(X))
    assert len(model.estimators_) == 1
    assert model.n_iter_ == own.n_iter_


def test_partial_fit_is_there_when_the_estimator_has_it():
    assert hasattr(OutputCodeClassifier(SGDClassifier()), "partial_fit")
    assert not hasattr(OutputCodeClassifier(SVC()), "partial_fit")
    assert not hasattr(OutputCodeClassifier(), "partial_fit")
    X, y = noisy()
    model = OutputCodeClassifier(SGDClassifier())
    with pytest.raises(ValueError, match="first call of partial_fit needs classes"):
        model.partial_fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.partial_fit(X, y, classes=[0, 1, 2, 3])
    with pytest.raises(ValueError, match=r"labels \[9\] that are not among the classes"):
        model.partial_fit(X, np.full(len(y), 9))
    with pytest.raises(ValueError, match="differ from those of the first call"):
        model.partial_fit(X, y, classes=[0, 1])


# ---- what X may be ----


def test_texts_for_a_text_pipeline():
    words = {"oak": "tall hard leaf", "fir": "tall soft needle", "elm": "broad leaf crown"}
    texts = [f"{text} {k % 3}" for text in words.values() for k in range(6)]
    labels = [name for name in words for _ in range(6)]
    inner = make_pipeline(CountVectorizer(), LinearSVC())
    for X in (texts, np.array(texts), np.array(texts, dtype=object)):
        model = OutputCodeClassifier(inner, code="one-vs-one").fit(X, labels)
        assert (model.predict(X) == labels).all()
        assert not hasattr(model, "n_features_in_")


def test_frames_and_sparse_rows_go_to_columns_as_they_are():
    pandas = pytest.importorskip("pandas")
    X, y = noisy()
    frame = pandas.DataFrame(X, columns=[f"x{k}" for k in range(8)])
    model = OutputCodeClassifier(LOGISTIC, code="one-vs-one").fit(frame, y)
    assert all(fitted.feature_names_in_.tolist() == list(frame.columns) for fitted in model.estimators_)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])
    plain = OutputCodeClassifier(LOGISTIC, code="one-vs-one").fit(X, y)
    for container in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        S = container(X)
        model = OutputCodeClassifier(LOGISTIC, code="one-vs-one").fit(S, y)
        assert_allclose(model.column_outputs(S), plain.column_outputs(X), atol=1e-3)
        assert model.n_features_in_ == 8


@pytest.mark.parametrize("inner", [SVC(), KernelSVC()], ids=str)
@pytest.mark.parametrize("code", ["one-vs-one", "designed"])
def test_precomputed_kernels(inner, code):
    X, y = noisy()
    K = rbf_kernel(X, gamma=0.1)
    inner = clone(inner).set_params(C=5.0)
    vectors = OutputCodeClassifier(clone(inner).set_params(gamma=0.1), code=code, random_state=0).fit(X, y)
    matrix = OutputCodeClassifier(inner.set_params(kernel="precomputed"), code=code, random_state=0).fit(K, y)
    assert_allclose(matrix.column_outputs(K), vectors.column_outputs(X), atol=1e-2)
    assert matrix.__sklearn_tags__().input_tags.pairwise


# ---- as an estimator ----


def test_clone_pickle_and_nested_parameters():
    X, y = noisy()
    model = OutputCodeClassifier(make_pipeline(StandardScaler(), LinearSVC()), code="one-vs-one")
    model.set_params(estimator__linearsvc__C=0.25, decoder="hinge")
    copy = pickle.loads(pickle.dumps(model.fit(X, y)))
    assert_array_equal(copy.decision_function(X), model.decision_function(X))
    assert {fitted[-1].C for fitted in copy.estimators_} == {0.25}
    assert copy.dual_gap_ == max(fitted[-1].dual_gap_ for fitted in model.estimators_)
    fresh = clone(model)
    assert fresh.get_params()["estimator__linearsvc__C"] == 0.25
    with pytest.raises(NotFittedError):
        fresh.predict(X)


@pytest.mark.parametrize("inner", [KernelSVC(), SVC()], ids=str)
def test_grid_search_over_the_estimator_s_parameters(inner):
    X, y = noisy()
    search = GridSearchCV(OutputCodeClassifier(inner, random_state=0), {"estimator__C": [1e-3, 10.0]}, cv=3)
    search.fit(X, y)
    assert search.best_params_ == {"estimator__C": 10.0}
    assert search.best_score_ > 0.6


def test_outputs_and_stored_outputs_decode_alike():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, np.array(list("abcdefghij"))[y[:300]]
    model = OutputCodeClassifier(LinearSVC(), code="sparse-random", decoder=Hamming(), random_state=0).fit(
        X, y
    )
    assert_array_equal(model.decode(model.column_outputs(X)), model.predict(X))
    assert not hasattr(model, "predict_proba")


BAD = {
    "a regressor": (LinearRegression(), "estimator must be a classifier; got the regressor LinearRegression"),
    "a class": (SVC, "an instance; got"),
    "no outputs": (PeerClassifier(SVC()), "must have decision_function or predict_proba"),
    "a number": (3, "with scikit-learn's interface, an instance; got 3"),
}


@pytest.mark.parametrize("case", BAD)
def test_estimators_that_cannot_be_columns_are_refused(case):
    inner, match = BAD[case]
    with pytest.raises(ValueError, match=match):
        OutputCodeClassifier(inner).fit(*noisy())


def test_bad_data_and_parameters_are_refused():
    X, y = noisy()
    model = OutputCodeClassifier(LOGISTIC)
    with pytest.raises(ValueError, match=r"at least two classes.*\[1\]"):
        model.fit(X, np.ones(len(y), dtype=int))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="0 sample"):
        model.fit(X[:0], y[:0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="continuous"):
        model.fit(X, X[:, 0])
    with pytest.raises(ValueError, match="code must be a Code or one of"):
        clone(model).set_params(code="ovo").fit(X, y)
    with pytest.raises(ValueError, match="cv must be an integer >= 2"):
        clone(model).set_params(cv=1).fit(X, y)
    model.fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(NotFittedError):  # a fit that failed leaves nothing to predict with
        model.predict(X)
