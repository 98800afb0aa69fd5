"""Max-margin classification that says how far from the optimum it stopped."""

from .linear import LinearSVC

__version__ = "0.1.0"
__all__ = ["LinearSVC", "__version__"]
