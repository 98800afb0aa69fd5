"""The page of results: what was measured where, each target met or missed, then every table."""

import statistics
import tomllib
from pathlib import Path

from .machine import MISSING

REASONS = Path(__file__).parents[1] / "reasons.toml"
VERDICT = {None: "", True: "met", False: "**missed**"}


def met_of(rows: list[dict]) -> str:
    """The number of targets met, and of all targets."""
    verdicts = [r["met"] for r in rows if r["met"] is not None]
    return f"{sum(verdicts)} of {len(verdicts)}"


def shown(value: float | None, r: dict) -> str:
    """A number with its unit: times to three digits, others to four."""
    if value is None:
        return ""
    return f"{value:.3g}{r['unit']}" if r["ratio"] is not None else f"{value:,.4g}{r['unit']}"


def reached(r: dict) -> str:
    """The number that a target bounds."""
    return shown(r["ours"], r) if r["ratio"] is None else format(r["ratio"], ".2f")


def table(lines: list[dict]) -> list[str]:
    """A Markdown table whose columns are all keys of its lines."""
    columns = list(dict.fromkeys(key for line in lines for key in line))
    return [
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
        *(f"| {' | '.join(str(line.get(key, '')) for key in columns)} |" for line in lines),
        "",
    ]


def measurements(rows: list[dict]) -> list[str]:
    lines = [
        {
            "measurement": r["name"],
            "ours": shown(r["ours"], r),
            "peer": r["peer"],
            "peer's": shown(r["peers"], r),
            "ratio": "" if r["ratio"] is None else format(r["ratio"], ".2f"),
            "target": r["target"],
            "verdict": VERDICT[r["met"]],
        }
        for r in rows
    ]
    return table(lines) if lines else []


def reasons() -> dict[str, str]:
    """Why a target is missed, by the beginning of its row's name."""
    return tomllib.loads(REASONS.read_text(encoding="utf-8")) if REASONS.exists() else {}


def missed(rows: list[dict]) -> list[str]:
    """The table of missed targets, with the number reached and why."""
    known = reasons()
    lines = [
        {
            "measurement": r["name"],
            "against": r["peer"],
            "target": r["target"],
            "reached": reached(r),
            "why": next((why for start, why in known.items() if r["name"].startswith(start)), ""),
        }
        for r in rows
        if r["met"] is False
    ]
    return ["## Missed", "", *table(lines)] if lines else []


def section(benchmark, entries: list[dict], rows: list[dict]) -> list[str]:
    """The heading, what was measured how, and the tables of one benchmark."""
    records = {e["cell"]: e["record"] for e in entries if e["status"] == "done"}
    lines = [f"## {benchmark.title}", "", f"`benchmarks/{benchmark.name}.py`: {benchmark.about}", ""]
    lines += measurements(rows)
    for title, content in benchmark.tables(records).items():
        lines += [f"### {title}", "", *table(content)]
    for note in benchmark.notes(records):
        lines += [note, ""]
    failed = [
        {"not measured": e["cell"], "because": e["failure"]} for e in entries if e["status"] == "failed"
    ]
    return lines + (table(failed) if failed else [])


def opening(header: dict, entries: list[dict], rows: list[dict], unmeasured: int) -> list[str]:
    """The commit, the machine, and how many targets are met."""
    facts = header["machine"]
    loads = [e["load"] for e in entries if e.get("load") is not None]
    minutes = sum(e["seconds"] for e in entries) / 60
    absent = [name for name, version in facts.items() if version == MISSING]
    n_failed = sum(e["status"] == "failed" for e in entries)
    return [
        "# Results",
        "",
        f"Date: {header['date']}. Commit: {header['commit']}. {minutes:.0f} minutes in all"
        + (f", load average {statistics.median(loads):.1f} when a cell began (median)." if loads else "."),
        "",
        "; ".join(f"{key}: {value}" for key, value in facts.items()) + ".",
        "",
        f"**{met_of(rows)} targets met.**"
        + (f" Peers that are not installed, whose rows are missing: {', '.join(absent)}." if absent else "")
        + (f" {n_failed} cells failed; their tables say why." if n_failed else "")
        + (f" {unmeasured} cells are not measured yet." if unmeasured else ""),
        "",
        "Times are medians of interleaved runs. A ratio with a target >= says how many times as fast as the",
        "peer we are; one with <= is our time as a multiple of the peer's. A target with a unit bounds the",
        "number itself.",
        "",
    ]


def page(header: dict, benchmarks: list, collected: dict[str, list[dict]], unmeasured=0, strict=False):
    """The text of the page, and all rows. Unless strict, a benchmark whose rows cannot be made is named."""
    parts, everything = [], []
    for benchmark in benchmarks:
        if entries := collected.get(benchmark.name):
            entries = sorted(entries, key=lambda e, b=benchmark: b.place(e["cell"]))
            try:
                rows = benchmark.rows({e["cell"]: e["record"] for e in entries if e["status"] == "done"})
                parts += section(benchmark, entries, rows)
                everything += rows
            except Exception as error:
                if strict:
                    raise
                parts += [f"## {benchmark.title}", "", f"No table: {type(error).__name__}: {error}", ""]
    entries = [entry for b in benchmarks for entry in collected.get(b.name, [])]
    lines = [*opening(header, entries, everything, unmeasured), *missed(everything), *parts]
    return "\n".join(lines).rstrip("\n") + "\n", everything
