"""Clients for the command line, and a fit of any estimator with ``fit_blocks`` on a client's workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from dask.delayed import delayed
from distributed import Client, LocalCluster
from distributed.core import Status
from tornado.ioloop import PeriodicCallback

from ..checkpoints import fit_record
from ..methods.blocks import block_deadline, fit_in_passes
from .passes import DaskPasses

__all__ = ["connected", "fit_on_cluster", "shared"]

SECONDS_BETWEEN_REPAIRS = 1.0


@contextmanager
def connected(address: str | None, n_workers: int | None = None) -> Iterator[Client]:
    """A client of the scheduler at an address, or of new single-threaded processes on this machine."""
    if address is not None:
        try:
            client = Client(address, timeout=10)
        except (OSError, TimeoutError, ValueError) as error:
            raise ConnectionError(f"no Dask scheduler answers at {address!r} ({error}).") from error
        with client:
            yield client
        return
    options: dict[str, Any] = {"threads_per_worker": 1, "host": "127.0.0.1"}
    options["dashboard_address"] = "127.0.0.1:0"  # any free port, for this machine alone
    with (
        LocalCluster(n_workers=n_workers, silence_logs=50, **options) as cluster,
        kept_at_size(cluster),
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def kept_at_size(cluster: LocalCluster) -> Iterator[None]:
    """Start workers in place of those that the cluster gives up.

    Dask looks at a worker that was lost once, 15 seconds later (``distributed.deploy.lost-worker-timeout``).
    If it is being restarted just then, because that is slow or it has died again, Dask closes its nanny and
    starts no other one. Nor does Dask replace a nanny whose worker died before it had registered. So a few
    deaths can leave a cluster without workers. ``scale`` starts those that ``cluster.workers`` lacks.
    """
    n_workers = len(cluster.worker_spec)

    def repair() -> None:
        for name, worker in list(cluster.workers.items()):
            if worker.status in (Status.closed, Status.failed):
                cluster.workers.pop(name, None)
        cluster.scale(n_workers)

    keeper = PeriodicCallback(repair, 1000 * SECONDS_BETWEEN_REPAIRS)
    cluster.loop.add_callback(keeper.start)
    try:
        yield
    finally:
        cluster.loop.add_callback(keeper.stop)


def shared(value: Any) -> Any:
    """A value as the result of one task, which every task that needs it uses."""
    return delayed(value, pure=False)


def fit_on_cluster(
    model: Any,
    client: Client,
    blocks: Sequence[Any],
    *,
    sample_rows: int | None = None,
    persist: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Any:
    """Fit a model that has ``fit_blocks`` to Delayed blocks; ``persist`` keeps them in memory."""
    held: Any = client.persist(list(blocks)) if persist else blocks
    with np.errstate(under="ignore"), block_deadline(model) as deadline, fit_record(model) as record:
        fit_in_passes(model, DaskPasses(client, held, deadline, progress), deadline, record, sample_rows)
    return model
