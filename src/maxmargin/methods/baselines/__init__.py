"""Baselines for budgets: perceptrons, Pegasos, LaSVM, matching pursuit."""

from .greedy import KernelMatchingPursuit, LaSVM
from .online import BudgetPerceptron, KernelPegasos, KernelPerceptron

__all__ = [
    "BudgetPerceptron",
    "KernelMatchingPursuit",
    "KernelPegasos",
    "KernelPerceptron",
    "LaSVM",
]
