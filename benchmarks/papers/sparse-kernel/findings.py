"""The paper's four findings as numbers: a margin in points of accuracy, which is positive where one holds.

Curves are compared by their mean over the budgets, and (1) and (3) also at the largest one, because at small
ones the deviation over repetitions is larger than most differences. Where the paper says "level" or "poor"
without a number, one point of accuracy is the border.
"""

from dataclasses import dataclass, replace
from statistics import mean

from methods import SELECTIONS
from sets import CLEAN, FILES, NOISY

BORDER = 1.0  # points
PROPOSED = "loss-probabilistic"
RIVALS = ("budget perceptron", "LaSVM active", "LaSVM gradient")


@dataclass(frozen=True)
class Finding:
    """A claim on one data set; ``margin > 0`` says that it holds."""

    number: str
    claim: str
    set: str
    margin: float
    numbers: str
    at_largest: float | None = None  # the margin at the largest budget


class Curves:
    """Mean accuracies by (set, group, method, budget)."""

    def __init__(self, cells):
        self.cells = cells

    def curve(self, name, group, method):
        """Mean accuracy by budget."""
        return {b: cell.mean for (*key, b), cell in self.cells.items() if key == [name, group, method]}

    def level(self, name, group, method, budgets=None):
        """The mean over the budgets, or over some of them."""
        curve = self.curve(name, group, method)
        return mean(curve[b] for b in (budgets or curve))

    def levels(self, name, group, budgets=None):
        """Of all selections."""
        return {method: self.level(name, group, method, budgets) for method in SELECTIONS}


def findings(cells):
    """All claims, in the order of the paper."""
    curves, largest = Curves(cells), [max(key[3] for key in cells)]
    return [
        *_both(_selection(curves), _selection(curves, largest)),
        *_back_fitting(curves),
        *_both(_against_rivals(curves), _against_rivals(curves, largest)),
        *(_against_pegasos(curves, name) for name in NOISY),
    ]


def _both(over_all, at_largest):
    return [replace(f, at_largest=g.margin) for f, g in zip(over_all, at_largest)]


def _selection(curves, budgets=None):
    for name in FILES:
        level = curves.levels(name, "selection", budgets)
        numbers = ", ".join(f"{method} {value:.1f}" for method, value in level.items())
        best = max(level.values())
        active, loss, proposed = (_above_others(level, m) for m in ("active", "loss", PROPOSED))
        poor = min(best - level[method] for method in ("random", "perceptron")) - BORDER
        gap = level[PROPOSED] - level["loss"]
        if name in NOISY:
            claims = {
                "active is best": active,
                "loss is poor": best - level["loss"] - BORDER,
                "loss-probabilistic is above loss": gap,
            }
        else:
            claims = {
                "active is poor": best - level["active"] - BORDER,
                "loss or its level, loss-probabilistic, is best": max(loss, proposed),
                "loss-probabilistic is level with loss": BORDER - abs(gap),
            }
        claims["random and perceptron are poor"] = poor
        for claim, margin in claims.items():
            yield Finding("1", claim, name, margin, numbers)


def _above_others(level, method):
    return level[method] - max(value for other, value in level.items() if other != method)


def _back_fitting(curves):
    gains = {}
    for name in FILES:
        without, with_it = curves.levels(name, "selection"), curves.levels(name, "back-fit")
        spreads = [max(level.values()) - min(level.values()) for level in (without, with_it)]
        numbers = "spread of the selections {:.1f} without, {:.1f} with".format(*spreads)
        yield Finding("2", "back-fitting narrows the differences", name, spreads[0] - spreads[1], numbers)
        budgets = sorted(curves.curve(name, "selection", PROPOSED))
        small, large = (_gain(curves, name, [b]) for b in (budgets[0], budgets[-1]))
        numbers = f"gain {small:+.1f} at B = {budgets[0]}, {large:+.1f} at B = {budgets[-1]}"
        yield Finding("2", "it helps most at small B", name, small - large, numbers)
        gains[name] = _gain(curves, name, budgets)
    noisy, clean = (mean(gains[name] for name in some) for some in (NOISY, CLEAN))
    numbers = ", ".join(f"{name} {gain:+.1f}" for name, gain in gains.items())
    yield Finding("2", "it helps most on noise", "all", noisy - clean, f"mean gain: {numbers}")


def _gain(curves, name, budgets):
    """What back-fitting adds, averaged over the selections."""
    without, with_it = (curves.levels(name, group, budgets) for group in ("selection", "back-fit"))
    return mean(with_it[method] - without[method] for method in SELECTIONS)


def _against_rivals(curves, budgets=None):
    for name in FILES:
        ours = curves.level(name, "back-fit", PROPOSED, budgets)
        rivals = {rival: curves.level(name, "comparison", rival, budgets) for rival in RIVALS}
        numbers = f"{ours:.1f}, " + ", ".join(f"{rival} {value:.1f}" for rival, value in rivals.items())
        margin = ours - max(rivals.values())
        if name == "USPS0":
            yield Finding("3", "some rival is better at equal B", name, -margin, numbers)
        else:
            yield Finding("3", "better than budget perceptron and LaSVM at equal B", name, margin, numbers)


def _against_pegasos(curves, name):
    """The paper's claim is that some budget does it: the best one counts."""
    curve = curves.curve(name, "back-fit", PROPOSED)
    best = max(curve, key=curve.get)
    unbudgeted = curves.level(name, "unbudgeted", "kernel Pegasos")
    numbers = f"{curve[best]:.1f} at B = {best}, unbudgeted {unbudgeted:.1f}"
    return Finding("4", "a budget beats kernel Pegasos without one", name, curve[best] - unbudgeted, numbers)
