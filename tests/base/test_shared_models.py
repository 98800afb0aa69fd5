"""Models that threads share, and clocks that go backwards: the bits of one thread, of clocks that go on."""

import pytest
from soak import clock_backwards, shared_models

SHARED = (
    "LinearSVC",
    "KernelSVC",
    "SparseKernelClassifier",
    "coupling",
    "prior",
    "table",
    "features",
    "isotonic",
    "OneClassSVM",
    "quantiles",
    "budget regression",
    "linear quantile",
)


@pytest.mark.parametrize("name", SHARED)
def test_a_shared_model_answers_every_thread_alike(name):
    counts = shared_models.run(1, [name])
    assert counts["models"] == 1
    assert counts["answers with the bits of one thread"] >= shared_models.N_THREADS


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "name",
    ["LinearSVC", "KernelSVC", "SparseKernelClassifier", "LaSVM", "KernelSVR", "OneClassSVM", "LinearSVR"],
)
def test_a_clock_that_goes_backwards_changes_no_fit(name):
    assert clock_backwards.run([name]).total() == 3
