"""One self-contained page about a model: :func:`build` gathers the numbers, :func:`page` shows them.

For models of numbers, and of what is usual, :func:`build_numbers` gathers them.
"""

from .content import ModelReport as Report
from .content import NumberReport, build_numbers
from .explore import build
from .html import page

__all__ = ["NumberReport", "Report", "build", "build_numbers", "page"]
