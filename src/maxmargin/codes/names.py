"""Codes by name."""

from __future__ import annotations

from collections.abc import Callable

from .family import Code, one_vs_rest
from .pairs import one_vs_one

__all__ = ["CODES", "code_from_name"]

CODES: dict[str, Callable[..., Code]] = {
    "one-vs-one": one_vs_one,
    "one-vs-rest": one_vs_rest,
    "exhaustive": Code.exhaustive,
    "dense-random": Code.dense_random,
    "sparse-random": Code.sparse_random,
    "designed": Code.designed,
}
RANDOM_FAMILIES = ("dense-random", "sparse-random", "designed")


def code_from_name(code: str | Code, n_classes: int, seed: int = 0) -> Code:
    """The code of that family for ``n_classes``; a ``Code`` of the right size is returned as it is.

    Random families use ``seed``.

    Parameters
    ----------
    code : str or Code
        A name in ``CODES``, or the code itself.
    n_classes : int
    seed : int
        Of random families.

    Examples
    --------
    >>> from maxmargin.codes import code_from_name
    >>> code_from_name("exhaustive", 4).matrix.shape
    (4, 7)
    """
    if isinstance(code, Code):
        if code.n_classes != n_classes:
            raise ValueError(
                f"code has rows for {code.n_classes} classes, but there are {n_classes}; give one for each."
            )
        return code
    if isinstance(code, str) and code in CODES:
        options = {"random_state": seed} if code in RANDOM_FAMILIES else {}
        return CODES[code](n_classes, **options)
    raise ValueError(f"code must be a Code or one of {sorted(CODES)}; got {code!r}.")
