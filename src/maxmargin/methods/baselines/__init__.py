"""Baselines of budgeted methods: perceptrons and Pegasos (online), LaSVM, kernel matching pursuit."""

from .lasvm import LaSVM
from .matching_pursuit import KernelMatchingPursuit
from .online import BudgetPerceptron, KernelPegasos, KernelPerceptron

__all__ = ["BudgetPerceptron", "KernelMatchingPursuit", "KernelPegasos", "KernelPerceptron", "LaSVM"]
