"""Calibration reaches the optimum of its likelihood, and never contradicts the prediction."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import LinearConstraint, minimize, minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.isotonic import IsotonicRegression

from maxmargin.calibration.curves import IsotonicCalibrator, SigmoidCalibrator
from maxmargin.calibration.scores import CALIBRATIONS, CalibratedScores
from maxmargin.calibration.softmax import SoftmaxCalibrator

every_method = pytest.mark.parametrize("method", CALIBRATIONS)
every_curve = pytest.mark.parametrize("Calibrator", [SigmoidCalibrator, IsotonicCalibrator])
scores_1d = st.lists(
    st.tuples(st.floats(-1e3, 1e3), st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=30
)


def two_classes(n=200, seed=0, shift=0.7):
    rng = np.random.default_rng(seed)
    f = rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * f + shift))).astype(int)
    return f, y, rng.integers(0, 4, size=n).astype(float)


def many_classes(n=200, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, size=n)
    return (
        rng.normal(size=(n, n_classes)) + 1.2 * np.eye(n_classes)[y],
        y,
        rng.integers(0, 4, size=n).astype(float),
    )


def platt_loss(probability, y, w):
    n1, n0 = w[y == 1].sum(), w[y == 0].sum()
    t = np.where(y == 1, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))
    return -w @ (t * np.log(probability) + (1 - t) * np.log1p(-probability))


@pytest.mark.parametrize(("scale", "origin"), [(1.0, 0.0), (1e-150, 0.0), (1e150, 0.0), (1.0, 1e4)])
@pytest.mark.parametrize("seed", range(3))
def test_sigmoid_reaches_the_optimum_of_an_independent_minimiser(seed, scale, origin):
    f, y, w = two_classes(seed=seed)
    fitted = SigmoidCalibrator().fit(scale * f + origin, y, w)
    loss = lambda x: platt_loss(1 / (1 + np.exp(-x[0] * f - x[1])), y, w)  # noqa: E731
    oracle = minimize(loss, [0.0, 0.0], method="BFGS", options={"gtol": 1e-6})
    p = fitted.predict(scale * f + origin)
    assert fitted.gradient_norm_ <= 1e-12
    assert platt_loss(p, y, w) <= oracle.fun * (1 + 1e-11)
    assert_allclose(p, 1 / (1 + np.exp(-oracle.x[0] * f - oracle.x[1])), atol=1e-5)


def test_sigmoid_finds_the_curve_the_data_were_drawn_from():
    f, y, _ = two_classes(n=200_000)
    grid = np.linspace(-2, 2, 9)
    assert_allclose(SigmoidCalibrator().fit(f, y).predict(grid), 1 / (1 + np.exp(-2 * grid + 0.7)), atol=0.01)


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1.0, 1e9])
def test_sigmoid_stays_finite_on_separable_scores(gap):
    f = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]) + gap * np.array([-1, -1, -1, 1, 1, 1])
    fitted = SigmoidCalibrator().fit(f, f > 0)
    assert fitted.gradient_norm_ < 1e-9
    assert 0.5 < fitted.predict([3.0 + gap])[0] < 1


def test_sigmoid_of_scores_that_point_the_wrong_way_is_flat():
    f, y, w = two_classes()
    fitted = SigmoidCalibrator().fit(-f, y, w)
    p = fitted.predict([-2.0, 0.0, 2.0])
    assert fitted.slope_ == 0
    assert fitted.gradient_norm_ < 1e-12
    flat = minimize_scalar(
        lambda q: platt_loss(np.full(len(f), q), y, w), bounds=(0.01, 0.99), method="bounded"
    )
    assert_allclose(p, flat.x, atol=1e-4)


@given(rows=scores_1d)
def test_sigmoid_is_certified_on_anything(rows):
    f, y, w = (np.array(v, dtype=float) for v in zip(*rows))
    w[0] += 1
    fitted = SigmoidCalibrator().fit(f, y, w)
    assert fitted.gradient_norm_ < 1e-8
    assert fitted.slope_ >= 0


@given(
    rows=st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 1), st.integers(1, 3)), min_size=1, max_size=8)
)
def test_isotonic_is_the_best_monotone_curve(rows):
    f, y, w = (np.array(v, dtype=float) for v in zip(*rows))
    p = IsotonicCalibrator().fit(f, y, w).predict(f)
    knots = np.unique(f)
    # min-max formula: the largest, over starts, of the least, over ends, weighted mean
    for g, fitted in zip(f, p):
        means = [
            [np.average(y[(a <= f) & (f <= b)], weights=w[(a <= f) & (f <= b)]) for b in knots[knots >= g]]
            for a in knots[knots <= g]
        ]
        assert_allclose(fitted, max(min(row) for row in means), atol=1e-12)


def test_isotonic_agrees_with_a_quadratic_programme_and_scikit_learn():
    f, y, w = two_classes(n=12)
    w += 1
    order = np.argsort(f)
    fitted = IsotonicCalibrator().fit(f, y, w)
    rising = LinearConstraint(np.eye(11, 12, k=1) - np.eye(11, 12), 0, np.inf)
    oracle = minimize(
        lambda p: w[order] @ (p - y[order]) ** 2, np.full(12, 0.5), constraints=[rising], method="SLSQP"
    )
    assert_allclose(fitted.predict(f[order]), oracle.x, atol=1e-4)
    grid = np.linspace(-3, 3, 101)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(f, y, w).predict(grid)
    assert_allclose(fitted.predict(grid), theirs, atol=1e-12)


@every_curve
@given(rows=scores_1d, data=st.data())
def test_a_curve_never_falls(Calibrator, rows, data):
    f, y, w = (np.array(v, dtype=float) for v in zip(*rows))
    w[0] += 1
    fitted = Calibrator().fit(f, y, w)
    grid = np.sort(
        np.concatenate(
            [f, np.nextafter(f, -np.inf), data.draw(arrays(float, 20, elements=st.floats(-2e3, 2e3)))]
        )
    )
    p = fitted.predict(grid)
    assert (np.diff(p) >= (0 if Calibrator is IsotonicCalibrator else -1e-15)).all()
    assert ((p >= 0) & (p <= 1)).all()


def overlapping_classes(n=400, n_classes=4, seed=0):
    """Classes with high scores are equally likely, however high they are."""
    rng = np.random.default_rng(seed)
    S = rng.uniform(-3, 3, size=(n, n_classes))
    P = 1 / (1 + np.exp(-3 * S))
    y = (np.cumsum(P, axis=1) < P.sum(axis=1, keepdims=True) * rng.random((n, 1))).sum(axis=1)
    return S, y, rng.integers(0, 4, size=n).astype(float)


@pytest.mark.parametrize("origin", [0.0, -40.0])
@pytest.mark.parametrize("make", [many_classes, overlapping_classes])
def test_softmax_reaches_the_optimum_of_an_independent_minimiser(make, origin):
    S, y, w = make()
    fitted = SoftmaxCalibrator().fit(S + origin, y, w)
    is_true = np.eye(S.shape[1])[y]
    curve = SigmoidCalibrator().fit(S.ravel(), is_true.ravel(), np.repeat(w, S.shape[1]))
    L = np.log(curve.predict(S.ravel())).reshape(S.shape)
    T = np.where(is_true, 1 - 1 / (w.sum() + 2), 1 / (w.sum() + 2) / (S.shape[1] - 1))
    loss = lambda x: -w @ (T * log_softmax(x[0] * S + x[1] * L, axis=1)).sum(axis=1)  # noqa: E731
    oracle = minimize(loss, [1.0, 1.0], bounds=[(0, None)] * 2, options={"ftol": 1e-15, "gtol": 1e-9})
    P = fitted.predict(S + origin)
    assert fitted.gradient_norm_ <= 1e-12
    assert -w @ (T * np.log(P)).sum(axis=1) <= oracle.fun * (1 + 1e-12)
    assert_allclose(P, softmax(oracle.x[0] * S + oracle.x[1] * L, axis=1), atol=1e-5)
    assert (fitted.bend_ > 0.1) == (make is overlapping_classes)


@given(data=st.data(), n_classes=st.integers(2, 4), n=st.integers(1, 12))
def test_softmax_is_certified_on_anything(data, n_classes, n):
    S = data.draw(arrays(float, (n, n_classes), elements=st.floats(-1e3, 1e3)))
    y = data.draw(arrays(int, n, elements=st.integers(0, n_classes - 1)))
    fitted = SoftmaxCalibrator().fit(S, y, data.draw(arrays(float, n, elements=st.integers(1, 3))))
    assert fitted.gradient_norm_ < 1e-8
    assert fitted.slope_ >= 0
    assert fitted.bend_ >= 0


@every_method
def test_classes_that_never_occur_leave_the_others_as_sure_as_they_were(method):
    S, y, _ = many_classes(n=400)
    S[np.arange(400), y] += 1.8
    more = np.column_stack([S, np.random.default_rng(1).normal(S.min() - 1, 0.5, size=(400, 22))])
    alone = CalibratedScores(method).fit(S, y).predict_proba(S)
    among = CalibratedScores(method).fit(more, y).predict_proba(more)
    assert np.abs(among[:, :4] - alone).mean() < 0.01
    assert abs(among.max(axis=1).mean() - alone.max(axis=1).mean()) < 0.02


@every_method
def test_the_order_of_classes_does_not_matter(method):
    S, y, w = overlapping_classes()
    order = np.random.default_rng(2).permutation(S.shape[1])
    P = CalibratedScores(method).fit(S, y, w).predict_proba(S)
    permuted = CalibratedScores(method).fit(S[:, order], np.argsort(order)[y], w).predict_proba(S[:, order])
    assert_allclose(permuted, P[:, order], atol=1e-11)


@every_method
@pytest.mark.parametrize("make", [two_classes, many_classes])
def test_weights_are_repetitions_and_order_does_not_matter(method, make):
    scores, y, w = make()
    weighted = CalibratedScores(method).fit(scores, y, w)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), w.astype(int)))
    repeated = CalibratedScores(method).fit(scores[rows], y[rows])
    assert_allclose(weighted.predict_proba(scores), repeated.predict_proba(scores), atol=1e-9)
    outlier = CalibratedScores(method).fit(
        np.concatenate([scores, 1e9 + scores[:1]]), np.append(y, 0), np.append(w, 0)
    )
    assert_array_equal(outlier.predict_proba(scores), weighted.predict_proba(scores))


@every_method
@given(data=st.data())
def test_probabilities_of_two_classes_follow_the_sign(method, data):
    rows = data.draw(scores_1d)
    f, y, w = (np.array(v, dtype=float) for v in zip(*rows))
    w[0] += 1
    new = np.concatenate([f, -f, [0.0, -0.0, 5e-324, -5e-324, 1e-300, 1e300, -1e300]])
    P = CalibratedScores(method).fit(f, y, w).predict_proba(new)
    assert_array_equal(P.argmax(axis=1), new > 0)
    assert_allclose(P.sum(axis=1), 1, rtol=1e-15)
    assert (P >= 0).all()


@every_method
@given(data=st.data(), n_classes=st.integers(2, 5), n=st.integers(1, 12))
def test_probabilities_of_many_classes_follow_the_scores(method, data, n_classes, n):
    near = st.sampled_from([0.0, 1.0, np.nextafter(1, 2), 1 + 1e-12, 5e-324, -1e-300, 1e300, -1e300])
    S = data.draw(arrays(float, (n, n_classes), elements=st.one_of(near, st.floats(-10, 10))))
    y = data.draw(arrays(int, n, elements=st.integers(0, n_classes - 1)))
    fitted = CalibratedScores(method).fit(data.draw(st.sampled_from([S, np.clip(S, -9, 9)])), y)
    P = fitted.predict_proba(S)
    assert_array_equal(P.argmax(axis=1), S.argmax(axis=1))
    assert_allclose(P.sum(axis=1), 1, rtol=1e-14)
    assert (P >= 0).all()


def test_where_curve_and_sign_disagree_the_probability_is_one_half():
    f, y, w = two_classes(n=5000, shift=1.5)
    fitted = CalibratedScores("sigmoid").fit(f, y, w)
    free = SigmoidCalibrator().fit(f, y, w)
    grid = np.array([-1.0, 0.1, 0.4, 2.0])
    assert free.predict(grid)[1] < 0.5
    p = fitted.predict_proba(grid)[:, 1]
    assert_allclose(p[[1, 2]], 0.5, atol=1e-15)
    assert_array_equal(p[[0, 3]], free.predict(grid)[[0, 3]])


@every_method
@pytest.mark.parametrize("make", [two_classes, many_classes])
def test_calibration_lowers_the_log_loss_of_fresh_scores(method, make):
    scores, y, _ = make(n=4000)
    fresh, truth, _ = make(n=4000, seed=1)
    P = pickle.loads(pickle.dumps(CalibratedScores(method).fit(5 * scores, y))).predict_proba(5 * fresh)
    rows = 5 * fresh if fresh.ndim == 2 else np.column_stack([np.zeros(len(fresh)), 5 * fresh])
    raw = -log_softmax(rows, axis=1)[np.arange(len(truth)), truth].mean()
    assert -np.log(np.maximum(P[np.arange(len(truth)), truth], 1e-3)).mean() < 0.7 * raw


@pytest.mark.parametrize(
    ("scores", "y", "w", "message"),
    [
        ([1.0, np.nan], [0, 1], None, "NaN, infinity or values beyond 1e300"),
        ([1.0, 1e305], [0, 1], None, "NaN, infinity or values beyond 1e300"),
        ([1.0, 2.0], [0, 2], None, r"labels 0 .. 1; got \[0, 2\]"),
        ([1.0, 2.0], [0, 1, 1], None, "one entry per row"),
        ([1.0, 2.0], [0, 1], [-1.0, 1.0], "finite and >= 0"),
        ([1.0, 2.0], [0, 1], [0.0, 0.0], "not all 0"),
        ([], [], None, "not all 0"),
    ],
)
@every_method
def test_bad_input_is_refused(method, scores, y, w, message):
    with pytest.raises(ValueError, match=message):
        CalibratedScores(method).fit(scores, y, w)


def test_unknown_methods_and_unfitted_calibrators_are_refused():
    with pytest.raises(ValueError, match=r"method must be one of \['isotonic', 'sigmoid'\]; got 'platt'"):
        CalibratedScores("platt")
    with pytest.raises(ValueError, match="not fitted"):
        CalibratedScores("isotonic").predict_proba([1.0])
