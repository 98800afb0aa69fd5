"""Compare the numbers and pictures of the README and the site with their stored records.

python benchmarks/evidence                          status 1 if one differs from its record
python benchmarks/evidence --write                  write the pages' tables from the records
python benchmarks/evidence --measure noisy-labels   measure again, store the record, write the page
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import block  # noqa: E402
import pictures  # noqa: E402
import readme_table  # noqa: E402
import stored  # noqa: E402
from measured import TABLES  # noqa: E402

ROOT = Path(__file__).parents[2]


def page_text(page):
    return (ROOT / page).read_text(encoding="utf-8")


def wanted_table(name, table):
    """What the page should say, or None without a record."""
    if table.render is not None:
        return table.render()
    record = stored.load(name)
    return record and block.markdown(record["values"]["columns"], record["values"]["lines"])


def wrong_tables(write):
    """Tables that are not what their records say, in words; written if asked."""
    wrong = []
    for name, table in TABLES.items():
        wanted = wanted_table(name, table)
        if wanted is None:
            wrong.append(f"{name}: nothing is stored; python benchmarks/evidence --measure {name}")
            continue
        text = page_text(table.page)
        if block.blocks(text).get(name) == wanted:
            continue
        if write:
            (ROOT / table.page).write_text(block.with_block(text, name, wanted), encoding="utf-8")
        else:
            wrong.append(f"{table.page}: the table {name!r} differs from its record")
    return wrong


def unknown_blocks():
    """Blocks of pages that no table of this folder makes."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    named = {(name, page) for page in pages for name in block.blocks(page.read_text(encoding="utf-8"))}
    known = {(name, ROOT / table.page) for name, table in TABLES.items()}
    return [f"{page.relative_to(ROOT)}: no table is called {name!r}" for name, page in sorted(named - known)]


def wrong_reports():
    """Papers whose report is not that of their records, or whose numbers are not those expected."""
    wrong = []
    for folder in sorted((ROOT / "benchmarks" / "papers").glob("*/")):
        script, results = folder / "run.py", folder / "results"
        if not script.is_file():
            continue
        with tempfile.TemporaryDirectory() as made:
            given = ("--records", results / "records.csv", "--output", made, "--no-pictures")
            command = [sys.executable, script, *given]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                wrong.append(f"{folder.name}: {(done.stdout + done.stderr).strip().splitlines()[-1]}")
            elif Path(made, "report.md").read_bytes() != (results / "report.md").read_bytes():
                wrong.append(f"{folder.name}: results/report.md differs from that of its records")
    return wrong


def speed_table():
    """The README's table against the records of ``make bench``."""
    if readme_table.wanted() is None:
        return ["README.md: no records of its speed table are stored; make bench"]
    same = readme_table.wanted() == page_text("README.md")
    return [] if same else ["README.md: the speed table differs from its records; benchmarks/readme_table.py"]


def measure(name):
    """Measure a table and store its record."""
    table = TABLES[name]
    if table.measure is None:
        raise SystemExit(f"{name} is made from the records of make papers; nothing is measured here.")
    found = table.measure()
    if table.render is None:
        columns, lines = found
        stored.store(name, {"columns": columns, "lines": lines})


def main(arguments=None):
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = sorted({*TABLES, *pictures.PICTURES})
    parser.add_argument("--write", action="store_true", help="write the tables from the records")
    parser.add_argument("--measure", nargs="+", default=[], choices=names, help="measure these again")
    options = parser.parse_args(arguments)
    for name in options.measure:
        if name in TABLES:
            measure(name)
        else:
            pictures.draw(name)
        print(f"measured: {name}", flush=True)
    wrong = [
        *wrong_tables(options.write or bool(options.measure)),
        *unknown_blocks(),
        *pictures.wrong(),
        *speed_table(),
        *wrong_reports(),
    ]
    print("\n".join(wrong) or f"{len(TABLES) + len(pictures.PICTURES) + 6} tables and pictures are as stored")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
