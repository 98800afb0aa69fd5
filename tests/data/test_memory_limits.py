"""Available memory within the limits of containers and processes, and work at such a limit."""

import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from maxmargin import _native
from maxmargin.data import available_bytes, lazy_array, machine_bytes

GB = 1 << 30
WHOLE = 9223372036854771712  # what cgroup v1 writes for no limit


def system(folder, cgroup, **files):
    """A made-up root folder: 8 GB available, a text for /proc/self/cgroup, files below /sys/fs/cgroup."""
    contents = {"proc/meminfo": "MemTotal: 16777216 kB\nMemAvailable:    8388608 kB\n"}
    contents["proc/self/cgroup"] = cgroup + "\n"
    contents |= {f"sys/fs/cgroup/{name}": str(text) + "\n" for name, text in files.items()}
    for name, text in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


V2 = {"cgroup.controllers": "memory"}
CASES = {
    "no cgroup": ("", {}, 8 * GB),
    "v2 without a limit": ("0::/a", V2 | {"a/memory.max": "max", "a/memory.current": GB}, 8 * GB),
    "v2": ("0::/a", V2 | {"a/memory.max": 3 * GB, "a/memory.current": GB}, 2 * GB),
    "v2 in a container": ("0::/", V2 | {"memory.max": 3 * GB, "memory.current": GB}, 2 * GB),
    "v2, high": ("0::/a", V2 | {"a/memory.max": 3 * GB, "a/memory.high": 2 * GB, "a/memory.current": GB}, GB),
    "v2, limit of a parent": (
        "0::/a/b",
        V2 | {"a/b/memory.max": "max", "a/memory.max": 2 * GB, "a/memory.current": GB},
        GB,
    ),
    "v2, page cache": (
        "0::/a",
        V2
        | {"a/memory.max": 3 * GB, "a/memory.current": 2 * GB}
        | {"a/memory.stat": f"anon 5\ninactive_file {GB}\nactive_file 7"},
        2 * GB,
    ),
    "v2, beyond the limit": ("0::/a", V2 | {"a/memory.max": GB, "a/memory.current": 2 * GB}, 0),
    "v1": (
        "7:memory:/a\n3:cpu,cpuacct:/a",
        {"memory/a/memory.limit_in_bytes": 3 * GB, "memory/a/memory.usage_in_bytes": GB},
        2 * GB,
    ),
    "v1 in a container": (
        "7:memory:/docker/0123",
        {"memory/memory.limit_in_bytes": 3 * GB, "memory/memory.usage_in_bytes": GB},
        2 * GB,
    ),
    "v1 without a limit": (
        "7:memory:/a",
        {"memory/a/memory.limit_in_bytes": WHOLE, "memory/a/memory.usage_in_bytes": GB},
        8 * GB,
    ),
    "v1, page cache": (
        "7:memory:/a",
        {"memory/a/memory.limit_in_bytes": 3 * GB, "memory/a/memory.usage_in_bytes": 2 * GB}
        | {"memory/a/memory.stat": f"inactive_file 1\ntotal_inactive_file {GB}"},
        2 * GB,
    ),
    "v1 and v2": (
        "7:memory:/a\n0::/a",
        {"memory/a/memory.limit_in_bytes": 3 * GB, "memory/a/memory.usage_in_bytes": GB},
        2 * GB,
    ),
    "nonsense": ("what: is\n:::\n0::/../..", V2 | {"memory.max": "much", "memory.current": ""}, 8 * GB),
}


@pytest.mark.parametrize("name", CASES)
def test_limits_of_cgroups_count(name, tmp_path):
    cgroup, files, expected = CASES[name]
    assert available_bytes(system(tmp_path, cgroup, **files)) == expected


def test_a_system_that_reports_nothing(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "sysconf")
    assert available_bytes(tmp_path) == 2_000_000_000


LIMITED = """
import resource, sys
sys.path[:0] = {path!r}
import numpy as np
import maxmargin
from maxmargin import _native
from maxmargin.data import available_bytes, lazy_array, machine_bytes
from maxmargin.kernels import RBF
X = np.random.default_rng(0).normal(size=(3000, 4))
expected = RBF(0.5)(X[:900], n_jobs=1)
_native.room_for_thread()
pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (pages + (14 << 20), resource.RLIM_INFINITY))
assert 0 < available_bytes() <= 14 << 20, available_bytes()
"""


def limited(code):
    """Run code in a process that may take 14 MB more."""
    start = LIMITED.format(path=[str(Path(_native.__file__).parents[2])])
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", start + code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_limit_of_the_address_space_counts():
    limited(
        """
try:
    lazy_array(1 << 24, np.float64)
except MemoryError as error:
    assert "128 MiB" in str(error)
else:
    raise AssertionError
assert not _native.room_for_thread()
assert _native.started_thread(print) is None
with _native.ThreadPool(4) as pool:
    assert list(pool.map(abs, [-1, -2, 3])) == [1, 2, 3] and not pool._threads
import threading
out = np.empty((900, 900))
_native.kernel_block(X[:900], X[:900], RBF(0.5), n_threads=8, out=out)  # 7 threads that cannot be started
assert np.array_equal(out, expected)
assert threading.active_count() == 1
"""
    )


def test_a_pool_makes_do_with_the_threads_it_gets(monkeypatch):
    room = iter([True, False, False, True, *[False] * 20])
    monkeypatch.setattr(_native.thread_pool, "room_for_thread", lambda: next(room))
    with _native.ThreadPool(4) as pool:
        jobs = [pool.submit(pow, 2, k) for k in range(8)]
        assert [job.result() for job in jobs] == [2**k for k in range(8)]
        assert 1 <= len(pool._threads) <= 2


def test_threads_that_are_refused_raise_nothing(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert _native.started_thread(print) is None
    with _native.ThreadPool(2) as pool:
        assert pool.submit(pow, 2, 3).result() == 8
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()


def test_small_arrays_are_plain():
    assert lazy_array(10, np.float32).shape == (10,)
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fits_at_a_limit_end_with_memory_error():
    """The quick variant of the soak."""
    script = Path(__file__).parents[1] / "soak" / "memory_limits.py"
    done = subprocess.run([sys.executable, str(script), "--few"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("case", "size"), [("no cgroup", 16), ("v2", 3), ("v2, high", 2), ("v2, limit of a parent", 2), ("v1", 3)]
)
def test_the_size_of_the_machine_does_not_depend_on_what_is_used(case, size, tmp_path):
    cgroup, files, _ = CASES[case]
    root = system(tmp_path, cgroup, **files)
    assert machine_bytes(root) == size * GB
    (root / "proc/meminfo").write_text("MemTotal: 16777216 kB\nMemAvailable: 1024 kB\n")
    assert machine_bytes(str(root)) == size * GB
