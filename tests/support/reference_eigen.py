"""The law of pivots by enumeration, and the Nystroem formula."""

import numpy as np


def pivot_law(K, weight, n_pivots):
    """The law of pivots drawn one after the other with P(i) ~ weight_i R_ii: {sequence: probability}."""
    if n_pivots == 0:
        return {(): 1.0}
    mass = weight * np.maximum(np.diag(K), 0.0)
    law = {}
    for i in np.flatnonzero(mass > 1e-12 * mass.sum()):
        rest = K - np.outer(K[:, i], K[i]) / K[i, i]
        rest[i] = rest[:, i] = 0.0
        for later, probability in pivot_law(rest, weight, n_pivots - 1).items():
            law[(int(i), *later)] = mass[i] / mass.sum() * probability
    return law


def nystroem_matrix(K, landmarks):
    """``K_nm K_mm^+ K_mn``."""
    return K[:, landmarks] @ np.linalg.pinv(K[np.ix_(landmarks, landmarks)], hermitian=True) @ K[landmarks]
