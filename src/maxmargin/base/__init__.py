"""What all estimators share: valid data, a code, columns, a decoder, certificates."""

from .classifier import SUCCESS, CodedClassifier
from .fold_outputs import FoldOutputs
from .kernel_classifier import KernelClassifier, KernelRows, object_array
from .labels import ClassLabels
from .streaming import StreamingKernelClassifier

__all__ = [
    "SUCCESS",
    "ClassLabels",
    "CodedClassifier",
    "FoldOutputs",
    "KernelClassifier",
    "KernelRows",
    "StreamingKernelClassifier",
    "object_array",
]
