"""What fuzzing found: fits whose gap or end was false, or that misled the referee."""

from maxmargin import kernels

from .certificate_rows import Case

SUM = kernels.Linear() + kernels.RBF()
PRODUCT = kernels.Laplacian() * kernels.Polynomial(degree=2, coef0=0.5)
FOUND = [
    (
        "LinearSVC",
        {"C": 1e3, "solver": "newton", "fit_intercept": False},
        Case(3_000_058_564, 6, 4, 2, 1e-3, 1e5, "float64", "sparse", 0, False),
    ),
    (
        "LaSVM",
        {"C": 1e3, "tol": 1e-6, "kernel": "rbf"},
        Case(12, 6, 4, 3, 1e-5, -10, "float64", "sparse", 0, False),
    ),
    (
        "LaSVM",
        {"tol": 1e-6, "kernel": kernels.Polynomial(degree=3)},
        Case(3319, 9, 3, 2, 1e-6, -1e3, "float32", "full CSR", 3.0, True),
    ),
    (
        "LaSVM",
        {"C": 1e4, "tol": 1e-6, "kernel": SUM},
        Case(31688, 12, 2, 2, 1e-5, -1e4, "float64", "dense", 0, True),
    ),
    (
        "LaSVM",
        {"C": 0.1, "tol": 1e-4, "kernel": SUM},
        Case(2242272168, 7, 1, 2, 1e4, 0.0, "float64", "dense", 0, True),
    ),
    (
        "LaSVM",
        {"C": 0.1, "tol": 1e-3, "kernel": SUM, "max_iter": 50},
        Case(7084, 10, 4, 2, 1e5, 0.0, "float64", "full CSR", 3.0, True),
    ),
    (
        "LagrangianSVC",
        {"C": 1e3, "solver": "lagrangian"},
        Case(182, 6, 4, 2, 1e4, 0, "float32", "dense", 0, True),
    ),
    (
        "LagrangianSVC",
        {"kernel": "sigmoid", "solver": "newton"},
        Case(0, 12, 1, 3, 1.0, -1.0, "float32", "dense", 0, False),
    ),
    (
        "LinearProgramSVC",
        {"C": 10.0, "fit_intercept": False},
        Case(8192, 6, 2, 2, 1, 1e5, "float64", "dense", 0, False),
    ),
    (
        "LinearProgramSVC",
        {"C": 1e5, "multi_class": "joint"},
        Case(6, 6, 3, 2, 1.0, 1e5, "float32", "dense", 0.0, False),
    ),
    (
        "KernelSVC",
        {"C": 0.1, "tol": 1e-6, "kernel": kernels.Polynomial(degree=2, coef0=1.0), "loss": "squared-hinge"},
        Case(3158, 6, 2, 2, 1e5, 1e8, "float64", "full CSR", 0, False),
    ),
    (
        "KernelSVC",
        {"tol": 1e-4, "kernel": "linear", "max_iter": 500},
        Case(301, 6, 1, 2, 1e6, -1.0, "float32", "full CSR", 0, False),
    ),
    (
        "KernelSVC",
        {"C": 0.01, "tol": 1e-4, "kernel": PRODUCT, "code": "one-vs-rest"},
        Case(3387, 10, 3, 3, 1e-4, 1e3, "float64", "dense", 0, True),
    ),
    (
        "AllPairsSVC",
        {"C": 1e-3, "tol": 1e-6, "kernel": PRODUCT, "max_iter": 50},
        Case(2146913, 6, 1, 3, 1e-6, 1e8, "float64", "dense", 1.0, True),
    ),
    (
        "LeastSquaresClassifier",
        {"C": 100.0, "penalty": None, "tol": 1e-6},
        Case(2105, 12, 2, 2, 1e-4, -1e9, "float64", "full CSR", 0, True),
    ),
    (
        "LeastSquaresClassifier",
        {"C": 0.01, "penalty": None, "tol": 1e-4, "fit_intercept": False},
        Case(151717900, 10, 4, 2, 1e-6, -1e8, "float32", "full CSR", 3.0, True),
    ),
    (
        "LeastSquaresClassifier",
        {"penalty": None, "tol": 1e-6},
        Case(57842, 10, 2, 3, 1e-6, -100.0, "float32", "dense", 3.0, True),
    ),
    (
        "SparseKernelClassifier",
        {"alpha": 1e-6, "budget": 5, "kernel": SUM, "tol": 1e-4},
        Case(392, 6, 4, 3, 1e5, -1e4, "float64", "dense", 0, False),
    ),
    (
        "SparseKernelClassifier",
        {"alpha": 1e-6, "budget": 7, "kernel": SUM, "loss": "hinge", "tol": 1e-4},
        Case(3876470, 8, 2, 3, 1e-6, 100.0, "float64", "dense", 3.0, False),
    ),
    (
        "SparseKernelClassifier",
        {"alpha": 10.0, "budget": 2},
        Case(0, 11, 1, 2, 1.0, 1e7, "float32", "dense", 1.0, False),
    ),
    (
        "KernelSVC",
        {"kernel": "linear", "max_iter": 500},
        Case(1, 6, 1, 2, 1.0, -1e7, "float32", "sparse", 3.0, False),
    ),
    (
        "LaSVM",
        {"kernel": SUM, "max_iter": 50, "tol": 1e-4},
        Case(1, 6, 3, 3, 10.0, -1e9, "float32", "dense", 0.0, True),
    ),
    (
        "LagrangianSVC",
        {"n_components": 20, "solver": "lagrangian", "max_iter": 1000},
        Case(2663630040, 6, 2, 2, 1.0, -1e6, "float64", "dense", 3.0, False),
    ),
    (
        "LinearProgramSVC",
        {"C": 1e4, "kernel": "rbf", "features": "eigen", "n_components": 20, "tol": 1e-3},
        Case(4, 6, 4, 3, 1e4, 0.0, "float32", "sparse", 1.0, True),
    ),
    (
        "LeastSquaresClassifier",
        {"penalty": None, "fit_intercept": False},
        Case(8, 8, 4, 3, 1e-4, 1e8, "float32", "dense", 1.0, False),
    ),
    (
        "LinearSVC",
        {"C": 100.0, "fit_intercept": False, "solver": "newton", "tol": 1e-6},
        Case(498605, 9, 4, 2, 1e4, -1.0, "float64", "dense", 1.0, True),
    ),
    (
        "LinearSVC",
        {"C": 1e3, "code": "one-vs-one", "solver": "dual-cd", "tol": 1e-6},
        Case(72993, 9, 3, 3, 1e5, -1e7, "float64", "dense", 3.0, True),
    ),
    (
        "LinearSVC",
        {"C": 1e3, "loss": "log", "solver": "truncated-newton", "penalize_intercept": True, "tol": 1e-3},
        Case(3, 6, 3, 2, 10.0, 1e3, "float64", "sparse", 1.0, True),
    ),
    (
        "KernelSVC",
        {"C": 10.0, "kernel": "linear", "loss": "squared-hinge", "max_iter": 500, "tol": 1e-3},
        Case(0, 6, 3, 2, 1.0, 1e4, "float32", "dense", 0.0, False),
    ),
    (
        "LinearProgramSVC",
        {"C": 0.1, "kernel": kernels.Polynomial(degree=3), "multi_class": "joint", "fit_intercept": False},
        Case(811, 11, 2, 2, 1e3, 1e8, "float64", "dense", 0.0, False),
    ),
    (  # failed once, and never again in thousands of fits, which all had the same bits
        "KernelSVC",
        {"C": 1e-3, "kernel": "linear", "loss": "squared-hinge", "max_iter": 500, "tol": 1e-4},
        Case(11815, 7, 3, 3, 1.0, -1e6, "float32", "dense", 3.0, True),
    ),
    (
        "LeastSquaresClassifier",
        {"fit_intercept": False, "penalty": None, "tol": 1e-3},
        Case(0, 7, 2, 2, 1e-5, 1e9, "float64", "dense", 0.0, False),
    ),
    (
        "LinearProgramSVC",
        {
            "C": 100.0,
            "kernel": kernels.Linear() + kernels.RBF("median"),
            "n_components": 1,
            "fit_intercept": False,
            "tol": 1e-3,
        },
        Case(3, 9, 2, 2, 1.0, 1e8, "float64", "sparse", 0.0, False),
    ),
    (
        "AllPairsSVC",
        {"C": 100.0, "kernel": "linear", "max_iter": 50, "tol": 1e-3},
        Case(52679, 10, 3, 2, 1.0, 1e7, "float64", "dense", 0.0, False),
    ),
    (
        "LagrangianSVC",
        {"C": 0.1, "kernel": kernels.Polynomial(degree=2, coef0=1.0), "solver": "newton", "tol": 1e-3},
        Case(11, 6, 3, 2, 1.0, 1e4, "float64", "dense", 0.0, False),
    ),
    (
        "LaSVM",
        {"C": 0.01, "kernel": kernels.Polynomial(degree=2, coef0=1.0), "max_iter": 50},
        Case(508966, 9, 1, 2, 0.1, -1e6, "float32", "dense", 0.0, True),
    ),
    (
        "AllPairsSVC",
        {"kernel": PRODUCT, "max_iter": 50},
        Case(1, 6, 1, 2, 10.0, 1e5, "float64", "full CSR", 3.0, False),
    ),
    (
        "LinearProgramSVC",
        {
            "kernel": PRODUCT,
            "multi_class": "joint",
            "fit_intercept": False,
            "features": "eigen",
            "n_components": 20,
            "tol": 1e-3,
        },
        Case(4, 6, 1, 2, 1e-4, 0.0, "float64", "dense", 0.0, False),
    ),
    (
        "KernelSVC",
        {
            "C": 100.0,
            "kernel": kernels.Polynomial(degree=2, coef0=1.0),
            "loss": "squared-hinge",
            "max_iter": 500,
            "tol": 1e-3,
        },
        Case(0, 7, 1, 2, 1.0, 1e9, "float32", "dense", 0.0, False),
    ),
    (
        "TopKSVC",
        {"alpha": 0.01, "kernel": "sigmoid", "fit_intercept": False, "tol": 1e-6},
        Case(253, 6, 3, 2, 0.1, 100.0, "float64", "dense", 1.0, True),
    ),
    (
        "AllPairsSVC",
        {"kernel": kernels.Polynomial(degree=3), "max_iter": 50, "tol": 1e-3},
        Case(1854464, 10, 3, 3, 0.01, 1e3, "float64", "dense", 1.0, False),
    ),
    (
        "KernelSVC",
        {"C": 1e-4, "kernel": "rbf", "loss": "squared-hinge", "max_iter": 500, "tol": 1e-3},
        Case(1, 6, 1, 2, 1e-5, 100.0, "float32", "dense", 0.0, False),
    ),
    (
        "OneClassSVM",
        {"kernel": "exponential", "max_iter": 500, "nu": 0.05},
        Case(378632, 6, 1, 3, 1.0, 0.0, "float64", "dense", 3.0, True),
    ),
    (
        "LinearProgramSVC",
        {"kernel": "linear", "multi_class": "joint", "n_components": 1, "tol": 1e-3},
        Case(35, 6, 2, 2, 1.0, 1e3, "float64", "dense", 0.0, True),
    ),
    (
        "LinearSVC",
        {"C": 100.0, "loss": "log", "penalize_intercept": True, "solver": "newton", "tol": 1e-3},
        Case(159, 7, 3, 2, 0.1, 1e9, "float32", "dense", 0.0, False),
    ),
    (
        "KernelSVR",
        {"C": 10.0, "epsilon": 0.0, "kernel": kernels.Polynomial(degree=2, coef0=1.0), "max_iter": 500},
        Case(0, 11, 3, 2, 1.0, 1e9, "float32", "dense", 0.0, False),
    ),
    (  # columns that are parallel up to rounding: the optimum has coefficients a million times as large
        "LinearProgramSVC",
        {
            "C": 1e-4,
            "kernel": kernels.Polynomial(degree=3),
            "fit_intercept": False,
            "n_components": 1,
            "tol": 1e-3,
        },
        Case(12, 6, 2, 2, 1.0, 1e3, "float64", "dense", 0.0, False),
    ),
    (  # a gap above the tolerance that is rounding alone: the fit never went on in double
        "LaSVM",
        {"kernel": "linear", "max_iter": 50},
        Case(6418, 12, 3, 2, 1e4, 1e8, "float32", "sparse", 0.0, True),
    ),
    (  # bounds that rounding in float32 has crossed
        "KernelSVC",
        {"nu": 0.05, "code": "one-vs-rest", "max_iter": 500},
        Case(0, 6, 2, 2, 1.0, 0.0, "float32", "dense", 1.0, False),
    ),
]
