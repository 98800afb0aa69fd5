"""Errors of the library in the words of the command line: ``names=[...]`` is ``--names`` here."""

from __future__ import annotations

import re

_WORDS = (
    (r"\(names=\[\.\.\.\], header=True\)", "(--names a,b,c --header)"),
    (r"\(names=\[\.\.\.\]\)", "(--names a,b,c)"),
    (r"\(data=\.\.\.\)", "(--array)"),
    (r"\(delimiter=('.+?'|\".+?\")\)", r"(--delimiter \1)"),
    (r"`missing`", "--missing"),
    (r"zero_based=True", "--zero-based"),
    (r"\(open_source takes kinds=\{(['\"])(.+?)\1: 'words'\}\)", r"(--words \2)"),
    (r"\(open_source takes kinds=\{(['\"])(.+?)\1: 'number'\}\)", r"(--numbers \2)"),
    (r"kinds=\{(['\"])(.+?)\1: 'words'\}", r"--words \2"),
    (r"kinds=\{(['\"])(.+?)\1: 'number'\}", r"--numbers \2"),
)


def as_options(text: str) -> str:
    """The text with names of options in place of arguments of ``open_source``."""
    for pattern, option in _WORDS:
        text = re.sub(pattern, option, text)
    return text
