"""Sparse matrices whose parts do not belong together are refused, unusual ones are accepted."""

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from support.malformed_sparse import LAYOUTS, doubled, fitted, rows, same, snapshot, unsorted

from maxmargin import LinearSVC, _core, _native
from maxmargin._native import structure


def test_malformed_matrices_are_refused_everywhere():
    """The quick variant of the soak: one use of each kind."""
    script = Path(__file__).parents[1] / "soak" / "malformed_sparse.py"
    done = subprocess.run([sys.executable, str(script), "--few"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


SOUND = {
    **{name: make for name, make in LAYOUTS.items() if "integers" not in name},
    "bsr": lambda X: X.tobsr(),
    "lil": lambda X: X.tolil(),
    "dok": lambda X: X.todok(),
    "dia": lambda X: X.todia(),
    "entries behind the last row": lambda X: with_tail(X),
}


def with_tail(X):
    """A CSR matrix with more room than entries, which SciPy allows; what is there means nothing."""
    out = X.copy()
    out.data, out.indices = np.append(X.data, [1e300] * 3), np.append(X.indices, [-7, 1 << 30, 99])
    out.indices = out.indices.astype(np.int32)
    return out


@pytest.mark.parametrize("name", SOUND)
def test_sound_layouts_are_accepted_and_not_changed(name):
    X, _ = rows(np.float32)
    X = X.astype(np.float64)  # the same numbers in every layout
    given = SOUND[name](X)
    before = snapshot(given) if name not in ("lil", "dok") else None
    found = _native.as_rows(given)
    assert np.array_equal(found.toarray(), X.toarray())
    assert found.format == "csr"
    assert len(found.data) == found.indptr[-1]
    assert _native.structure.matrix_of(found).canonical
    if before is not None:
        assert same(before, snapshot(given))


def test_predictions_do_not_depend_on_the_order_of_indices():
    X, _ = rows()
    for name in ("LinearSVC", "KernelSVC"):
        expected = fitted(name).decision_function(X)
        for other in (unsorted(X), doubled(X)):
            assert np.array_equal(fitted(name).decision_function(other), expected)


@pytest.mark.parametrize("make", [unsorted, doubled])
def test_flags_of_scipy_are_not_trusted(make):
    X, _ = rows()
    other = make(X)
    other.has_canonical_format = other.has_sorted_indices = True
    found = _native.as_rows(other)
    assert np.array_equal(found.indices, X.indices)
    assert np.array_equal(found.data, X.data)


def test_a_matrix_that_changes_is_checked_again():
    X, y = rows()
    model = LinearSVC().fit(X, y)
    X.indices[3] = 1 << 30
    for call in (lambda: model.predict(X), lambda: LinearSVC().fit(X, y), lambda: _native.as_rows(X)):
        with pytest.raises(ValueError, match=r"indices\[3\] is 1073741824, outside 0 .. 3 \(CSR, shape"):
            call()


def test_one_check_per_fit(monkeypatch):
    """However often a solver calls the core with the same rows, their indices are read once."""
    X, y = rows()
    checks = []
    new = structure._new_view
    monkeypatch.setattr(structure, "_new_view", lambda X: checks.append(X) or new(X))
    LinearSVC(solver="dual-cd", penalize_intercept=True, tol=1e-2).fit(X, y)
    assert sum(checked is X for checked in checks) == 1
    assert structure.matrix_of(X) is structure.matrix_of(X)


def test_views_end_with_their_matrices():
    n_before = len(structure._views)
    for _ in range(20):
        _native.as_rows(rows()[0])
    assert len(structure._views) <= n_before + 1


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_core_finds_the_first_fault(dtype):
    def fault(indices, indptr, n_minor=3, n_values=9):
        return _core.compressed_fault(np.array(indices, dtype), np.array(indptr, dtype), n_values, n_minor)

    assert fault([0, 2, 1], [0, 2, 2, 3]) == ""
    assert fault([], [0]) == ""
    assert fault([], []) == "indptr is empty"
    assert fault([0, 3, -1], [0, 3]) == "indices[1] is 3, outside 0 .. 2"
    assert fault([0, 1], [0, 2, 1]) == "indptr[2] is 1, less than indptr[1], 2"
    assert fault([0, 1], [1, 2]) == "indptr[0] is 1 instead of 0"
    assert fault([0, 1], [0, 3]) == "indptr ends at 3, but there are 2 indices and 9 values"
    assert fault([0, 1], [0, 2], n_values=1) == "indptr ends at 2, but there are 2 indices and 1 values"
    assert fault([0], [0, 1], n_minor=0) == "indices[0] is 0, outside 0 .. -1"
    assert fault([0, 77], [0, 1]) == ""  # behind the last row
    largest = np.iinfo(dtype).max
    assert fault([largest], [0, 1], n_minor=1 << 62 if dtype == np.int32 else largest) == (
        "" if dtype == np.int32 else f"indices[0] is {largest}, outside 0 .. {largest - 1}"
    )


def test_canonical_rows_are_known_from_one_pass():
    rng = np.random.default_rng(0)
    for _ in range(200):
        lengths = rng.integers(0, 4, size=rng.integers(1, 6))
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        indices = rng.integers(0, 4, size=indptr[-1]).astype(np.int32)
        parts = [indices[a:b] for a, b in itertools.pairwise(indptr)]
        expected = all((np.diff(part) > 0).all() for part in parts)
        assert _core.Matrix(np.ones(len(indices)), indices, indptr, 4).canonical == expected


def test_one_dimension_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="2-d"):
        LinearSVC().fit(sparse.coo_array(np.ones(5)), [0, 1, 0, 1, 0])
