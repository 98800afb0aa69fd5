"""The decoders that are compared, and which outputs of the columns each is fitted to."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A name in ``maxmargin.decoders.DECODERS``, and "training" outputs or "out-of-fold" ones."""

    decoder: str
    fitted_to: str = "training"


CONVENTIONAL, FOCUSED = "conventional weights", "focused weights"
METHODS = {
    "Hamming": Method("hamming"),
    "loss": Method("hinge"),
    CONVENTIONAL: Method("weighted"),
    FOCUSED: Method("weighted-support-vectors"),
    "prior": Method("prior", "out-of-fold"),
    "conventional, out of fold": Method("weighted", "out-of-fold"),
    "focused, out of fold": Method("weighted-support-vectors", "out-of-fold"),
}
OURS = ("prior", "conventional, out of fold", "focused, out of fold")  # not in the source
