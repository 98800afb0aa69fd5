"""Names that a folder exports and imports when they are used, so that the command line starts at once."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # true for type checkers; at run time typing is not imported
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

__all__ = ["lazy"]


def lazy(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package that exports ``names[file]`` from its file or folder ``file``.

    ``names[""]`` are folders and files that it exports as they are.
    """
    home = {name: file for file, given in names.items() for name in given}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f".{home[name] or name}", package)
        value = getattr(module, name) if home[name] else module
        setattr(sys.modules[package], name, value)
        return value

    return get
