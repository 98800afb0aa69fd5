"""Max-margin classification that says how far from the optimum it stopped."""

__version__ = "0.1.0"
