"""The looks of the report: one page without scripts."""

from .page import page

__all__ = [
    "page",
]
