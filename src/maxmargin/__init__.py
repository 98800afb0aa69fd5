"""Max-margin classification that says how far from the optimum it stopped."""

from .linear import LinearSVC
from .online import BudgetPerceptron, KernelPegasos, KernelPerceptron

__version__ = "0.1.0"
__all__ = ["BudgetPerceptron", "KernelPegasos", "KernelPerceptron", "LinearSVC", "__version__"]
