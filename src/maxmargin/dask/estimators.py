"""``DaskSparseKernelClassifier`` and ``DaskLinearSVC``: fits to Dask collections."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import Client, default_client
from sklearn.utils.metaestimators import available_if

from ..clusters import DaskPasses, fit_on_cluster, result_of
from ..methods.budget import SparseKernelClassifier
from ..methods.linear import LinearSVC
from ..solving import Deadline
from .blocks import blocks_of, is_collection, row_parts

__all__ = ["DaskLinearSVC", "DaskSparseKernelClassifier"]


def _local_has_probabilities(model: Any) -> bool:
    local = model.to_local()
    local.predict_proba  # noqa: B018 (raises with the reason if there are none)
    return True


class FitsCollections:
    """``fit`` to Dask collections in passes on the workers; ``_local`` is the class of the fitted model."""

    _local: type

    client: Client | None = None

    def fit(self: Any, X: Any, y: Any, sample_weight: Any = None, *, sample_rows: int | None = None) -> Any:
        """Fit to all rows.

        Parameters
        ----------
        X : dask Array or DataFrame of shape (n_samples, n_features)
            A partition is a block of rows; one is worth 0.2 seconds of work or more. Persist X if the cluster
            holds it: it is read in every pass.
        y : dask Array or Series of shape (n_samples,)
        sample_weight : dask Array or Series of shape (n_samples,), optional
        sample_rows : int, optional
            Rows in the sample that the fit starts from, and that support vectors are chosen from.

        Returns
        -------
        self
        """
        blocks = blocks_of(X, y, sample_weight)
        fit_on_cluster(self, self._own_client(), blocks, sample_rows=sample_rows)
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.array(X.columns, dtype=object)
        return self

    def passes_over(self: Any, X: Any, y: Any, sample_weight: Any, deadline: Deadline) -> DaskPasses:
        """Passes over the rows of collections; :class:`~maxmargin.PathCV` fits all its folds in them."""
        return DaskPasses(self._own_client(), blocks_of(X, y, sample_weight), deadline)

    def _own_client(self: Any) -> Client:
        return self.client or default_client()

    def to_local(self: Any) -> Any:
        """The fitted model without Dask; it is what model files store."""
        local = self._local(**self.get_params())
        local.__dict__.update({name: value for name, value in vars(self).items() if name != "client"})
        return local

    def __getstate__(self) -> Any:
        """The model without the client."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "client"}

    # ---- prediction, lazily by partition ----

    def predict(self: Any, X: Any) -> Any:
        """Labels: an array for data in memory, a Dask array for a collection."""
        if not is_collection(X):
            return self.to_local().predict(X)
        return self._lazily("predict", X, (), self.classes_.dtype)

    def decision_function(self: Any, X: Any) -> Any:
        """Scores of the classes, as the local model has them; a Dask array for a collection."""
        if not is_collection(X):
            return self.to_local().decision_function(X)
        n_classes = len(self.classes_)
        return self._lazily("decision_function", X, (n_classes,) if n_classes > 2 else (), np.float64)

    @available_if(_local_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self: Any, X: Any) -> Any:
        """Probabilities of the classes; a Dask array for a collection."""
        if not is_collection(X):
            return self.to_local().predict_proba(X)
        return self._lazily("predict_proba", X, (len(self.classes_),), np.float64)

    def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy."""
        if not is_collection(X):
            return float(self.to_local().score(X, y, sample_weight))
        model = delayed(self.to_local(), pure=False)
        parts = [delayed(_counted, pure=False)(model, block) for block in blocks_of(X, y, sample_weight)]
        client = self._own_client()
        right, total = result_of(client, client.compute(delayed(_summed, pure=False)(parts)))
        return float(right / total)

    def _lazily(self: Any, method: str, X: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        model = delayed(self.to_local(), pure=False)
        parts = row_parts(X, "X")
        rows = X.chunks[0] if isinstance(X, da.Array) else (np.nan,) * len(parts)
        arrays = [
            da.from_delayed(delayed(_answers, pure=False)(method, model, part), (n, *shape), dtype)
            for part, n in zip(parts, rows, strict=True)
        ]
        return da.concatenate(arrays, allow_unknown_chunksizes=True)


class DaskSparseKernelClassifier(FitsCollections, SparseKernelClassifier):
    """:class:`~maxmargin.SparseKernelClassifier` for Dask arrays and data frames.

    ``fit`` draws a sample of the rows by a hash, fits it here, which gives support vectors, gamma and alpha,
    and then fits the coefficients to all rows by Newton's method, in a few passes over the partitions on the
    workers. ``objective_`` and ``dual_gap_`` hold over all rows. The loss must be "squared-hinge" or "log".

    **Precision.** Blocks of float32 rows are summed in float32; the last certificate is a pass in double over
    all rows, and the fit continues in double where its gap is above ``tol``.

    Parameters are those of ``SparseKernelClassifier``. ``client``, an attribute, is the client to use: None
    means the default one. It is neither cloned nor pickled.

    Attributes
    ----------
    n_passes_ : int
        Passes over the rows.
    n_rows_ : int

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from maxmargin.dask import DaskSparseKernelClassifier
    >>> client = Client(processes=False, dashboard_address=None)  # doctest: +SKIP
    >>> X = da.random.normal(size=(10_000, 5), chunks=(2_000, 5))  # doctest: +SKIP
    >>> model = DaskSparseKernelClassifier(20).fit(X, X[:, 0] * X[:, 1] > 0)  # doctest: +SKIP
    >>> model.predict(X).compute()  # doctest: +SKIP
    """

    _local = SparseKernelClassifier


class DaskLinearSVC(FitsCollections, LinearSVC):
    """:class:`~maxmargin.LinearSVC` for Dask arrays and data frames.

    The loss is the squared hinge by default, not the hinge as in ``LinearSVC``: passes over the partitions
    need a loss with a curvature, "squared-hinge" or "log". ``fit`` starts from the fit to a sample of the
    rows and takes each step of Newton's method by a pass on the workers; ``objective_`` and ``dual_gap_``
    hold over all rows.

    **Precision.** As in :class:`DaskSparseKernelClassifier`.

    Parameters are those of ``LinearSVC``. ``client``, an attribute, is the client to use: None means the
    default one. It is neither cloned nor pickled.

    Attributes
    ----------
    n_passes_ : int
        Passes over the rows.
    n_rows_ : int

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from maxmargin.dask import DaskLinearSVC
    >>> client = Client(processes=False, dashboard_address=None)  # doctest: +SKIP
    >>> X = da.random.normal(size=(10_000, 5), chunks=(2_000, 5))  # doctest: +SKIP
    >>> model = DaskLinearSVC(loss="log").fit(X, X[:, 0] > 0.3)  # doctest: +SKIP
    >>> model.predict_proba(X).compute()  # doctest: +SKIP
    """

    _local = LinearSVC

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared-hinge",
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        code: Any = "one-vs-rest",
        decoder: Any = "auto",
        class_weight: Any = None,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        max_seconds: float = 3600.0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            C,
            loss=loss,
            fit_intercept=fit_intercept,
            penalize_intercept=penalize_intercept,
            code=code,
            decoder=decoder,
            class_weight=class_weight,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            max_seconds=max_seconds,
            n_jobs=n_jobs,
            random_state=random_state,
        )


def _answers(method: str, model: Any, X: Any) -> np.ndarray:
    return np.asarray(getattr(model, method)(X))


def _summed(parts: list[np.ndarray]) -> np.ndarray:
    return np.asarray(np.sum(parts, axis=0))


def _counted(model: Any, block: Any) -> np.ndarray:
    """The weight of the rows that are right, and of all."""
    right = model.predict(block.X) == block.y if len(block) else np.zeros(0, dtype=bool)
    return np.array([block.weight[right].sum(), block.weight.sum()])
