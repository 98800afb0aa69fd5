"""The speed table of the project's README, from the stored records: ``benchmarks/results/records.json``.

python benchmarks/readme_table.py            write it
python benchmarks/readme_table.py --check    status 1 if the README has another one
"""

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORDS, README = ROOT / "benchmarks" / "results" / "records.json", ROOT / "README.md"
BEGIN, END = "<!-- speed table, by benchmarks/readme_table.py -->\n", "<!-- end of the speed table -->\n"
COLUMNS = ("data", "rows x features", "model", "fit", "predict", "support vectors", "gap", "accuracy")
DATA = {"letter": "letter", "covtype": "covtype", "mnist": "MNIST, ten digits"}
METHODS = {  # method and dtype, and how the table calls it
    ("maxmargin", "float32"): "`KernelSVC`",
    ("scikit-learn", "float64"): "scikit-learn `SVC`",
    ("intelex", "float32"): "scikit-learn-intelex `SVC`",
    ("thundersvm", "float32"): "ThunderSVM",
}
BUDGET = "ten digits, B = 1000"


def digits(seconds):
    """Seconds with two digits after the point below ten, one above."""
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"


def kernel_lines(records):
    """The exact SVMs on each data set; a method that failed or was stopped is left out."""
    done = {e["cell"]: e["record"]["methods"] for e in records.get("kernel_svm", []) if e["status"] == "done"}
    for data, title in DATA.items():
        found = {(m["method"], m["dtype"]): m for m in done.get(data, []) if "failure" not in m}
        for key in (key for key in METHODS if key in found):
            m, ours = found[key], key[0] == "maxmargin"
            mark = "**" if ours else ""
            yield (
                title if ours else "",
                f"{m['n']:,} x {m['d']:,}" if ours else "",
                METHODS[key],
                f"{mark}{digits(m['fit_seconds'])}{mark}",
                f"{mark}{digits(m['predict_seconds'])}{mark}",
                f"{m['support_vectors']:,}",
                f"{m['gap']:.0e}",
                f"{m['accuracy']:.2f} %",
            )


def budget_lines(records):
    """The budgeted classifier beside the exact SVM that took turns with it."""
    entries = [e["record"] for e in records.get("budget_digits", []) if e["status"] == "done"]
    rows = [r for entry in entries for r in entry.get("rows", [])]
    pairs = {
        r["name"].rpartition(": ")[2]: r
        for r in rows
        if r["name"].startswith(f"{BUDGET}:") and r["peer"].startswith("scikit-learn-intelex")
    }
    if not {"fit", "predict", "accuracy"} <= pairs.keys():
        return
    fit, predict, right = (pairs[name] for name in ("fit", "predict", "accuracy"))
    n = fit["peer"].rpartition(", ")[2].split()[0]
    model, name = "`SparseKernelClassifier(1000)`", "MNIST, in turn with it"
    times = (f"**{digits(fit['ours'])}**", f"**{digits(predict['ours'])}**")
    yield (name, "60,000 x 784", model, *times, "**1,000**", "", f"{right['ours']:.2f} %")
    times = (digits(fit["peers"]), digits(predict["peers"]))
    yield ("", "", METHODS["intelex", "float32"], *times, f"{int(n):,}", "", f"{right['peers']:.2f} %")


def table(stored):
    """The table and where it was measured, or None if nothing for it is stored."""
    records = stored["records"]
    lines = [*kernel_lines(records), *budget_lines(records)]
    if not lines:
        return None
    cells = [COLUMNS, ("---",) * len(COLUMNS), *lines]
    facts = stored["machine"]
    where = f"{facts['cpu']}, {facts['cores']} cores"
    measured = f"Measured on {stored['date']} at commit {stored['commit'][:12]}: {where}."
    return "\n".join([*(f"| {' | '.join(line)} |" for line in cells), "", measured, ""])


def with_table(text, new):
    """The README's text with another table between the two marks."""
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return f"{text[:start]}\n{new}\n{text[end:]}"


def wanted():
    """The README with the table of the stored records, or None where none are stored."""
    new = table(json.loads(RECORDS.read_text())) if RECORDS.exists() else None
    return new and with_table(README.read_text(encoding="utf-8"), new)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    given = parser.parse_args()
    changed = wanted()
    if changed is None:
        print("no records of the exact kernel SVM are stored; README.md stays as it is")
        return 0
    if given.check:
        same = changed == README.read_text(encoding="utf-8")
        print("the speed table of README.md is that of the records" if same else "it differs")
        return int(not same)
    README.write_text(changed, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
