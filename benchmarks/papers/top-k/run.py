"""Measures the methods of "Learning algorithms for the top-k SVM" on four sets: gaps, the rate, and errors.

Exit status: 0 where all is as in expected.toml, 1 where a cell is not, 77 where there are no data.
"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path += [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

import expected
import figures
import frame
import report
from measure import FULL, PARTS, QUICK, measure
from records import RECORDS
from summary import summary
from top_k_sets import FILES


def _measure(options, keep):
    plan = QUICK if options.quick else FULL
    measure(replace(plan, sets=tuple(options.sets or plan.sets)), options.parts or tuple(PARTS), keep)


def _conclude(records, variant):
    found = summary(records)
    heading = (
        f"The {variant} run. C = 1 / (alpha n), no intercept, rows of mean square length 1; gaps are "
        "absolute, P(0) being 1. Seconds are those of the processor, on a shared machine."
    )
    least = min((cell["gap"] for cell in found.stalls.values()), default=0.0)
    return frame.Conclusion(
        report.markdown(found, heading),
        expected.values(found, variant),
        f"Lapin's domain stalls at {least:.4f} or higher in {len(found.stalls)} problems",
    )


def _add_options(parser):
    parser.add_argument("--sets", nargs="+", choices=FULL.sets, help="some of the sets")
    parser.add_argument("--parts", nargs="+", choices=tuple(PARTS), help="some of the measurements")


PAPER = frame.Paper(
    folder=Path(__file__).parent,
    about=__doc__,
    files=tuple(FILES.values()),
    records=RECORDS,
    measure=_measure,
    conclude=_conclude,
    draw=lambda records, folder: figures.draw(summary(records), folder),
    head=expected.HEAD,
    add_options=_add_options,
)

if __name__ == "__main__":
    sys.exit(frame.run(PAPER))
