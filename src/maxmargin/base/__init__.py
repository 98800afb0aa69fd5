"""Base classes of the estimators: validation, codes and columns, decoders, certificates."""

from .callbacks import fit_callback, with_callbacks
from .certified import SUCCESS, first_step_of, fit_deadline
from .classifier import SHARE_BEFORE_FOLDS, CodedClassifier, FitInput
from .conformal import ConformalIntervals
from .decoded import DecodedClassifier, forget
from .fold_outputs import FoldOutputs
from .importance import importances_at, squared_gradients
from .kernel_classifier import KernelClassifier
from .kernel_machine import KernelMachine
from .kernel_rows import (
    canonical_rows,
    check_precomputed,
    kernel_data,
    kernel_tags,
    object_array,
    resolved_kernel,
    set_kernel,
    takes_objects,
)
from .labels import labelled, learns
from .linear_weights import linear_weights
from .machine import CertifiedMachine
from .r_squared import r_squared
from .streaming import learn_batch

__all__ = [
    "SHARE_BEFORE_FOLDS",
    "SUCCESS",
    "CertifiedMachine",
    "CodedClassifier",
    "ConformalIntervals",
    "DecodedClassifier",
    "FitInput",
    "FoldOutputs",
    "KernelClassifier",
    "KernelMachine",
    "canonical_rows",
    "check_precomputed",
    "first_step_of",
    "fit_callback",
    "fit_deadline",
    "forget",
    "importances_at",
    "kernel_data",
    "kernel_tags",
    "labelled",
    "learn_batch",
    "learns",
    "linear_weights",
    "object_array",
    "r_squared",
    "resolved_kernel",
    "set_kernel",
    "squared_gradients",
    "takes_objects",
    "with_callbacks",
]
