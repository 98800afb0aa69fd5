"""Fits that resume: the file, its record, and what the fit is of."""

from .checkpoint import Checkpoint, CheckpointSupport
from .identity import data_identity, description, parameter_identity
from .record import CheckpointError, FitRecord, check_identity

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "CheckpointSupport",
    "FitRecord",
    "check_identity",
    "data_identity",
    "description",
    "parameter_identity",
]
