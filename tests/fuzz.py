"""Every property of the tests, again and again with fresh seeds, until the time is up.

python tests/fuzz.py [--seconds 600] [--workers 2] [FILE ...]

A property that fails is set aside and the others go on. Each failure is printed when it is found, with what
pins it: its falsifying example as an ``@example`` line, and the ``@reproduce_failure`` line; the exit status
is then 1.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
SECONDS_PER_FILE = 900  # a file that hangs ends here
USES_GIVEN = re.compile(r"^\s*@given\(", re.MULTILINE)


@dataclass(frozen=True)
class Failure:
    """A property that does not hold, and the text that pytest printed."""

    test: str
    seed: int
    text: str

    def __str__(self) -> str:
        lines = [f"{self.test} (pytest --hypothesis-seed={self.seed})"]
        lines += [f"    {line}" for line in self._pins()]
        return "\n".join([*lines, "", *(f"    {line}" for line in self.text.splitlines()[-40:])])

    def _pins(self) -> Iterator[str]:
        """The decorators that pin the example, to be pasted above the test."""
        printed = "\n".join(re.sub(r"^E {1,3}", "", line) for line in self.text.splitlines())
        for found in re.finditer(
            r"(?:Falsifying example|Failing test case): (\w+\(\n(?:    .*\n)*\))", printed
        ):
            if "=data(...)" not in found[1]:  # what is drawn inside the test has no arguments
                yield "@example" + _arguments(found[1]) + "  # only the arguments that @given draws"
        for found in re.finditer(r"@reproduce_failure\(.*?\)(?= as a decorator)", printed):
            yield found[0] + "  # to repeat it, with this version of hypothesis"


def _arguments(call: str) -> str:
    """``(a=1, b=2)`` of ``test(a=1, b=2)`` printed in several lines, with comments."""
    try:
        expression = ast.parse(call, mode="eval").body
    except SyntaxError:  # what was drawn has no repr that is Python
        return call[call.index("(") :]
    assert isinstance(expression, ast.Call)
    return "(" + ", ".join(f"{pair.arg}={ast.unparse(pair.value)}" for pair in expression.keywords) + ")"


@dataclass
class Fuzzer:
    """Files with properties, run in turn by several threads until the deadline."""

    files: list[str]
    deadline: float
    failures: dict[str, Failure] = field(default_factory=dict)
    n_runs: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    turn: list[str] = field(default_factory=list)

    def work(self) -> None:
        while time.monotonic() < self.deadline:
            with self.lock:
                self.turn = self.turn or random.sample(self.files, len(self.files))
                file = self.turn.pop()
            for failure in self.run(file, random.getrandbits(32)):
                with self.lock:
                    if self.failures.setdefault(failure.test, failure) is failure:
                        print(f"\nFAILED {failure}", flush=True)

    def run(self, file: str, seed: int) -> list[Failure]:
        """The properties of one file with one seed, without those that have failed before."""
        aside = [f"--deselect={test}" for test in self.failures]
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.xml"
            command = [sys.executable, "-m", "pytest", "-q", "-m", "hypothesis", "-p", "no:cacheprovider"]
            command += ["--tb=short", f"--hypothesis-seed={seed}", f"--junitxml={report}", *aside, file]
            environment = os.environ | {"MAXMARGIN_HYPOTHESIS": "fuzz"}
            try:
                done = subprocess.run(
                    command,
                    cwd=ROOT,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=SECONDS_PER_FILE,
                )
            except subprocess.TimeoutExpired:
                return [Failure(file, seed, f"did not end within {SECONDS_PER_FILE} s")]
            self.n_runs += 1
            if done.returncode in (0, 5):  # 5: every property of the file is set aside
                return []
            return list(_failures(report, file, seed)) or [Failure(file, seed, done.stdout + done.stderr)]


def _failures(report: Path, file: str, seed: int) -> Iterator[Failure]:
    """What a report in JUnit's format calls failed."""
    if not report.exists():
        return
    for case in ElementTree.parse(report).iter("testcase"):
        for outcome in [*case.findall("failure"), *case.findall("error")]:
            yield Failure(f"{file}::{case.get('name')}", seed, outcome.text or "")


def main() -> int:
    """Run until the time is up, then say what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="time budget (600)")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="files at a time (all cores)"
    )
    parser.add_argument("files", nargs="*", help="test files (all that have properties)")
    given = parser.parse_args()
    found = [path for path in (ROOT / "tests").rglob("test_*.py") if USES_GIVEN.search(path.read_text())]
    files = given.files or sorted(str(path.relative_to(ROOT)) for path in found)
    fuzzer = Fuzzer(files, time.monotonic() + given.seconds)
    print(f"fuzz: {len(files)} files for {given.seconds:g} s ...", flush=True)
    with ThreadPoolExecutor(given.workers) as pool:
        for worker in [pool.submit(fuzzer.work) for _ in range(given.workers)]:
            worker.result()
    rounds = fuzzer.n_runs / len(files)
    print(f"fuzz: {fuzzer.n_runs} runs ({rounds:.1f} of each file), {len(fuzzer.failures)} properties failed")
    if fuzzer.failures:
        print("\nFix the code, and pin each example: paste its @example line above the test.")
    return 1 if fuzzer.failures else 0


if __name__ == "__main__":
    sys.exit(main())
