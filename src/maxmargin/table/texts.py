"""Columns of free text: how often words occur, and the plan by which a text becomes weighted words."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["RunningTexts", "TextPlan", "plan_texts", "words_of_text"]

MAX_COUNTED_WORDS = 500_000  # of a column; words met later are not counted
MIN_ROWS_OF_A_WORD = 2
MAX_WORD_LENGTH = 40  # characters; longer ones are cut
MIN_WORDS_OF_A_TEXT = 3  # of two letters or more, from which on a value looks like text
MIN_LENGTH_WITHOUT_SPACES = 8  # characters of a value in a writing without spaces
MIN_SHARE_OF_TEXTS = 0.5  # of the rows with a value
MIN_SHARE_OF_DIFFERENT = 0.5
_WORD = re.compile(r"\w+")
_WORD_OF_LETTERS = re.compile(  # the second may be a mark, as vowels of Indian writings are
    r"(?<!\S)\S*?[^\W\d_](?:[^\W\d_]|[^\w\s\x00-\u02ff\u2000-\u206f])\S*"
)
_WITHOUT_SPACES = re.compile(  # Thai to Khmer, kana, Chinese characters
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)


def words_of_text(text: str) -> Iterator[str]:
    """The words of a text in small letters; pairs of characters where a writing has no spaces."""
    text = unicodedata.normalize("NFKC", text).casefold()
    for word in _WORD.findall(text):
        at = 0
        for run in _WITHOUT_SPACES.finditer(word):
            if run.start() > at:
                yield word[at : min(run.start(), at + MAX_WORD_LENGTH)]
            characters = run.group()
            yield from (characters[i : i + 2] for i in range(max(1, len(characters) - 1)))
            at = run.end()
        if at < len(word):
            yield word[at : at + MAX_WORD_LENGTH]


def looks_like_text(value: str) -> bool:
    """Whether a value has several words of letters, and is not just a name, a code or a measurement."""
    if len(list(islice(_WORD_OF_LETTERS.finditer(value), MIN_WORDS_OF_A_TEXT))) == MIN_WORDS_OF_A_TEXT:
        return True
    return sum(len(run) for run in _WITHOUT_SPACES.findall(value)) >= MIN_LENGTH_WITHOUT_SPACES


class RunningTexts:
    """In how many rows each word of a column occurs, in the order in which words are met.

    Words are counted in every value, as every value is transformed; whether a value looks like text decides
    only whether the column is one of text.
    """

    def __init__(self, every: bool = False) -> None:
        self.every = every
        self.n_rows: Counter[str] = Counter()  # of each word
        self.n_values = 0  # rows
        self.n_texts = 0  # of them, those that look like text
        self.n_words = 0  # different words of a text, summed over the rows

    def add(self, value: str, n_rows: int) -> None:
        """A value that occurs in some rows."""
        self.n_values += n_rows
        if self.every or looks_like_text(value):
            self.n_texts += n_rows
        for word in dict.fromkeys(words_of_text(value)):
            if word in self.n_rows or len(self.n_rows) < MAX_COUNTED_WORDS:
                self.n_rows[word] += n_rows
                self.n_words += n_rows

    def are_texts(self, n_counted: int, n_different: int) -> bool:
        """Whether the values are free text: mostly several words, and mostly different.

        ``n_different`` values occur in ``n_counted`` rows; both leave out values beyond the counted ones.
        """
        return self.every or (
            self.n_texts >= MIN_SHARE_OF_TEXTS * self.n_values
            and n_different > MIN_SHARE_OF_DIFFERENT * n_counted
            and any(n >= MIN_ROWS_OF_A_WORD for n in self.n_rows.values())
        )


@dataclass(frozen=True)
class TextPlan:
    """A weight for each known word of a text; then 1 for a missing text.

    The weight of a word that occurs t times is ``(1 + log t) idf``, with ``idf = log((1 + n) / (1 + d)) + 1``
    for a word in d of n rows of the training; then the row is divided by its Euclidean length.

    Attributes
    ----------
    words : tuple of str
        The words that occur in most rows, sorted.
    idf : tuple of float
    n_words : float
        Entries of a row, on average.
    missing : bool
        Whether missing values have a column.

    Examples
    --------
    >>> from maxmargin.table import TextPlan
    >>> TextPlan(("late", "parcel"), (1.0, 1.5), n_words=2.0, missing=False).names("note")
    ['note has late', 'note has parcel']
    """

    words: tuple[str, ...]
    idf: tuple[float, ...]
    n_words: float
    missing: bool
    place: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", {word: k for k, word in enumerate(self.words)})

    @property
    def width(self) -> int:
        """Columns of the matrix."""
        return len(self.words) + int(self.missing)

    @property
    def n_stored(self) -> float:
        """Entries of a row that are not zero, on average."""
        return self.n_words

    def names(self, name: str) -> list[str]:
        """Of the columns of the matrix."""
        return [f"{name} has {word}" for word in self.words] + [f"{name} is missing"] * self.missing

    def table(self, texts: Sequence[str]) -> Any:
        """The rows of these texts and, last, of a missing one, as a CSR array of doubles."""
        places: list[int] = []
        values: list[float] = []
        ends = [0]
        for text in texts:
            found = Counter(self.place[word] for word in words_of_text(text) if word in self.place)
            row = [(k, (1.0 + math.log(found[k])) * self.idf[k]) for k in sorted(found)]
            length = math.sqrt(math.fsum(value * value for _, value in row)) or 1.0
            places += [k for k, _ in row]
            values += [value / length for _, value in row]
            ends.append(len(places))
        if self.missing:
            places.append(len(self.words))
            values.append(1.0)
        ends.append(len(places))
        shape = (len(texts) + 1, self.width)
        return sparse.csr_array(
            (np.array(values), np.array(places, dtype=np.int32), np.array(ends)), shape=shape
        )


def plan_texts(texts: RunningTexts, n_missing: int, limit: int) -> TextPlan:
    """The plan of a column of texts: words of at least two rows, the most frequent, of equals by name."""
    frequent = [word for word, n in texts.n_rows.items() if n >= MIN_ROWS_OF_A_WORD]
    kept = sorted(sorted(frequent, key=lambda word: (-texts.n_rows[word], word))[:limit])
    idf = tuple(math.log((1 + texts.n_values) / (1 + texts.n_rows[word])) + 1.0 for word in kept)
    n_words = sum(texts.n_rows[word] for word in kept) / max(1, texts.n_values)
    return TextPlan(tuple(kept), idf, n_words, n_missing > 0)
