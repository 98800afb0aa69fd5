"""What a run is expected to give, cell by cell: ``expected.toml`` read, compared and written."""

import math
import tomllib
from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    """One number of a run, how far another run may be from it, and what the source says, if it does."""

    ours: float
    tolerance: float
    paper: float | str | None = None


def failures(found, variant, file):
    """The cells of this variant ("quick" or "full") that are not as expected, in words."""
    wrong = []
    for table, cells in tomllib.loads(file.read_text(encoding="utf-8"))[variant].items():
        for key, cell in cells.items():
            value = found.get(table, {}).get(key)
            if value is None:
                wrong.append(f"{table} | {key}: not measured")
            elif not abs(value.ours - cell["ours"]) <= cell["tolerance"]:
                wrong.append(
                    f"{table} | {key}: {value.ours:.2f}, expected {cell['ours']} +- {cell['tolerance']}"
                )
    return wrong


def update(found, variant, file, head):
    """Write what was found as what is expected; the other variant stays."""
    tables = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    tables[variant] = {
        table: {key: _entry(value) for key, value in cells.items()} for table, cells in found.items()
    }
    lines = [head]
    for name in sorted(tables):
        for table, cells in tables[name].items():
            lines.append(f'[{name}."{table}"]')
            lines += [f'"{key}" = {{ {_inline(entry)} }}' for key, entry in cells.items()]
            lines.append("")
    file.write_text("\n".join(lines), encoding="utf-8")


def _entry(value):
    paper = {} if value.paper is None else {"paper": value.paper}
    return paper | {"ours": round(value.ours, 2), "tolerance": math.ceil(10.0 * value.tolerance) / 10.0}


def _inline(entry):
    return ", ".join(f'{key} = "{v}"' if isinstance(v, str) else f"{key} = {v}" for key, v in entry.items())
