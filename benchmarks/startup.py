"""Start-up time: the command line's help, and imports against scikit-learn's, in new processes."""

import subprocess
import sys
from functools import partial

from clock import interleaved, row, score

HELP_SECONDS, IMPORT_RATIO = 0.5, 1.3
STATEMENTS = ("import maxmargin", "from maxmargin import KernelSVC")
PEER = "import sklearn.svm"


def _process(*arguments):
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


def run(repeats, quick):
    statements = [*STATEMENTS, PEER]
    functions = [partial(_process, "-c", statement) for statement in statements]
    commands = [("-m", "maxmargin", "train", "--help"), ("-m", "maxmargin", "--help")][: 1 if quick else 2]
    functions += [partial(_process, *command) for command in commands]
    seconds = interleaved(functions, 1 if quick else 2 * repeats + 1)
    peer = seconds[len(STATEMENTS)]
    rows = [
        row(name, ours, PEER, peer, IMPORT_RATIO, at_most=True) for name, ours in zip(STATEMENTS, seconds)
    ]
    helps = zip(commands, seconds[len(statements) :])
    return rows + [
        score(" ".join(command[1:]), ours, "", None, HELP_SECONDS, at_most=True, unit=" s")
        for command, ours in helps
    ]
