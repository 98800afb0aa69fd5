"""The models of the command line: a name, an estimator, the parameters it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from inspect import signature
from typing import Any

__all__ = ["PEERS", "named_estimator"]

HIDDEN = ("estimator", "warm_start", "random_state", "merge_duplicates")  # not for the command line


@dataclass(frozen=True)
class ModelKind:
    """An estimator by the name that the command line knows."""

    name: str
    estimator: str  # name of the class in maxmargin
    about: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    around: str | None = None  # the class of the estimator that it goes around
    task: str = "classification"

    def accepted(self) -> tuple[str, ...]:
        """Names of the parameters."""
        names = [*_parameters(self.estimator), *(_parameters(self.around) if self.around else ())]
        return tuple(sorted({name for name in names if name not in HIDDEN}))

    def streams(self) -> bool:
        """Whether it can learn from one block after the other."""
        return hasattr(_class(self.estimator), "partial_fit")

    def make(self, parameters: Mapping[str, Any] | None = None, seed: int | None = 0) -> Any:
        """The estimator, not fitted; refused are parameters that it does not have or accept.

        Parameters
        ----------
        parameters : mapping, optional
            They override the defaults of this kind.
        seed : int, optional

        Returns
        -------
        estimator
        """
        given = dict(self.defaults) | dict(parameters or {})
        for name in given:
            self._check_name(name)
        if self.around is None:
            estimator = _make(self.estimator, given, seed)
        else:
            own = {name: given.pop(name) for name in _parameters(self.estimator) if name in given}
            estimator = _make(self.estimator, own | {"estimator": _make(self.around, given, seed)}, seed)
        part: Any
        for part in (estimator, getattr(estimator, "estimator", None)):
            if hasattr(part, "_check_parameters"):
                part._check_parameters()
        return estimator

    def _check_name(self, name: str) -> None:
        if name in self.accepted():
            return
        near = get_close_matches(name, self.accepted(), 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        problem = (
            f"the model {self.name!r} has no parameter {name!r}; it has {', '.join(self.accepted())}.{hint}"
        )
        others = [kind for kind in _OTHER_KINDS if name in kind.accepted()]
        if self.name == AUTO_MODEL and others and not near:
            from ..data import ParameterError  # imports NumPy, which the help of a command does without

            some = " or ".join(f"{kind.name!r} (task {kind.task!r})" for kind in others)
            raise ParameterError(problem, f"For {some} give {{task}}.", task=others[0].task)
        raise ValueError(problem)


_KINDS = (
    ModelKind("auto", "AutoSVC", "chooses kernel, parameters and scaling on held-out rows, and says why"),
    ModelKind(
        "sparse-kernel",
        "SparseKernelClassifier",
        "kernel classifier with few support vectors, for tables of any size",
        {"budget": 200},
    ),
    ModelKind("kernel", "KernelSVC", "exact kernel SVM, to a duality gap"),
    ModelKind("linear", "LinearSVC", "linear SVM"),
    ModelKind("top-k", "TopKSVC", "many classes, trained for top-k accuracy", {"k": 1}),
    ModelKind("linear-program", "LinearProgramSVC", "SVM with a 1-norm penalty, for sparse weights"),
    ModelKind("lagrangian", "LagrangianSVC", "SVM with a squared loss by a Lagrangian method"),
    ModelKind("least-squares", "LeastSquaresClassifier", "ridge regression to the classes"),
    ModelKind("all-pairs", "AllPairsSVC", "multiclass kernel SVM over all pairs of classes"),
    ModelKind(
        "calibrated", "CalibratedSVC", "exact kernel SVM with calibrated probabilities", around="KernelSVC"
    ),
)
MODELS: dict[str, ModelKind] = {kind.name: kind for kind in _KINDS}
_OTHER_KINDS = (
    ModelKind("kernel-regression", "KernelSVR", "kernel regression, to a duality gap", task="regression"),
    ModelKind("one-class", "OneClassSVM", "which rows are unlike the others", {"nu": 0.05}, task="novelty"),
)
OTHER_MODELS: dict[str, ModelKind] = {kind.name: kind for kind in _OTHER_KINDS}  # not of classes
TASK_NAMES = ("classification", *(kind.task for kind in _OTHER_KINDS))
DEFAULT_MODEL = "auto"
AUTO_MODEL = "auto"
MODEL_WITHOUT_ROWS_IN_MEMORY = "sparse-kernel"  # in place of "auto" for streams


def model_kind(name: str) -> ModelKind:
    """The model of a name.

    Parameters
    ----------
    name : str

    Returns
    -------
    ModelKind
    """
    every = MODELS | OTHER_MODELS
    if name not in every:
        near = get_close_matches(str(name), every, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"model must be one of {', '.join(every)}; got {name!r}.{hint}")
    return every[name]


def kind_name(estimator: Any) -> str:
    """The name of the model that an estimator is."""
    every = (MODELS | OTHER_MODELS).items()
    return next(name for name, kind in every if kind.estimator == type(estimator).__name__)


def parameters_from_text(texts: Iterable[str]) -> dict[str, Any]:
    """Parameters written as ``name=value``: a number, several after commas, true, false, none, or words.

    Parameters
    ----------
    texts : iterable of str
        Such as ``["C=10", "loss=squared-hinge"]``.

    Returns
    -------
    dict
    """
    out: dict[str, Any] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not name or not value:
            raise ValueError(f"a parameter is written name=value, as in C=10; got {text!r}.")
        if name in out:
            raise ValueError(f"the parameter {name!r} is given twice: {out[name]!r} and {value!r}.")
        out[name] = _value(value)
    return out


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    if "," in text:
        values = tuple(_value(part.strip()) for part in text.split(","))
        if all(isinstance(value, int | float) for value in values):
            return values
    return text


def _class(name: str) -> Any:
    return getattr(import_module("maxmargin"), name)


def _parameters(name: str) -> list[str]:
    return [p for p in signature(_class(name).__init__).parameters if p != "self"]


def _make(name: str, parameters: Mapping[str, Any], seed: int | None) -> Any:
    seeded = {"random_state": seed} if "random_state" in _parameters(name) else {}
    return _class(name)(**{**parameters, **seeded})


def _svc(seed: int) -> Any:
    from sklearn.svm import SVC

    return SVC(cache_size=1024, random_state=seed)


def _linear_svc(seed: int) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=seed)


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000, random_state=seed)


PEERS: dict[str, Callable[[int], Any]] = {
    "sklearn-linear-svc": _linear_svc,
    "sklearn-logistic": _logistic,
    "sklearn-svc": _svc,
}


def named_estimator(name: str, seed: int) -> Any:
    """An estimator, not fitted: one of ours as ``train`` begins with it, or one of scikit-learn's.

    The latter have scikit-learn's own defaults, but for a larger cache and more iterations.
    """
    if name in PEERS:
        return PEERS[name](seed)
    if name in OTHER_MODELS:
        raise ValueError(
            f"the model {name!r} is for {OTHER_MODELS[name].task}, and this is about classes; train and "
            "evaluate it on its own."
        )
    if name not in MODELS:
        raise ValueError(f"models are {', '.join([*MODELS, *PEERS])}; got {name!r}.")
    return model_kind(name).make(seed=seed)
