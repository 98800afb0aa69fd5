"""Values as JSON and arrays, and back: plain values, arrays, CSR matrices, certificates, known objects.

JSON has lists, strings, finite numbers, booleans and null. Everything else is an object whose one key names
its type:

    {"array": name}                 an array, in the entry of that name
    {"masked": [data, mask]}        a masked array, as in the results of a search
    {"numpy": name}                 a NumPy number, stored as an array without dimensions
    {"objects": [...]}              a one-dimensional array of Python objects
    {"csr": {...}}                  a CSR matrix: data, indices, indptr, shape, and its SciPy class
    {"tuple": [...]}, {"dict": [[key, value], ...]}, {"float": "inf"}
    {"history": {...}}              certificates: lengths, counts (n, 3), values (n, 6)
    {"histories": {...}}            certificates of many columns: lengths, and an array for each field
    {"state": [[name, value], ...]} the state of a solver
    {"kind": name, "parameters": {...}, "fitted": {...} or null}
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ...solving import CLOCKS, COUNTS, Check, Histories, State

PLAIN_TYPES = (str, int, float, bool, type(None))
CHECK_COUNTS = COUNTS
CHECK_MEASURES = ("primal", "dual", "seconds", "tiny", "violation", "hit_rate")
CSR_CLASSES = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}
CLOCK_TIMES = ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time")


class ValueEncoder:
    """Fills ``arrays`` while it turns values into JSON.

    ``of_object`` encodes an object of another class, or refuses it. Without ``clocks``, all times are 0 and
    so are counts of kernel values: a resumed fit has the same certificates but computes some values twice.
    """

    def __init__(self, of_object: Callable[[ValueEncoder, Any, str], Any], clocks: bool = True) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.of_object = of_object
        self.clocks = clocks

    def __call__(self, value: Any, path: str) -> Any:
        """The value as JSON; ``path`` names its array, and the value in messages."""
        if type(value) in PLAIN_TYPES:  # first: a wide table has a million of them
            return {"float": str(value)} if type(value) is float and not math.isfinite(value) else value
        if isinstance(value, np.ma.MaskedArray):
            parts = {"data": value.data, "mask": np.ma.getmaskarray(value)}
            return {"masked": [self(part, f"{path}/{name}") for name, part in parts.items()]}
        if isinstance(value, np.ndarray):
            return self._array(np.asarray(value), path)
        if isinstance(value, np.generic):
            return {"numpy": self._keep(np.asarray(value), path)}
        if sparse.issparse(value):
            return {"csr": self._csr(value, path)}
        if isinstance(value, State):
            return {"state": [[name, self(item, f"{path}/{name}")] for name, item in value.items()]}
        if isinstance(value, Histories):
            return {"histories": self._histories(value, path)}
        return self._collection(value, path)

    def _collection(self, value: Any, path: str) -> Any:
        if type(value) in (list, tuple):
            if value and all(is_history(item) for item in value):
                return {"history": {"list": type(value) is list, **self._history(value, path)}}
            items = [self(item, f"{path}/{i}") for i, item in enumerate(value)]
            return items if type(value) is list else {"tuple": items}
        if type(value) is dict:
            kept = {key: item for key, item in value.items() if self.clocks or key not in CLOCK_TIMES}
            named = enumerate(kept.items())
            return {"dict": [[self(key, path), self(item, f"{path}/{i}")] for i, (key, item) in named]}
        return self.of_object(self, value, path)

    def _array(self, array: np.ndarray, path: str) -> Any:
        if array.dtype != object:
            return {"array": self._keep(array, path)}
        if array.ndim != 1 or not all(type(item) in PLAIN_TYPES for item in array):
            raise ValueError(
                f"{path} is an array of objects; a model file holds numbers, booleans and strings."
            )
        return {"objects": [self(item, path) for item in array]}

    def _keep(self, array: np.ndarray, path: str) -> str:
        self.arrays[path] = array
        return path

    def _csr(self, matrix: Any, path: str) -> dict[str, Any]:
        if type(matrix).__name__ not in CSR_CLASSES:
            raise ValueError(f"{path} is a {type(matrix).__name__}; a model file holds CSR matrices.")
        parts = {
            name: self._keep(getattr(matrix, name), f"{path}/{name}")
            for name in ("data", "indices", "indptr")
        }
        return {"class": type(matrix).__name__, "shape": list(map(int, matrix.shape)), **parts}

    def _history(self, columns: Any, path: str) -> dict[str, str]:
        checks = [check for column in columns for check in column]
        values = np.array([[getattr(c, name) for name in CHECK_MEASURES] for c in checks], dtype=np.float64)
        counts = np.array([[getattr(c, name) for name in CHECK_COUNTS] for c in checks], dtype=np.int64)
        if not self.clocks:
            values[:, [CHECK_MEASURES.index(name) for name in ("seconds", "hit_rate")]] = 0.0
            counts[:, CHECK_COUNTS.index("kernel_values")] = 0
        return {
            "lengths": self._keep(np.array([len(column) for column in columns]), f"{path}/lengths"),
            "counts": self._keep(counts, f"{path}/counts"),
            "values": self._keep(values, f"{path}/values"),
        }

    def _histories(self, histories: Histories, path: str) -> dict[str, str]:
        kept = {name: value for name, value in histories.values.items() if self.clocks or name not in CLOCKS}
        arrays = {"lengths": histories.lengths, **kept}
        return {name: self._keep(array, f"{path}/{name}") for name, array in arrays.items()}


class ValueDecoder:
    """Turns JSON and arrays into values; ``of_object`` makes an object from its kind and decoded parts."""

    def __init__(
        self,
        arrays: Mapping[str, np.ndarray],
        of_object: Callable[[str, dict[str, Any], dict[str, Any] | None], Any],
    ) -> None:
        self.arrays = arrays
        self.of_object = of_object
        self.used: set[str] = set()

    def __call__(self, tree: Any) -> Any:
        """The value that was encoded; a ``ValueError`` if the tree is not one that an encoder makes."""
        if type(tree) in PLAIN_TYPES:
            return tree
        if isinstance(tree, list):
            return [self(item) for item in tree]
        if "kind" in tree:
            return self._object(tree)
        ((word, given),) = tree.items()
        if word not in _DECODERS:
            raise ValueError(f"{word!r:.40} is not a type of value")
        return _DECODERS[word](self, given)

    def array(self, name: str) -> np.ndarray:
        """An array, which only one value may use."""
        if name in self.used:
            raise ValueError(f"array {name:.80} is used twice")
        self.used.add(name)
        return self.arrays[name]

    def _object(self, tree: dict[str, Any]) -> Any:
        if set(tree) != {"kind", "parameters", "fitted"}:
            raise ValueError("an object must have a kind, parameters and fitted attributes")
        parameters, fitted = (
            None if part is None else {name: self(item) for name, item in part.items()}
            for part in (tree["parameters"], tree["fitted"])
        )
        return self.of_object(tree["kind"], parameters or {}, fitted)

    def _objects(self, items: list[Any]) -> np.ndarray:
        values = [self(item) for item in items]
        if not all(map(_is_plain_key, values)):
            raise ValueError("an array of objects must hold numbers of 64 bits, booleans and strings")
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array

    def _dict(self, pairs: list[Any]) -> dict[Any, Any]:
        made = [(self(key), self(item)) for key, item in pairs]
        if not all(_is_plain_key(key) for key, _ in made):
            raise ValueError("the keys of a dict must be numbers of 64 bits, booleans and strings")
        return dict(made)

    def _masked(self, given: list[Any]) -> Any:
        data, mask = (self(part) for part in given)
        if mask.dtype != bool or mask.shape != data.shape:
            raise ValueError("a masked array must have a mask of its shape")
        return np.ma.MaskedArray(data, mask)

    def _csr(self, given: dict[str, Any]) -> Any:
        data, indices, indptr = (self.array(given[name]) for name in ("data", "indices", "indptr"))
        n_rows, n_columns = given["shape"]
        check_csr(data, indices, indptr, n_rows, n_columns)
        return CSR_CLASSES[given["class"]]((data, indices, indptr), shape=(n_rows, n_columns))

    def _history(self, given: dict[str, Any]) -> Any:
        lengths, counts, values = (self.array(given[name]) for name in ("lengths", "counts", "values"))
        n = int(lengths.sum())
        if lengths.ndim != 1 or (lengths < 1).any() or counts.shape != (n, 3) or values.shape != (n, 6):
            raise ValueError("the arrays of certificates must have the declared sizes")
        if counts.dtype != np.int64 or values.dtype != np.float64 or (counts < 0).any():
            raise ValueError("certificates must be counts and floats")
        checks = [
            Check(**dict(zip(CHECK_COUNTS, count)), **dict(zip(CHECK_MEASURES, value)))
            for count, value in zip(counts.tolist(), values.tolist())
        ]
        ends = np.cumsum(lengths)
        columns = [tuple(checks[end - length : end]) for end, length in zip(ends, lengths)]
        return columns if given["list"] else tuple(columns)

    def _histories(self, given: dict[str, str]) -> Histories:
        arrays = {name: self.array(place) for name, place in given.items()}
        lengths = arrays.pop("lengths")
        if not set(arrays) <= {*CHECK_COUNTS, *CHECK_MEASURES}:
            raise ValueError("certificates have no such field")
        if any((arrays[name] < 0).any() for name in CHECK_COUNTS if name in arrays):
            raise ValueError("certificates must be counts and floats")
        return Histories(lengths, arrays)


def check_csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_rows: Any, n_columns: Any) -> None:
    """Refuse anything but a CSR matrix in canonical form, before SciPy or native code sees it."""
    if any(type(n) is not int or not 0 <= n < 2**62 for n in (n_rows, n_columns)):
        raise ValueError("a CSR matrix must have a shape of two integers")
    if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
        raise ValueError("a CSR matrix must have indices of 32 or 64 bits")
    shapes = data.shape, indices.shape, indptr.shape
    if shapes != ((len(data),), (len(data),), (n_rows + 1,)):
        raise ValueError("the arrays of a CSR matrix must have matching lengths")
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ValueError("the row starts of a CSR matrix must ascend from 0 to its number of entries")
    if len(indices):
        if indices.min() < 0 or indices.max() >= n_columns:
            raise ValueError("the column indices of a CSR matrix must be within its shape")
        rises = np.diff(indices) > 0
        starts = indptr[1:-1]
        rises[starts[(starts > 0) & (starts < len(indices))] - 1] = True  # a new row
        if not rises.all():
            raise ValueError("the column indices of a CSR matrix must ascend within each row")


def _is_plain_key(value: Any) -> bool:
    """Longer integers can be chosen to share one hash, and make sets and dicts take quadratic time."""
    if type(value) is int:
        return -(2**63) <= value < 2**64
    return type(value) in PLAIN_TYPES or isinstance(value, np.generic)


def is_history(item: Any) -> bool:
    """Whether ``item`` is the certificates of one solve."""
    return type(item) is tuple and len(item) > 0 and all(type(check) is Check for check in item)


def is_histories(value: Any) -> bool:
    """Whether ``value`` is the certificates of several solves."""
    return isinstance(value, Histories) or (isinstance(value, list) and all(map(is_history, value)))


_DECODERS: dict[str, Callable[[ValueDecoder, Any], Any]] = {
    "array": lambda decoder, name: decoder.array(name),
    "numpy": lambda decoder, name: decoder.array(name)[()],
    "objects": ValueDecoder._objects,
    "csr": ValueDecoder._csr,
    "masked": ValueDecoder._masked,
    "tuple": lambda decoder, items: tuple(decoder(item) for item in items),
    "dict": ValueDecoder._dict,
    "float": lambda decoder, word: {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}[word],
    "history": ValueDecoder._history,
    "histories": ValueDecoder._histories,
    "state": lambda decoder, pairs: State(**{name: decoder(item) for name, item in pairs}),
}


MAX_RECORD_DEPTH = 100  # nested lists and dicts
NON_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def record_to_json(value: Any, path: str = "record", depth: int = 0) -> Any:
    """``value`` as dicts, lists, strings, numbers, booleans and None; a ``ValueError`` for anything else."""
    _refuse_depth(depth)
    if isinstance(value, Mapping):
        wrong = [key for key in value if not isinstance(key, str)]
        if wrong:
            raise ValueError(f"{path} has the key {wrong[0]!r:.60}; keys must be strings.")
        return {key: record_to_json(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [record_to_json(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or type(value) in (str, int, float, bool):
        return value
    raise ValueError(f"{path} is a {type(value).__name__}; a record holds only JSON values.")


def record_from_json(tree: Any, depth: int = 0) -> Any:
    """The inverse of ``record_to_json``."""
    _refuse_depth(depth)
    if isinstance(tree, list):
        return [record_from_json(item, depth + 1) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if set(tree) == {"float"} and tree["float"] in NON_FINITE:
        return NON_FINITE[tree["float"]]
    return {key: record_from_json(item, depth + 1) for key, item in tree.items()}


def _refuse_depth(depth: int) -> None:
    if depth > MAX_RECORD_DEPTH:
        raise ValueError(f"a record must not have lists and dicts nested more than {MAX_RECORD_DEPTH} deep.")
