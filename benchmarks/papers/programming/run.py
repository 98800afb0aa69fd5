"""Tabulates the formulations of "Support vector machines and mathematical programming" (Yajima) on real sets.

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
from claims import claims
from measure import FULL, QUICK, measure
from sets import folder

HERE = Path(__file__).parent
NO_DATA = 77  # what test programs return where they cannot run


def main():
    options = _options()
    if options.records is None and folder() is None:
        print("MAXMARGIN_DATA names no folder with letter, a9a, usps and sms_spam.npz", file=sys.stderr)
        return NO_DATA
    variant, plan = ("quick", QUICK) if options.quick else ("full", FULL)
    output = options.output or HERE / "results"
    output.mkdir(parents=True, exist_ok=True)
    if options.records is None:
        start = time.perf_counter()
        some_sets = replace(plan, sets=tuple(options.sets or plan.sets))
        measure(some_sets, lambda some: records.write(some, output / "records.csv"), options.methods)
        print(f"measured in {time.perf_counter() - start:.0f} seconds", file=sys.stderr)
    # Read back even if just measured: the report is a function of the file.
    paths = options.records or [output / "records.csv"]
    measured = records.merged([record for path in paths for record in records.read(path)])
    records.write(measured, output / "records.csv")
    found = claims(measured)
    heading = f"One fit for each line, of the {variant} run; the cost by a rule that sees no test row."
    (output / "report.md").write_text(report.markdown(measured, found, heading), encoding="utf-8")
    figures.draw(measured, output)
    values = expected.values(measured, found)
    if options.update:
        expected.update(values, variant)
    wrong = expected.failures(values, variant)
    holds = sum(claim.margin >= 0.0 for claim in found)
    print(f"programming ({variant}): {holds} of {len(found)} claims hold; report in {output}/report.md")
    print("\n".join([f"{len(wrong)} cells are not as expected:", *wrong]) if wrong else "all as expected")
    return 1 if wrong else 0


def _options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rows of two sets: seconds")
    parser.add_argument("--sets", nargs="+", choices=FULL.sets, help="some of the sets")
    parser.add_argument("--methods", nargs="+", help="some of the methods")
    parser.add_argument("--records", type=Path, nargs="+", help="report on earlier runs, the last one counts")
    parser.add_argument("--update", action="store_true", help="make this run's numbers the expected ones")
    parser.add_argument("--output", type=Path, help="folder for the report (results/ beside this file)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
