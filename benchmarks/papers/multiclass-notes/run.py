"""Tabulates the codes of "Lecture notes 5: classification algorithms" on real sets: errors, bounds, time.

Exit status: 0 where all is as in expected.toml, 1 where a cell is not, 77 where there are no data.
"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

import consistency
import consistency_figures
import cross_validation
import expected
import figures
import frame
import report
from claims import claims
from many_classes import FILES
from measure import FULL, QUICK, measure
from records import RECORDS, summary


def _measure(options, keep):
    plan = QUICK if options.quick else FULL
    measure(replace(plan, sets=tuple(options.sets or plan.sets)), keep)


def _conclude(records, variant):
    cells = summary(records)
    found = claims(cells)
    falling, folds = consistency.summary(records), cross_validation.summary(records)
    heading = (
        f"The {variant} run. Percent of the rows, for Glass, Zoo and Yeast means over {N_FOLDS[variant]} (± "
        "the deviation over the folds); C is the median over folds. Seconds are those of a shared machine."
    )
    holds = sum(claim.margin >= 0.0 for claim in found)
    return frame.Conclusion(
        report.markdown(cells, found, heading) + report.of_disc(falling, folds),
        expected.values(cells, found, variant) | expected.of_disc(falling, folds, variant),
        f"{holds} of {len(found)} claims hold",
    )


def _draw(records, folder):
    if cells := summary(records):
        figures.draw(cells, folder)
    if falling := consistency.summary(records):
        consistency_figures.draw(falling, records, folder)


def _add_options(parser):
    parser.add_argument("--sets", nargs="+", choices=FULL.sets, help="some of the sets")


N_FOLDS = {"quick": "one fold", "full": "five folds"}
PAPER = frame.Paper(
    folder=Path(__file__).parent,
    about=__doc__,
    files=tuple(FILES.values()),
    records=RECORDS,
    measure=_measure,
    conclude=_conclude,
    draw=_draw,
    head=expected.HEAD,
    add_options=_add_options,
)

if __name__ == "__main__":
    sys.exit(frame.run(PAPER))
