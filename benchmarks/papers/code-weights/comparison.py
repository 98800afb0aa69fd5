"""Differences of two decoders over the same folds: mean, confidence interval, one-sided tests.

The 25 differences of five times five folds are not independent: training sets share three quarters of their
rows. The corrected resampled t-test (Nadeau and Bengio, Machine Learning 52, 2003) takes

    variance of the mean = (1 / k + n_test / n_train) s^2,    k differences of variance s^2,    k - 1 degrees

where the ordinary paired t-test takes s^2 / k, and finds too much. Intervals are the corrected ones.
"""

import math
import statistics
from dataclasses import dataclass

from scipy.stats import t as student

TEST_TO_TRAINING = 1 / 4  # rows, with five folds
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Difference:
    """A mean difference, half its interval, and the chance of it or more if there were none."""

    mean: float
    half: float
    p: float  # one-sided, corrected
    p_ordinary: float  # one-sided, as the source probably had it

    def __str__(self):
        return f"{self.mean:+.2f} ± {self.half:.2f}"

    @property
    def verdict(self):
        """Whether the interval excludes 0."""
        return "higher" if self.mean > self.half else "lower" if self.mean < -self.half else "level"


def compare(ours, theirs):
    """By how much ours is larger."""
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    k = len(differences)
    mean = statistics.mean(differences)
    variance = statistics.variance(differences) if k > 1 else 0.0
    corrected, ordinary = (math.sqrt(f * variance) for f in (1 / k + TEST_TO_TRAINING, 1 / k))
    half = float(student.ppf(0.5 + CONFIDENCE / 2, max(k - 1, 1))) * corrected
    return Difference(mean, half, _p(mean, corrected, k), _p(mean, ordinary, k))


def _p(mean, error, k):
    if error == 0.0:
        return 0.5 if mean == 0.0 else float(mean < 0.0)
    return float(student.sf(mean / error, k - 1))


def stars(p):
    """As in the source: ``*`` below 5 %, ``**`` below 1 %."""
    return "**" if p < 0.01 else "*" if p < 0.05 else ""
