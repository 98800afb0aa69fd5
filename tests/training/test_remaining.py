"""The time left in a training, against recorded trainings: a clock that is given, no time measured."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import AutoSVC, KernelSVC
from maxmargin.solving import share_listener
from maxmargin.training import RemainingTime, time_text
from maxmargin.training.progress import Progress, Reporter

# Seconds, phase, done, total, gap, tol, share: events of trainings on 4,000 to 200,000 rows, some left out.
RECORDED = {
    "sparse": (
        5.38,
        [
            (0.41, "fit", 0, 200, 0.0, 0.001, None),
            (0.48, "fit", 16, 200, 0.0109, 0.001, None),
            (0.53, "fit", 32, 200, 0.0197, 0.001, None),
            (0.61, "fit", 51, 200, 0.00445, 0.001, None),
            (0.73, "fit", 81, 200, 0.015, 0.001, None),
            (0.8, "fit", 102, 200, 0.00161, 0.001, None),
            (0.87, "fit", 128, 200, 0.00293, 0.001, None),
            (0.94, "fit", 161, 200, 0.0143, 0.001, None),
            (1.2, "fit", 200, 200, 0.000357, 0.001, None),
            (1.21, "fit", 200, 200, 0.000357, 0.001, None),
            (1.39, "fit", 200, 200, 0.000145, 0.001, None),
            (1.58, "fit", 200, 200, 8.17e-06, 0.001, None),
            (1.77, "fit", 200, 200, 1.96e-06, 0.001, None),
            (2.22, "fit", 200, 200, 5.4e-05, 0.001, None),
            (2.26, "fit", 200, 200, 1.39e-05, 0.001, None),
            (2.28, "validate", 0, 6000, None, None, None),
            (2.32, "validate", 6000, 6000, None, None, None),
            (2.42, "refit", 0, 200, 0.0, 0.001, None),
            (2.49, "refit", 16, 200, 0.00983, 0.001, None),
            (2.56, "refit", 32, 200, 0.0167, 0.001, None),
            (2.65, "refit", 51, 200, 0.0212, 0.001, None),
            (2.79, "refit", 81, 200, 0.0112, 0.001, None),
            (2.93, "refit", 102, 200, 0.00574, 0.001, None),
            (3.06, "refit", 128, 200, 0.0039, 0.001, None),
            (3.19, "refit", 161, 200, 0.000104, 0.001, None),
            (3.51, "refit", 200, 200, 0.00024, 0.001, None),
            (3.51, "refit", 200, 200, 0.00024, 0.001, None),
            (3.75, "refit", 200, 200, 0.000596, 0.001, None),
            (4.02, "refit", 200, 200, 6.89e-05, 0.001, None),
            (4.25, "refit", 200, 200, 3.13e-06, 0.001, None),
            (4.52, "refit", 200, 200, 5e-05, 0.001, None),
            (5.27, "refit", 200, 200, 1.68e-05, 0.001, None),
            (5.33, "refit", 200, 200, 5.24e-06, 0.001, None),
        ],
    ),
    "kernel": (
        2.48,
        [
            (0.46, "fit", 0, None, 1.0, 0.001, None),
            (0.54, "fit", 0, None, 1.0, 0.001, 0.0162),
            (0.6, "fit", 0, None, 1.0, 0.001, 0.0728),
            (0.67, "fit", 0, None, 1.0, 0.001, 0.118),
            (0.73, "fit", 0, None, 1.0, 0.001, 0.196),
            (0.82, "fit", 0, None, 1.0, 0.001, 0.37),
            (0.88, "fit", 0, None, 1.0, 0.001, 0.461),
            (0.95, "fit", 0, None, 1.0, 0.001, 0.637),
            (1.07, "fit", 0, None, 1.0, 0.001, 0.888),
            (1.21, "fit", 0, None, 1.0, 0.001, 0.985),
            (1.26, "fit", 0, None, 1.0, 0.001, 1.0),
            (1.28, "fit", 20, None, 2.47e-05, 0.001, None),
            (1.31, "validate", 0, 1600, None, None, None),
            (1.32, "validate", 1600, 1600, None, None, None),
            (1.34, "refit", 0, None, 1.0, 0.001, None),
            (1.44, "refit", 0, None, 1.0, 0.001, 0.0186),
            (1.51, "refit", 0, None, 1.0, 0.001, 0.0835),
            (1.59, "refit", 0, None, 1.0, 0.001, 0.157),
            (1.71, "refit", 0, None, 1.0, 0.001, 0.291),
            (1.78, "refit", 0, None, 1.0, 0.001, 0.349),
            (1.87, "refit", 0, None, 1.0, 0.001, 0.42),
            (1.97, "refit", 0, None, 1.0, 0.001, 0.577),
            (2.09, "refit", 0, None, 1.0, 0.001, 0.744),
            (2.23, "refit", 0, None, 1.0, 0.001, 0.908),
            (2.38, "refit", 0, None, 1.0, 0.001, 1.0),
            (2.4, "refit", 21, None, 3.33e-05, 0.001, None),
        ],
    ),
    "linear": (
        20.33,
        [
            (0.9, "fit", 0, None, 1.0, 1e-05, None),
            (1.24, "fit", 4, None, 0.609, 1e-05, None),
            (1.5, "fit", 8, None, 0.242, 1e-05, None),
            (1.79, "fit", 12, None, 0.162, 1e-05, None),
            (2.31, "fit", 20, None, 0.0393, 1e-05, None),
            (2.95, "fit", 32, None, 0.0136, 1e-05, None),
            (3.64, "fit", 48, None, 0.00527, 1e-05, None),
            (4.41, "fit", 72, None, 0.0019, 1e-05, None),
            (5.13, "fit", 108, None, 0.000635, 1e-05, None),
            (5.87, "fit", 164, None, 0.000336, 1e-05, None),
            (6.65, "fit", 248, None, 0.000179, 1e-05, None),
            (7.37, "fit", 372, None, 5.16e-05, 1e-05, None),
            (8.25, "fit", 560, None, 2.22e-05, 1e-05, None),
            (9.53, "fit", 840, None, 8.81e-06, 1e-05, None),
            (9.53, "validate", 0, 40000, None, None, None),
            (9.82, "validate", 40000, 40000, None, None, None),
            (10.0, "refit", 0, None, 1.0, 1e-05, None),
            (10.34, "refit", 4, None, 0.509, 1e-05, None),
            (10.71, "refit", 8, None, 0.233, 1e-05, None),
            (11.05, "refit", 12, None, 0.11, 1e-05, None),
            (11.62, "refit", 20, None, 0.0493, 1e-05, None),
            (12.39, "refit", 32, None, 0.0112, 1e-05, None),
            (13.16, "refit", 48, None, 0.00642, 1e-05, None),
            (13.96, "refit", 72, None, 0.00187, 1e-05, None),
            (14.79, "refit", 108, None, 0.00076, 1e-05, None),
            (15.52, "refit", 164, None, 0.000385, 1e-05, None),
            (16.33, "refit", 248, None, 0.000131, 1e-05, None),
            (17.17, "refit", 372, None, 5.39e-05, 1e-05, None),
            (18.16, "refit", 560, None, 2.36e-05, 1e-05, None),
            (19.42, "refit", 840, None, 1.58e-05, 1e-05, None),
            (20.29, "refit", 1000, None, 8.76e-06, 1e-05, None),
        ],
    ),
    "auto": (
        43.73,
        [
            (0.74, "fit", 0, None, None, None, 0.000525),
            (0.82, "fit", 0, None, None, None, 0.0108),
            (0.89, "fit", 0, None, None, None, 0.0211),
            (0.98, "fit", 0, None, None, None, 0.0314),
            (1.05, "fit", 0, None, None, None, 0.0416),
            (1.15, "fit", 0, None, None, None, 0.0547),
            (1.25, "fit", 0, None, None, None, 0.0677),
            (1.36, "fit", 0, None, None, None, 0.0759),
            (1.45, "fit", 0, None, None, None, 0.0841),
            (1.53, "fit", 0, None, None, None, 0.0923),
            (1.59, "fit", 0, None, None, None, 0.101),
            (1.69, "fit", 0, None, None, None, 0.111),
            (1.79, "fit", 0, None, None, None, 0.122),
            (2.79, "fit", 0, None, None, None, 0.195),
            (3.82, "fit", 0, None, None, None, 0.325),
            (5.76, "fit", 0, None, None, None, 0.455),
            (6.82, "fit", 0, None, None, None, 0.535),
            (22.26, "validate", 0, 800, None, None, None),
            (22.3, "validate", 800, 800, None, None, None),
            (22.37, "refit", 0, None, None, None, 0.000368),
            (22.44, "refit", 0, None, None, None, 0.00759),
            (22.51, "refit", 0, None, None, None, 0.0148),
            (22.58, "refit", 0, None, None, None, 0.022),
            (22.64, "refit", 0, None, None, None, 0.0292),
            (22.73, "refit", 0, None, None, None, 0.0384),
            (22.82, "refit", 0, None, None, None, 0.0475),
            (22.93, "refit", 0, None, None, None, 0.0533),
            (23.0, "refit", 0, None, None, None, 0.059),
            (23.08, "refit", 0, None, None, None, 0.0648),
            (23.14, "refit", 0, None, None, None, 0.0706),
            (23.25, "refit", 0, None, None, None, 0.0783),
            (23.34, "refit", 0, None, None, None, 0.0859),
            (23.48, "refit", 0, None, None, None, 0.0962),
            (25.63, "refit", 0, None, None, None, 0.237),
            (27.88, "refit", 0, None, None, None, 0.379),
            (30.66, "refit", 0, None, None, None, 0.55),
        ],
    ),
}


def watched(name, scale=1.0):
    """The true and the predicted seconds at 200 moments of a training."""
    end, events = RECORDED[name]
    now = [0.0]
    model, waiting, found = RemainingTime(0.2, lambda: scale * now[0]), list(events), []
    for moment in np.linspace(events[0][0], end, 200, endpoint=False):
        while waiting and waiting[0][0] <= moment:
            now[0], phase, done, total, gap, tol, share = waiting.pop(0)
            model.see(Progress(phase, done, total, gap, tol=tol, share=share))
        now[0] = moment
        found.append((end - moment, model.left()))
    return found


@pytest.mark.parametrize("name", RECORDED)
def test_the_time_left_is_right_within_a_factor_of_two_for_most_of_a_training(name):
    found = watched(name)
    right = [left is not None and 0.5 <= left / true <= 2.0 for true, left in found]
    assert np.mean(right) > 0.7
    assert np.mean([left is None for _, left in found]) < 0.1
    assert min(left for _, left in found if left is not None) > 0.0


@pytest.mark.parametrize("name", RECORDED)
def test_a_machine_twice_as_slow_takes_twice_as_long(name):
    once, twice = watched(name), watched(name, scale=2.0)
    for (_, left), (_, longer) in zip(once, twice):
        assert longer == (None if left is None else pytest.approx(2.0 * left))


def test_nothing_is_said_before_anything_is_known():
    model = RemainingTime(0.2, lambda: 5.0)
    assert model.left() is None
    model.see(Progress("read", 1000))
    model.see(Progress("fit", 0, None, 1.0, tol=1e-3))
    assert model.left() is None
    model.see(Progress("fit", 3, passes=2))
    assert model.left() is None


def test_a_fit_without_validation_has_no_second_one():
    now = [0.0]
    model = RemainingTime(0.0, lambda: now[0])
    model.see(Progress("fit", 0, None, 1.0, tol=1e-4, share=0.0))
    now[0] = 10.0
    model.see(Progress("fit", 0, None, 0.1, tol=1e-4, share=0.25))
    assert model.left() == pytest.approx(30.0)
    now[0] = 100.0  # longer than expected: still not nothing
    assert model.left() == pytest.approx(10.0)


def test_texts_of_times():
    assert [time_text(s) for s in (None, 0.0, 0.2, 59.5, 3723.0)] == [
        "-:--:--", "0:00:01", "0:00:01", "0:01:00", "1:02:03",
    ]  # fmt: skip


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0.0


def test_an_exact_fit_tells_a_share_that_rises_and_changes_no_bit():
    X, y = rows(5000)
    told = []
    with share_listener(lambda share, work: told.append((work, share))):
        heard = KernelSVC(C=3.0, gamma=0.3).fit(X, y)
    shares = [share for work, share in told if work == "fit"]
    assert len(shares) > 10
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] < 0.2
    assert 0.8 < shares[-1] <= 1.0
    np.testing.assert_array_equal(heard.dual_coef_, KernelSVC(C=3.0, gamma=0.3).fit(X, y).dual_coef_)


@pytest.mark.usefixtures("patient_clock")
def test_a_search_tells_the_share_of_its_operations():
    X, y = rows(300)
    events = []
    reporter = Reporter(events.append)
    model = AutoSVC(max_seconds=2.0, random_state=0)
    with reporter.watching(model, "fit"):
        model.fit(X, y)
    shares = [event.share for event in events]
    assert len(shares) > 5
    assert shares == sorted(shares)
    assert 0.0 < shares[0] < shares[-1] < 1.0
