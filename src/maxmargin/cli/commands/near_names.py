"""A suggestion for a name that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def near(name: str, names: Iterable[str]) -> str:
    """ " Did you mean 'x'?" where one of the names is alike, else nothing."""
    found = difflib.get_close_matches(name, list(names), n=1)
    return f" Did you mean {found[0]!r}?" if found else ""
