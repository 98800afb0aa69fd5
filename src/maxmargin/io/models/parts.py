"""How a table says what a file keeps of a class: its module, its parameters, its fitted attributes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
from typing import Any

from .expected import Expected, Sizes

Check = Callable[[Any, Sizes], None]
Rebuild = Callable[[Any], None]
Fields = dict[str, Expected]


@dataclass(frozen=True)
class Kept:
    """One class whose objects a file can hold.

    Nothing in a file names a module or a class: the key of the table does, and the table is code.
    """

    module: str
    parameters: Mapping[str, Expected] = field(default_factory=dict)  # of an estimator: those worth checking
    fitted: Mapping[str, Expected] = field(default_factory=dict)
    optional: Mapping[str, Expected] = field(default_factory=dict)  # fitted, where there are such
    checks: tuple[Check, ...] = ()  # of the whole object, after every attribute has been looked at
    left_out: Mapping[str, Rebuild | None] = field(default_factory=dict)  # not kept; made again by a function
    pack: Callable[[Any], dict[str, Any]] | None = None  # instead of attributes: what there is to keep
    unpack: Callable[[dict[str, Any]], Any] | None = None  # and the object made from it

    @property
    def attributes(self) -> dict[str, Expected]:
        """All fitted attributes."""
        return {**self.fitted, **self.optional}

    def load_class(self, name: str) -> type:
        """The class."""
        return getattr(import_module(self.module), name)

    def parameter_names(self, cls: type) -> list[str]:
        """What the constructor takes."""
        if is_dataclass(cls):
            return [f.name for f in fields(cls) if f.init]
        return [name for name in inspect.signature(cls).parameters if name not in ("args", "kwargs")]
