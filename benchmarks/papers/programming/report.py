"""The report of a run as Markdown: claims, then a table for each set."""

from verdict import verdict


def markdown(records, found, heading):
    """Everything a run has to say."""
    lines = ["# SVMs by mathematical programming: results", "", heading, "", *_claims(found)]
    lines += ["", "![Accuracy and time of every formulation](formulations.png)"]
    for name in dict.fromkeys(r["set"] for r in records):
        lines += ["", f"## {name}", "", *_table([r for r in records if r["set"] == name])]
    return "\n".join(lines) + "\n"


def _claims(found):
    yield from ("## What the source claims", "")
    yield 'Margins are points of accuracy, positive where a claim holds; "close" is within 1.5 points.'
    yield from ("", "| claim | set | | accuracies |", "|---|---|---|---|")
    for claim in found:
        yield f"| {claim.text} | {claim.set} | {verdict(claim.margin)} | {claim.numbers} |"


def _table(records):
    yield "| group | method | rows | C | accuracy | seconds | support vectors | non-zero features | gap | |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for r in records:
        sizes = " | ".join("" if r[name] is None else f"{r[name]:,}" for name in ("n_support", "n_features"))
        status = "" if r["status"] == "converged" else r["status"]
        yield (
            f"| {r['group']} | {r['method']} | {r['n_train']:,} | {r['C']:g} | {r['accuracy']:.2f} "
            f"| {r['seconds']:.2f} | {sizes} | {r['gap']:.0e} | {status} |"
        )
