"""Tabulates the formulations of "Support vector machines and mathematical programming" (Yajima) on real sets.

Exit status: 0 where all is as in expected.toml, 1 where a cell is not, 77 where there are no data.
"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

import expected
import figures
import frame
import report
from claims import claims
from measure import FULL, QUICK, measure
from records import RECORDS
from sets import FILES


def _measure(options, keep):
    plan = QUICK if options.quick else FULL
    measure(replace(plan, sets=tuple(options.sets or plan.sets)), keep, options.methods)


def _conclude(records, variant):
    found = claims(records)
    heading = f"One fit for each line, of the {variant} run; the cost by a rule that sees no test row."
    holds = sum(claim.margin >= 0.0 for claim in found)
    return frame.Conclusion(
        report.markdown(records, found, heading),
        expected.values(records, found, variant),
        f"{holds} of {len(found)} claims hold",
    )


def _add_options(parser):
    parser.add_argument("--sets", nargs="+", choices=FULL.sets, help="some of the sets")
    parser.add_argument("--methods", nargs="+", help="some of the methods")


PAPER = frame.Paper(
    folder=Path(__file__).parent,
    about=__doc__,
    files=tuple(FILES.values()),
    records=RECORDS,
    measure=_measure,
    conclude=_conclude,
    draw=figures.draw,
    head=expected.HEAD,
    add_options=_add_options,
)

if __name__ == "__main__":
    sys.exit(frame.run(PAPER))
