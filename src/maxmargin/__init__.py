"""Max-margin classification that says how far from the optimum it stopped.

Names are imported when they are first used, so that ``import maxmargin`` and the command line start at once.
Folders that are not exported here are private.
"""

from ._lazy import lazy

TYPE_CHECKING = False  # true for type checkers; importing typing would take most of the time of the import
if TYPE_CHECKING:
    from . import (
        bounds,
        calibration,
        codes,
        dask,
        decoders,
        displays,
        evaluation,
        io,
        kernels,
        losses,
        metrics,
        report,
        table,
        training,
    )
    from .auto import AutoSVC
    from .inspection import importance
    from .io.models import load, save
    from .methods.all_pairs import AllPairsSVC
    from .methods.baselines import (
        BudgetPerceptron,
        KernelMatchingPursuit,
        KernelPegasos,
        KernelPerceptron,
        LaSVM,
    )
    from .methods.budget import SparseKernelClassifier
    from .methods.budget_regression import SparseKernelRegressor
    from .methods.eigen_map import KernelEigenMap
    from .methods.kernel_svm import CalibratedSVC, KernelSVC
    from .methods.kernel_svr import KernelSVR
    from .methods.lagrangian import LagrangianSVC
    from .methods.least_squares import LeastSquaresClassifier
    from .methods.linear import LinearSVC
    from .methods.linear_program import LinearProgramSVC
    from .methods.linear_svr import LinearSVR
    from .methods.one_class import OneClassSVM
    from .methods.output_code import OutputCodeClassifier
    from .methods.top_k import TopKSVC
    from .metrics import top_k_accuracy
    from .selection import PathCV, path

__version__ = "0.1.0"

__all__ = [
    "AllPairsSVC",
    "AutoSVC",
    "BudgetPerceptron",
    "CalibratedSVC",
    "KernelEigenMap",
    "KernelMatchingPursuit",
    "KernelPegasos",
    "KernelPerceptron",
    "KernelSVC",
    "KernelSVR",
    "LaSVM",
    "LagrangianSVC",
    "LeastSquaresClassifier",
    "LinearProgramSVC",
    "LinearSVC",
    "LinearSVR",
    "OneClassSVM",
    "OutputCodeClassifier",
    "PathCV",
    "SparseKernelClassifier",
    "SparseKernelRegressor",
    "TopKSVC",
    "__version__",
    "bounds",
    "calibration",
    "codes",
    "dask",
    "decoders",
    "displays",
    "evaluation",
    "importance",
    "io",
    "kernels",
    "load",
    "losses",
    "metrics",
    "path",
    "report",
    "save",
    "table",
    "top_k_accuracy",
    "training",
]

__getattr__ = lazy(
    __name__,
    {
        "": [
            "bounds",
            "calibration",
            "codes",
            "dask",
            "decoders",
            "displays",
            "evaluation",
            "io",
            "kernels",
            "losses",
            "metrics",
            "report",
            "table",
            "training",
        ],
        "auto": ["AutoSVC"],
        "inspection": ["importance"],
        "io": ["load", "save"],
        "methods.all_pairs": ["AllPairsSVC"],
        "methods.baselines": [
            "BudgetPerceptron",
            "KernelMatchingPursuit",
            "KernelPegasos",
            "KernelPerceptron",
            "LaSVM",
        ],
        "methods.budget": ["SparseKernelClassifier"],
        "methods.eigen_map": ["KernelEigenMap"],
        "methods.kernel_svm": ["CalibratedSVC", "KernelSVC"],
        "methods.budget_regression": ["SparseKernelRegressor"],
        "methods.kernel_svr": ["KernelSVR"],
        "methods.lagrangian": ["LagrangianSVC"],
        "methods.least_squares": ["LeastSquaresClassifier"],
        "methods.linear": ["LinearSVC"],
        "methods.linear_program": ["LinearProgramSVC"],
        "methods.linear_svr": ["LinearSVR"],
        "methods.one_class": ["OneClassSVM"],
        "methods.output_code": ["OutputCodeClassifier"],
        "methods.top_k": ["TopKSVC"],
        "metrics": ["top_k_accuracy"],
        "selection": ["PathCV", "path"],
    },
)


def __dir__() -> list[str]:
    return list(__all__)
