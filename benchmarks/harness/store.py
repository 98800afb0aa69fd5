"""Records of cells in one folder, each in its own file, written the moment it is measured."""

import json
import os
import re
import time
from pathlib import Path

HEADER = "run.json"


class Store:
    """The records of one commit on one machine.

    A record is ``running`` from the start of its measurement, then ``done`` with what was measured or
    ``failed`` with a message. One that still runs when nobody measures was interrupted, and is measured anew.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def open(self, commit: str, facts: dict) -> dict:
        """The header of a new or a continued run; a ValueError where the stored one is of another machine."""
        header, path = {"commit": commit, "machine": facts}, self.folder / HEADER
        if path.exists():
            stored = json.loads(path.read_text())
            differing = [key for key in facts if stored["machine"].get(key) != facts[key]]
            if stored["commit"] != commit or differing:
                what = ", ".join(differing) or "commit"
                raise ValueError(f"{self.folder} has records with another {what}; remove it to start anew")
            return stored
        header["date"] = time.strftime("%Y-%m-%d")
        _write(path, header)
        return header

    def path(self, benchmark: str, cell: str) -> Path:
        """The file of a record."""
        return self.folder / benchmark / f"{re.sub(r'[^A-Za-z0-9.-]+', '_', cell)}.json"

    def entry(self, benchmark: str, cell: str) -> dict | None:
        """A cell's record with its status, or None."""
        path = self.path(benchmark, cell)
        return json.loads(path.read_text()) if path.exists() else None

    def status(self, benchmark: str, cell: str) -> str:
        """The status, or "missing"."""
        entry = self.entry(benchmark, cell)
        return "missing" if entry is None else entry["status"]

    def start(self, benchmark: str, cell: str) -> None:
        """Note that a measurement begins."""
        now = {"status": "running", "started": time.time(), "load": round(os.getloadavg()[0], 2)}
        _write(self.path(benchmark, cell), {"cell": cell, **now})

    def finish(
        self, benchmark: str, cell: str, *, record: dict | None = None, failure: str | None = None
    ) -> None:
        """Store what was measured, or why nothing was."""
        entry = self.entry(benchmark, cell) or {"cell": cell, "started": time.time(), "load": None}
        entry["seconds"] = round(time.time() - entry.pop("started"), 1)
        entry |= (
            {"status": "done", "record": record}
            if failure is None
            else {"status": "failed", "failure": failure}
        )
        _write(self.path(benchmark, cell), entry)

    def forget(self, benchmark: str, statuses: tuple[str, ...]) -> None:
        """Remove records in these states, so that they are measured anew."""
        for path in (self.folder / benchmark).glob("*.json"):
            if json.loads(path.read_text())["status"] in statuses:
                path.unlink()

    def running(self, benchmark: str) -> dict | None:
        """The cell that is being measured."""
        return next((e for e in self.entries(benchmark) if e["status"] == "running"), None)

    def entries(self, benchmark: str) -> list[dict]:
        """All records of a benchmark, finished or not."""
        paths = sorted((self.folder / benchmark).glob("*.json"))
        return [json.loads(path.read_text()) for path in paths]

    def collected(self) -> dict[str, list[dict]]:
        """All finished records by benchmark."""
        folders = sorted(path.name for path in self.folder.iterdir() if path.is_dir())
        kept = {name: [e for e in self.entries(name) if e["status"] != "running"] for name in folders}
        return {name: entries for name, entries in kept.items() if entries}


def _write(path: Path, content: dict) -> None:
    """Write a whole file or none: a run may be ended at any moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content, indent=1) + "\n")
    new.replace(path)
