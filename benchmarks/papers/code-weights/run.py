"""Reproduces "Multi-class ECOC-SVM focused on support vectors" (Yamagiwa, Goto): Table 2 and Figure 1.

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
from records import RECORDS, accuracies, training


def _measure(options, keep):
    plan = QUICK if options.quick else FULL
    sets, repetitions = tuple(options.sets or plan.sets), options.repetitions or plan.repetitions
    measure(replace(plan, sets=sets, repetitions=tuple(repetitions)), keep, options.outputs)


def _conclude(records, variant):
    cells = accuracies(records)
    found = claims(cells)
    n = len({(r["repetition"], r["fold"]) for r in records})
    heading = (
        f"The {variant} run: percent of the test rows, mean ± deviation over {n} folds; all decoders of a "
        "fold decode the same columns. Differences are points, with 95 % intervals by the corrected "
        "resampled t-test."
    )
    higher = sum(claim.difference.verdict == "higher" for claim in found)
    return frame.Conclusion(
        report.markdown(cells, training(records), found, heading),
        expected.values(cells, found, variant),
        f"{higher} of {len(found)} claims hold beyond doubt",
    )


def _add_options(parser):
    parser.add_argument("--sets", nargs="+", choices=FULL.sets, help="some of the sets")
    parser.add_argument("--repetitions", nargs="+", type=int, help="some of 0 1 2 3 4")
    parser.add_argument("--outputs", type=Path, help="folder that keeps the outputs of the columns")


PAPER = frame.Paper(
    folder=Path(__file__).parent,
    about=__doc__,
    files=("glass", "zoo", "yeast"),
    records=RECORDS,
    measure=_measure,
    conclude=_conclude,
    draw=lambda records, folder: figures.draw(accuracies(records), folder),
    head=expected.HEAD,
    quick="few folds of two sets: seconds",
    add_options=_add_options,
)

if __name__ == "__main__":
    sys.exit(frame.run(PAPER))
