"""The claims of the five documents side by side: what was claimed, the source's number, ours, a verdict.

Made from the numbers that each paper's ``expected.toml`` has of its full run. A claim is one line, with all
sets it was tried on; its margin, in points, is not negative where it holds.
"""

import tomllib
from pathlib import Path

import block

PAPERS = Path(__file__).parents[1] / "papers"
COLUMNS = ("claim", "the source", "here, in points (not negative: it holds)", "verdict")
TITLES = {
    "sparse-kernel": "Sparse kernel classifiers under a budget",
    "programming": "SVMs by mathematical programming",
    "top-k": "The top-k SVM",
    "multiclass-notes": "Codes for many classes, bounds and consistency",
    "code-weights": "Learned decoding weights",
}
CLAIM_TABLES = ("findings", "claims", "claims on the disc")
# Claims about sizes: (paper, table of expected.toml, claim, whether a number is as claimed, unit)
SIZES = (
    ("top-k", "stall", "Lapin's dual domain ends above the optimum", lambda v: v >= 1.0, " / 1000"),
    ("top-k", "share of the bound", "the gap stays below the bound", lambda v: v <= 100.0, " %"),
)


def numbers(paper):
    """``expected.toml`` of the full run: {table: {key: {"ours": ..., "paper": ...}}}."""
    return tomllib.loads((PAPERS / paper / "expected.toml").read_text(encoding="utf-8"))["full"]


def margins(cells):
    """{claim: {set: cell}}; a key is "set: claim", or a claim alone."""
    found = {}
    for key, cell in cells.items():
        where, _, claim = key.rpartition(": ")
        found.setdefault(claim, {})[where] = cell
    return found


def signed(value):
    """A number with its sign: a minus that no line ends with."""
    return f"{value:+.1f}".replace("-", "\u2212")


def place(where):
    """The set that a margin is of, from the key: "(1) Adult" or "Glass, kernel"."""
    name = where.partition(") ")[2] or where
    return "" if name == "all" else name.replace(", ", " ")


def verdict(holds):
    """In words, of a list of truths."""
    if all(holds):
        return "holds"
    return f"holds on {sum(holds)} of {len(holds)}" if any(holds) else "does not hold"


def source_number(cells):
    """What the source prints: a number for each set, a word, or nothing."""
    printed = [cell.get("paper") for cell in cells.values()]
    numbers = [f"{value:+g}" for value in printed if isinstance(value, float | int)]
    words = sorted({value for value in printed if isinstance(value, str)})
    return ", ".join(numbers or words) or "in words"


def claim_lines(paper):
    """One line for each claim with a margin."""
    tables = numbers(paper)
    for name in CLAIM_TABLES:
        for claim, cells in margins(tables.get(name, {})).items():
            said = ", ".join(
                f"{place(where)} {signed(cell['ours'])}".strip() for where, cell in cells.items()
            )
            yield [claim, source_number(cells), said, verdict([c["ours"] >= 0.0 for c in cells.values()])]


def size_lines(paper):
    """One line for each claim about a size: the range of what was measured."""
    for where, table, claim, as_claimed, unit in SIZES:
        if where == paper:
            cells = numbers(paper)[table]
            ours = [cell["ours"] for cell in cells.values()]
            printed = sorted({f"{c['paper']:g}{unit}" for c in cells.values() if "paper" in c})
            said = f"{min(ours):.2g} to {max(ours):.2g}{unit}"
            yield [claim, ", ".join(printed) or "a proof", said, verdict([as_claimed(v) for v in ours])]


def table(paper):
    """The table of a paper."""
    return block.markdown(COLUMNS, [*claim_lines(paper), *size_lines(paper)])
