"""What a fitted model depends on: the importance of its columns."""

from .columns import importance

__all__ = ["importance"]
