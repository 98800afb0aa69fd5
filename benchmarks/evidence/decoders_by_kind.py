"""Where each decoder wins, against hinge decoding: a table and a figure of the benchmark ``decoder_map``."""

import block
import decoder_map
import numpy as np
import stored
from matplotlib import pyplot

RECORD = "decoder-map"
PANELS = {"linear": "linear columns", "rbf": "rbf columns"}
DRAWN = {"weighted": ("o", "#0072b2"), "prior": ("s", "#d55e00")}
CODE, CONDITION = "sparse 10 log2 G", "all rows"


def measure():
    """Every cell, stored as it is."""
    cells = decoder_map.cells(decoder_map.SUITE)
    stored.store(RECORD, {cell: decoder_map.measure(cell, quick=False) for cell in cells})


def records():
    """The stored cells, or None."""
    record = stored.load(RECORD)
    return record and record["values"]


def table():
    """The means over the tables, as Markdown; None without records."""
    if records() is None:
        return None
    (lines,) = decoder_map.tables(records()).values()
    columns = list(lines[0])
    return block.markdown(columns, [[line.get(column, "") for column in columns] for line in lines])


def hinge_accuracy(cell):
    """The mean accuracy of hinge decoding."""
    lines = records()[cell]["lines"]
    return np.mean([r["accuracy"] for r in lines if (r["condition"], r["decoder"]) == (CONDITION, "hinge")])


def draw(path):
    """Gain of the learned decoders against the accuracy of hinge decoding; one point for each table."""
    found = decoder_map.differences(records())
    figure, panels = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
    for ax, (kind, title) in zip(panels, PANELS.items()):
        for decoder, (marker, colour) in DRAWN.items():
            keys = [key for key in found if key[1:] == (kind, CODE, CONDITION, decoder)]
            x = [hinge_accuracy(", ".join(key[:3])) for key in keys]
            ax.plot(x, [found[key] for key in keys], marker, color=colour, label=f'"{decoder}"')
        ax.axhline(0.0, color="0.6", linewidth=0.8)
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("accuracy of hinge decoding, %")
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("gain, points")
    panels[0].legend(frameon=False)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
