"""What the source claims, as differences of accuracies in points, with intervals."""

from dataclasses import dataclass

from comparison import Difference, compare
from methods import CONVENTIONAL, FOCUSED

PAPER = {"Glass": (52.07, 60.20), "Zoo": (96.97, 97.18), "Yeast": (48.87, 50.50)}  # Table 2


@dataclass(frozen=True)
class Claim:
    """``paper`` is the difference that the source prints, where it does."""

    set: str
    text: str
    difference: Difference
    paper: float | None = None

    @property
    def verdict(self):
        """Holds where the interval is above 0, not where it is below, open in between."""
        return {"higher": "holds", "lower": "**does not hold**", "level": "open"}[self.difference.verdict]


def claims(accuracies):
    """Focused above conventional on every set; and it loses less where outliers are added."""
    found = []
    for name in dict.fromkeys(key[0] for key in accuracies):
        ours, theirs = (accuracies[name, "none", 0, method] for method in (FOCUSED, CONVENTIONAL))
        printed = PAPER[name][1] - PAPER[name][0]
        text = f"{FOCUSED} are more accurate than {CONVENTIONAL}"
        found.append(Claim(name, text, compare(ours, theirs), round(printed, 2)))
    for name, kind in dict.fromkeys(key[:2] for key in accuracies if key[1] != "none"):
        share = max(key[2] for key in accuracies if key[:2] == (name, kind))
        losses = [_loss(accuracies, name, kind, share, method) for method in (CONVENTIONAL, FOCUSED)]
        text = f"{CONVENTIONAL} lose more than {FOCUSED} by {share} % {kind} outliers"
        found.append(Claim(name, text, compare(*losses)))
    return found


def _loss(accuracies, name, kind, share, method):
    before, after = accuracies[name, "none", 0, method], accuracies[name, kind, share, method]
    return [a - b for a, b in zip(before, after, strict=True)]
