"""Max-margin classification that says how far from the optimum it stopped."""

from .all_pairs import AllPairsSVC
from .baselines import KernelMatchingPursuit, LaSVM
from .budget import SparseKernelClassifier
from .calibrated import CalibratedSVC
from .features import KernelEigenMap
from .kernel_svc import KernelSVC
from .lagrangian import LagrangianSVC
from .least_squares import LeastSquaresClassifier
from .linear import LinearSVC
from .linear_program import LinearProgramSVC
from .multiclass import OutputCodeClassifier
from .online import BudgetPerceptron, KernelPegasos, KernelPerceptron
from .path import path
from .path_cv import PathCV
from .top_k_accuracy import top_k_accuracy
from .topk import TopKSVC

__version__ = "0.1.0"
__all__ = [
    "AllPairsSVC",
    "BudgetPerceptron",
    "CalibratedSVC",
    "KernelEigenMap",
    "KernelMatchingPursuit",
    "KernelPegasos",
    "KernelPerceptron",
    "KernelSVC",
    "LaSVM",
    "LagrangianSVC",
    "LeastSquaresClassifier",
    "LinearProgramSVC",
    "LinearSVC",
    "OutputCodeClassifier",
    "PathCV",
    "SparseKernelClassifier",
    "TopKSVC",
    "__version__",
    "path",
    "top_k_accuracy",
]
