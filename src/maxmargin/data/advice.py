"""Errors and warnings with the parameters that would help as fields, for callers with names of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Spelling = Callable[[str, Any], str]


def python_argument(parameter: str, value: Any) -> str:
    """An argument in Python: ``kinds={'age': 'words'}``; the parameter alone where no value is known."""
    return f"`{parameter}`" if value is None else f"{parameter}={value!r}"


class Advised(Exception):
    """Something that is wrong, and which arguments would help.

    Parameters
    ----------
    problem : str
    advice : str
        What to do; ``{name}`` stands for the argument of that name.
    **arguments
        Parameters of the function that was called, each with the value to give, or None for one that the
        caller has to know.
    """

    def __init__(self, problem: str, advice: str = "", **arguments: Any) -> None:
        self.problem, self.advice, self.arguments = problem, advice, arguments
        super().__init__(self.message())

    @property
    def parameter(self) -> str | None:
        """The first parameter that would help."""
        return next(iter(self.arguments), None)

    def message(self, spell: Spelling = python_argument) -> str:
        """The text, with arguments spelled as ``spell(parameter, value)``."""
        spelled = {name: spell(name, value) for name, value in self.arguments.items()}
        return f"{self.problem} {self.advice.format(**spelled)}" if self.advice else self.problem


class ParameterError(Advised, ValueError):
    """A ``ValueError`` that another argument would prevent."""
