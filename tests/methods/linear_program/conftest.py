"""Fixtures of the linear program's tests."""

import pytest

from maxmargin.methods.linear_program import generation


@pytest.fixture
def generated(monkeypatch):
    """Nothing is small enough to be handed over whole, and restricted programs begin tiny."""
    for name, value in {
        "MAX_WHOLE_PROGRAM_ENTRIES": 0,
        "FIRST_COEFFICIENTS": 2,
        "MIN_NEW_COEFFICIENTS": 1,
        "MIN_START_SAMPLE": 3,
    }.items():
        monkeypatch.setattr(generation, name, value)
