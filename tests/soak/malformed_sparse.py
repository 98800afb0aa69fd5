"""Malformed sparse matrices: everything that takes a matrix refuses them, and leaves the matrix as it was.

    python tests/soak/malformed_sparse.py [--few]

Every layout (CSR of several dtypes and index sizes, unsorted, with duplicates, CSC, COO) with everything that
can be wrong with its arrays goes to every estimator's fit, prediction and ``partial_fit``, to kernels,
bounds, paths and searches. Each call must raise the ``ValueError`` that names the fault. A process of its own
makes the calls, since a crash would end it; it is started again behind the call that did.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.malformed_sparse import malformed, matrix, rows, same, snapshot, uses

FEW = (  # one of each way in: linear, kernel, map, wrapper, table, function
    *("LinearSVC.fit", "LinearSVC.predict", "KernelSVC.fit", "KernelSVC.predict", "KernelEigenMap.transform"),
    *("KernelPegasos.partial_fit", "PathCV.fit", "columns of a peer.fit", "TablePreparation.fit"),
    *("columns of a peer.predict", "search over a pipeline.predict", "product kernel, matmul", "landmarks"),
    *("fit_blocks, a later block", "importance", "importance of AutoSVC", "suspects"),
)
EXPECTED = "refused"


def cases(few: bool) -> list[tuple[str, str, str]]:
    """A use, a layout and a fault each."""
    names = FEW if few else tuple(uses())
    return [(name, layout, fault) for name in names for layout, fault in malformed()]


def outcome(use: str, layout: str, fault: str) -> str:
    """What became of one call."""
    X, y = matrix(layout, fault), rows()[1]
    before = snapshot(X)
    try:
        uses()[use](X, y)
    except ValueError as error:
        said = EXPECTED if "not a valid sparse matrix" in str(error) else f"another ValueError: {error}"
    except Exception as error:  # what users would see instead of the sentence
        said = f"{type(error).__name__}: {error}"
    else:
        said = "accepted"
    return said if same(before, snapshot(X)) else f"{said}, matrix changed"


def child(few: bool, first: int) -> None:
    """Try the cases from ``first`` on, one line each."""
    warnings.simplefilter("ignore")
    for case in cases(few)[first:]:
        print(outcome(*case).replace("\n", " ")[:200], flush=True)


def outcomes(few: bool) -> list[str]:
    """What became of every case; the call that ends a process is one that crashed."""
    found: list[str] = []
    while len(found) < len(cases(few)):
        command = [sys.executable, __file__, "--first", str(len(found)), *(["--few"] if few else [])]
        done = subprocess.run(command, capture_output=True, text=True)
        found += done.stdout.splitlines()
        if len(found) < len(cases(few)):
            if done.returncode >= 0:
                raise RuntimeError(done.stderr)
            found.append(f"crashed by signal {-done.returncode}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", action="store_true", help="one use of each kind")
    parser.add_argument("--first", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.first is not None:
        child(given.few, given.first)
        return 0
    found = outcomes(given.few)
    for what, count in Counter(found).most_common():
        print(f"{count:6}  {what}")
    for case, what in zip(cases(given.few), found):
        if what != EXPECTED:
            print(f"{', '.join(case)}: {what}")
    return int(set(found) != {EXPECTED})


if __name__ == "__main__":
    sys.exit(main())
