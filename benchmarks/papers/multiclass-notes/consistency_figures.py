"""consistency.png and cross-validation.png."""

import cross_validation
import disc
import matplotlib.pyplot as plt
from consistency import CONDITIONS
from matplotlib.ticker import NullLocator

COLOURS = {
    "n^-1/2": "#0072b2",
    "n^-3/4": "#56b4e9",
    "constant": "#d55e00",
    "n^-2": "#cc79a7",
    "n^-1": "#009e73",
}
MARKERS = {"n^-1/2": "o", "n^-3/4": "v", "constant": "s", "n^-2": "^", "n^-1": "D"}


def draw(means, records, folder):
    """Both."""
    figure, panel = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    sizes = sorted({n for _, n in means})
    for schedule, condition in CONDITIONS.items():
        errors, spread = zip(*(means[schedule, n] for n in sizes))
        style = {"color": COLOURS[schedule], "marker": MARKERS[schedule], "capsize": 3}
        panel.errorbar(sizes, errors, spread, label=f"{schedule}: {condition}", **style)
    panel.axhline(100.0 * disc.NOISE, color="black", ls="--", lw=1.0, label="Bayes error")
    panel.set(xscale="log", xlabel="rows to learn from, n", ylabel="error, % (± deviation over seeds)")
    panel.set_xticks(sizes, [f"{n:,}" for n in sizes])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.grid(alpha=0.25)
    panel.legend(title="lambda_n", fontsize="small")
    _save(figure, folder / "consistency.png")
    _save(cross_validation.display(records).figure_, folder / "cross-validation.png")


def _save(figure, path):
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
