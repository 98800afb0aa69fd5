"""What each bound says of one model: 2,000 rows of a checkerboard, C = 0.1."""

import numpy as np

from maxmargin import KernelSVC, bounds

N, N_NEW = 2000, 200_000
LINES = (  # what the page calls it, what it needs, and its names in the report
    ("hold-out (Clopper-Pearson)", "rows that took part in no choice", ("hold-out",)),
    ("PAC-Bayes, of the random classifier", "norm, margins", ("pac-bayes-gibbs",)),
    ("PAC-Bayes, of f", "the same", ("pac-bayes",)),
    ("margin, best multiple", "the same", ("margin-scaled",)),
    ("margin, a norm known before", "the problem's C", ("margin-a-priori",)),
    ("hinge risk", "a bound on k(x, x)", ("hinge",)),
    ("stability", "no free intercept", ("stability",)),
    (
        "leave-one-out: support vectors, xi-alpha, span",
        "dual variables",
        ("support-vectors", "xi-alpha", "span"),
    ),
)
NO_GUARANTEE, WITHOUT_INTERCEPT = "span", "stability"


def rows_of_a_checkerboard(n, rng):
    """Points of 4 x 4 squares, and the colour of each."""
    X = 4 * rng.random((n, 2))
    return X, np.floor(X).sum(axis=1).astype(int) % 2


def measure():
    """Columns and lines."""
    rng = np.random.default_rng(0)
    X, y = rows_of_a_checkerboard(2 * N, rng)
    parts = {"X_test": X[N:], "y_test": y[N:]}
    model = KernelSVC(C=0.1, gamma=2.0).fit(X[:N], y[:N])
    report = bounds.report(model, X[:N], y[:N], **parts)
    margins = np.where(y[:N] == 1, 1.0, -1.0) * (model.decision_function(X[:N]) - model.intercept_[0])
    sample = bounds.MarginSample(margins, np.ones(N), norm=1.0)  # this bound does not depend on the norm
    stable = {WITHOUT_INTERCEPT: bounds.stability_bound(sample, cost=0.1, max_norm=1.0)}
    error = 1.0 - model.score(*rows_of_a_checkerboard(N_NEW, rng))
    lines = []
    for what, needs, names in LINES:
        values = [(stable if name == WITHOUT_INTERCEPT else report)[name].value for name in names]
        said = ", ".join(
            f"{value:.2g}" if value >= 10.0 or value < 0.1 else f"{value:.2f}" for value in values
        )
        remark = f" (true error {error:.2g})" if names == ("hold-out",) else ""
        lines.append([what, needs, said + remark + (": no guarantee" if NO_GUARANTEE in names else "")])
    return ["what", "needs", f"at n = {N:,}, a checkerboard, C = 0.1"], lines
