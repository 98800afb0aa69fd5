"""Any classifier under a code: few, many and lonely classes, and decoders that learn from its outputs."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.model_selection import GroupKFold
from sklearn.multiclass import OutputCodeClassifier as PeerClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from support.noisy_classes import LOGISTIC, Dictated, noisy

from maxmargin import KernelSVC, LeastSquaresClassifier, LinearSVC, OutputCodeClassifier
from maxmargin.codes import Code
from maxmargin.decoders import DECODERS, LossBased
from maxmargin.losses import LOSSES

LEARNED = [name for name, decoder in DECODERS.items() if decoder.learns_from != "nothing"]
ANY_CODE = [name for name in LEARNED if name != "coupling"]


@pytest.mark.parametrize("inner", [LOGISTIC, KernelSVC(gamma=0.1)], ids=str)
@pytest.mark.parametrize("decoder", ["auto", "hamming", "log", *ANY_CODE])
def test_permuting_classes_permutes_answers(inner, decoder):
    X, y = noisy(150, n_classes=5)
    order = np.array([3, 0, 4, 1, 2])  # class k is now called order[k]
    code = Code.sparse_random(5, 8, random_state=0)
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


@pytest.mark.parametrize("inner", [GaussianNB(), LeastSquaresClassifier()], ids=str)
def test_a_hundred_classes_are_told_apart_as_well_as_by_scikit_learn(inner):
    X, y = make_blobs(400, n_features=20, centers=100, random_state=0)
    code = Code.dense_random(100, 40, random_state=0)
    peer = PeerClassifier(inner, code_size=0.405, random_state=Dictated(code.matrix)).fit(X, y)
    model = OutputCodeClassifier(inner, code=code, decoder="squared").fit(X, y)
    assert model.decision_function(X).shape == (400, 100)
    assert_array_equal(model.predict(X), peer.predict(X))
    assert model.set_params(decoder="auto").fit(X, y).score(X, y) >= peer.score(X, y)


def with_a_lonely_row():
    X, y = load_iris(return_X_y=True)
    X, y = np.vstack([X, [[9.0, 1.0, 9.0, 4.0]]]), np.append(y, 3)
    return X, y


LONELY = [
    (LOGISTIC, "one-vs-one"),
    (RidgeClassifier(), "one-vs-one"),
    (KNeighborsClassifier(1), "designed"),
    (KernelSVC(C=10.0), "one-vs-one"),
    (KernelSVC(C=10.0), "designed"),
]


@pytest.mark.parametrize(("inner", "code"), LONELY, ids=str)
def test_a_class_with_one_row_is_learned_where_its_columns_are(inner, code):
    X, y = with_a_lonely_row()
    model = OutputCodeClassifier(inner, code=code, random_state=0).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert (model.column_outputs(X[-1:]) * model.code_.matrix[3] >= 0.0).all()
    assert model.predict(X[-1:]) == 3
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("inner", [LOGISTIC, RidgeClassifier()], ids=str)
def test_a_class_with_one_row_is_lost_only_where_too_many_columns_err(inner):
    """Lines cannot tell {0, 3} from {1, 2} here: what columns say of the row is what their clones say."""
    X, y = with_a_lonely_row()
    model = OutputCodeClassifier(inner, code="designed", decoder="hamming", random_state=0).fit(X, y)
    code = model.code_
    own = [clone(inner).fit(X, code.matrix[y, t]).decision_function(X[-1:])[0] for t in range(7)]
    assert_allclose(model.column_outputs(X[-1:])[0], own, atol=1e-6)
    n_wrong = (own * code.matrix[3] < 0).sum()
    assert n_wrong >= code.row_margins()[3] / 2
    assert model.predict(X[-1:]) != 3


@pytest.mark.parametrize(
    "decoder", [name for name, known in DECODERS.items() if known.learns_from != "nothing"]
)
@pytest.mark.parametrize("inner", [LOGISTIC, GaussianNB(), KernelSVC(C=10.0), LinearSVC()], ids=str)
def test_decoders_that_learn_know_a_class_with_one_row(inner, decoder):
    X, y = with_a_lonely_row()
    model = OutputCodeClassifier(inner, code="one-vs-one", decoder=decoder, cv=3, random_state=0).fit(X, y)
    assert model.decoder_.name == decoder
    assert model.decision_function(X).shape == (151, 4)
    assert model.score(X, y) > 0.9
    if hasattr(model, "predict_proba"):
        P = model.predict_proba(X)
        assert_allclose(P.sum(axis=1), 1.0)
        assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))


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


def by_output(taught):
    """What it was taught, in an order that does not depend on that of the rows."""
    order = np.lexsort(taught.F.T)
    return taught.F[order], taught.y[order], taught.weight[order]


@pytest.mark.parametrize("inner", [GaussianNB(), KernelSVC(gamma=0.1, tol=1e-8)], ids=str)
def test_decoders_learn_from_the_outputs_they_ask_for(inner):
    X, y = noisy()
    weight = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float)
    kept, fold = np.flatnonzero(weight), np.arange(len(y)) % 3
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    model = OutputCodeClassifier(inner, code="one-vs-rest", decoder=Rote("outputs")).fit(X, y, weight)
    expected = Rote("outputs").fit(model.column_outputs(X)[kept], y[kept], None, weight[kept])
    for one, other in zip(by_output(model.decoder_), by_output(expected), strict=True):
        assert_array_equal(one, other)
    model.set_params(decoder=Rote("out-of-fold"), cv=splits).fit(X, y, weight)
    F = np.empty((len(y), 4))
    for k in range(3):
        train = np.flatnonzero((fold != k) & (weight > 0))
        part = OutputCodeClassifier(inner, code="one-vs-rest").fit(X[train], y[train], weight[train])
        F[fold == k] = part.column_outputs(X[fold == k])
    expected = Rote("out-of-fold").fit(F[kept], y[kept], None, weight[kept])
    for one, other in zip(by_output(model.decoder_), by_output(expected), strict=True):
        assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("decoder", ["prior", "probabilistic", "weighted"])
@pytest.mark.parametrize("inner", [GaussianNB(), KernelSVC(gamma=0.1, tol=1e-6)], ids=str)
def test_weights_are_repetitions_to_decoders_that_learn(inner, decoder):
    X, y = noisy(160)
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, size=len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight))
    model = OutputCodeClassifier(inner, code="one-vs-rest", decoder=decoder, cv=3)
    weighted = clone(model).fit(X, y, sample_weight=weight).decision_function(X)
    repeated = clone(model).fit(X[rows], y[rows]).decision_function(X)
    assert_allclose(weighted, repeated, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("inner", [GaussianNB(), KernelSVC(gamma=0.1, tol=1e-8)], ids=str)
def test_groups_are_routed_to_the_splitter(inner):
    X, y = noisy()
    groups = np.random.default_rng(0).integers(0, 6, size=len(y))
    model = OutputCodeClassifier(inner, code="one-vs-rest", decoder=Rote("out-of-fold"), cv=GroupKFold(3))
    with pytest.raises(ValueError, match="groups"):
        model.fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        taught = clone(model).fit(X, y, groups=groups).decoder_
    splits = list(GroupKFold(3).split(X, y, groups))
    expected = clone(model).set_params(cv=splits).fit(X, y).decoder_
    for one, other in zip(by_output(taught), by_output(expected), strict=True):
        assert_array_equal(one, other)


def test_a_model_that_does_not_hear_of_weights_has_columns_of_its_own():
    X, y = noisy()
    with sklearn.config_context(enable_metadata_routing=True):
        deaf = KernelSVC(gamma=0.1).set_fit_request(sample_weight=False)
        model = OutputCodeClassifier(deaf, code="one-vs-rest").fit(X, y, sample_weight=(y != 3) * 1.0)
    left_out = OutputCodeClassifier(KernelSVC(gamma=0.1), code="one-vs-rest").fit(X[y != 3], y[y != 3])
    assert_allclose(model.decision_function(X), left_out.decision_function(X), atol=1e-2)


def test_fits_without_a_fold_are_certified():
    X, y = noisy()
    model = OutputCodeClassifier(KernelSVC(gamma=0.1), decoder="prior", cv=3, random_state=0).fit(X, y)
    assert 0.0 < model.fold_gap_ <= 1e-3
    assert "_n_folds" not in vars(model.estimators_[0])
    assert not hasattr(model.set_params(decoder="auto").fit(X, y), "fold_gap_")


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


class Certain(SGDClassifier):
    """Outputs as large as a double can be."""

    def decision_function(self, X):
        """The signs of the linear function, times the largest numbers."""
        return np.sign(super().decision_function(X)) * np.linspace(0.9e308, 1.79e308, len(X))


@pytest.mark.parametrize("code", ["one-vs-rest", "one-vs-one", "exhaustive"])
@pytest.mark.parametrize(
    "decoder", [name for name, known in DECODERS.items() if known.learns_from == "nothing"]
)
def test_the_largest_outputs_have_finite_scores(code, decoder):
    X, y = load_iris(return_X_y=True)
    model = OutputCodeClassifier(Certain(random_state=0), code=code, decoder=decoder).fit(X, y)
    with np.errstate(all="raise"):
        scores = model.decision_function(X)
    assert np.isfinite(scores).all()
    assert (scores.max(axis=1) > scores.min(axis=1)).any()
    infinite = model.decoder_.scores(np.where(model.column_outputs(X) > 0, np.inf, -np.inf), model.code_)
    assert np.isfinite(infinite).all()


def test_losses_that_overflow_in_sum_keep_their_order():
    code = Code(np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]), "mine")
    F = np.array([[0.9e308, -0.2e308, 1.5e308]])
    scores = LossBased(LOSSES["hinge"]).scores(F, code)
    costs = [1.5, 0.9 + 0.2 + 1.5, 0.9]  # sums of hinge losses over 1e308
    assert np.array_equal(np.argsort(scores[0]), np.argsort(-np.array(costs)))
    assert np.isfinite(scores).all()
