"""What a path keeps in memory: one fit, the cache that was stated, and its models."""

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

CACHE_MB = 76.0  # a kernel matrix of these rows takes 36 MB, and a search holds one in half of this
SLACK_MB = 12.0  # threads, blocks of rows, and what an allocator keeps

MEASURE = """
import json, sys
from pathlib import Path
import numpy as np
from sklearn.datasets import make_classification
from maxmargin import KernelSVC, PathCV, path

def field(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024

X, y = make_classification(3000, 200, n_informative=20, class_sep=1.5, random_state=0)
X, Cs, gammas, cv = X.astype(np.float32), np.geomspace(0.01, 1.0, 8), [0.001, 0.002], 2
model = KernelSVC(gamma=0.002, cache_mb=float(sys.argv[2]), n_jobs=2)
work = {
    "fit": lambda: [model.set_params(C=1.0).fit(X, y)],
    "path": lambda: path(model, X, y, Cs=Cs).estimators,
    "search": lambda: [PathCV(model, Cs=Cs, gammas=gammas, cv=cv, n_jobs=2).fit(X, y).best_estimator_],
}
KernelSVC().fit(X[:200], y[:200])
Path("/proc/self/clear_refs").write_text("5")
before = field("VmRSS")
models = work[sys.argv[1]]()
own = sum(m.support_vectors_.nbytes + m.dual_coef_.nbytes for m in models) / 2**20
print(json.dumps({"grown": field("VmHWM") - before, "models": own, "n_support": int(models[0].n_support_)}))
"""


def measured(*what):
    """Of each, in a process of its own, side by side."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("only Linux tells the peak of a process from a moment on")
    with ExitStack() as running:
        commands = [[sys.executable, "-c", MEASURE, name, str(CACHE_MB)] for name in what]
        started = [running.enter_context(Popen(command, stdout=PIPE)) for command in commands]
        return [json.loads(process.communicate()[0]) for process in started]


@pytest.mark.slow
def test_a_path_takes_one_fit_the_stated_cache_and_its_models():
    fit, along, search = measured("fit", "path", "search")
    assert along["models"] > 4.0 * fit["models"]  # there is something to count
    cache = CACHE_MB * 1e6 / 2**20
    for grown in (fit, along, search):
        assert grown["grown"] <= cache + grown["models"] + SLACK_MB
    assert max(along["grown"] - along["models"], search["grown"]) <= fit["grown"] + cache
