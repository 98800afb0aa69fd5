"""What is said about a model's answers: scikit-learn's metrics are the referees, blocks do not matter."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.memory_source import MemorySource

from maxmargin import LinearSVC, SparseKernelClassifier
from maxmargin.data import mixed
from maxmargin.evaluation.evaluate import evaluate, evaluate_rows
from maxmargin.evaluation.labels import UNKNOWN, LabelMatch, UnknownLabelError
from maxmargin.evaluation.probabilities import RankingTally
from maxmargin.io.readers.table import Block
from maxmargin.metrics.confusion import RunningMean, share_interval


@pytest.fixture(scope="module")
def many():
    """Four overlapping classes with names, unequally frequent, and a model with probabilities."""
    rng = np.random.default_rng(0)
    y = rng.choice(4, size=600, p=[0.5, 0.3, 0.15, 0.05])
    X = rng.normal(size=(600, 3)) + 1.3 * np.eye(4)[y, :3]
    names = np.array(["ant", "bee", "cat", "dog"])[y]
    model = make_pipeline(StandardScaler(), SparseKernelClassifier(20, loss="log", random_state=0))
    return model.fit(X[:300], names[:300]), X[300:], names[300:]


@pytest.fixture(scope="module")
def two():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 500)
    X = rng.normal(size=(500, 3)) + y[:, None]
    model = SparseKernelClassifier(10, random_state=0).fit(X[:250], np.array(["no", "yes"])[y[:250]])
    return model, X[250:], np.array(["no", "yes"])[y[250:]]


def test_counts_are_those_of_scikit_learn(many):
    model, X, y = many
    found, predicted = evaluate(model, MemorySource(X, y), batch=64), model.predict(X)
    assert found.n_rows == len(y)
    assert found.accuracy == metrics.accuracy_score(y, predicted)
    assert found.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(y, predicted), abs=1e-15)
    np.testing.assert_array_equal(found.confusion, metrics.confusion_matrix(y, predicted))
    told = metrics.precision_recall_fscore_support(y, predicted)
    ours = [[r.precision, r.recall, r.f1, r.support] for r in found.per_class]
    np.testing.assert_allclose(np.transpose(ours), told, rtol=1e-14)
    assert found.majority_share == np.unique(y, return_counts=True)[1].max() / len(y)
    worst = found.most_confused[0]
    assert worst[2] == max(np.sum((y == a) & (predicted == b)) for a in set(y) for b in set(y) if a != b)


def test_top_k_and_probabilities_are_those_of_scikit_learn(many):
    model, X, y = many
    found, p = evaluate(model, MemorySource(X, y), batch=50, top_k=(1, 2, 3, 4, 9)), model.predict_proba(X)
    scores = model.decision_function(X)
    assert [row.k for row in found.top_k] == [1, 2, 3]  # of four classes, four always hit
    for row in found.top_k:
        assert row.accuracy == pytest.approx(metrics.top_k_accuracy_score(y, scores, k=row.k), abs=1e-15)
    assert found.calibration.log_loss == pytest.approx(metrics.log_loss(y, p), rel=1e-12)
    onehot = y[:, None] == model.classes_
    assert found.calibration.brier == pytest.approx(((p - onehot) ** 2).sum(axis=1).mean(), rel=1e-12)
    low, high = found.calibration.log_loss_interval
    losses = -np.log(p[onehot])
    assert (high - low) / 2 == pytest.approx(1.959964 * losses.std(ddof=1) / math.sqrt(len(y)), rel=1e-6)
    assert found.ranking is None


def test_calibration_error_is_the_sum_over_bins(many):
    model, X, y = many
    bins = evaluate(model, MemorySource(X, y)).calibration.bins
    p, hit = model.predict_proba(X).max(axis=1), model.predict(X) == y
    error = 0.0
    for b in bins:
        inside = (p >= b.low) & (p < b.high)
        assert b.n_rows == inside.sum() > 0
        assert b.confidence == pytest.approx(p[inside].mean())
        assert b.accuracy == pytest.approx(hit[inside].mean())
        error += abs(p[inside].sum() - hit[inside].sum()) / len(y)
    told = evaluate(model, MemorySource(X, y)).calibration.expected_calibration_error
    assert told == pytest.approx(error, rel=1e-12)
    assert sum(b.n_rows for b in bins) == len(y)


def test_two_classes_are_ranked(two):
    model, X, y = two
    found, f = evaluate(model, MemorySource(X, y), batch=33), model.decision_function(X)
    assert found.ranking.positive == "yes"
    assert found.ranking.roc_auc == pytest.approx(metrics.roc_auc_score(y == "yes", f), abs=1e-14)
    expected = metrics.average_precision_score(y == "yes", f)
    assert found.ranking.average_precision == pytest.approx(expected, abs=1e-14)
    assert found.calibration.brier == pytest.approx(
        metrics.brier_score_loss(y, model.predict_proba(X)[:, 1], pos_label="yes"), rel=1e-12
    )
    assert found.top_k == []


def test_the_interval_of_the_area_is_that_of_all_pairs(two):
    model, X, y = two
    f, positive = model.decision_function(X), y == "yes"
    wins = (f[positive][:, None] > f[~positive]) + 0.5 * (f[positive][:, None] == f[~positive])
    variance = (
        wins.mean(axis=1).var(ddof=1) / positive.sum() + wins.mean(axis=0).var(ddof=1) / (~positive).sum()
    )
    low, high = evaluate(model, MemorySource(X, y)).ranking.roc_auc_interval
    assert (high - low) / 2 == pytest.approx(1.959964 * math.sqrt(variance), rel=1e-6)
    assert (high + low) / 2 == pytest.approx(wins.mean())


@pytest.mark.parametrize("batch", [1, 7, 100, 299, 10_000])
def test_blocks_do_not_matter(many, two, batch):
    for model, X, y in (many, two):
        whole = evaluate(model, MemorySource(X, y)).as_dict()
        parts = evaluate(model, MemorySource(X, y), batch=batch).as_dict()
        assert _close(whole.pop("seconds"), 0, math.inf)
        assert _close(parts.pop("seconds"), 0, math.inf)
        assert list(whole) == list(parts)
        assert _close(whole, parts, 1e-9), (whole, parts)


def _close(a, b, tolerance):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_close(a[k], b[k], tolerance) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(_close(x, z, tolerance) for x, z in zip(a, b))
    return abs(a - b) <= tolerance if isinstance(a, float) else a == b


def test_rows_in_memory_give_the_same(many):
    model, X, y = many
    a, b = evaluate_rows(model, X, y).as_dict(), evaluate(model, MemorySource(X, y)).as_dict()
    for told in (a, b):
        del told["seconds"], told["file"]
    assert a == b


def test_mistakes_are_those_with_the_largest_probabilities(many):
    model, X, y = many
    found, S = evaluate(model, MemorySource(X, y), batch=70), model.decision_function(X)
    true = np.searchsorted(model.classes_, y)
    margins = S.max(axis=1) - S[np.arange(len(y)), true]
    wrong = np.flatnonzero(model.predict(X) != y)
    order = wrong[np.lexsort((-margins[wrong], -model.predict_proba(X[wrong]).max(axis=1)))][:20]
    assert [m.row for m in found.mistakes] == order.tolist()
    assert [m.label for m in found.mistakes] == y[order].tolist()
    assert [m.predicted for m in found.mistakes] == model.predict(X[order]).tolist()
    np.testing.assert_allclose([m.margin for m in found.mistakes], margins[order], rtol=1e-9)
    np.testing.assert_allclose([m.probability for m in found.mistakes], model.predict_proba(X[order]).max(1))


def test_models_without_probabilities_and_of_other_libraries(two):
    _, X, y = two
    bare = LinearSVC(random_state=0).fit(X, y)
    assert evaluate(bare, MemorySource(X, y)).calibration is None
    assert evaluate(bare, MemorySource(X, y)).mistakes[0].probability is None
    other = LogisticRegression().fit(X, y)
    found = evaluate(other, MemorySource(X, y))
    assert found.accuracy == other.score(X, y)
    assert found.calibration.log_loss == pytest.approx(metrics.log_loss(y, other.predict_proba(X)), rel=1e-12)


def test_one_class_only_has_no_area_and_no_precision_of_the_absent(two):
    model, X, y = two
    rows = np.flatnonzero((y == "no") & (model.predict(X) == "no"))
    found = evaluate(model, MemorySource(X[rows], y[rows]))
    assert found.accuracy == 1.0
    assert found.ranking is None
    assert found.accuracy_interval == (pytest.approx(0.025 ** (1 / len(rows))), 1.0)
    assert math.isnan(found.per_class[1].recall)
    text = json.dumps(found.as_dict(), allow_nan=False)
    assert json.loads(text)["per_class"][1]["recall"] is None
    assert json.loads(text)["accuracy"] == 1.0


def test_an_empty_file_and_a_missing_target_are_refused(two):
    model, X, y = two
    with pytest.raises(ValueError, match="no rows"):
        evaluate(model, MemorySource(X[:0], y[:0]))
    with pytest.raises(ValueError, match="no target"):
        evaluate(model, MemorySource(X, None))


def test_memory_does_not_grow_with_the_rows(two, monkeypatch):
    model, X, y = two
    monkeypatch.setattr("maxmargin.evaluation.probabilities.MAX_SCORES", 1 << 10)
    import tracemalloc

    class Long(MemorySource):
        def blocks(self, n_rows=65536):
            for i in range(self.times):
                yield Block(self.X, self.y, i * len(self.y), len(self.y))

    def peak(times):
        source = Long(X, y)
        source.times = times
        tracemalloc.start()
        found = evaluate(model, source)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used, found

    peak(1)
    (small, once), (large, often) = peak(2), peak(200)
    assert often.n_rows == 100 * once.n_rows
    assert often.accuracy == once.accuracy
    assert large < small + 400_000  # 48,000 more rows of scores and labels alone would be 1.2 MB


# ---- intervals ----


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (5, 5), (3, 10), (840, 1000), (1, 1)])
def test_share_interval_is_the_exact_one(hits, n):
    exact = binomtest(hits, n).proportion_ci(0.95, method="exact")
    assert share_interval(hits, n) == (
        pytest.approx(exact.low, abs=1e-9),
        pytest.approx(exact.high, abs=1e-9),
    )


@given(st.lists(st.lists(st.floats(-1e3, 1e3), max_size=6), min_size=1, max_size=6))
def test_running_mean_is_the_mean(batches):
    running, everything = RunningMean(), np.array([value for batch in batches for value in batch])
    for batch in batches:
        running.add(np.array(batch))
    if len(everything):
        assert running.mean == pytest.approx(everything.mean(), abs=1e-9)
    if len(everything) > 1:
        error = everything.std(ddof=1) / math.sqrt(len(everything))
        assert running.standard_error == pytest.approx(error, abs=1e-6)


def test_too_many_scores_are_sampled_by_row_number():
    rng = np.random.default_rng(0)
    n, scores = 20_000, rng.normal(size=20_000)
    positive = rng.random(n) < 1 / (1 + np.exp(-scores))
    found = []
    for size in (1, 997, n):
        tally = RankingTally("yes", most=3000)
        for i in range(0, n if size > 1 else 5000, size):
            part = slice(i, i + size)
            tally.add(np.arange(n)[part], scores[part], positive[part])
        found.append(tally.result())
        assert 1500 <= found[-1].n_scores <= 3000
    assert found[1] == found[2]
    assert found[1].roc_auc == pytest.approx(metrics.roc_auc_score(positive, scores), abs=0.03)
    keys = mixed(np.arange(100_000, dtype=np.uint64), np.uint64(0)).astype(float) / 2.0**64
    assert np.abs(np.histogram(keys, 10, (0, 1))[0] - 10_000).max() < 500


# ---- labels ----


def test_labels_with_a_common_ending_are_matched_and_it_is_told():
    match = LabelMatch(["<=50K", ">50K"])
    assert match.numbers(np.array(["<=50K.", ">50K.", "<=50K."])).tolist() == [0, 1, 0]
    assert match.notes == ["labels matched after dropping '.'"]
    assert match.numbers(np.array([">50K."])).tolist() == [1]


@pytest.mark.parametrize(
    "labels", [["<=50K.", ">50K"], ["<=50K.", ">50K,"], ["<=50K.", "50"], ["<=50K", ">50K."]]
)
@pytest.mark.parametrize("size", [1, 2])
def test_labels_that_do_not_all_lose_one_ending_are_refused(labels, size):
    match = LabelMatch(["<=50K", ">50K"])
    if size == 1:
        match.numbers(np.array(labels[:1]))
    with pytest.raises(UnknownLabelError) as told:
        match.numbers(np.array(labels[2 - size :]))
    assert all(part in str(told.value) for part in ("<=50K", ">50K", "`labels`", "unknown_labels='wrong'"))


def test_an_ending_that_could_be_two_is_refused():
    with pytest.raises(UnknownLabelError, match=r"'a\.\.'"):
        LabelMatch(["a", "a."]).numbers(np.array(["a.."]))


@pytest.mark.parametrize(
    ("classes", "labels", "noted"),
    [
        (np.array([0, 1]), np.array(["0", "1"]), False),
        (np.array(["0", "1"]), np.array([0, 1]), False),
        (np.array([-1, 1]), np.array(["-1", "+1"]), True),
        (np.array([1.0, 2.0]), np.array(["1", "2"]), True),
        (np.array([False, True]), np.array(["False", "True"]), False),
        (np.array([False, True]), np.array([False, True]), False),
        (np.array(["a", "b"], dtype=object), np.array(["a", "b"]), False),
    ],
)
def test_labels_are_matched_by_text_or_else_by_value(classes, labels, noted):
    match = LabelMatch(classes)
    assert match.numbers(labels).tolist() == [0, 1]
    assert bool(match.notes) == noted


def test_values_of_two_classes_are_no_match():
    match = LabelMatch(["1", "01"], unknown="wrong")
    assert match.numbers(np.array(["1", "01", "1.0"])).tolist() == [0, 1, UNKNOWN]


def test_labels_can_be_renamed():
    match = LabelMatch(["no", "yes"], {"0": "no", "1": "yes", "7": "no"})
    assert match.numbers(np.array(["0", "1", "yes"])).tolist() == [0, 1, 1]
    assert match.notes == ["labels to be renamed that the file does not have: ['7']"]
    with pytest.raises(UnknownLabelError, match="'maybe'"):
        LabelMatch(["no", "yes"], {"0": "maybe"})


def test_unknown_labels_count_as_errors_if_asked(two):
    model, X, y = two
    y = np.where(np.arange(len(y)) < 40, "maybe", y)
    with pytest.raises(UnknownLabelError, match="maybe"):
        evaluate(model, MemorySource(X, y))
    found, predicted = evaluate(model, MemorySource(X, y), batch=30, unknown_labels="wrong"), model.predict(X)
    assert found.unknown_labels == {"maybe": 40}
    assert found.accuracy == metrics.accuracy_score(y, predicted)
    recalls = [np.mean(predicted[y == label] == label) for label in ("maybe", "no", "yes")]
    assert found.balanced_accuracy == pytest.approx(np.mean(recalls))
    assert found.per_class[0].precision == np.mean(y[predicted == "no"] == "no")
    assert found.calibration.n_rows == len(y) - 40
    assert "40 rows" in found.notes[0]


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["a.", "b.", "c."]), min_size=1, max_size=8), st.integers(1, 8))
def test_dropping_does_not_depend_on_blocks(labels, size):
    match = LabelMatch(["a", "b", "c"])
    parts = [match.numbers(np.array(labels[i : i + size])) for i in range(0, len(labels), size)]
    assert np.concatenate(parts).tolist() == ["a.b.c.".index(label) // 2 for label in labels]
