"""Small samples of two classes for bounds and leave-one-out estimates."""

import numpy as np

from maxmargin.bounds import MarginSample


def sample_of(n=50, seed=0, **more):
    rng = np.random.default_rng(seed)
    return MarginSample(rng.normal(0.8, 1, size=n), rng.random(n), 1.7, **more)


def two_classes(seed, n=24, noise=1.0, d=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + noise * (2 * y[:, None] - 1) * 0.6, y
