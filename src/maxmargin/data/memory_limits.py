"""How much memory this process may still take: the machine's, its container's, and its own limit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["available_bytes", "machine_bytes"]

UNKNOWN = 2_000_000_000  # where the system reports nothing
MAX_LIMIT = 1 << 60  # cgroup v1 writes a number near 2^63 for no limit
SECONDS_BETWEEN_READINGS = 0.05  # many small fits in turn need not each read a dozen files
CGROUP_FILES = {  # version: limits, usage, and the part of it, in memory.stat, that is given back on demand
    2: (("memory.max", "memory.high"), "memory.current", "inactive_file"),
    1: (("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file"),
}


def available_bytes(root: str | Path = "/") -> int:
    """Memory that can be taken without swapping and within the limits of cgroups and of ``RLIMIT_AS``.

    ``root`` is the folder that holds ``proc`` and ``sys``. 2 GB where the system reports nothing.
    """
    if root != "/":
        return _left(Path(root))
    now = time.monotonic()
    if now >= _last.expires:
        _last.n_bytes, _last.expires = _left(Path(root)), now + SECONDS_BETWEEN_READINGS
    return _last.n_bytes


def machine_bytes(root: str | Path = "/") -> int:
    """Memory of the machine, or the least limit of its cgroups: the same whatever runs there.

    ``root`` is the folder that holds ``proc`` and ``sys``. 2 GB where the system reports nothing.
    """
    host = _table(Path(root) / "proc/meminfo").get("MemTotal:")
    found = [*([] if host is None else [1024 * host]), *_cgroup_bytes(Path(root), _limits_of)]
    return min(found, default=UNKNOWN)


class _Reading:
    """The last answer, and until when it holds."""

    n_bytes = 0
    expires = 0.0


_last = _Reading()


def _left(root: Path) -> int:
    host = _host_bytes(root)
    left = [*([] if host is None else [host]), *_cgroup_bytes(root), *_address_space_bytes(root)]
    return max(0, min(left, default=UNKNOWN))


def _host_bytes(root: Path) -> int | None:
    known = _table(root / "proc/meminfo").get("MemAvailable:")
    if known is not None:
        return known * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _cgroup_bytes(root: Path, measure: Callable[[Path, int], Iterator[int]] | None = None) -> Iterator[int]:
    """What is left below each limit on the way from this process's cgroup up to the root."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        version = 2 if number == "0" and not controllers else 1
        if version == 1 and "memory" not in controllers.split(","):
            continue
        top = root / "sys/fs/cgroup" / ("" if version == 2 else "memory")
        if version == 2 and not (top / "cgroup.controllers").exists():
            top = root / "sys/fs/cgroup/unified"
        group = top / path.lstrip("/")
        for folder in (group, *group.parents):  # in a container the path may be one that only the host has
            if folder == top.parent:
                break
            yield from (measure or _left_in)(folder, version)


def _limits_of(folder: Path, version: int) -> Iterator[int]:
    for name in CGROUP_FILES[version][0]:
        limit = _number(folder / name)
        if limit is not None and limit < MAX_LIMIT:
            yield limit


def _left_in(folder: Path, version: int) -> Iterator[int]:
    _, usage, given_back = CGROUP_FILES[version]
    found = list(_limits_of(folder, version))
    if found:
        used = _number(folder / usage) or 0
        yield min(found) - max(0, used - _table(folder / "memory.stat").get(given_back, 0))


def _address_space_bytes(root: Path) -> Iterator[int]:
    """What is left below ``RLIMIT_AS``."""
    try:
        import resource
    except ImportError:  # not a Unix
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _text(root / "proc/self/statm").split()
    if limit != resource.RLIM_INFINITY and pages:
        yield limit - int(pages[0]) * os.sysconf("SC_PAGE_SIZE")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None  # cgroup v2 writes "max" for no limit


def _table(path: Path) -> dict[str, int]:
    """Lines of a name and a number."""
    rows = (line.split() for line in _text(path).splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) >= 2 and row[1].isdigit()}
