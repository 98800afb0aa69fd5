"""Kernel classifiers under a hard budget of support vectors."""

from .classifier import SparseKernelClassifier

__all__ = ["SparseKernelClassifier"]
