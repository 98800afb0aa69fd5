"""How many examples a property is tried on: few inside `make test`, all of them under `make fuzz`."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("MAXMARGIN_HYPOTHESIS", "ci")


def load_profile() -> None:
    """The same examples at every run, or fresh ones where `make fuzz` asks for them.

    Both without a deadline (a shared machine may pause a test for a second at any moment) and without a
    database (an example worth keeping is pinned in the source by ``@example``).
    """
    settings.register_profile(
        "ci", derandomize=True, deadline=None, database=None, print_blob=True, max_examples=60
    )
    settings.register_profile(
        "fuzz",
        deadline=None,
        database=None,
        print_blob=True,
        max_examples=500,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile(PROFILE)


def examples(quick: int, full: int, **others: object) -> settings:
    """Settings of an expensive property: ``quick`` examples inside `make test`, ``full`` in `make fuzz`."""
    return settings(max_examples=full if PROFILE == "fuzz" else quick, **others)  # type: ignore[arg-type]
