"""The report of a run as Markdown: claims, then a table for each set and kind of column."""

import consistency
import cross_validation
from verdict import verdict


def markdown(cells, found, heading):
    """Everything a run has to say."""
    lines = ["# Codes for many classes: results", "", heading, "", *_claims(found)]
    lines += ["", "![Errors and bounds of every code](bounds.png)", "", "![Error against time](time.png)"]
    for name, columns in dict.fromkeys(key[:2] for key in cells):
        some = {key[2]: cell for key, cell in cells.items() if key[:2] == (name, columns)}
        lines += ["", f"## {name}, {columns} columns", "", *_table(some)]
    return "\n".join(lines) + "\n"


def of_disc(falling, folds):
    """The sections on rows drawn from a known distribution, if there are any."""
    if not falling:
        return ""
    return "\n".join([*consistency.lines(falling), *cross_validation.lines(folds)]) + "\n"


def _claims(found):
    yield from ("## What the source says", "")
    yield "Margins are points of training error (of Hamming decoding), not negative where a claim holds."
    yield from ("", "| claim | set | columns | | numbers |", "|---|---|---|---|---|")
    for c in found:
        yield f"| {c.text} | {c.set} | {c.columns} | {verdict(c.margin)} | {c.numbers} |"


def _table(codes):
    yield (
        "| code | T | rho | rho/T | C | test error | test error, Hamming | training error, Hamming "
        "| refined bound | printed bound | wrong outputs | seconds |"
    )
    yield "|---" * 12 + "|"
    for code, cell in codes.items():
        n = cell["n_columns"]
        spread = f" ± {cell['deviation']:.2f}" if cell["n_folds"] > 1 else ""
        seconds = f"{cell['seconds']:.2f}" + ("" if cell["converged"] else " (not converged)")
        yield (
            f"| {code} | {n} | {cell['distance']:g} | {cell['distance'] / n:.3f} | {cell['C']:g} "
            f"| {100.0 - cell['accuracy']:.2f}{spread} | {100.0 - cell['hamming']:.2f} "
            f"| {cell['training_error']:.2f} | {_bound(cell['refined'])} | {_bound(cell['printed'])} "
            f"| {cell['wrong_outputs']:.2f} | {seconds} |"
        )


def _bound(percent):
    return f"{percent:.2f}" if percent < 100.0 else f"{percent:.0f}, says nothing"
