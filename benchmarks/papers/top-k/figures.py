"""Gap against seconds for the four methods, a panel for each set; and the rate below its bounds."""

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from summary import SOURCE_STALL

STYLES = {  # colour and marker
    "dual ascent": ("#4477aa", "o"),
    "Frank-Wolfe": ("#228833", "s"),
    "block QP": ("#cc3311", "^"),
    "Lapin's domain": ("#aa3377", "D"),
}


def draw(found, folder):
    """gap.png and rate.png, as far as they were measured."""
    if found.curves:
        _gap(found.curves, folder / "gap.png")
    if found.rate:
        _rate(found.rate, folder / "rate.png")


def _panels(titles):
    figure, panels = plt.subplots(
        1, len(titles), figsize=(3.5 * len(titles), 3.7), squeeze=False, sharey=True, layout="constrained"
    )
    for panel, title in zip(panels[0], titles):
        panel.set_title(title)
        panel.grid(alpha=0.25)
    return figure, panels[0]


def _save(figure, panel, path, n_columns):
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=n_columns, frameon=False)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def _gap(curves, path):
    names = list(dict.fromkeys(name for name, _ in curves))
    figure, panels = _panels(names)
    for panel, name in zip(panels, names):
        for method, (colour, marker) in STYLES.items():
            curve = curves.get((name, method), [])
            panel.plot(
                [r["seconds"] for r in curve],
                [r["gap"] for r in curve],
                color=colour,
                marker=marker,
                markersize=4,
                label=method,
            )
        panel.axhline(
            SOURCE_STALL, color="black", linestyle=":", linewidth=1.0, label="the source's stall, 0.028"
        )
        panel.set(xscale="log", yscale="log", xlabel="seconds, one thread")
    panels[0].set_ylabel("P - D, true class included")
    _save(figure, panels[0], path, 5)


def _rate(rate, path):
    figure, panels = _panels([f"flowers, k = 3, C = {C:g}" for C in rate])
    for panel, lines in zip(panels, rate.values()):
        epochs = [line["epochs"] for line in lines]
        panel.plot(
            epochs, [line["short"] for line in lines], "o-", color="#228833", label="D* - D, Frank-Wolfe"
        )
        for which, style, text in (("printed", "--", "32"), ("sharp", "-", "2 (1 + 1/k)")):
            some = [line for line in lines if line[which] is not None]
            panel.plot(
                [line["epochs"] for line in some],
                [line[which] for line in some],
                style,
                color="black",
                label=f"bound with {text}",
            )
        panel.set(xscale="log", yscale="log", xlabel="epochs")
        panel.set_xticks(epochs, epochs)
        panel.minorticks_off()
    panels[0].set_ylabel("D* - D, mean over seeds")
    _save(figure, panels[0], path, min(3, len(rate)))
