"""The measured tables of the README and the site: the page of each, and how it is measured or made."""

from collections.abc import Callable
from dataclasses import dataclass

import checkerboard
import decoders_by_kind
import likelihoods
import noise
import papers
import which_model


@dataclass(frozen=True)
class Table:
    """``measure`` gives column names and lines to store; or ``render`` makes the text from other records,

    which ``measure``, if there is one, stores by itself.
    """

    page: str
    measure: Callable | None = None
    render: Callable | None = None


TABLES = {
    "noisy-labels": Table("docs/guide/noisy-labels.md", noise.measure),
    "probabilities": Table("docs/guide/budget.md", likelihoods.measure),
    "which-model": Table("docs/guide/which-model.md", which_model.measure),
    "bounds": Table("docs/theory/bounds.md", checkerboard.measure),
    "decoders": Table("docs/theory/decoding-weights.md", decoders_by_kind.measure, decoders_by_kind.table),
    **{
        f"paper-{name}": Table("docs/theory/papers.md", render=lambda name=name: papers.table(name))
        for name in papers.TITLES
    },
}
