"""The data of the page to explore: aggregates over all scored rows, and samples of at most 2,000 rows."""

from .build import build

__all__ = ["build"]
