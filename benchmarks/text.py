"""LinearSVC on text, against scikit-learn's LinearSVC (LIBLINEAR).

Messages (sms_spam), and documents drawn from a seed: lengths vary by a factor of ten, words are as unevenly
frequent as in a language and repeat within a document, every class has words of its own, and one label in
twenty is wrong. Each as counts, as counts divided by the largest of each word (max-abs), and as TF-IDF of
length 1. Every solver runs at its loosest tolerance whose objective is within 1e-3 of its optimum, which ours
certifies to 1e-5; looking for it does not count. LIBLINEAR solves the dual, and the primal as well where it
can: the faster counts. It has no free intercept; ours is compared with its penalised one, each with its own
optimum. Times are those of whole fits, in turn.
"""

import os
import time
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
from clock import row, turns
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.svm import LinearSVC as PeerSVC

from maxmargin import LinearSVC

TITLE = "LinearSVC on text"
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4)
MAX_EXCESS = 1e-3  # of an objective over the optimum
MAX_SEARCH_SECONDS = 60.0  # for one fit; a solver that takes longer is not tried at finer tolerances
LOSSES = {"hinge": ("hinge", 1.0), "squared-hinge": ("squared_hinge", 2.0)}  # the peer's has no 1/2
INTERCEPTS = ("none", "penalised", "free")
DRAWN = {
    "300 x 1,000": (300, 1000, 2),
    "11,000 x 39,000": (11_000, 39_000, 4),
    "100,000 x 50,000": (100_000, 50_000, 2),
}


def word_counts(n, d, n_classes, mean_length=120, seed=0):
    """Counts of d words in n documents, and the classes."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / (np.arange(d) + 10.0) ** 1.05
    own = np.exp(0.7 * rng.normal(size=(n_classes, d)) * (rng.random((n_classes, d)) < 0.3))
    labels = rng.integers(n_classes, size=n)
    lengths = np.maximum(1, np.exp(rng.normal(np.log(mean_length) - 0.5, 1.0, size=n))).astype(int)
    document = np.repeat(np.arange(n), lengths)
    words = np.empty(len(document), dtype=np.int32)
    for c in range(n_classes):
        which, p = labels[document] == c, frequency * own[c]
        words[which] = rng.choice(d, size=int(which.sum()), p=p / p.sum())
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    place = np.arange(len(document)) - first
    again = (rng.random(len(document)) < 0.3) & (place > 0)
    words[again] = words[first[again] + (rng.random(int(again.sum())) * place[again]).astype(np.int64)]
    X = sparse.csr_array((np.ones(len(document)), (document, words)), shape=(n, d))
    X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # LIBLINEAR refuses others
    wrong = rng.random(n) < 0.05
    labels[wrong] = rng.integers(n_classes, size=int(wrong.sum()))
    return X, labels


@lru_cache(maxsize=1)
def counts(name):
    if name in DRAWN:
        return word_counts(*DRAWN[name])
    with np.load(Path(os.environ["MAXMARGIN_DATA"]) / "sms_spam.npz") as file:
        X = CountVectorizer().fit_transform(file["text"]).astype(np.float64)
        return sparse.csr_array(X), file["y"].astype(int)


def scaled(X, how):
    """Counts, max-abs or tf-idf."""
    X = X.copy()
    if how == "max-abs":
        X.data /= abs(X).max(axis=0).toarray().ravel()[X.indices]
    if how == "TF-IDF":
        seen = np.bincount(X.indices, minlength=X.shape[1])
        X.data *= (np.log((1 + X.shape[0]) / (1 + seen)) + 1.0)[X.indices]
        row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        X.data /= np.sqrt(np.bincount(row_of, weights=X.data**2, minlength=X.shape[0]))[row_of]
    return X


def objective(model, X, y, loss, intercept):
    """The objective with C = 1 in our parametrisation, summed over the columns."""
    classes = np.unique(y)
    targets = np.where(y[:, None] == (classes if len(classes) > 2 else classes[1:]), 1.0, -1.0)
    b = np.broadcast_to(model.intercept_, len(model.coef_))
    shortfall = np.maximum(0.0, 1.0 - targets * (X @ model.coef_.T + b))
    losses = shortfall if loss == "hinge" else 0.5 * shortfall**2
    return 0.5 * np.sum(model.coef_**2) + 0.5 * (intercept == "penalised") * np.sum(b**2) + losses.sum()


def ours(loss, intercept):
    fitted = {"fit_intercept": intercept != "none", "penalize_intercept": intercept == "penalised"}
    return lambda tol: LinearSVC(loss=loss, tol=tol, max_iter=100_000, random_state=0, **fitted)


def peers(loss, intercept, dual):
    name, factor = LOSSES[loss]
    return lambda tol: PeerSVC(
        C=1.0 / factor,
        loss=name,
        dual=dual,
        fit_intercept=intercept != "none",
        tol=tol,
        max_iter=20_000,
        random_state=0,
    )


def cells(suite):
    messages = ["sms_spam"] if (Path(os.environ.get("MAXMARGIN_DATA", "")) / "sms_spam.npz").is_file() else []
    names = {"quick": ["300 x 1,000"], "bench": [*messages, "11,000 x 39,000", "100,000 x 50,000"]}
    scales = ["counts"] if suite == "quick" else ["counts", "max-abs", "TF-IDF"]
    return [
        f"{name}; {how}; {loss}; {intercept}"
        for name in names.get(suite, [])
        for how in scales
        for loss in LOSSES
        for intercept in INTERCEPTS
    ]


def loosest(make, value, best):
    """The loosest tolerance with which a model reaches the optimum within MAX_EXCESS, or None."""
    for tol in TOLERANCES:
        start = time.perf_counter()
        if value(make(tol)) <= (1.0 + MAX_EXCESS) * best:
            return tol
        if time.perf_counter() - start > MAX_SEARCH_SECONDS:
            break
    return None


def measure(cell, quick):
    name, how, loss, intercept = cell.split("; ")
    X, y = counts(name)
    X = scaled(X, how)
    theirs = "penalised" if intercept == "free" else intercept
    makers = {"ours": (ours(loss, intercept), intercept), "dual": (peers(loss, theirs, True), theirs)}
    if loss == "squared-hinge":
        makers["primal"] = (peers(loss, theirs, False), theirs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # loose tolerances of the peers
        best = {
            kind: objective(ours(loss, kind)(1e-5).fit(X, y), X, y, loss, kind)
            for kind in {intercept, theirs}
        }
        tols = {
            who: loosest(
                make, lambda model, kind=kind: objective(model.fit(X, y), X, y, loss, kind), best[kind]
            )
            for who, (make, kind) in makers.items()
        }
        fits = {
            who: lambda make=make, tol=tols[who]: make(tol).fit(X, y)
            for who, (make, _) in makers.items()
            if tols[who] is not None
        }
        return turns(fits, n_turns=1 if quick else None, least_seconds=0.0 if quick else 0.05) | {
            "tols": tols
        }


def rows(records):
    lines = []
    for cell, r in records.items():
        peers_seconds = {who: r[who]["seconds"] for who in ("dual", "primal") if who in r}
        if "ours" not in r or not peers_seconds:
            continue
        who = min(peers_seconds, key=peers_seconds.get)
        label = f"LinearSVC, text {cell.replace('; ', ', ')} (tol {r['tols']['ours']:g})"
        against = f"LIBLINEAR, {who} (tol {r['tols'][who]:g})"
        lines.append(row(label, r["ours"]["seconds"], against, peers_seconds[who], 1.0))
    return lines


def notes(records):
    """Solvers that reached no objective within 1e-3."""
    return [
        f"Text {cell}: not within 1e-3 of the optimum: {', '.join(late)}."
        for cell, r in records.items()
        if (late := [who for who, tol in r["tols"].items() if tol is None])
    ]
