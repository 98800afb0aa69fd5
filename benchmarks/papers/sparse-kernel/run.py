"""Reproduces "Learning Robust Sparse Kernel Classifiers" (Blondel, Seki, Uehara): tables, curves, findings.

Exit status: 0 where all is as in expected.toml, 1 where a cell is not, 77 where there are no data.
"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

import expected
import figures
import frame
import records
import report
from findings import findings
from measure import FULL, QUICK, measure
from sets import FILES


def _measure(options, keep):
    plan = QUICK if options.quick else FULL
    n_repetitions = options.repetitions or plan.n_repetitions
    keep(records.ordered(measure(replace(plan, n_repetitions=n_repetitions))))


def _conclude(measured, variant):
    cells = records.summary(measured)
    found = findings(cells)
    n = len({r["seed"] for r in measured})
    heading = f"Test accuracy in percent, mean ± standard deviation over {n} repetition(s); {variant} run."
    holds = sum(f.margin > 0.0 for f in found)
    return frame.Conclusion(
        report.markdown(cells, found, heading),
        expected.values(cells, found, variant),
        f"{holds} of {len(found)} findings hold",
    )


def _draw(measured, folder):
    figures.draw(records.summary(measured), folder)


PAPER = frame.Paper(
    folder=Path(__file__).parent,
    about=__doc__,
    files=tuple(FILES.values()),
    records=records.RECORDS,
    measure=_measure,
    conclude=_conclude,
    draw=_draw,
    head=expected.HEAD,
    quick="some rows, few budgets: under a minute",
    add_options=lambda parser: parser.add_argument("--repetitions", type=int, help="5; quick: 1"),
)

if __name__ == "__main__":
    sys.exit(frame.run(PAPER))
