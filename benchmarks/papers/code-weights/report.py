"""The report of a run as Markdown: claims, Table 2, differences between decoders, Figure 1."""

from statistics import mean, stdev

from claims import PAPER
from comparison import compare, stars
from methods import CONVENTIONAL, FOCUSED, METHODS

RIVALS = ("Hamming", "loss", "prior")


def markdown(accuracies, training, found, heading):
    """Everything a run has to say."""
    lines = [
        "# Learned decoding weights: results",
        "",
        heading,
        "",
        *_claims(found),
        "",
        *_table_2(accuracies),
    ]
    lines += ["", *_training(training), "", *_differences(accuracies), "", *_figure_1(accuracies)]
    return "\n".join(lines) + "\n"


def _claims(found):
    yield from ("## What the source claims", "")
    yield from ("| claim | set | | difference | paper |", "|---|---|---|---|---|")
    for c in found:
        printed = "" if c.paper is None else f"{c.paper:+.2f}"
        yield f"| {c.text} | {c.set} | {c.verdict} | {c.difference} | {printed} |"


def _table_2(accuracies):
    names = [key[0] for key in accuracies if key[1] == "none" and key[3] == CONVENTIONAL]
    yield from ("## Table 2. Test accuracy", "")
    yield "| decoder | " + " | ".join(f"{name} | paper" for name in names) + " |"
    yield "|---" * (1 + 2 * len(names)) + "|"
    for method in METHODS:
        cells = []
        for name in names:
            some = accuracies[name, "none", 0, method]
            printed = dict(zip((CONVENTIONAL, FOCUSED), PAPER[name])).get(method, "")
            cells += [f"{mean(some):.2f} ± {stdev(some):.2f}", f"{printed}"]
        yield f"| {method} | " + " | ".join(cells) + " |"


def _training(training):
    names = list(dict.fromkeys(key[0] for key in training))
    yield "Accuracy on the outputs that a decoder was fitted to, and the median seconds of its fit:"
    yield ""
    yield "| decoder | " + " | ".join(f"{name} | seconds" for name in names) + " |"
    yield "|---" * (1 + 2 * len(names)) + "|"
    for method in METHODS:
        cells = [f"{training[name, method][0]:.2f} | {training[name, method][1]:.3f}" for name in names]
        yield f"| {method} | " + " | ".join(cells) + " |"
    seconds = ", ".join(f"{name} {training[name, 'columns']:.2f}" for name in names)
    yield from ("", f"Seconds to fit all columns once: {seconds}.")


def _differences(accuracies):
    yield from ("## Differences on the same columns", "")
    yield "Points, 95 % intervals and one-sided p by the corrected resampled t-test; * p < 0.05, ** p < 0.01."
    yield from ("", "| set | difference | points | p | |", "|---|---|---|---|---|")
    pairs = [(FOCUSED, CONVENTIONAL)]
    pairs += [(ours, rival) for ours in (CONVENTIONAL, FOCUSED) for rival in RIVALS]
    pairs += [("prior", "Hamming"), ("prior", "loss")]
    pairs += [("conventional, out of fold", CONVENTIONAL), ("focused, out of fold", FOCUSED)]
    for name in dict.fromkeys(key[0] for key in accuracies):
        for ours, theirs in pairs:
            d = compare(*(accuracies[name, "none", 0, method] for method in (ours, theirs)))
            yield f"| {name} | {ours} − {theirs} | {d} | {d.p:.3f}{stars(d.p)} | {d.verdict} |"


def _figure_1(accuracies):
    yield from ("## Figure 1. Outliers in the training set", "")
    yield "![Accuracy against the share of outliers](figure-1.png)"
    for name, kind in dict.fromkeys(key[:2] for key in accuracies if key[1] != "none"):
        shares = sorted({key[2] for key in accuracies if key[0] == name and key[1] in ("none", kind)})
        yield from ("", f"{name}, {kind} outliers:", "")
        yield "| decoder | " + " | ".join(f"{share} %" for share in shares) + " |"
        yield "|---" * (1 + len(shares)) + "|"
        at = [{m: accuracies[name, kind if s else "none", s, m] for m in METHODS} for s in shares]
        for method in METHODS:
            yield f"| {method} | " + " | ".join(f"{mean(some[method]):.2f}" for some in at) + " |"
        tests = [compare(some[FOCUSED], some[CONVENTIONAL]) for some in at]
        yield "| focused − conventional | " + " | ".join(map(str, tests)) + " |"
        yield "| p, corrected | " + " | ".join(f"{d.p:.3f}{stars(d.p)}" for d in tests) + " |"
        yield (
            "| p, ordinary paired | "
            + " | ".join(f"{d.p_ordinary:.3f}{stars(d.p_ordinary)}" for d in tests)
            + " |"
        )
