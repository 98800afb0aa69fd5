"""Fixtures of the kernel SVM solver's tests."""

import pytest

from maxmargin.methods.kernel_svm import working_set

# Every constant so small that sixty rows grow, shrink, return and take many blocks.
SMALL_STEPS = {
    "N_INITIAL_ROWS": 16,
    "GROWTH": 2,
    "MAX_SUPPORT_SHARE_TO_GROW_FAST": 2.0,
    "MIN_BLOCK_SIZE": 8,
    "MAX_BLOCK_SIZE": 12,
    "MAX_GAP_TO_SHRINK": 0.9,
    "MIN_SETTLED_SHARE_TO_SHRINK": 0.05,
    "MAX_SMALL_SAMPLES": 8,
    "MIN_SUBSET_GAP": 0.3,
}


@pytest.fixture
def small_steps(monkeypatch):
    """Small constants, and how often each kind of step was taken."""
    for name, value in SMALL_STEPS.items():
        if hasattr(working_set, name):
            monkeypatch.setattr(working_set, name, value)
    monkeypatch.setattr(working_set, "MAX_POLISHED_SAMPLES", 0)
    seen = {"_grow": 0, "_shrink": 0, "_choose": 0}

    def counted(name):
        method = getattr(working_set.WorkingSets, name)

        def call(self):
            n_active = len(self.state.active)
            method(self)
            seen[name] += name == "_grow" or len(self.state.active) != n_active

        return call

    for name in seen:
        monkeypatch.setattr(working_set.WorkingSets, name, counted(name))
    return seen
