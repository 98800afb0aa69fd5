"""Run every benchmark of this folder and write one table, as Markdown and as JSON.

A benchmark is a module with ``run(repeats, quick) -> rows`` (rows as ``clock.row`` makes them) and, where
something fits no column, ``notes(quick) -> sentences``. Being in this folder registers it. It may also return
``rows, tables``, where tables map each title to a list of lines, dicts keyed by column names.
"""

import argparse
import contextlib
import importlib
import io
import json
import platform
import sys
from datetime import date
from pathlib import Path

import joblib
import numpy
import scipy
import sklearn

import maxmargin
from maxmargin import _native

HERE = Path(__file__).parent


def benchmarks(only):
    """The modules of this folder that have a ``run``, or some of them by name."""
    names = only or sorted(path.stem for path in HERE.glob("*.py") if path.stem != "run")
    return [module for name in names if hasattr(module := importlib.import_module(name), "run")]


def cpu_model():
    """The processor's name as Linux reports it, else as Python does."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def machine():
    """The machine and versions that the numbers depend on."""
    return {
        "date": date.today().isoformat(),
        "cpu": cpu_model(),
        "cores": joblib.cpu_count(),
        "simd": _native.simd_name(),
        "python": platform.python_version(),
        "maxmargin": maxmargin.__version__,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


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


def met_of(rows):
    """The number of targets met, and of all targets."""
    verdicts = [r["met"] for r in rows if r["met"] is not None]
    return f"{sum(verdicts)} of {len(verdicts)}"


def shown(value, r):
    """A number with its unit: times to three digits, others to four."""
    if value is None:
        return ""
    return f"{value:.3g}{r['unit']}" if r["ratio"] is not None else f"{value:,.4g}{r['unit']}"


def with_tables(outcome):
    """Rows and tables of what a benchmark returned."""
    return outcome if isinstance(outcome, tuple) else (outcome, {})


def table(title, lines):
    """A table whose columns are all keys of its lines."""
    columns = list(dict.fromkeys(key for line in lines for key in line))
    return [
        "",
        f"## {title}",
        "",
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
        *(f"| {' | '.join(str(line.get(key, '')) for key in columns)} |" for line in lines),
    ]


def markdown(facts, rows, notes, tables, quick):
    """The report for people."""
    verdict = {None: "", True: "yes", False: "NO"}
    lines = [
        "# Benchmarks",
        "",
        "; ".join(f"{key}: {value}" for key, value in facts.items()),
        "",
        "Times are medians of interleaved runs. A target with >= is the required speed-up over the peer; one",
        "with <= bounds our time as a multiple of the peer's. Targets with a unit bound the number itself.",
        *(["Quick run: small inputs and few repeats, so the ratios mean little."] if quick else []),
        "",
        "| measurement | ours | peer | peer's | ratio | target | met |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['name']} | {shown(r['ours'], r)} | {r['peer']} | {shown(r['peers'], r)} "
        f"| {'' if r['ratio'] is None else format(r['ratio'], '.2f')} | {r['target']} | {verdict[r['met']]} |"
        for r in rows
    ]
    lines += ["", f"{met_of(rows)} targets met.", *notes]
    lines += [line for title, content in tables.items() for line in table(title, content)]
    return "\n".join([*lines, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small inputs, one repeat, no progress")
    parser.add_argument("--repeats", type=int, default=None, help="runs of each function (5; quick: 1)")
    parser.add_argument("--only", nargs="*", help="benchmarks by the names of their files")
    parser.add_argument("--output", type=Path, required=True, help="folder for bench.md and bench.json")
    options = parser.parse_args()
    repeats = options.repeats or (1 if options.quick else 5)
    modules = benchmarks(options.only)
    watched = silenced if options.quick else contextlib.nullcontext
    # Notes come first: one of them measures memory growth, which needs a process that has used little so far.
    notes, outcomes = [], []
    for module in modules:
        if hasattr(module, "notes"):
            with watched(module.__name__):
                notes += module.notes(quick=options.quick)
    for module in modules:
        with watched(module.__name__):
            outcomes.append(with_tables(module.run(repeats=repeats, quick=options.quick)))
    rows = [r for rows, _ in outcomes for r in rows]
    tables = {title: lines for _, tables in outcomes for title, lines in tables.items()}
    facts = machine()
    options.output.mkdir(parents=True, exist_ok=True)
    report = {"machine": facts, "quick": options.quick, "repeats": repeats, "rows": rows, "notes": notes}
    report |= {"tables": tables}
    (options.output / "bench.json").write_text(json.dumps(report, indent=2) + "\n")
    (options.output / "bench.md").write_text(markdown(facts, rows, notes, tables, options.quick))
    outcome = f"{len(rows)} measurements" if options.quick else f"{met_of(rows)} targets met"
    print(f"{len(modules)} benchmarks, {outcome}: {options.output}/bench.md")


if __name__ == "__main__":
    main()
