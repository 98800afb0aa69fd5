"""The looks of the report: one page, without scripts unless it is to be explored.

A page is a tree of elements and no markup is ever a string, so text from a data set cannot become markup.
The content security policy names the hash of the one style sheet, and of the one script of a page to explore;
colours are classes. Every list has a
largest length, and the page states what was left out.
"""

from .bands import alarms
from .page import page

__all__ = ["alarms", "page"]
