"""The commands by name, and the exit codes of what they raise.

The command ``evaluate`` is the function ``evaluate`` of the module ``cli/commands/evaluate.py``, imported
when it is asked for. To add a command, write that module and name it in ``COMMANDS``:

- parameters before ``/`` are positional, those after ``*`` are options; each has its text in
  ``Annotated[type, Parameter(help=...)]``, and the docstring says what the command does;
- ``reading: Reading = Reading()`` adds the options about data files (``reading.open(path, otherwise)``),
  ``show: Show = Show()`` adds ``--json`` and ``--quiet``, and knows the run (``show.invocation``);
- a command ends by ``show.answer(document, *parts)``: the document for JSON, the parts (``output.facts``,
  ``output.table``, text) for people;
- the work (NumPy, scikit-learn, the rest of maxmargin) is imported inside the function;
- it raises ``UsageError`` for options that do not go together, ``ValueError`` for data and models; warnings
  are warnings of Python; it returns an exit code or nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from inspect import BoundArguments, cleandoc
from typing import Any

from cyclopts import App, CycloptsError, Parameter

from ... import __version__
from .invocation import Invocation
from .messages import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
    Interrupted,
    UsageError,
    silence,
    worded,
)
from .output import Show, standard_output

COMMANDS = (
    "train",
    "predict",
    "evaluate",
    "inspect",
    "path",
    "compare",
    "report",
    "explore",
    "reproduce",
    "demo",
)

EPILOGUE = "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted."

STANDARD_INPUT = (
    "- for standard input is not accepted: data files are read twice. Write the rows to a file first."
)

# What a file, a model or a parameter can be wrong in. Anything else is a bug, and keeps its traceback.
EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)


def build(command: str | None = None) -> App:
    """The application with all of its commands; if ``command`` is one of them, only that one is imported."""
    app = App(
        name="maxmargin",
        help="Train, inspect and use max-margin classifiers; each reports how close it is to the optimum.",
        help_epilogue=EPILOGUE,
        version=__version__,
        default_parameter=Parameter(negative=()),
        suppress_keyboard_interrupt=False,
        help_format="plaintext",
    )
    for place, name in enumerate(COMMANDS):
        module = f"maxmargin.cli.commands.{name}"
        if command in COMMANDS and command != name:
            app.command(f"{module}:{name}", name=name, sort_key=place)  # by its address: never imported
        else:
            function = getattr(import_module(module), name)
            app.command(function, name=name, help=_flowing(function.__doc__ or ""), sort_key=place)
    return app


def _flowing(text: str) -> str:
    """The text with one line for each paragraph, for the terminal to fold."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in cleandoc(text).split("\n\n"))


def run(arguments: list[str]) -> int:
    """Run one command; its exit code."""
    invocation = Invocation(tuple(arguments))
    with invocation.showing_warnings():
        try:
            return _guarded(invocation)
        except BrokenPipeError:
            silence("stdout")  # `| head` has seen enough
            return EXIT_OK


def _guarded(invocation: Invocation) -> int:
    """Run the command; what it raises becomes a message and an exit code."""
    failed = invocation.fail
    try:
        command, bound = _parsed(invocation)
        code = command(*bound.args, **bound.kwargs)
        with standard_output() as out:
            out.flush()
        return code if isinstance(code, int) else EXIT_OK
    except CycloptsError as error:
        text = STANDARD_INPUT if str(error).endswith("Unknown option: -.") else error
        return failed(f"{text}{_where_to_read(invocation)}", EXIT_USAGE)
    except UsageError as error:
        return failed(f"{error}{_where_to_read(invocation)}", EXIT_USAGE)
    except Interrupted as stop:
        return failed(str(stop), EXIT_INTERRUPTED)
    except KeyboardInterrupt:
        return failed("interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:
        raise
    except SystemExit as ended:  # what rich raises for the same, while it prints the help
        raise BrokenPipeError from ended
    except EXPECTED as error:
        return failed(worded(error), EXIT_FAILED)


def _parsed(invocation: Invocation) -> tuple[Callable[..., Any], BoundArguments]:
    """The command and its arguments, with ``show`` knowing the run; parsing decides about JSON."""
    arguments = list(invocation.arguments)
    invocation.json = "--json" in arguments  # the best guess, for an error before parsing is complete
    app = build(arguments[0] if arguments else None)
    command, bound, _ = app.parse_args(arguments, exit_on_error=False, print_error=False)
    bound.apply_defaults()
    show = bound.arguments.get("show")
    invocation.json = isinstance(show, Show) and show.json
    if isinstance(show, Show):
        bound.arguments["show"] = replace(show, invocation=invocation)
    return command, bound


def _where_to_read(invocation: Invocation) -> str:
    command = next((word for word in invocation.arguments if word in COMMANDS), None)
    return f"\nsee: maxmargin {command + ' ' if command else ''}--help"
