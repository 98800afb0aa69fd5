"""One self-contained page about a model: :func:`build` gathers the numbers, :func:`page` shows them."""

from .content import ModelReport as Report
from .explore import build
from .html import page

__all__ = ["Report", "build", "page"]
