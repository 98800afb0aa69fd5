"""Which commit a measurement belongs to: the last one that changed more than stored results."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The commit that stores results changes these; the numbers are those of its parent.
WITHOUT_RESULTS = (".", ":!benchmarks/results", ":!README.md")


def _git(*arguments: str) -> str | None:
    """What git prints, or None where there is no git or no repository."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def measured_commit() -> str | None:
    return _git("log", "-1", "--format=%H", "--", *WITHOUT_RESULTS) or None


def uncommitted_changes() -> list[str]:
    """Files that differ from the commit, stored results apart."""
    return [
        line[2:].strip()
        for line in (_git("status", "--porcelain", "--", *WITHOUT_RESULTS) or "").split("\n")
        if line
    ]
