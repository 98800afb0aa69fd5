"""What ``AutoSVC`` tells of the model that it has chosen: the certificate, the importance of columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import importances_at
from ..table import TablePreparation
from .scaling import ColumnScaling

__all__ = ["ChosenModel"]


class ChosenModel:
    """Attributes of ``estimator_``, in terms of the columns of X as given."""

    estimator_: Any
    scaling_: ColumnScaling
    table_: TablePreparation | None
    n_features_in_: int

    def _scaled(self, X: Any) -> Any:
        raise NotImplementedError

    @property
    def dual_gap_(self) -> float:
        """The largest relative duality gap of a column."""
        return float(self.estimator_.dual_gap_)

    @property
    def objective_(self) -> float:
        """The primal value, summed over the columns."""
        return float(self.estimator_.objective_)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Shares of the columns of X in what the outputs depend on; see :func:`maxmargin.importance`."""
        if self.scaling_.rotation is None:
            return self._by_given_column(np.asarray(self.estimator_.feature_importances_))
        points, rotation = self.estimator_.support_vectors_, self.scaling_.rotation
        return self._by_given_column(importances_at(self.estimator_, points, rotation))

    def _importance_at(self, X: Any) -> np.ndarray:
        """The same over the rows of X."""
        return self._by_given_column(importances_at(self.estimator_, self._scaled(X), self.scaling_.rotation))

    def _by_given_column(self, shares: np.ndarray) -> np.ndarray:
        if self.table_ is None:
            return shares
        return np.bincount(self.table_.sources_, weights=shares, minlength=self.n_features_in_)

    @property
    def history_(self) -> Any:
        """The certificates of each column."""
        return self.estimator_.history_

    @property
    def n_support_(self) -> int:
        """The number of support vectors."""
        return int(self.estimator_.n_support_)

    @property
    def n_iter_(self) -> int:
        """Iterations of the fit to all rows."""
        return int(self.estimator_.n_iter_)
