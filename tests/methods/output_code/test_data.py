"""What columns are given: batches of a stream, texts, frames, sparse rows, kernel matrices."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from support.noisy_classes import LOGISTIC, noisy

from maxmargin import KernelPerceptron, KernelSVC, LinearSVC, OutputCodeClassifier, SparseKernelClassifier
from maxmargin.codes import Code

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


@pytest.mark.parametrize("asks", [True, False])
def test_partial_fit_leaves_out_rows_of_weight_0(asks):
    X, y = noisy(n_classes=3)
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    wrong = np.where(weight > 0.0, y, (y + 1) % 3)
    with sklearn.config_context(enable_metadata_routing=True):
        model = KernelPerceptron(random_state=0).set_partial_fit_request(sample_weight=asks)
        model = OutputCodeClassifier(model, code="one-vs-rest")
        model.partial_fit(X, wrong, classes=[0, 1, 2], sample_weight=weight)
    kept = weight > 0.0
    expected = OutputCodeClassifier(KernelPerceptron(random_state=0), code="one-vs-rest")
    expected.partial_fit(X[kept], y[kept], classes=[0, 1, 2])
    assert len(model.estimators_) == 1
    assert_array_equal(model.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize("inner", [SGDClassifier(random_state=0), KernelPerceptron(random_state=0)], ids=str)
def test_partial_fit_takes_the_decoder_of_today(inner):
    X, y = noisy(60, n_classes=3)
    model = OutputCodeClassifier(inner, decoder="prior", code="one-vs-rest", cv=2)
    model.fit(X, y).set_params(decoder="hinge").partial_fit(X, y)
    assert model.decoder_.name == "hinge"
    own = KernelPerceptron(decoder="hinge").partial_fit(X, y, classes=[0, 1, 2])
    assert own.set_params(decoder="votes").partial_fit(X, y).decoder_.name == "votes"


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
