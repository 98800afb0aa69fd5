"""Options about a Dask cluster, the same for every command that can use one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Group, Parameter

from .messages import UsageError

_GROUP = Group("On a Dask cluster", sort_key=11)


@Parameter(name="*", group=_GROUP)
@dataclass(frozen=True)
class ClusterOptions:
    """Workers of this machine, or those of a cluster that runs already."""

    workers: Annotated[
        int | None,
        Parameter(help="Start so many processes on this machine; each works on one file at a time."),
    ] = None
    cluster: Annotated[
        str | None, Parameter(help="Address of a Dask scheduler, such as tcp://host:8786.")
    ] = None
    persist: Annotated[
        bool,
        Parameter(
            help="Keep the prepared rows in the workers' memory instead of reading the files in every pass.",
            show_default=False,
            negative=(),
        ),
    ] = False

    @contextmanager
    def client(self) -> Iterator[Any]:
        """A client while the command runs; None if no cluster was asked for."""
        if self.workers is not None and self.cluster is not None:
            raise UsageError("--workers starts processes here, --cluster uses others; give one of them.")
        if self.workers is None and self.cluster is None:
            if self.persist:
                raise UsageError("--persist is about a cluster; give --workers or --cluster too.")
            yield None
            return
        from ...clusters import connected

        with connected(self.cluster, self.workers) as client:
            yield client
