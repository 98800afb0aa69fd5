"""Outputs of columns with noise, for decoders that learn."""

import numpy as np
import pytest

FOCUSES = pytest.mark.parametrize("focus", [None, "support-vectors"])


def noisy_outputs(code, n, seed, noise=1.0):
    """Outputs around the code's entries, whole multiples of 1/4 (some are 0), and labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % code.n_classes
    F = code.matrix[y] + noise * rng.normal(size=(n, code.n_columns))
    return np.round(4 * F) / 4, y
