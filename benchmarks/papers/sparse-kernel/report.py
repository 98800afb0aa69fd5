"""The report of a run as Markdown: Table 1, the curves as tables, the findings."""

from expected import PAPER
from figures import FIGURES
from sets import FILES


def markdown(cells, found, heading):
    """Everything a run has to say."""
    lines = ["# Sparse kernel classifiers: results", "", heading, "", *_table_1(cells), *_findings(found)]
    for name, (title, methods) in FIGURES.items():
        lines += ["", f"## {name.replace('-', ' ').capitalize()}. {title}", "", f"![{title}]({name}.png)"]
        for data_set in FILES:
            lines += ["", *_curves(cells, data_set, methods)]
    return "\n".join(lines) + "\n"


def _table_1(cells):
    yield "## Table 1. Kernel Pegasos without a budget"
    yield ""
    yield "| set | #SV, paper | #SV, ours | accuracy, paper | accuracy, ours | alpha / mean k(x, x) |"
    yield "|---|---|---|---|---|---|"
    for name, (n_support, accuracy) in PAPER.items():
        cell = cells[name, "unbudgeted", "kernel Pegasos", 0]
        yield (
            f"| {name} | {n_support} | {cell.n_support} | {accuracy} | {_accuracy(cell)} "
            f"| {cell.strength:.0e} |"
        )


def _findings(found):
    yield from ("", "## Findings", "")
    yield "Margins are points of accuracy, positive where a claim holds; `findings.py` says what they are."
    yield from ("", "| | claim | set | mean over B | at the largest B | numbers, mean over B |")
    yield "|---|---|---|---|---|---|"
    for f in found:
        at_largest = "" if f.at_largest is None else _verdict(f.at_largest)
        yield f"| ({f.number}) | {f.claim} | {f.set} | {_verdict(f.margin)} | {at_largest} | {f.numbers} |"


def _verdict(margin):
    return f"holds, {margin:+.1f}" if margin > 0.0 else f"**does not hold**, {margin:+.1f}"


def _curves(cells, data_set, methods):
    budgets = sorted({key[3] for key in cells if key[3]})
    yield f"| {data_set} | alpha / mean k(x, x) | " + " | ".join(f"B = {b}" for b in budgets) + " |"
    yield "|---|---|" + "---|" * len(budgets)
    for group, method in methods:
        row = [cells.get((data_set, group, method, b)) for b in budgets]
        strength = next(cell.strength for cell in row if cell is not None)
        values = " | ".join("" if cell is None else _accuracy(cell) for cell in row)
        yield f"| {method} | {f'{strength:.0e}' if strength else ''} | {values} |"


def _accuracy(cell):
    return f"{cell.mean:.2f} ± {cell.deviation:.2f}"
