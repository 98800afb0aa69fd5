"""Resumable fits: the checkpoint file, the record of a fit, and the identity of a fit."""

from .checkpoint import Checkpoint, fit_record, set_checkpoint
from .identity import data_identity, description, parameter_identity
from .record import CheckpointError, FitRecord, check_identity, check_place, warning_if_unwritten

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "FitRecord",
    "check_identity",
    "check_place",
    "data_identity",
    "description",
    "fit_record",
    "parameter_identity",
    "set_checkpoint",
    "warning_if_unwritten",
]
