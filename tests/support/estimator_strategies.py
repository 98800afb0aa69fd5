"""Strategies for the parameters of certified estimators."""

from hypothesis import strategies as st

import maxmargin
from maxmargin import kernels

from .certificate_rows import powers

TOLERANCES = st.sampled_from([1e-3, 1e-4, 1e-6])
COSTS = powers(-5, 5)
ALPHAS = powers(-7, 2)
KERNELS = st.sampled_from([
    "linear",
    "rbf",
    "laplacian",
    "exponential",
    kernels.Polynomial(degree=2, coef0=1.0),
    kernels.Polynomial(degree=3),
    kernels.Linear() + kernels.RBF(),
    kernels.Laplacian() * kernels.Polynomial(degree=2, coef0=0.5),
    1e-3 * kernels.RBF(),
    "sigmoid",
])  # fmt: skip
FLAGS = st.booleans()


def estimators(name, **parameters):
    return st.builds(getattr(maxmargin, name), tol=TOLERANCES, random_state=st.just(0), **parameters)
