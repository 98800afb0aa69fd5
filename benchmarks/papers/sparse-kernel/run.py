"""Reproduces "Learning Robust Sparse Kernel Classifiers" (Blondel, Seki, Uehara): tables, curves, findings.

Exit status: 0 where all is as in expected.toml, 1 where a cell is not, 77 where there are no data.
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import expected
import figures
import records
import report
from findings import findings
from measure import FULL, QUICK, measure
from sets import folder

HERE = Path(__file__).parent
NO_DATA = 77  # what test programs return where they cannot run


def main():
    options = _options()
    if options.records is None and folder() is None:
        print("MAXMARGIN_DATA names no folder with usps.npz, a9a.npz and mnist.npz", file=sys.stderr)
        return NO_DATA
    variant, plan = ("quick", QUICK) if options.quick else ("full", FULL)
    output = options.output or HERE / "results"
    output.mkdir(parents=True, exist_ok=True)
    if options.records is None:
        start = time.perf_counter()
        measured = measure(replace(plan, n_repetitions=options.repetitions or plan.n_repetitions))
        print(f"measured in {time.perf_counter() - start:.0f} seconds", file=sys.stderr)
        records.write(measured, output / "records.csv")
    # Read back even if just measured: the report is a function of the file.
    measured = records.read(options.records or output / "records.csv")
    cells = records.summary(measured)
    found = findings(cells)
    n = len({r["seed"] for r in measured})
    heading = f"Test accuracy in percent, mean ± standard deviation over {n} repetition(s); {variant} run."
    (output / "report.md").write_text(report.markdown(cells, found, heading), encoding="utf-8")
    figures.draw(cells, output)
    values = expected.values(cells, found)
    if options.update:
        expected.update(values, variant)
    wrong = expected.failures(values, variant)
    holds = sum(f.margin > 0.0 for f in found)
    print(f"sparse-kernel ({variant}): {holds} of {len(found)} findings hold; report in {output}/report.md")
    print("\n".join([f"{len(wrong)} cells are not as expected:", *wrong]) if wrong else "all as expected")
    return 1 if wrong else 0


def _options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="some rows, few budgets: under a minute")
    parser.add_argument("--repetitions", type=int, help="5; quick: 1")
    parser.add_argument("--records", type=Path, help="report on the records of an earlier run")
    parser.add_argument("--update", action="store_true", help="make this run's numbers the expected ones")
    parser.add_argument("--output", type=Path, help="folder for the report (results/ beside this file)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
