"""A table of a page between two comments, and its text made from a record."""

import re

BEGIN = "<!-- evidence: {name}, measured by benchmarks/evidence -->\n"
END = "<!-- end of evidence -->\n"
ANY = re.compile(r"<!-- evidence: ([\w-]+), measured by benchmarks/evidence -->\n(.*?)" + END, re.DOTALL)


def markdown(columns, lines):
    """The table as Markdown."""
    rows = ["| " + " | ".join(line) + " |\n" for line in (columns, *lines)]
    rows.insert(1, "|---" * len(columns) + "|\n")
    return "".join(rows).replace("|  |", "| |").replace("|  |", "| |")


def blocks(text):
    """The text of each block, by name."""
    return dict(ANY.findall(text))


def with_block(text, name, table):
    """The page with another table in the block of that name."""
    begin = BEGIN.format(name=name)
    before, found, rest = text.partition(begin)
    _, end, after = rest.partition(END)
    if not found or not end:
        raise ValueError(f"The page has no lines {begin.strip()!r} and {END.strip()!r}.")
    return before + begin + table + end + after
