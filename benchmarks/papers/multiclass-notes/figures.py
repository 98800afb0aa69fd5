"""Training error between 0 and its bounds, and test error against time: a panel for each set."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {
    "one-vs-one": "#4477aa",
    "one-vs-rest": "#cc3311",
    "exhaustive": "#228833",
    "designed": "#aa3377",
}
QUANTITIES = {  # marker and label of what is drawn above each code
    "test": ("D", "test error"),
    "training_error": ("o", "training error"),
    "refined": ("_", "refined bound"),
    "printed": ("x", "printed bound"),
}
LEAST = 0.1  # percent: what is smaller is drawn there


def draw(cells, folder):
    """bounds.png and time.png."""
    _save(cells, _bounds, folder / "bounds.png", "percent of the rows, Hamming decoding")
    _save(cells, _time, folder / "time.png", "test error, %")


def _save(cells, panel_of, path, label):
    groups = list(dict.fromkeys(key[:2] for key in cells))
    n_wide = min(4, len(groups))
    n_high = -(-len(groups) // n_wide)
    figure, panels = plt.subplots(
        n_high, n_wide, figsize=(3.4 * n_wide, 3.5 * n_high), squeeze=False, layout="constrained"
    )
    for panel in panels.flat[len(groups) :]:
        panel.remove()
    for panel, group in zip(panels.flat, groups):
        panel_of(panel, {key[2]: cell for key, cell in cells.items() if key[:2] == group})
        panel.set_title(", ".join(group) + " columns")
        panel.grid(alpha=0.25)
    for row in panels:
        row[0].set_ylabel(label)
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def _bounds(panel, codes):
    for name, (marker, label) in QUANTITIES.items():
        values = [100.0 - cell["hamming"] if name == "test" else cell[name] for cell in codes.values()]
        panel.scatter(
            range(len(codes)),
            [max(value, LEAST) for value in values],
            marker=marker,
            s=160 if marker == "_" else 36,
            linewidths=2.0 if marker in "_x" else 0.8,
            color="black" if marker in "_x" else {"test": "#cc3311"}.get(name, "#4477aa"),
            facecolors="none" if marker == "o" else None,
            label=label,
        )
    panel.axhline(100.0, color="black", linestyle=":", linewidth=1.0)
    panel.set(yscale="log", xlim=(-0.5, len(codes) - 0.5))
    panel.set_xticks(range(len(codes)), list(codes), rotation=20, fontsize=8)
    panel.set_ylim(bottom=0.7 * LEAST)


def _time(panel, codes):
    for code, colour in COLOURS.items():
        cell = codes.get(code)
        x, y = (cell["seconds"], 100.0 - cell["accuracy"]) if cell else ([], [])
        panel.errorbar(x, y, cell["deviation"] if cell else None, color=colour, marker="o", ls="", label=code)
    panel.set(xscale="log", xlabel="seconds to fit")
    panel.margins(x=0.2, y=0.15)
