"""Which files of the checkout a run of the tests has written: there must be none."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHES = ("__pycache__/", ".pytest_cache/", ".hypothesis/", ".mypy_cache/", ".ruff_cache/")


def changed_files() -> set[str] | None:
    """What git calls changed, new or ignored, without the caches of tools; None outside a checkout."""
    command = ["git", "status", "--porcelain", "--ignored", "--untracked-files=all", "--no-renames"]
    try:
        status = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    lines = {line for line in status.splitlines() if not any(cache in line for cache in CACHES)}
    return {line for line in lines if not line.startswith(("!! build/", "!! .venv"))}
