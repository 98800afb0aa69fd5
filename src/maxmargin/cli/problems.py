"""Exit codes, and the two ways a command ends early that are nobody's fault."""

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


class UsageError(Exception):
    """Options that do not go together, or lack something: exit code 2."""


class Interrupted(Exception):
    """Ctrl-C, with the work in a safe place: the message says how to go on; exit code 130."""
