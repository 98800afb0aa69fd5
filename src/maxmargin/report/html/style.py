"""The page's one style sheet, ``style.css``: calm on a screen, light or dark, on a phone and on paper."""

from __future__ import annotations

from importlib.resources import files

STYLE = files(__package__).joinpath("style.css").read_text(encoding="utf-8").strip()
