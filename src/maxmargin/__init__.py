"""Max-margin classification that says how far from the optimum it stopped.

Names are imported when they are first used, so that ``import maxmargin`` and the command line start at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from .selection import PathCV, path
    from .top_k_score import top_k_accuracy
    from .topk import TopKSVC

__version__ = "0.1.0"

_MODULES = {
    "AllPairsSVC": "all_pairs",
    "BudgetPerceptron": "online",
    "CalibratedSVC": "calibrated",
    "KernelEigenMap": "features",
    "KernelMatchingPursuit": "baselines",
    "KernelPegasos": "online",
    "KernelPerceptron": "online",
    "KernelSVC": "kernel_svc",
    "LaSVM": "baselines",
    "LagrangianSVC": "lagrangian",
    "LeastSquaresClassifier": "least_squares",
    "LinearProgramSVC": "linear_program",
    "LinearSVC": "linear",
    "OutputCodeClassifier": "multiclass",
    "PathCV": "selection",
    "SparseKernelClassifier": "budget",
    "TopKSVC": "topk",
    "path": "selection",
    "top_k_accuracy": "top_k_score",
}
_PACKAGES = ("bounds", "codes", "decoders", "displays", "io", "kernels", "losses", "report")

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


def __getattr__(name: str) -> Any:
    """Import what is asked for: a public name, or a part of the library such as ``maxmargin.io``."""
    if name in _MODULES:
        value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    elif name in _PACKAGES:
        value = import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
