"""Accuracy against the budget, four panels to a figure, one for each data set."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator, NullLocator, PercentFormatter
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
ASIDE = 0.07  # markers of one budget stand beside each other: so many doublings apart


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
    for k, (group, method) in enumerate(lines):
        colour, marker = STYLES[method]
        points = {b: cell for (*key, b), cell in cells.items() if key == [data_set, group, method]}
        budgets = sorted(points)
        shift = 2.0 ** (ASIDE * (k - (len(lines) - 1) / 2))
        panel.errorbar(
            [shift * b for b in budgets],
            [points[b].mean for b in budgets],
            [points[b].deviation for b in budgets],
            color=colour,
            marker=marker,
            markersize=5,
            linewidth=1.4,
            elinewidth=0.8,
            label=method,
        )
    unbudgeted = cells[data_set, "unbudgeted", "kernel Pegasos", 0].mean
    panel.axhline(unbudgeted, color="black", linestyle=":", linewidth=1.2, label="kernel Pegasos, no budget")
    ticks = sorted({key[3] for key in cells if key[3]})
    panel.set_xscale("log", base=2)
    panel.set_xticks(ticks, [str(tick) for tick in ticks])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    panel.yaxis.set_major_formatter(PercentFormatter(decimals=0))
    shown = [cells[key].mean for key in cells if key[0] == data_set and key[1:3] in lines] + [unbudgeted]
    room = 0.08 * (max(shown) - min(shown))
    panel.set_ylim(min(shown) - room, min(100.2, max(shown) + room))
    panel.grid(alpha=0.25)
    panel.set_title(data_set)
    panel.set_xlabel("support vectors, B")
    panel.set_ylabel("test accuracy")
