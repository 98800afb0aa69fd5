"""Run the benchmarks of this folder cell by cell and write one page of results.

    python benchmarks/run.py --suite bench --minutes 90 --output benchmarks/results

Records are stored one by one in ``build/bench/<commit>``. A run that was stopped is resumed by the same
command; a new commit starts anew. Benchmarks take turns: in the first round each starts cells for an equal
share of the time, in order of importance, and later rounds are longer, so a short run has something of every
table. A cell that raises, crashes or exceeds its time is recorded as failed, and the run continues; no cell
takes more than a sixth of the run. Each benchmark has a process of its own. ``--suite quick`` tries every
benchmark on small inputs, in this process and without storing anything, and fails with the first one that
does.
"""

import argparse
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from harness import Store, discovered, machine_facts, measured_commit, met_of, page, uncommitted_changes

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "build" / "bench"
SUITES = ("bench", "hard", "large")
POLL_SECONDS = 0.2
MIN_TURN_SECONDS, TURN_GROWTH = 20.0, 3.0  # of a benchmark, and from one round to the next
MAX_CELL_SHARE, MIN_CELL_LIMIT_SECONDS = 1 / 6, 120.0  # of the minutes of a run, for one cell
GRACE_SECONDS = 60.0  # for the cell that is running when the time is up


def remaining(store, benchmark, suite):
    """Cells of the suite without a record, or with an interrupted one."""
    return [c for c in benchmark.cells(suite) if store.status(benchmark.name, c) in ("missing", "running")]


def work(store, benchmark, options):
    """Measure the missing cells of a benchmark; runs in its own process."""
    for cell in remaining(store, benchmark, options.suite):
        if time.time() > options.until:
            return
        store.start(benchmark.name, cell)
        try:
            record = json.loads(json.dumps(benchmark.measure(cell, options.repeats, quick=False)))
        except Exception as error:
            traceback.print_exc()
            store.finish(benchmark.name, cell, failure=f"{type(error).__name__}: {error}".splitlines()[0])
        else:
            store.finish(benchmark.name, cell, record=record)
        print(f"  {benchmark.name}: {cell}", file=sys.stderr, flush=True)


def stopped(process):
    """End a process and those that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def cell_limit(benchmark, options):
    """Seconds after which a cell is stopped."""
    most = max(MIN_CELL_LIMIT_SECONDS, 60 * options.minutes * MAX_CELL_SHARE)
    return min(benchmark.limit_seconds, most)


def watched(store, benchmark, process, options):
    """Wait for a worker; the message if it had to be ended or ended by itself in the middle of a cell."""
    limit = cell_limit(benchmark, options)
    while process.poll() is None:
        time.sleep(POLL_SECONDS)
        cell = store.running(benchmark.name)
        if cell and time.time() - cell["started"] > limit:
            stopped(process)
            return f"over {limit:.0f} s"
        if time.time() > options.until + GRACE_SECONDS:
            stopped(process)
    return f"its process ended with status {process.returncode}"


def measure(store, benchmark, options, until):
    """Measure missing cells of a benchmark in a process of its own, or in several if one ends early."""
    command = [sys.executable, __file__, "--worker", benchmark.name, "--suite", options.suite]
    command += [
        "--repeats",
        str(options.repeats),
        "--until",
        str(until),
        "--records",
        str(store.folder),
    ]
    while remaining(store, benchmark, options.suite) and time.time() < until:
        store.forget(benchmark.name, ("running",))
        env = os.environ | {"BENCH_CELL_SECONDS": str(cell_limit(benchmark, options))}
        process = subprocess.Popen(command, start_new_session=True, env=env)
        try:
            message = watched(store, benchmark, process, options)
        except KeyboardInterrupt:
            stopped(process)
            store.forget(benchmark.name, ("running",))
            raise
        if time.time() > options.until + GRACE_SECONDS:
            store.forget(benchmark.name, ("running",))  # left for the next run
        elif cell := store.running(benchmark.name):
            store.finish(benchmark.name, cell["cell"], failure=message)
        elif process.returncode:
            for cell in remaining(store, benchmark, options.suite):
                store.finish(benchmark.name, cell, failure=message)


def write(store, header, benchmarks, options):
    """Write the page and the records behind it; the number of targets met."""
    left = sum(len(remaining(store, b, options.suite)) for b in benchmarks)
    collected = store.collected()
    text, rows = page(header, benchmarks, collected, left)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "README.md").write_text(text)
    (options.output / "records.json").write_text(json.dumps(header | {"records": collected}, indent=1) + "\n")
    return f"{met_of(rows)} targets met", left


def turns(store, benchmarks, options):
    """Benchmarks with cells to measure, and until when each may start some: round by round."""
    share = 60 * options.minutes / max(1, sum(bool(b.cells(options.suite)) for b in benchmarks))
    turn = max(MIN_TURN_SECONDS, share)
    while todo := [b for b in benchmarks if remaining(store, b, options.suite)]:
        for benchmark in todo:
            if time.time() > options.until:
                return
            yield benchmark, min(options.until, time.time() + turn)
        turn *= TURN_GROWTH


def full(options):
    """Measure what is missing, the most important tables first, and write the page after each turn."""
    commit = measured_commit() or "unknown"
    if changed := uncommitted_changes():
        if options.output.resolve().is_relative_to(ROOT / "benchmarks"):
            sys.exit(f"results belong to a commit, but these files differ from it: {', '.join(changed)}")
        commit += " with changes"
    store = Store(options.records or RECORDS / commit[:12].strip())
    header = store.open(commit, machine_facts())
    benchmarks = discovered(options.only)
    if options.retry:
        for benchmark in benchmarks:
            store.forget(benchmark.name, ("failed",))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stopped like Ctrl-C: the worker is ended, too
    start = time.time()
    try:
        for benchmark, until in turns(store, benchmarks, options):
            todo = remaining(store, benchmark, options.suite)
            if (measured_commit() or "unknown") != commit.removesuffix(" with changes"):
                sys.exit("the commit has changed; run again to start anew")
            print(f"[{(time.time() - start) / 60:5.1f} min] {benchmark.name}: {len(todo)} cells", flush=True)
            measure(store, benchmark, options, until)
            write(store, header, benchmarks, options)
    except KeyboardInterrupt:
        print("stopped; the same command resumes here", file=sys.stderr)
    outcome, left = write(store, header, benchmarks, options)
    rest = f"; {left} cells left, the same command measures them" if left else ""
    print(f"{outcome}: {options.output}/README.md{rest}")


@contextlib.contextmanager
def silenced(name):
    """Capture progress, and print it only if the benchmark of this name fails."""
    progress = io.StringIO()
    try:
        with contextlib.redirect_stderr(progress):
            yield
    except BaseException:
        print(f"{progress.getvalue()}benchmarks/{name}.py broke:", file=sys.stderr)
        raise


def quick(options):
    """Every benchmark on small inputs, in this process, each function once."""
    os.environ["BENCH_ONCE"] = "1"  # read by clock.py, which the benchmarks import
    benchmarks = discovered(options.only)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        header = store.open("a quick run: small inputs, so the numbers mean little", machine_facts())
        for benchmark in benchmarks:
            for cell in benchmark.cells("quick"):
                store.start(benchmark.name, cell)
                with silenced(benchmark.name):
                    record = json.loads(json.dumps(benchmark.measure(cell, options.repeats or 1, quick=True)))
                store.finish(benchmark.name, cell, record=record)
        text, rows = page(header, benchmarks, store.collected(), strict=True)
        seconds = {b.name: sum(e["seconds"] for e in store.entries(b.name)) for b in benchmarks}
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "quick.md").write_text(text)
    slowest = max(seconds, key=seconds.get)
    print(
        f"{len(benchmarks)} benchmarks, {len(rows)} measurements, "
        f"the longest {slowest} ({seconds[slowest]:.0f} s): {options.output}/quick.md"
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", choices=("quick", *SUITES), default="bench")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no cell after this time")
    parser.add_argument(
        "--repeats", type=int, default=5, help="runs of each function where a module has no rule"
    )
    parser.add_argument("--only", nargs="*", help="benchmarks by the names of their files")
    parser.add_argument("--retry", action="store_true", help="measure failed cells again")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "bench", help="folder for the page")
    parser.add_argument("--records", type=Path, help="folder for records; by default one for each commit")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(Store(options.records), discovered([options.worker])[0], options)
    elif options.suite == "quick":
        quick(options)
    else:
        options.until = time.time() + 60 * options.minutes
        full(options)


if __name__ == "__main__":
    main()
