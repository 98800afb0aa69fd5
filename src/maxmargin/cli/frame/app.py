"""The commands by name, and what becomes of what they raise: exit codes.

The command ``evaluate`` is the function ``evaluate`` of the module ``cli/commands/evaluate.py``, imported
when it is asked for. To add a command, write that module and name it in ``COMMANDS``:

- parameters before ``/`` are positional, those after ``*`` are options; each has its text in
  ``Annotated[type, Parameter(help=...)]``, and the docstring says what the command does;
- ``reading: Reading = Reading()`` adds the options about data files (``reading.open(path, otherwise)``),
  ``show: Show = Show()`` adds ``--json`` and ``--quiet``;
- a command ends by ``show.answer(document, *parts)``: the document for JSON, the parts (``output.facts``,
  ``output.table``, text) for people;
- the work (NumPy, scikit-learn, the rest of maxmargin) is imported inside the function;
- it raises ``UsageError`` for options that do not go together, ``ValueError`` for data and models; warnings
  are warnings of Python; it returns an exit code or nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from inspect import cleandoc

from cyclopts import App, CycloptsError, Parameter

from ... import __version__
from .messages import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
    Interrupted,
    UsageError,
    as_options,
    collected,
    fail,
    given,
    option_argument,
)

COMMANDS = ("train", "predict", "evaluate", "inspect", "path", "compare", "report", "reproduce", "demo")

EPILOGUE = "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted."

STANDARD_INPUT = (
    "- for standard input is not accepted: data files are gone through twice. Write the rows to a file first."
)

# What a file, a model or a parameter can be wrong in. Anything else is a bug, and keeps its traceback.
EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)


def build(command: str | None = None) -> App:
    """The application with all of its commands; those beside ``command``, if one is named, stay unread."""
    app = App(
        name="maxmargin",
        help="Train, look at and use max-margin classifiers; each says how far from the optimum it stopped.",
        help_epilogue=EPILOGUE,
        version=__version__,
        default_parameter=Parameter(negative=()),
        suppress_keyboard_interrupt=False,
        help_format="plaintext",
    )
    for place, name in enumerate(COMMANDS):
        module = f"maxmargin.cli.commands.{name}"
        if command in COMMANDS and command != name:
            app.command(f"{module}:{name}", name=name, sort_key=place)  # by its address: imported never
        else:
            function = getattr(import_module(module), name)
            app.command(function, name=name, help=_flowing(function.__doc__), sort_key=place)
    return app


def _flowing(text: str) -> str:
    """The text with one line for each paragraph, for the terminal to fold."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in cleandoc(text).split("\n\n"))


def run(arguments: list[str]) -> int:
    """Run one command; its exit code."""
    json = "--json" in arguments
    given.set(tuple(arguments))
    with collected():
        try:
            return _guarded(arguments, lambda text, code: fail(text, code, json=json))
        except BrokenPipeError:
            _forget_stdout()  # `| head` has seen enough
            return EXIT_OK


def _guarded(arguments: list[str], failed: Callable[[str, int], int]) -> int:
    try:
        app = build(arguments[0] if arguments else None)
        code = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
        return code if isinstance(code, int) else EXIT_OK
    except CycloptsError as error:
        text = STANDARD_INPUT if str(error).endswith("Unknown option: -.") else error
        return failed(f"{text}{_where_to_read(arguments)}", EXIT_USAGE)
    except UsageError as error:
        return failed(f"{error}{_where_to_read(arguments)}", EXIT_USAGE)
    except Interrupted as stop:
        return failed(str(stop), EXIT_INTERRUPTED)
    except KeyboardInterrupt:
        return failed("interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:
        raise
    except SystemExit as ended:  # rich's word for the same, while it prints the help
        raise BrokenPipeError from ended
    except EXPECTED as error:
        return failed(as_options(_text_of(error)), EXIT_FAILED)


def _where_to_read(arguments: list[str]) -> str:
    command = next((word for word in arguments if word in COMMANDS), None)
    return f"\nsee: maxmargin {command + ' ' if command else ''}--help"


def _text_of(error: BaseException) -> str:
    """The error's words; the file is named where the system only has a reason."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}" if str(error) else "not enough memory"
    message = getattr(error, "message", None)
    if callable(message):  # of a DataFormatError: options in place of arguments
        return str(message(option_argument))
    return str(error) or type(error).__name__


def _forget_stdout() -> None:
    """Let nobody write, or flush at exit, into a pipe that nobody reads."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, sys.stdout.fileno())
    except (OSError, ValueError):  # a stdout without a file, as tests have
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    finally:
        os.close(null)
