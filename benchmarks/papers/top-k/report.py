"""The report of a run as Markdown: stalls, times, the rate, errors."""

from summary import SOURCE_SECONDS, SOURCE_STALL, seconds_to, worst_share


def markdown(found, heading):
    """Everything a run has to say."""
    lines = ["# Top-k SVM: results", "", heading]
    for title, part in (
        ("Lapin's domain under the published loss", _stalls(found.stalls)),
        ("Gap against time", _times(found.curves)),
        ("The rate of Frank-Wolfe", _rate(found.rate)),
        ("Errors", _errors(found.errors)),
    ):
        lines += ["", f"## {title}", "", *part]
    return "\n".join(lines) + "\n"


def _stalls(stalls):
    yield (
        f"P - D of the published loss where p_j <= s/k; the source saw {SOURCE_STALL} on 17 Flowers. The own "
        "gap, to the loss that this domain belongs to, is relative and goes to 0."
    )
    yield from ("", "| set | k | C | stalls at | P above the optimum | own gap | P - D on the right domain |")
    yield "|---" * 7 + "|"
    for (name, k, C), cell in stalls.items():
        yield (
            f"| {name} | {k} | {C:g} | {cell['gap']:.4f} | {cell['above']:.4f} | {cell['own_gap']:.1e} "
            f"| {cell['optimum_gap']:.1e} |"
        )


def _times(curves):
    yield (
        "k = 3, C = 1. Seconds of the processor, one thread, until P - D is as small as that; the source "
        f"has, for 1e-2, {SOURCE_SECONDS['block QP']} s for block QP and {SOURCE_SECONDS['Frank-Wolfe']} s "
        "for Frank-Wolfe."
    )
    yield from ("", "| set | method | 1e-2 | 1e-3 | 1e-4 | last P - D | epochs |", "|---" * 7 + "|")
    for (name, method), curve in curves.items():
        times = " | ".join(_seconds(seconds_to(curve, gap)) for gap in (1e-2, 1e-3, 1e-4))
        yield f"| {name} | {method} | {times} | {curve[-1]['gap']:.1e} | {curve[-1]['epochs']} |"
    yield from ("", "![Gap against seconds](gap.png)")


def _seconds(value):
    return "" if value is None else f"{value:.2f}"


def _rate(rate):
    yield (
        "D* - D of Frank-Wolfe on flowers, k = 3, rows of length 1, mean over seeds; bounds in expectation, "
        "with the constant 32 (printed) and 2 (1 + 1/k) (sharp). The last two columns are the largest "
        "share of a bound."
    )
    yield from ("", "| C | epochs: D* - D | seeds | printed | sharp |", "|---" * 5 + "|")
    for C, lines in rate.items():
        short = ", ".join(f"{line['epochs']}: {line['short']:.1e}" for line in lines)
        shares = " | ".join(f"{worst_share(lines, which):.1f} %" for which in ("printed", "sharp"))
        yield f"| {C:g} | {short} | {lines[0]['seeds']} | {shares} |"
    yield from ("", "![Dual suboptimality and its bounds](rate.png)")


def _errors(errors):
    yield "Percent of the test rows, means over splits; bold is the least of a column within its set."
    yield from ("", "| set | trained for | top-1 error | top-3 error | top-5 error | alpha | splits | gap |")
    yield "|---" * 8 + "|"
    for (name, k), cell in errors.items():
        rivals = [other["errors"] for (of, _), other in errors.items() if of == name]
        shown = " | ".join(
            f"**{error:.2f}**" if error <= min(r[top] for r in rivals) + 1e-9 else f"{error:.2f}"
            for top, error in cell["errors"].items()
        )
        alphas = ", ".join(f"{a:.0e}" for a in sorted(set(cell["alpha"])))
        yield f"| {name} | k = {k} | {shown} | {alphas} | {cell['n_splits']} | {cell['gap']:.1e} |"
