"""Errors and warnings with the advised parameters as fields, which each caller words in its own way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Spelling = Callable[[str, Any], str]


def python_argument(parameter: str, value: Any) -> str:
    """The argument as Python code: ``kinds={'age': 'words'}``; only the parameter if the value is None."""
    return f"`{parameter}`" if value is None else f"{parameter}={value!r}"


class Advised(Exception):
    """A problem, and the arguments that would solve it.

    Parameters
    ----------
    problem : str
    advice : str
        What to do; ``{name}`` stands for the argument of that name.
    **arguments
        Parameters of the called function, each with the value to pass, or None where only the caller can
        know the value.
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
