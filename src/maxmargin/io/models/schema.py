"""What a value in a model file must be: small descriptions that check it, alone and against other values.

Sizes have names. The first array with a named size sets it, and all others must agree; so a table of fields
also says which shapes must match.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from .names import kind_of

Size = str | int
MAX_INTEGER = 2**62


SHARED_SIZES = ("classes", "columns", "features")  # by an object and the objects in it


class Sizes(dict[str, int]):
    """The named sizes of one object that are known so far; ``visit`` checks an object inside it."""

    def __init__(self, visit: Callable[[Any, Sizes], None], known: Mapping[str, int] | None = None) -> None:
        super().__init__(known or {})
        self.visit = visit

    def agree(self, name: Size, n: int) -> bool:
        """Whether the size is ``n``; a new name gets this size."""
        return n == (name if isinstance(name, int) else self.setdefault(name, n))

    def inner(self) -> Sizes:
        """The sizes that an object inside this one starts with."""
        return Sizes(self.visit, {name: self[name] for name in SHARED_SIZES if name in self})

    def learn(self, inner: Sizes) -> None:
        """Adopt the shared sizes that an object inside has set."""
        self.update({name: inner[name] for name in SHARED_SIZES if name in inner})


class Expected(Protocol):
    """A description of a value."""

    def check(self, value: Any, sizes: Sizes) -> None:
        """Raise a ``ValueError`` that says what the value must be."""
        ...


def _need(condition: Any, text: str) -> None:
    if not condition:
        raise ValueError(text)


def _check_shape(shape: tuple[int, ...], wanted: tuple[Size, ...], sizes: Sizes) -> None:
    fits = len(shape) == len(wanted) and all(sizes.agree(name, n) for name, n in zip(wanted, shape))
    known = [str(sizes.get(name, name) if isinstance(name, str) else name) for name in wanted]
    _need(fits, f"must have the shape ({', '.join(known)}); it has {shape}")


class Anything:
    """Whatever a file can hold, since nothing depends on it."""

    def check(self, value: Any, sizes: Sizes) -> None:
        """Accept everything."""


@dataclass(frozen=True)
class Maybe:
    """None, or a value that fits ``other``."""

    other: Expected

    def check(self, value: Any, sizes: Sizes) -> None:
        """Check a value that is not None."""
        if value is not None:
            self.other.check(value, sizes)


@dataclass(frozen=True)
class Whole:
    """An integer from ``least`` to ``most``; ``size`` names the size that it gives."""

    least: int = 0
    most: int = MAX_INTEGER
    size: str | None = None

    def check(self, value: Any, sizes: Sizes) -> None:
        """Type and range."""
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        _need(
            whole and self.least <= value <= self.most,
            f"must be an integer >= {self.least}; it is {value!r:.60}",
        )
        if self.size is not None:
            _need(sizes.agree(self.size, int(value)), f"must be {sizes[self.size]}; it is {value}")


@dataclass(frozen=True)
class Real:
    """A number; if ``finite``, a finite one greater than ``above``."""

    finite: bool = True
    above: float = -np.inf

    def check(self, value: Any, sizes: Sizes) -> None:
        """Type and range."""
        number = isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)
        _need(number, f"must be a number; it is {value!r:.60}")
        if self.finite:
            _need(np.isfinite(value) and value > self.above, f"must be a finite number; it is {value!r:.60}")


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def check(self, value: Any, sizes: Sizes) -> None:
        """Type."""
        _need(isinstance(value, bool | np.bool_), f"must be true or false; it is {value!r:.60}")


@dataclass(frozen=True)
class Word:
    """A string; one of ``of`` unless that is empty."""

    of: tuple[str, ...] = ()

    def check(self, value: Any, sizes: Sizes) -> None:
        """Type and choice."""
        fits = isinstance(value, str) and (not self.of or value in self.of)
        _need(
            fits, f"must be {'one of ' + ', '.join(self.of) if self.of else 'a string'}; it is {value!r:.60}"
        )


@dataclass(frozen=True)
class Floats:
    """A float array of this shape; with ``finite``, of finite values from ``least`` on."""

    shape: tuple[Size, ...]
    finite: bool = True
    least: float = -np.inf

    def check(self, value: Any, sizes: Sizes) -> None:
        """Type, shape, values."""
        floats = isinstance(value, np.ndarray) and value.dtype in (np.float32, np.float64)
        _need(floats, "must be an array of floats")
        _check_shape(value.shape, self.shape, sizes)
        if self.finite:
            _need(
                np.isfinite(value).all() and (value >= self.least).all(), "must have finite values in range"
            )


@dataclass(frozen=True)
class Ints:
    """An integer array of this shape; values from ``least`` on, below ``below`` (a number or a size)."""

    shape: tuple[Size, ...]
    least: int = 0
    below: Size = MAX_INTEGER

    def check(self, value: Any, sizes: Sizes) -> None:
        """Type, shape, values."""
        _need(isinstance(value, np.ndarray) and value.dtype.kind in "iu", "must be an array of integers")
        _check_shape(value.shape, self.shape, sizes)
        below = sizes.get(self.below, MAX_INTEGER) if isinstance(self.below, str) else self.below
        in_range = not value.size or (value.min() >= self.least and value.max() < below)
        _need(in_range, f"must have values from {self.least} to {below - 1}")


@dataclass(frozen=True)
class Flags:
    """A boolean array of this shape."""

    shape: tuple[Size, ...]

    def check(self, value: Any, sizes: Sizes) -> None:
        """Type and shape."""
        _need(isinstance(value, np.ndarray) and value.dtype == bool, "must be an array of booleans")
        _check_shape(value.shape, self.shape, sizes)


@dataclass(frozen=True)
class Labels:
    """Distinct class labels or names, at least ``least`` of them, sorted if ``ascending``."""

    size: str
    least: int = 2
    ascending: bool = True

    def check(self, value: Any, sizes: Sizes) -> None:
        """Type, number, order."""
        _need(isinstance(value, np.ndarray) and value.ndim == 1, "must be an array of labels")
        _check_shape(value.shape, (self.size,), sizes)
        _need(len(value) >= self.least, f"must have at least {self.least} labels")
        items = value.tolist()
        _need(all(isinstance(item, str | int | float | bool) for item in items), "must be numbers or strings")
        try:
            fits = len(set(items)) == len(items)
            fits = fits and (not self.ascending or all(a < b for a, b in pairwise(items)))
        except TypeError:
            fits = False
        _need(fits, "must be distinct and sorted")


@dataclass(frozen=True)
class Points:
    """Rows for the native code: a dense array in C order or a CSR matrix, of finite floats."""

    rows: Size
    features: Size = "features"

    def check(self, value: Any, sizes: Sizes) -> None:
        """Type, shape, values, and the structure of a CSR matrix."""
        if isinstance(value, sparse.csr_array | sparse.csr_matrix):
            _check_shape(value.shape, (self.rows, self.features), sizes)
            _need(value.data.dtype in (np.float32, np.float64), "must hold floats")
            _need(np.isfinite(value.data).all(), "must have finite values")
            return
        Floats((self.rows, self.features)).check(value, sizes)
        _need(value.flags.c_contiguous, "must be in C order")


@dataclass(frozen=True)
class Listed:
    """A list or a tuple of values of one kind, ``size`` of them."""

    item: Expected
    size: Size | None = None

    def check(self, value: Any, sizes: Sizes) -> None:
        """Type, number, items."""
        _need(isinstance(value, list | tuple), "must be a list")
        _need(
            self.size is None or sizes.agree(self.size, len(value)),
            "must have as many items as there are " + str(self.size),
        )
        for item in value:
            self.item.check(item, sizes)


@dataclass(frozen=True)
class Keyed:
    """A dict with keys of one kind and values of another."""

    key: Expected
    item: Expected

    def check(self, value: Any, sizes: Sizes) -> None:
        """Type, keys, items."""
        _need(isinstance(value, dict), "must be a dict")
        for key, item in value.items():
            self.key.check(key, sizes)
            self.item.check(item, sizes)


@dataclass(frozen=True)
class Such:
    """Any value that satisfies a condition; ``text`` states it."""

    condition: Callable[[Any, Sizes], Any]
    text: str

    def check(self, value: Any, sizes: Sizes) -> None:
        """The condition."""
        _need(self.condition(value, sizes), self.text)


@dataclass(frozen=True)
class Object:
    """An object of one of the named kinds, which shares the sizes of the object around it."""

    of: tuple[str, ...]

    def check(self, value: Any, sizes: Sizes) -> None:
        """The kind, and everything in the object."""
        _need(kind_of(value) in self.of, f"must be one of {', '.join(self.of)}")
        inner = sizes.inner()
        sizes.visit(value, inner)
        sizes.learn(inner)


@dataclass(frozen=True)
class Model:
    """A fitted model with sizes of its own, of one of the named kinds or of any."""

    of: tuple[str, ...] = ()

    def check(self, value: Any, sizes: Sizes) -> None:
        """The kind, and everything in the model."""
        _need(not self.of or kind_of(value) in self.of, f"must be one of {', '.join(self.of)}")
        sizes.visit(value, Sizes(sizes.visit))


CheckModel = Callable[[Mapping[str, Any], Sizes], None]
Fields = dict[str, Expected]


@dataclass(frozen=True)
class StoredClass:
    """What a file holds of the objects of one class; every name is that of the file (see ``names``)."""

    parameters: Mapping[str, Expected] = field(default_factory=dict)  # of an estimator: those worth checking
    fitted: Mapping[str, Expected] = field(default_factory=dict)
    optional: Mapping[str, Expected] = field(default_factory=dict)  # fitted attributes that may be missing
    checks: tuple[CheckModel, ...] = ()  # of all values together, after each has been checked alone
    pack: Callable[[Any], dict[str, Any]] | None = None  # the values to store, instead of attributes
    unpack: Callable[[dict[str, Any]], Any] | None = None  # the object that such values describe

    @property
    def attributes(self) -> dict[str, Expected]:
        """All fitted attributes."""
        return {**self.fitted, **self.optional}
