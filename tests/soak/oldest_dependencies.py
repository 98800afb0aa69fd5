"""The oldest versions that pyproject.toml allows: installed, the core compiled with them, every test run.

python tests/soak/oldest_dependencies.py [--keep FOLDER] [-- arguments of pytest]

Versions that are stated too low show here, and are to be raised there.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOWEST = re.compile(r"^([\w.-]+)>=([\w.]+)$")


def requirements(project: dict[str, object]) -> list[str]:
    """What the package, its extras, its build and its tests require, as pyproject.toml states it."""
    about, groups = project["project"], project["dependency-groups"]
    extras = [name for extra in about["optional-dependencies"].values() for name in extra]  # type: ignore[index,attr-defined]
    stated = [*about["dependencies"], *extras, *groups["build"], *groups["test"]]  # type: ignore[index]
    return sorted(set(stated))


def pinned(requirement: str) -> str:
    """The oldest version that a requirement allows."""
    found = LOWEST.match(requirement)
    return f"{found[1]}=={found[2]}" if found else requirement


def main() -> int:
    """The status of pytest, or of what failed before it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--keep", type=Path, help="a folder for the environment, used again if it is there")
    parser.add_argument("arguments", nargs="*", help="of pytest; all tests if there are none")
    options = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        where = options.keep or Path(folder)
        python = where / "bin" / "python"
        if not python.exists():
            venv.create(where, with_pip=True)
        path = {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
        steps = [
            [python, "-m", "pip", "install", "--quiet", "--upgrade", "pip>=25.1"],
            [python, "-m", "pip", "install", "--quiet", *map(pinned, requirements(project))],
            [python, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", ROOT],
            [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options.arguments],
        ]
        for step in steps:
            done = subprocess.run(list(map(str, step)), cwd=ROOT, env=os.environ | path)
            if done.returncode:
                return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
