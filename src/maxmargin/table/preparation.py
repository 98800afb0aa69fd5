"""From a table to a matrix: one-hot categories, standardised numbers, dates as numbers, weighted words."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data import Advised, check_choice, check_number, checked_input
from .given import GivenTable, given_matrix, given_table, is_table
from .matched import Notices, matched, matched_sparse
from .matrix import TableMatrix
from .numeric import CONSTANT, NumberPlan
from .plans import PlanLimits, plans_of
from .states import state_of, with_state
from .statistics import RunningTable

ROWS_PER_FILL = 1 << 16
DTYPES = ("float32", "float64")
ROLES = ("category", "text")
ACCEPTED = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_all_finite": "allow-nan"}
MAX_DENSE_COLUMNS = 512  # a matrix of no more columns is dense in any case
MIN_DENSE_SHARE = 0.25  # of entries that are not zero, from which on a wider one is


def roles_of(declared: Collection[str], text: Collection[str] = ()) -> dict[str, str]:
    """The roles of columns whose kind was declared, and of columns declared as free text.

    Parameters
    ----------
    declared : collection of str, or mapping of them to their kinds
    text : collection of str

    Returns
    -------
    dict
        For the parameter ``roles`` of :class:`TablePreparation`.
    """
    words = [name for name in declared if not isinstance(declared, Mapping) or declared[name] == "words"]
    return dict.fromkeys(words, "category") | dict.fromkeys(text, "text")


class TableWarning(Advised, UserWarning):
    """Something odd in a table, or in a table at prediction that was not in the table of the training."""


class TablePreparation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Prepare a table: one-hot categories, standardised numbers, missing values marked, dates, free text.

    A numeric column becomes ``(x - mean) / scale``, from the values present in training; ``scale`` is the
    standard deviation over the root of the share of values that are not the minimum (or not the maximum, if
    that is more frequent), so that zeros and ones, or numbers that are mostly zero, are not inflated. A
    missing number becomes the mean, which is 0; if any was missing in training, an indicator column marks
    missing values. A categorical column becomes one column for each category seen in training, sorted; beyond
    ``max_words`` of them the most frequent are kept and one column stands for all others; if a value was
    missing in training, there is a column for that. An unseen category goes to the column of all others, or
    is all zeros without one. Columns that are constant, have no value, or have only different categories are
    dropped and named in ``dropped_``. The kind of a column is open until its first value is seen.

    A column all of whose values are dates, written with or without a time and a zone, becomes year, month,
    weekday, hour and days since the first date, each standardised (:class:`DatePlan`). A column of free text,
    values of several words that are mostly different, becomes TF-IDF weights of its ``max_text_words`` most
    frequent words (:class:`TextPlan`); writings without spaces, such as Japanese, give pairs of characters.

    A CSR matrix stays one: each column is divided by its largest absolute value, zeros stay zeros, and no
    column is dropped. Otherwise the matrix is dense with at most 512 columns, or where a quarter of the
    entries or more are not zero, and CSR beyond.

    X is a ``Block`` of a file, a data frame of pandas or polars, a mapping from names to columns, or a
    matrix. At prediction columns are found by name in any order; a column that is missing, or is categorical
    where training had numbers, is an error, and a column unseen in training is ignored with a
    ``TableWarning``.

    Parameters
    ----------
    max_words : int, default=100
        Categories of a column that get a column of their own.
    max_text_words : int, default=2000
        Words of a column of free text that get a column of their own.
    roles : mapping of str to {"category", "text"}, optional
        What columns of words are, whatever they contain: categories, or free text.
    dtype : {"float64", "float32"}, default="float32"
        Of the matrix. Statistics are float64 in any case.

    Attributes
    ----------
    layout_ : {"table", "matrix", "sparse"}
        What it was fitted to: named columns, a dense matrix, or a CSR matrix.
    plans_ : list of NumberPlan, WordsPlan, DatePlan and TextPlan
        What becomes of each column; empty for a CSR matrix.
    scale_ : ndarray of shape (n_features_in_,)
        What columns of a CSR matrix are divided by; empty otherwise.
    dropped_ : dict
        From names of columns that were dropped to the reason.
    n_samples_seen_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only where columns have names.

    Notes
    -----
    :meth:`state` gives everything that prediction needs as plain values and one array, and ``from_state``
    restores the object; model files store that. What :meth:`partial_fit` needs to continue is not part of it.

    Examples
    --------
    >>> import pandas as pd
    >>> from maxmargin.table import TablePreparation
    >>> frame = pd.DataFrame({"width": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    >>> TablePreparation().fit_transform(frame).shape
    (3, 3)
    """

    def __init__(
        self,
        *,
        max_words: int = 100,
        max_text_words: int = 2000,
        roles: Mapping[str, str] | None = None,
        dtype: str = "float32",
    ) -> None:
        self.max_words = max_words
        self.max_text_words = max_text_words
        self.roles = roles
        self.dtype = dtype

    # ---- fitting ----

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute means, deviations and categories.

        Parameters
        ----------
        X : Block, data frame, mapping or matrix
        y : ignored

        Returns
        -------
        self
        """
        for name in [name for name in vars(self) if name.endswith("_") or name == "_running"]:
            delattr(self, name)
        return self.partial_fit(X)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Fit to more rows; the result does not depend, in any bit, on how rows are cut into blocks.

        Parameters
        ----------
        X : Block, data frame, mapping or matrix
        y : ignored

        Returns
        -------
        self
        """
        check_number("max_words", self.max_words, at_least=1, integer=True)
        check_number("max_text_words", self.max_text_words, at_least=1, integer=True)
        for role in (self.roles or {}).values():
            check_choice("roles", role, ROLES)
        check_choice("dtype", self.dtype, DTYPES)
        if hasattr(self, "layout_") and not hasattr(self, "_running"):
            raise ValueError(
                "this TablePreparation comes from a model file, which stores no counts: partial_fit cannot "
                "continue. Call fit with all rows."
            )
        table = self._table(X, growing=True)[0] if hasattr(self, "layout_") else self._first_table(X)
        self._running.add(table)
        self.n_samples_seen_ += table.n_rows
        self._plan()
        return self

    def _first_table(self, X: Any) -> GivenTable:
        table = (
            given_table(X) if is_table(X) else given_matrix(validate_data(self, checked_input(X), **ACCEPTED))
        )
        if not table.n_rows or not table.n_columns:
            raise ValueError(
                f"the table has {table.n_rows} rows and {table.n_columns} columns of features; at least "
                "one of each is needed."
            )
        self.layout_ = "sparse" if table.is_sparse else "matrix" if table.names is None else "table"
        self.n_features_in_, self.n_samples_seen_ = table.n_columns, 0
        if table.names is not None:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        self._running = RunningTable(table, self.roles)
        return table

    def _plan(self) -> None:
        self.plans_, self.scale_, self.dropped_ = [], np.zeros(0), {}
        if self.layout_ == "sparse":
            largest = self._running.extent.largest
            self.n_features_in_ = len(largest)
            self.scale_ = np.where(largest > 0.0, largest, 1.0)
            return
        names = self._names_in()
        limits = PlanLimits(self.max_words, self.max_text_words)
        for name, (plan, dropped) in zip(names, plans_of(self._running, self.n_samples_seen_, limits)):
            self.plans_.append(plan)
            if dropped is not None:
                self.dropped_[name] = dropped
            elif isinstance(plan, NumberPlan) and not (
                math.isfinite(plan.mean) and math.isfinite(plan.scale)
            ):
                raise ValueError(
                    f"column {name!r} has numbers whose squares overflow; divide it by a power of ten."
                )

    # ---- using ----

    def transform(self, X: Any) -> Any:
        """The matrix.

        Parameters
        ----------
        X : Block, data frame, mapping or matrix

        Returns
        -------
        ndarray or CSR array of shape (n_rows, n_features_out)

        Warns
        -----
        TableWarning
            For columns, categories and missing values unseen in training.
        """
        out, notices = self.transform_noting(X)
        if text := notices.text():
            warnings.warn(text, TableWarning, stacklevel=2)
        return out

    def transform_noting(self, X: Any) -> tuple[Any, Notices]:
        """The matrix, and what was unseen in training instead of a warning.

        Parameters
        ----------
        X : Block, data frame, mapping or matrix

        Returns
        -------
        matrix : ndarray or CSR array of shape (n_rows, n_features_out)
        notices : Notices
            Counts of unseen categories, missing values in columns that had none, ignored columns.
        """
        check_is_fitted(self, "layout_")
        table, notices = self._table(X)
        if self.layout_ == "sparse":
            X = table.matrix
            scaled = (X.data / self.scale_[X.indices]).astype(self.dtype)
            return sparse.csr_array((scaled, X.indices, X.indptr), shape=X.shape), notices
        if not self.n_features_out_:
            listed = ", ".join(f"{name!r} ({why})" for name, why in self.dropped_.items())
            raise ValueError(f"the table has no usable column: {listed}.")
        matrix, is_dense = TableMatrix(self.plans_, self._names_in(), self.dtype), self.is_dense_
        fill = matrix.dense if is_dense else matrix.csr
        parts: list[Any] = [
            fill(table, start, min(start + ROWS_PER_FILL, table.n_rows), notices)
            for start in range(0, max(table.n_rows, 1), ROWS_PER_FILL)
        ]
        if len(parts) > 1:
            return np.concatenate(parts) if is_dense else sparse.vstack(parts, format="csr"), notices
        return parts[0], notices

    @property
    def n_features_out_(self) -> int:
        """Columns of the matrix."""
        return len(self.scale_) if self.layout_ == "sparse" else sum(plan.width for plan in self.plans_)

    @property
    def sources_(self) -> np.ndarray:
        """The column of the table that each column of the matrix comes from."""
        if self.layout_ == "sparse":
            return np.arange(len(self.scale_))
        return np.repeat(np.arange(len(self.plans_)), [plan.width for plan in self.plans_])

    @property
    def is_dense_(self) -> bool:
        """Whether the matrix is dense."""
        if self.layout_ == "sparse":
            return False
        n_out = self.n_features_out_
        stored = sum(plan.n_stored for plan in self.plans_)
        return n_out <= MAX_DENSE_COLUMNS or stored >= MIN_DENSE_SHARE * n_out

    @property
    def row_bytes_(self) -> float:
        """Approximate memory of a row of the matrix during training."""
        size = np.dtype(self.dtype).itemsize
        if self.layout_ == "sparse":
            return self._running.extent.n_stored / self.n_samples_seen_ * (size + 4)
        if self.is_dense_:
            return float(self.n_features_out_ * size)
        return sum(max(1.0, plan.n_stored) for plan in self.plans_) * (size + 4)

    @property
    def kinds_(self) -> dict[str, str]:
        """The kind of each column, "number" or "words", for readers of further files."""
        kinds = ["number" if isinstance(plan, NumberPlan) else "words" for plan in self.plans_]
        return dict(zip(self._names_in(), kinds))

    @property
    def constants_(self) -> dict[str, float]:
        """The numbers of the columns that were dropped because they were the same in all rows."""
        plans = zip(self._names_in(), self.plans_)
        return {
            name: plan.mean
            for name, plan in plans
            if isinstance(plan, NumberPlan) and self.dropped_.get(name) == CONSTANT
        }

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of the matrix.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self, "layout_")
        names = self._names_in()
        if self.layout_ != "sparse":
            names = [out for plan, name in zip(self.plans_, names) for out in plan.names(name)]
        return np.array(names, dtype=object)

    def _names_in(self) -> list[str]:
        given = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if given is None else given.tolist()

    def _table(self, X: Any, growing: bool = False) -> tuple[GivenTable, Notices]:
        """X with the columns of the training, in their order."""
        if is_table(X):
            table = given_table(X)
        else:
            table = given_matrix(validate_data(self, checked_input(X), reset=False, **ACCEPTED))
        if self.layout_ == "sparse":
            matrix, notices = matched_sparse(table, self.n_features_in_, growing)
            return replace(table, matrix=matrix), notices
        kinds: list[str | None] = [
            "number" if isinstance(plan, NumberPlan) else "words" for plan in self.plans_
        ]
        if growing:
            kinds = [None if j in self._running.open else kind for j, kind in enumerate(kinds)]
        names = self._names_in() if self.layout_ == "table" else None
        return matched(table, names, kinds, self.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        """Missing values and sparse matrices are accepted; the matrix has the requested dtype."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.input_tags.string = tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    # ---- model files ----

    def state(self) -> dict[str, Any]:
        """All that prediction needs: values fit for JSON, and ``"scale"``, a float64 array.

        Returns
        -------
        dict
        """
        check_is_fitted(self, "layout_")
        return state_of(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> TablePreparation:
        """The preparation that gave this state, every value of it checked.

        Parameters
        ----------
        state : dict
            As :meth:`state` gives it.

        Returns
        -------
        TablePreparation
        """
        check_choice("dtype", state["dtype"], DTYPES)
        given = {name: state[name] for name in ("max_text_words", "roles") if name in state}
        return with_state(cls(max_words=state["max_words"], dtype=state["dtype"], **given), state)
