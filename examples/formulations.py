"""Eight formulations of a linear classifier on one set of points, and four with a kernel, in one figure.

Lines are f = 0 and the margins f = -1, +1. A ring shows how hard a point pulls at the function: its area is
the slope of its loss. A weight written as 0 is exactly 0.
"""

import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from maxmargin import KernelSVC, LagrangianSVC, LeastSquaresClassifier, LinearProgramSVC, LinearSVC

OUTPUT = pathlib.Path(__file__).parent.parent / "build" / "formulations.png"
BLUE, ORANGE, INK = "#3b6fb6", "#e08214", "#222222"
RBF = {"kernel": "rbf", "gamma": 0.6}

SQUARED, HINGE, SQUARED_HINGE = "squared", "hinge", "squared hinge"
FORMULATIONS = [
    ("Least squares", r"$\Sigma_i (y_i - f(x_i))^2$", SQUARED, LeastSquaresClassifier(penalty=None)),
    (
        "Ridge",
        r"$\frac{1}{2}\|w\|^2 + \frac{C}{2}\Sigma_i (y_i - f(x_i))^2$",
        SQUARED,
        LeastSquaresClassifier(0.02),
    ),
    (
        "Lasso",
        r"$\|w\|_1 + \frac{C}{2}\Sigma_i (y_i - f(x_i))^2$",
        SQUARED,
        LeastSquaresClassifier(0.025, penalty="lasso"),
    ),
    ("Hinge LP", r"$\frac{1}{n}\Sigma_i \xi_i$", HINGE, LinearProgramSVC(penalty=None)),
    ("1-norm SVM", r"$\frac{1}{2}\|w\|^2 + C\Sigma_i \xi_i$", HINGE, LinearSVC(0.05, tol=1e-8)),
    (
        "2-norm SVM",
        r"$\frac{1}{2}\|w\|^2 + \frac{C}{2}\Sigma_i \xi_i^2$",
        SQUARED_HINGE,
        LinearSVC(0.05, loss="squared-hinge", tol=1e-8),
    ),
    ("L1 SVM", r"$\|w\|_1 + C\Sigma_i \xi_i$", HINGE, LinearProgramSVC(0.05)),
    (
        "Lagrangian SVM",
        r"$\frac{1}{2}(\|w\|^2 + b^2) + \frac{C}{2}\Sigma_i \xi_i^2$",
        SQUARED_HINGE,
        LagrangianSVC(0.05, tol=1e-8),
    ),
    ("1-norm SVM, rbf kernel", r"$\frac{1}{2}\|f\|^2 + C\Sigma_i \xi_i$", HINGE, KernelSVC(1.0, gamma=0.6)),
    (
        "L1 SVM, kernel columns",
        r"$\|a\|_1 + C\Sigma_i \xi_i,\ f = \Sigma_j a_j k(\cdot, x_j)$",
        HINGE,
        LinearProgramSVC(1.0, **RBF),
    ),
    (
        "L1 SVM, 20 eigen features",
        r"$\|w\|_1 + C\Sigma_i \xi_i,\ f = w'D(x)$",
        HINGE,
        LinearProgramSVC(1.0, **RBF, features="eigen", n_components=20, random_state=0),
    ),
    (
        "Lagrangian SVM, rbf kernel",
        r"$\frac{1}{2}(\|f\|^2 + b^2) + \frac{C}{2}\Sigma_i \xi_i^2$",
        SQUARED_HINGE,
        LagrangianSVC(1.0, **RBF, tol=1e-8),
    ),
]


def points(n=110, seed=3):
    """Two classes that differ mostly in the first feature and overlap; some points are far away."""
    rng = np.random.default_rng(seed)
    y = np.repeat([-1, 1], n // 2)
    X = rng.normal(scale=(0.75, 0.9), size=(len(y), 2))
    X[:, 0] += 1.1 * y + 0.25 * (X[:, 1] ** 2 - 0.8)
    X[:, 1] += 0.35 * y
    X[-8:] = (4.6, -1.6) + 0.3 * X[-8:]  # correct and far away: only a squared loss penalises it
    return X, y


def pull(loss, margins):
    """Minus the slope of the loss; one half at the kink of the hinge."""
    if loss == SQUARED:
        return np.abs(1.0 - margins)
    if loss == SQUARED_HINGE:
        return np.maximum(0.0, 1.0 - margins)
    return np.where(np.abs(margins - 1.0) < 1e-4, 0.5, (margins < 1.0).astype(float))


def what_matters(model, strength):
    """One line: the number of points with a pull, and the non-zero weights or coefficients."""
    n = int((strength > 1e-6).sum())
    coef = getattr(model, "coef_", None)
    if coef is None:
        return f"{n} points pull · {model.n_support_} kernel functions"
    if coef.shape[1] == 2:
        return f"{n} points pull · w = ({', '.join('0' if w == 0.0 else f'{w:.2f}' for w in coef[0])})"
    return f"{n} points pull · {np.count_nonzero(coef)} of {coef.shape[1]} features"


def draw(panel, model, X, y, loss):
    """Boundary, margins, points and their rings."""
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    grid = np.meshgrid(np.linspace(low[0], high[0], 240), np.linspace(low[1], high[1], 200))
    f = model.decision_function(np.column_stack([g.ravel() for g in grid])).reshape(grid[0].shape)
    panel.contourf(*grid, f, levels=[-1e9, 0.0, 1e9], colors=[BLUE, ORANGE], alpha=0.10)
    panel.contour(
        *grid,
        f,
        levels=[-1.0, 0.0, 1.0],
        colors=INK,
        linewidths=[0.9, 1.9, 0.9],
        linestyles=["--", "-", "--"],
    )
    strength = pull(loss, y * model.decision_function(X))
    rings = strength > 1e-6
    sizes = 16.0 + 110.0 * np.minimum(strength[rings] / (1.0 if loss == HINGE else 2.0), 1.2)
    panel.scatter(*X[rings].T, s=sizes, facecolors="none", edgecolors=INK, linewidths=0.7, alpha=0.8)
    for label, colour, marker in ((-1, BLUE, "o"), (1, ORANGE, "s")):
        panel.scatter(*X[y == label].T, s=11, color=colour, marker=marker, linewidths=0)
    panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
    return strength


def main(path=OUTPUT):
    """Fit every formulation, print a line for each, and draw."""
    X, y = points()
    figure, panels = plt.subplots(3, 4, figsize=(15.0, 11.6))
    print(f"{'formulation':28s} {'objective':>10s} {'gap':>8s}  what matters")
    for panel, (name, formula, loss, model) in zip(panels.flat, FORMULATIONS, strict=True):
        model.fit(X, y)
        matters = what_matters(model, draw(panel, model, X, y, loss))
        panel.set_title(f"{name}\n{formula}", fontsize=10.5, linespacing=1.6, pad=8)
        panel.set_xlabel(matters, fontsize=9)
        print(f"{name:28s} {model.objective_:10.4f} {model.dual_gap_:8.0e}  {matters}")
    legend = [
        Line2D([], [], color=INK, lw=1.9, label="f = 0"),
        Line2D([], [], color=INK, lw=0.9, ls="--", label="f = −1, +1"),
        Line2D([], [], color=BLUE, marker="o", ls="", ms=5, label="y = −1"),
        Line2D([], [], color=ORANGE, marker="s", ls="", ms=5, label="y = +1"),
        Line2D(
            [],
            [],
            color=INK,
            marker="o",
            mfc="none",
            ls="",
            ms=10,
            label="pull of a point (slope of its loss)",
        ),
    ]
    figure.legend(handles=legend, loc="lower center", ncols=5, frameon=False, fontsize=10.5)
    figure.tight_layout(rect=(0.0, 0.04, 1.0, 1.0), h_pad=1.6)
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"drawn: {path}")


if __name__ == "__main__":
    main()
