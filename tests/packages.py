"""The wheel and the source distribution as a user meets them: installed, tried, measured.

python tests/packages.py dist            what make wheel runs after building them

The wheel goes into an empty environment whose path has no compiler, and the README's commands and Python
blocks run there. The source distribution is compiled again, and the wheel it gives is imported.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGE_FILES = ("style.css", "explore.css", "explore.js")
FIT = "from sklearn.datasets import load_iris; from maxmargin import LinearSVC; \
assert LinearSVC().fit(*load_iris(return_X_y=True)).dual_gap_ <= 1e-4"


def run(command: list[str], **options: object) -> None:
    """Run it; what it printed is shown only if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")


def megabytes(path: Path) -> float:
    """The size of a file, or of all files below a folder."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files) / 1e6


def empty_environment(folder: Path) -> dict[str, str]:
    """A new environment, and the variables to use it with: nothing else is on the path."""
    venv.create(folder, with_pip=True)
    kept = {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "HOME", "LANG", "SSL"))
    }
    return kept | {"PATH": str(folder / "bin"), "CC": "/no/compiler", "CXX": "/no/compiler"}


def commands(page: str) -> list[list[str]]:
    """What the page tells a reader to run: its shell commands and its Python blocks, in order."""
    found = []
    for language, source in BLOCK.findall(page):
        if language == "console":
            found += [shlex.split(line[2:]) for line in source.splitlines() if line.startswith("$ maxmargin")]
        else:
            python = (
                found.pop()[-1] + source if found and found[-1][0] == "python" else source
            )  # names are shared
            found.append(["python", "-c", python])
    return found


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install the wheel without a compiler and run what the README has."""
    environment = empty_environment(folder / "empty")
    python = str(folder / "empty" / "bin" / "python")
    start = time.perf_counter()
    run([python, "-m", "pip", "install", "--only-binary=:all:", f"{wheel}[cli]"], env=environment)
    seconds = time.perf_counter() - start
    (package,) = (folder / "empty").glob("lib/python*/site-packages/maxmargin")
    if missing := [name for name in PAGE_FILES if not (package / "report" / "html" / name).is_file()]:
        sys.exit(f"{wheel.name} lacks {', '.join(missing)}")
    tried = commands((ROOT / "README.md").read_text(encoding="utf-8"))
    for name, *arguments in tried:
        run([str(folder / "empty" / "bin" / name), *arguments], env=environment, cwd=folder)
    print(f"wheel      {megabytes(wheel):6.2f} MB  {wheel.name}")
    print(
        f"installed  {megabytes(package):6.2f} MB  in {seconds:.0f} s with what it needs, without a compiler"
    )
    print(f"README     {len(tried)} commands and programs ran from the installed wheel")


def try_sdist(sdist: Path, folder: Path) -> None:
    """Compile the source distribution and fit a model with what comes out."""
    start = time.perf_counter()
    tools = str(Path(sys.executable).parent)
    path = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    pip = [sys.executable, "-m", "pip"]
    run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder / "built"), str(sdist)],
        env=path,
    )
    (wheel,) = (folder / "built").glob("*.whl")
    run([*pip, "install", "--no-deps", "--target", str(folder / "target"), str(wheel)])
    code = f"import sys; sys.path.insert(0, {str(folder / 'target')!r}); {FIT}"
    run([sys.executable, "-P", "-c", code], cwd=folder)
    seconds = time.perf_counter() - start
    print(f"sdist      {megabytes(sdist):6.2f} MB  {sdist.name}: compiled and imported in {seconds:.0f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dist", type=Path)
    parser.add_argument("--only", choices=["wheel", "sdist"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if given.only != "sdist":
            try_wheel(next(given.dist.glob("*.whl")).resolve(), Path(name))
        if given.only != "wheel":
            try_sdist(next(given.dist.glob("*.tar.gz")).resolve(), Path(name))
