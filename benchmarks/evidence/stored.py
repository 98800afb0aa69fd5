"""Records as JSON files: what was measured, when, at which commit, on which machine."""

import hashlib
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

from harness.commit import measured_commit
from harness.machine import cpu_model

FOLDER = Path(__file__).parent / "records"


def path_of(name):
    """The record's file."""
    return FOLDER / f"{name}.json"


def load(name):
    """The record, or None if nothing was measured."""
    path = path_of(name)
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def store(name, values):
    """Keep what was measured, with its circumstances; the record."""
    record = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": measured_commit(),
        "machine": cpu_model(),
        "values": values,
    }
    FOLDER.mkdir(exist_ok=True)
    path_of(name).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return load(name)


def fingerprint(record):
    """A hash of what was measured, whenever and wherever that was."""
    text = json.dumps(record["values"], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
