"""Flipped labels: the ramp loss against the hinge and the squared hinge, and how well suspects are found.

MNIST8 (the digit 8 or not), uniform flips of training labels, accuracy on clean test labels; and the
precision of ``suspects`` at the number of flipped rows, against confident learning (Northcutt et al., JAIR
2021) from out-of-fold probabilities of the same method with its default loss.
"""

import argparse
import json
import warnings

import numpy as np
from datasets import eight_or_not
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from maxmargin import SparseKernelClassifier

SHARES = (0.0, 0.1, 0.2, 0.3)
LOSSES = ("squared-hinge", "hinge", "ramp")


def data(n_rows, seed):
    """Training rows in random order, scaled to [0, 1], and test rows; digits where MNIST is not there."""
    try:
        X, y, X_test, y_test = eight_or_not()
    except (FileNotFoundError, TypeError, AttributeError):
        X, y = load_digits(return_X_y=True)
        y = (y == 8).astype(int)
        X, y, X_test, y_test = 16.0 * X[:1200], y[:1200], 16.0 * X[1200:], y[1200:]
    rows = np.random.default_rng(seed).permutation(len(y))[:n_rows]
    return tuple(
        part / np.float32(255) if part.ndim == 2 else part for part in (X[rows], y[rows], X_test, y_test)
    )


def flipped(y, share, seed):
    """Labels of which a share is flipped, and which rows these are."""
    wrong = np.random.default_rng([seed, 7]).random(len(y)) < share
    return np.where(wrong, 1 - y, y), wrong


def accuracy(n_rows, budget, loss, share, seed):
    """Per cent on clean test labels."""
    X, y, X_test, y_test = data(n_rows, seed)
    noisy, _ = flipped(y, share, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SparseKernelClassifier(budget, loss=loss, random_state=seed).fit(X, noisy)
    return 100.0 * model.score(X_test, y_test)


def precisions(n_rows, budget, share, seed):
    """Per cent of the first suspects that are flipped: ours, and by confident learning."""
    X, y, _, _ = data(n_rows, seed)
    noisy, wrong = flipped(y, share, seed)
    model = SparseKernelClassifier(budget, random_state=seed)
    n = wrong.sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = model.set_params(loss="ramp").suspects(X, noisy)[:n]
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        P = cross_val_predict(
            model.set_params(loss="squared-hinge"), X, noisy, cv=folds, method="predict_proba"
        )
    own = P[np.arange(len(noisy)), noisy]
    peers = [confident_learning(P, noisy), np.argsort(own)]  # by the confident joint, and by self-confidence
    return 100.0 * wrong[ours].mean(), 100.0 * max(wrong[rows[:n]].mean() for rows in peers)


def confident_learning(P, y):
    """Rows that the confident joint puts off its diagonal, by the probability of their label; then the rest.

    A row counts for class j if its probability of j is at least the mean of those labelled j.
    """
    own = P[np.arange(len(y)), y]
    threshold = np.array([P[y == j, j].mean() for j in range(P.shape[1])])
    confident = np.where(threshold <= P, P, -1.0)
    off = (confident.max(axis=1) >= 0.0) & (confident.argmax(axis=1) != y)
    return np.lexsort((own, ~off))


def run(repeats, quick):
    """Tables of accuracies and precisions, and no timed rows; ``repeats`` is not used."""
    n_rows, budget, seeds, shares = (800, 20, (0,), (0.2,)) if quick else (60_000, 1000, range(5), SHARES)
    lines = [
        {"loss": loss}
        | {
            f"{share:.0%}": f"{np.mean([accuracy(n_rows, budget, loss, share, s) for s in seeds]):.2f}"
            for share in shares
        }
        for loss in LOSSES
    ]
    small = (n_rows, budget) if quick else (10_000, 200)
    found = [
        {"flipped": f"{share:.0%}"}
        | dict(
            zip(
                ("suspects", "confident learning"),
                (f"{p:.1f}" for p in np.mean([precisions(*small, share, s) for s in seeds], axis=0)),
            )
        )
        for share in shares
        if share > 0
    ]
    name = f"{n_rows:,} rows, budget {budget}, means of {len(list(seeds))} seeds"
    return [], {f"Flipped labels, accuracy in %: {name}": lines, "Suspects, precision in %": found}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES)
    parser.add_argument("--losses", nargs="+", default=LOSSES)
    parser.add_argument("--seeds", type=int, nargs="+", default=range(5))
    parser.add_argument("--suspects", action="store_true")
    chosen = parser.parse_args()
    for seed in chosen.seeds:
        for share in chosen.shares:
            line = {"seed": seed, "flipped": share}
            if chosen.suspects:
                line["suspects"], line["confident learning"] = precisions(
                    chosen.rows, chosen.budget, share, seed
                )
            else:
                line |= {
                    loss: accuracy(chosen.rows, chosen.budget, loss, share, seed) for loss in chosen.losses
                }
            print(json.dumps(line), flush=True)
