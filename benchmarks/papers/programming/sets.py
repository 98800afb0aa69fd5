"""Four real sets: letters, incomes (Adult), digits (USPS) and short messages (SMS spam)."""

import functools

import numpy as np
from frame import data_folder
from many_classes import arrays
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from split_set import Set

FILES = {"letter": "letter", "Adult": "a9a", "USPS": "usps", "SMS": "sms_spam"}
SMS_TEST = 1_574  # of 5,574 messages; the other sets have a customary split
LEAST_MESSAGES = 3  # a word must be in so many training messages to be a feature


def folder():
    """Where the data are, or None."""
    return data_folder(FILES.values())


@functools.cache
def load(name, n_train=None, n_test=None):
    """A set, its rows in a fixed random order; the first of them, where numbers are given."""
    X, y, X_test, y_test = {"Adult": _adult, "SMS": _sms}.get(name, lambda: arrays(name))()
    order = np.random.default_rng(0).permutation(len(y))[:n_train]
    return Set(X[order], y[order].astype(int), X_test[:n_test], y_test[:n_test].astype(int))


def _adult():
    with np.load(folder() / "a9a.npz") as file:
        parts = []
        for part in ("train", "test"):
            csr = tuple(file[f"X_{part}_{name}"] for name in ("data", "indices", "indptr"))
            X = sparse.csr_matrix(csr, shape=tuple(file[f"X_{part}_shape"])).toarray()
            parts += [X.astype(np.float32), file[f"y_{part}"]]
    return parts


def _sms():
    """Words as features of length 1; the words are those of the training messages."""
    with np.load(folder() / "sms_spam.npz") as file:
        text, y = file["text"], file["y"]
    order = np.random.default_rng(1).permutation(len(y))
    test, train = np.split(order, [SMS_TEST])
    words = CountVectorizer(binary=True, min_df=LEAST_MESSAGES, dtype=np.float32).fit(text[train])
    X, X_test = (normalize(words.transform(text[part])).tocsr() for part in (train, test))
    return X, y[train], X_test, y[test]
