"""What runs the benchmarks: cells measured one by one, stored under a commit, and one page of results."""

from .benchmark import Benchmark, discovered
from .commit import measured_commit, uncommitted_changes
from .machine import machine_facts
from .page import met_of, page
from .store import Store

__all__ = [
    "Benchmark",
    "Store",
    "discovered",
    "machine_facts",
    "measured_commit",
    "met_of",
    "page",
    "uncommitted_changes",
]
