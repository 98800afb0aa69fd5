"""Directions that the rank leaves out, although the rows as given differ along them.

Singular values are found up to several roundoffs of the largest one. A direction whose singular value is
smaller counts as 0, as for columns that are equal up to rounding; but columns may differ by less than that
and by more than rounding each of their entries once explains. Large coefficients then gain from the
difference. Products with twice the digits show it: with V0 the directions left out and Q an orthonormal basis
of what the others span, the columns of ``A V0 - Q Q'A V0`` are what is hidden.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...data import precise_product
from ...solving import FLOAT_EPS
from .data import SquaresData

ENTRY_ROUNDING = FLOAT_EPS / 2  # of an entry, relative to it
SEEN_IN_A_MIXTURE = 1e-3  # of that rounding: no less is searched for in every direction on its own
N_PROJECTIONS = 2  # one leaves what rounding moved into the span


def hidden_directions(data: SquaresData, V: np.ndarray, s: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """An orthonormal basis (n_rows, k) of what weighted residuals can lose along hidden directions.

    ``s`` are the singular values of A, columns divided by ``scale``, or of A' for wide data; 0 for directions
    that are left out. ``V`` are all directions.
    """
    left_out = V[:, s == 0.0] / scale[:, None]
    if data.wide and data.free:  # along sqrt(c), where residuals sum to 0
        left_out -= np.outer(data.root, data.root @ left_out / data.total)
    if not left_out.shape[1]:
        return np.zeros((len(data.rows), 0))
    noise = ENTRY_ROUNDING * float(np.linalg.norm(data.entry_sizes()[:, None] * left_out, 2))
    spanned = V[:, s > 0.0] / (scale[:, None] * s[s > 0.0])
    mixed = np.random.default_rng(0).normal(size=(left_out.shape[1], 1))
    mixed = left_out @ (mixed / np.linalg.norm(mixed))
    if np.linalg.norm(_apart(data, mixed, spanned)) <= SEEN_IN_A_MIXTURE * noise:
        return np.zeros((len(data.rows), 0))
    images, sizes, turned = np.linalg.svd(_apart(data, left_out, spanned), full_matrices=False)
    seen = sizes > noise
    return np.asarray(V[:, s == 0.0] @ turned[seen].T if data.wide else images[:, seen])


def _apart(data: SquaresData, left_out: np.ndarray, spanned: np.ndarray) -> np.ndarray:
    """``A V0 - Q Q'A V0``, or that of A', where ``Q = A spanned``."""
    images = np.concatenate(list(_images(data, left_out)))
    if not data.wide and data.free:  # the centre is rounded
        images -= np.outer(data.root, data.root @ images / data.total)
    for _ in range(N_PROJECTIONS):
        along = np.zeros((spanned.shape[1], images.shape[1]))
        for place, block in _placed(data.blocks()):
            along += (block @ spanned).T @ images[place]
        for place, block in _placed(data.blocks()):
            images[place] -= block @ (spanned @ along)
    return images


def _images(data: SquaresData, left_out: np.ndarray) -> Iterator[np.ndarray]:
    """``A V0`` or ``A'V0``, some rows at a time, from the entries as they are and the centre."""
    if data.wide:
        left_out = data.root[:, None] * left_out
        sums = precise_product(np.ones((1, len(left_out))), left_out)
        for place, block in _placed(data.plain_blocks()):
            centre = -data.centre[place, None]
            high, low = precise_product(np.hstack([block, centre, centre]), np.vstack([left_out, *sums]))
            yield high + low
        return
    shift = precise_product(-data.centre[None], left_out)
    for place, block in _placed(data.plain_blocks()):
        ones = np.ones((len(block), 2))
        high, low = precise_product(np.hstack([block, ones]), np.vstack([left_out, *shift]))
        yield data.root[place, None] * (high + low)


def _placed(blocks: Iterator[np.ndarray]) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks with the rows that they are."""
    start = 0
    for block in blocks:
        yield slice(start, start + len(block)), block
        start += len(block)
