"""Accuracy against the budget, four panels to a figure, one for each data set."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import NullLocator, PercentFormatter
from methods import SELECTIONS
from sets import FILES

PROPOSED = "loss-probabilistic"
FIGURES = {
    "figure-1": ("Without back-fitting", [("selection", name) for name in SELECTIONS]),
    "figure-2": ("With back-fitting, T = n/B", [("back-fit", name) for name in SELECTIONS]),
    "figure-3": (
        "Against other methods",
        [
            ("back-fit", PROPOSED),
            ("comparison", "budget perceptron"),
            ("comparison", "LaSVM active"),
            ("comparison", "LaSVM gradient"),
            ("comparison", "matching pursuit"),
            ("comparison", "maxmargin's own"),
        ],
    ),
}
STYLES = {
    PROPOSED: ("black", "D"),
    "random": ("tab:gray", "o"),
    "perceptron": ("tab:blue", "s"),
    "loss": ("tab:red", "v"),
    "active": ("tab:green", "^"),
    "budget perceptron": ("tab:blue", "s"),
    "LaSVM active": ("tab:green", "^"),
    "LaSVM gradient": ("tab:red", "v"),
    "matching pursuit": ("tab:purple", "o"),
    "maxmargin's own": ("tab:orange", "P"),
}


def draw(cells, folder):
    """One PNG for each figure."""
    for name, (title, lines) in FIGURES.items():
        figure, panels = plt.subplots(2, 2, figsize=(9.0, 7.2), layout="constrained")
        for panel, data_set in zip(panels.flat, FILES):
            _panel(panel, cells, data_set, lines)
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        figure.suptitle(f"{title}: test accuracy, mean and deviation over repetitions")
        figure.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
        plt.close(figure)


def _panel(panel, cells, data_set, lines):
    for group, method in lines:
        colour, marker = STYLES[method]
        points = {b: cell for (*key, b), cell in cells.items() if key == [data_set, group, method]}
        budgets = sorted(points)
        means = [points[b].mean for b in budgets]
        panel.plot(budgets, means, color=colour, marker=marker, markersize=5, linewidth=1.4, label=method)
        low = [points[b].mean - points[b].deviation for b in budgets]
        high = [points[b].mean + points[b].deviation for b in budgets]
        panel.fill_between(budgets, low, high, color=colour, alpha=0.12, linewidth=0)
    unbudgeted = cells[data_set, "unbudgeted", "kernel Pegasos", 0].mean
    panel.axhline(unbudgeted, color="black", linestyle=":", linewidth=1.2, label="kernel Pegasos, no budget")
    ticks = sorted({key[3] for key in cells if key[3]})
    panel.set_xscale("log", base=2)
    panel.set_xticks(ticks, [str(tick) for tick in ticks])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(PercentFormatter(decimals=0))
    panel.set_ylim(top=min(100.5, panel.get_ylim()[1]))
    panel.grid(alpha=0.25)
    panel.set_title(data_set)
    panel.set_xlabel("support vectors, B")
    panel.set_ylabel("test accuracy")
