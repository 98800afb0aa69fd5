"""The shape of the package: files per folder, lines per file, our classes above each estimator.

python tests/support/shape.py            print the table of the checkout this file is in
python tests/support/shape.py SRC        of another one's ``src``
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median

__all__ = ["MAX_ANCESTORS", "MAX_FILES", "MAX_HEADER_LINES", "MAX_LINES", "Shape", "ancestors", "shape"]

MAX_FILES = 20
MAX_LINES = 400
MAX_HEADER_LINES = 250
MAX_ANCESTORS = 4
SMALL = 60


@dataclass(frozen=True)
class Shape:
    """What can be counted in a tree of sources."""

    files: dict[str, int]  # of Python, by folder
    lines: dict[str, int]  # by Python file
    headers: dict[str, int]  # lines, by C++ header


def shape(source: Path, headers: Path | None = None) -> Shape:
    """Count the files below ``source``, and the headers below ``headers``."""
    lines = {str(path.relative_to(source)): _lines(path) for path in sorted(source.rglob("*.py"))}
    files = Counter(str(Path(name).parent) for name in lines)
    below = [] if headers is None else sorted(headers.rglob("*.hpp"))
    found = {str(path.relative_to(headers)): _lines(path) for path in below}
    return Shape(dict(files), lines, found)


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def ancestors() -> dict[str, list[str]]:
    """Our classes above each public estimator of the installed package, by name."""
    import maxmargin

    found = {}
    for name in maxmargin.__all__:
        value = getattr(maxmargin, name)
        if isinstance(value, type):
            found[name] = [c.__name__ for c in value.__mro__[1:] if c.__module__.startswith("maxmargin")]
    return found


def main(source: Path) -> None:
    """Print the table."""
    counted = shape(source, source.parent / "cpp" / "maxmargin")
    sizes = list(counted.lines.values())
    print(f"{len(sizes)} Python files, {sum(sizes)} lines, median {median(sizes):.0f}, longest {max(sizes)}")
    short, long = sum(n < SMALL for n in sizes), sum(n > MAX_LINES for n in sizes)
    print(f"files under {SMALL} lines: {short}; over {MAX_LINES}: {long}")
    print(f"headers: {len(counted.headers)}, longest {max(counted.headers.values(), default=0)}")
    print("\nfiles  folder")
    for folder, n in sorted(counted.files.items()):
        print(f"{n:5}  {folder}")
    print("\nlines  file")
    for file, n in sorted(counted.lines.items(), key=lambda pair: -pair[1])[:15]:
        print(f"{n:5}  {file}")
    print("\nabove  estimator")
    for name, classes in ancestors().items():
        print(f"{len(classes):5}  {name}: {', '.join(classes)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "src")
