"""The columns of a code as SVM problems with a common kernel: their rows, and the memory they share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ... import _native
from ...codes import Code
from ...data import MemoryPool, WeightedRows
from ...kernels import KernelData
from ...solving import SolverResult, Stop, solve_columns, unsolved
from .pairs import pairs_of, small_pairs_of
from .problem import SvmProblem
from .working_set import MAX_SMALL_SAMPLES, N_INITIAL_ROWS

__all__ = ["SvmColumn", "SvmColumns"]

MAX_COLUMNS_IN_FLIGHT = 8  # a constant, so that memory per column does not depend on the number of threads
MAX_KERNEL_OPERATIONS = 1e8  # of two classes in one native call: some ten milliseconds on one thread
MIN_FEATURES_TO_SHARE = 400  # with fewer, computing a kernel value is as fast as copying it

MakeProblem = Callable[[KernelData, np.ndarray, np.ndarray], SvmProblem]


@dataclass(frozen=True)
class SvmColumn:
    """A column ready to solve: its number, its problem, and ``cache_bytes`` of memory for kernel rows."""

    number: int
    problem: SvmProblem
    cache_bytes: int
    memory: np.ndarray


class SvmColumns:
    """All columns of a code over one kernel.

    Each column may use an equal share of ``cache_bytes``. The share depends only on the data and the code,
    and so do the bits of the solution. Columns of two classes share the kernel values within a class where
    that pays off (see :class:`ClassBlocks`); the rows of such a problem are sorted by class. So are those of
    ``small_pairs``: pairs of small classes, whose kernel values are always in double.
    """

    def __init__(
        self, kernel: KernelData, data: WeightedRows, code: Code, make_problem: MakeProblem, cache_bytes: int
    ) -> None:
        self.data, self.code, self.make_problem = data, code, make_problem
        at_once = min(MAX_COLUMNS_IN_FLIGHT, code.n_columns)
        self.small_pairs = _are_small_pairs(kernel, data.labels, code, cache_bytes // at_once)
        self.kernel = kernel.in_double() if self.small_pairs else kernel
        self.blocks = None
        if not self.small_pairs:
            self.blocks = ClassBlocks.if_worthwhile(kernel, data.labels, code, cache_bytes // 2)
        self.cache_bytes = (cache_bytes if self.blocks is None else cache_bytes // 2) // at_once

    def solve(
        self,
        solve_column: Callable[[SvmColumn, Stop], list[SolverResult]],
        stop: Stop,
        n_threads: int,
        n_results: int = 1,
        numbers: np.ndarray | None = None,
    ) -> list[list[SolverResult]]:
        """``solve_column(column, stop)``, ``n_results`` results, for every column, or for those numbered.

        Coefficients follow the column's row order.
        """
        numbered: Sequence[int] = range(self.code.n_columns) if numbers is None else numbers.tolist()
        pool = MemoryPool(self.cache_bytes // self.kernel.dtype.itemsize, self.kernel.dtype)

        def solve_one(place: int, stop: Stop, n_inner: int) -> list[SolverResult]:
            number = numbered[place]
            problem, order = self._problem(number, stop, n_inner)
            with pool.borrow() as memory:
                results = solve_column(SvmColumn(number, problem, self.cache_bytes, memory), stop)
            if order is None:
                return results
            back = np.argsort(order)
            return [replace(result, coef=result.coef[back]) for result in results]

        def without_time(place: int) -> list[SolverResult]:
            return n_results * [
                unsolved(np.zeros(len(self.code.column(self.data.labels, numbered[place])[0])))
            ]

        with _native.one_blas_thread():  # once for all columns
            return solve_columns(
                solve_one, len(numbered), stop, n_threads, MAX_COLUMNS_IN_FLIGHT, without_time
            )

    def _problem(self, number: int, stop: Stop, n_threads: int) -> tuple[SvmProblem, np.ndarray | None]:
        """The problem of a column, and the order of its rows if it differs from the code's order."""
        data = self.data
        which, targets = self.code.column(data.labels, number)
        if self.blocks is None and not self.small_pairs:
            rows = self.kernel.take(which, n_threads=n_threads, cancel=stop.cancel)
            return self.make_problem(rows, targets, data.weight[which]), None
        order = np.argsort(data.labels[which], kind="stable")  # one class after the other
        if self.blocks is None:
            rows = self.kernel.take(which[order], n_threads=n_threads, cancel=stop.cancel)
            return self.make_problem(rows, targets[order], data.weight[which[order]]), order
        first, second = np.flatnonzero(self.code.part(np.array([number])).matrix[:, 0])
        pair = self.blocks.column((int(first), int(second)))
        rows = replace(pair, n_threads=n_threads, cancel=stop.cancel)
        return self.make_problem(rows, targets[order], data.weight[which[order]]), order


def _are_small_pairs(kernel: KernelData, labels: np.ndarray, code: Code, cache_bytes: int) -> bool:
    """Whether all columns are pairs of small classes, which one native call can solve.

    Both kernel matrices of a column fit in the memory of a column, and so do rows that need to be converted.
    Two classes of rows in single precision are solved in it, and two classes whose kernel matrix is too much
    work for one thread by steps that share it.
    """
    if small_pairs_of(code) is None or not (kernel.compiled and kernel.kernel.positive):
        return False
    counts = np.bincount(labels, minlength=code.n_classes)
    n = int(np.sort(counts)[-2:].sum())
    too_much = float(n) * n * kernel.X.shape[1] > MAX_KERNEL_OPERATIONS
    if code.n_classes == 2 and (kernel.dtype != np.float64 or too_much):
        return False
    converted = 0 if kernel.dtype == np.float64 else 8 * int(np.prod(kernel.X.shape))
    return bool(counts.min() > 0 and n <= MAX_SMALL_SAMPLES and max(16 * n * n, converted) <= cache_bytes)


class ClassBlocks:
    """For each class the kernel matrix of its samples, computed row by row on demand."""

    def __init__(self, kernel: KernelData, labels: np.ndarray, n_classes: int) -> None:
        self.kernel = kernel
        self.members = [np.flatnonzero(labels == c) for c in range(n_classes)]
        self.rows = [np.empty((len(m), len(m)), dtype=kernel.dtype) for m in self.members]
        self.known = [np.zeros(len(m), dtype=bool) for m in self.members]
        self.locks = [threading.Lock() for _ in self.members]

    @classmethod
    def if_worthwhile(
        cls, kernel: KernelData, labels: np.ndarray, code: Code, max_bytes: int
    ) -> ClassBlocks | None:
        """Blocks if every column has two classes, kernel values are expensive and memory suffices."""
        pairs = pairs_of(code) is not None or bool(((code.matrix != 0).sum(axis=0) == 2).all())
        if not (
            pairs and code.n_columns > 1 and kernel.compiled and kernel.X.shape[1] >= MIN_FEATURES_TO_SHARE
        ):
            return None
        n_in_largest_pair = np.sort(np.bincount(labels))[-2:].sum()
        if n_in_largest_pair > N_INITIAL_ROWS:  # solving would start on the first rows, all of one class
            return None
        return cls(kernel, labels, code.n_classes) if cls.n_bytes(kernel, labels) <= max_bytes else None

    @staticmethod
    def n_bytes(kernel: KernelData, labels: np.ndarray) -> int:
        """The memory for the kernel matrices of all classes."""
        return int((np.bincount(labels) ** 2).sum()) * np.dtype(kernel.dtype).itemsize

    def fetch(self, c: int, places: np.ndarray) -> np.ndarray:
        """The kernel rows of the members of class c at these positions."""
        with self.locks[c]:
            missing = places[~self.known[c][places]]
            if len(missing):
                self.kernel.fill(self.members[c][missing], self.members[c], (self.rows[c], missing, 0))
                self.known[c][missing] = True
        return self.rows[c][places]

    def column(self, classes: tuple[int, int]) -> PairKernel:
        """The kernel data of two classes, sorted by class."""
        index = np.concatenate([self.kernel.index[self.members[c]] for c in classes])
        kernel = self.kernel
        return PairKernel(
            kernel.kernel,
            kernel.X,
            index,
            kernel.n_threads,
            cancel=kernel.cancel,
            stats=kernel.stats,
            _filler=kernel.filler(),
            _double=kernel._double,
            blocks=self,
            classes=classes,
        )


@dataclass
class PairKernel(KernelData):
    """Kernel data of two classes: values within a class come from ``blocks``, the others are computed."""

    blocks: ClassBlocks | None = field(default=None, repr=False)
    classes: tuple[int, int] = (0, 1)

    def filler(self) -> None:
        """None: rows are assembled in Python."""

    def fill(self, which: np.ndarray, others: np.ndarray, out: tuple[np.ndarray, np.ndarray, int]) -> None:
        """As in the base class; complete rows are assembled from blocks and new values."""
        rows, slots, first = out
        if self.blocks is None or len(others) < len(self) or first > 0:
            super().fill(which, others, out)
            return
        n_first = len(self.blocks.members[self.classes[0]])
        halves = (slice(0, n_first), slice(n_first, len(self)))
        for own, other in ((0, 1), (1, 0)):
            mine = (which < n_first) == (own == 0)
            if mine.any():
                places = which[mine] - halves[own].start
                rows[slots[mine], halves[own]] = self.blocks.fetch(self.classes[own], places)
                span = np.arange(halves[other].start, halves[other].stop)
                super().fill(which[mine], span, (rows, slots[mine], int(halves[other].start)))
