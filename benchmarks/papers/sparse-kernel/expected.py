"""The numbers of a run that ``expected.toml`` has, and how far another run may be from them."""

from expectation import Value

PAPER = {  # Table 1 and the text of section 4
    "USPS0": (228, 98.05),
    "Adult": (6650, 80.87),
    "MNIST8": (760, 99.37),
    "MNIST8+N": (11642, 89.71),
}
HEAD = """\
# What run.py must give again, as medians over its repetitions.
# paper = what the source prints, where it does; ours = what we got; tolerance = how far another run may be
# from ours. Accuracies and margins (of the findings: positive where they hold) in points, 100 = all right.
# Written by `run.py --update`, and by `run.py --quick --repetitions 5 --update` for the quick part.
"""
LEAST = {"full": 0.5, "quick": 2.0}  # tolerance in points
SPREADS = {"full": 3.0, "quick": 5.0}  # a quick run is one repetition, not the median of five


def values(cells, findings, variant):
    """By table and cell; one repetition, a quick run, says nothing about the findings."""

    def value(ours, spread, paper=None):
        return Value(ours, max(LEAST[variant], SPREADS[variant] * spread), paper)

    tables = {"table 1": {}, "accuracy": {}}
    for (name, group, method, budget), cell in sorted(cells.items()):
        if group == "unbudgeted":
            n_support, accuracy = PAPER[name]
            tables["table 1"][f"{name}, accuracy"] = value(cell.median, cell.deviation, accuracy)
            tables["table 1"][f"{name}, #SV"] = value(cell.n_support, 0.05 * cell.n_support, n_support)
        else:
            key = f"{name}, {group}, {method}, B = {budget}"
            tables["accuracy"][key] = value(cell.median, cell.deviation)
    if variant == "full":
        tables["findings"] = {
            f"({f.number}) {f.set}: {f.claim}": Value(f.margin, max(1.0, 0.25 * abs(f.margin)))
            for f in findings
        }
    return tables
