"""Accuracy against training time of every formulation, one panel for each set."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

COLOURS = {"linear": "#4477aa", "kernel": "#cc3311", "at once": "#228833"}


def draw(records, folder):
    """formulations.png."""
    names = list(dict.fromkeys(r["set"] for r in records))
    figure, panels = plt.subplots(1, len(names), figsize=(4.6 * len(names), 4.2), squeeze=False)
    for panel, name in zip(panels[0], names, strict=True):
        for group, colour in COLOURS.items():
            some = [r for r in records if r["set"] == name and r["group"] == group]
            times, accuracies = [max(r["seconds"], 1e-3) for r in some], [r["accuracy"] for r in some]
            panel.scatter(times, accuracies, color=colour, s=28)
            for r, x, y in zip(some, times, accuracies, strict=True):
                panel.annotate(r["method"], (x, y), xytext=(4, 3), textcoords="offset points", fontsize=6.5)
        panel.set(xscale="log", xlabel="seconds to fit", title=name)
        panel.margins(x=0.25, y=0.12)
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("test accuracy, %")
    handles = [
        Line2D([], [], color=colour, marker="o", ls="", label=group) for group, colour in COLOURS.items()
    ]
    figure.legend(handles=handles, loc="lower center", ncols=3, frameon=False)
    figure.tight_layout(rect=(0.0, 0.06, 1.0, 1.0))
    figure.savefig(folder / "formulations.png", dpi=110, metadata={"Software": None})
    plt.close(figure)
