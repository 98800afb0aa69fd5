"""Figure 1: accuracy against the share of outliers, a panel for each kind; and Table 2 as points."""

from statistics import mean

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from comparison import compare, stars
from methods import CONVENTIONAL, FOCUSED, METHODS

STYLES = {
    "Hamming": ("#888888", "o", "-"),
    "loss": ("#bbaa33", "s", "-"),
    CONVENTIONAL: ("#4477aa", "v", "-"),
    FOCUSED: ("#cc3311", "^", "-"),
    "prior": ("black", "D", "-"),
    "conventional, out of fold": ("#4477aa", "v", ":"),
    "focused, out of fold": ("#cc3311", "^", ":"),
}


def draw(accuracies, folder):
    """figure-1.png and differences.png."""
    _figure_1(accuracies, folder / "figure-1.png")
    _differences(accuracies, folder / "differences.png")


def _figure_1(accuracies, path):
    groups = list(dict.fromkeys(key[:2] for key in accuracies if key[1] != "none"))
    figure, panels = plt.subplots(
        1, len(groups), figsize=(5.0 * len(groups), 4.6), squeeze=False, sharey=True, layout="constrained"
    )
    for panel, (name, kind) in zip(panels[0], groups):
        shares = sorted({key[2] for key in accuracies if key[0] == name and key[1] in ("none", kind)})
        at = [{m: accuracies[name, kind if s else "none", s, m] for m in METHODS} for s in shares]
        for method, (colour, marker, line) in STYLES.items():
            heights = [mean(some[method]) for some in at]
            panel.plot(shares, heights, color=colour, marker=marker, linestyle=line, label=method)
        for share, some in zip(shares, at):
            found = stars(compare(some[FOCUSED], some[CONVENTIONAL]).p)
            panel.annotate(found, (share, mean(some[FOCUSED])), xytext=(0, 6), textcoords="offset points")
        panel.set(title=f"{name}, {kind} outliers", xlabel="outliers added, % of the training rows")
        panel.set_xticks(shares)
        panel.grid(alpha=0.25)
    panels[0][0].set_ylabel("test accuracy, %")
    _finish(figure, panels[0][0], path)


def _differences(accuracies, path):
    """Each decoder against Hamming decoding of the same columns, with intervals."""
    names = list(dict.fromkeys(key[0] for key in accuracies))
    figure, panels = plt.subplots(
        1, len(names), figsize=(3.6 * len(names), 4.2), squeeze=False, layout="constrained"
    )
    for panel, name in zip(panels[0], names):
        for k, (method, (colour, marker, _)) in enumerate(STYLES.items()):
            d = compare(*(accuracies[name, "none", 0, m] for m in (method, "Hamming")))
            hollow = "none" if "out of fold" in method else colour
            panel.errorbar(k, d.mean, d.half, color=colour, marker=marker, mfc=hollow, ls="", label=method)
        panel.axhline(0.0, color="black", linewidth=0.8)
        panel.set(title=name, xticks=[])
        panel.grid(alpha=0.25)
    panels[0][0].set_ylabel("points above Hamming decoding, 95 % interval")
    _finish(figure, panels[0][0], path)


def _finish(figure, panel, path):
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
