"""Text from files and models made fit for a terminal: no character of it moves the cursor or rings a bell."""

import unicodedata


def printable(text: object, keep: str = "") -> str:
    """The text with control characters written as escapes, except those in ``keep``."""
    return "".join(_shown(c) if c not in keep else c for c in str(text))


def _shown(character: str) -> str:
    # Cc: control, Cf: format (such as turning the direction of writing), Cs: half of a pair, Zl/Zp: new line
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return character.encode("unicode_escape").decode("ascii")
    return character
