"""What a file keeps of the objects that estimators hold: kernels, codes, decoders, curves, samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from .expected import (
    Flag,
    Floats,
    Ints,
    Listed,
    Maybe,
    Object,
    Points,
    Real,
    Sizes,
    Such,
    Whole,
    Word,
)
from .parts import Fields, Kept

KERNELS = ("Laplacian", "Linear", "Polynomial", "Precomputed", "Product", "RBF", "Scaled", "Sigmoid", "Sum")
LOSSES = ("Hinge", "Log", "Perceptron", "Squared", "SquaredHinge")
DECODERS = (
    "Coupling",
    "Hamming",
    "LossBased",
    "Margins",
    "PriorDecoder",
    "Probabilistic",
    "Votes",
    "WeightedDecoder",
)
CURVES = Object(("IsotonicCalibrator", "SigmoidCalibrator"))
CALIBRATORS = ("IsotonicCalibrator", "SigmoidCalibrator", "SoftmaxCalibrator")
METHOD = Word(("isotonic", "sigmoid"))
NUMBER_OR_WORD = Such(
    lambda value, sizes: isinstance(value, str) or (isinstance(value, int | float) and np.isfinite(value)),
    "must be a finite number or a word",
)
FOCUS = Maybe(Word(("support-vectors",)))


def _check_knots(curve: Any, sizes: Sizes) -> None:
    rising = len(curve.knots_) > 0 and (np.diff(curve.knots_) > 0.0).all()
    if not rising or not (np.diff(curve.values_) >= 0.0).all() or curve.values_.max() > 1.0:
        raise ValueError("an isotonic curve must rise from knot to knot, within 0 and 1")


def _check_pairs(pairs: Any, sizes: Sizes) -> None:
    if pairs.code_ is not None and len(pairs.curves_) != pairs.code_.n_columns:
        raise ValueError("there must be one curve for each column")


LEARNING: Fields = {
    "focus": FOCUS,
    "floor": Real(),
    "tol": Real(),
    "max_iter": Whole(1),
    "max_seconds": Real(finite=False),
    "weights": Maybe(Floats(("classes", "columns"))),
    "report": Maybe(Object(("DecoderReport",))),
}
REAL = Real(finite=False)
GAMMA: Fields = {"gamma": NUMBER_OR_WORD}
PAIR: Fields = {"left": Object(KERNELS), "right": Object(KERNELS)}

HELPERS: dict[str, Kept] = {
    # kernels
    "Laplacian": Kept("maxmargin.kernels", GAMMA),
    "Linear": Kept("maxmargin.kernels"),
    "Polynomial": Kept("maxmargin.kernels", {**GAMMA, "degree": Real(), "coef0": Real()}),
    "Precomputed": Kept("maxmargin.kernels"),
    "Product": Kept("maxmargin.kernels", PAIR),
    "RBF": Kept("maxmargin.kernels", GAMMA),
    "Scaled": Kept("maxmargin.kernels", {"factor": Real(above=0.0), "kernel": Object(KERNELS)}),
    "Sigmoid": Kept("maxmargin.kernels", {**GAMMA, "coef0": Real()}),
    "Sum": Kept("maxmargin.kernels", PAIR),
    # codes and losses
    "Code": Kept("maxmargin.codes.family", {"matrix": Ints(("classes", "columns"), -1, 2), "name": Word()}),
    **{name: Kept("maxmargin.losses", {"name": Word()}) for name in LOSSES},
    # decoders
    "Margins": Kept("maxmargin.decoders.registry", fitted={"name": Word(("margins",))}),
    "Votes": Kept("maxmargin.decoders.registry", fitted={"name": Word(("votes",))}),
    "Hamming": Kept("maxmargin.decoders.registry", fitted={"name": Word(("hamming",))}),
    "LossBased": Kept("maxmargin.decoders.registry", {"loss": Object(LOSSES)}),
    "Probabilistic": Kept(
        "maxmargin.decoders.probabilities",
        {"curves": Maybe(Listed(CURVES, "columns"))},
        fitted={"name": Word(("probabilistic",))},
    ),
    "Coupling": Kept(
        "maxmargin.decoders.probabilities",
        {"curves": Maybe(Listed(CURVES, "columns"))},
        fitted={"name": Word(("coupling",))},
    ),
    "WeightedDecoder": Kept(
        "maxmargin.decoders.weighted",
        {**LEARNING, "method": Word(("lp",)), "margin": NUMBER_OR_WORD, "epsilon": Real()},
    ),
    "PriorDecoder": Kept(
        "maxmargin.decoders.prior", {**LEARNING, "nu": NUMBER_OR_WORD}, fitted={"name": Word(("prior",))}
    ),
    "DecoderReport": Kept(
        "maxmargin.decoders.learned_weights",
        {
            "status": Word(),
            **dict.fromkeys(("n_iter", "n_constraints", "n_pairs"), Whole()),
            **dict.fromkeys(("loss_before", "loss_after", "bound", "chosen"), REAL),
            "focused": Flag(),
            **dict.fromkeys(("error_before", "error_after"), REAL),
        },
    ),
    # probabilities
    "SigmoidCalibrator": Kept(
        "maxmargin.calibration",
        fitted={
            **dict.fromkeys(("slope_", "offset_", "center_"), Real()),
            "scale_": Real(above=0.0),
            "gradient_norm_": REAL,
        },
    ),
    "SoftmaxCalibrator": Kept(
        "maxmargin.calibration",
        fitted={"slope_": Real(), "scale_": Real(above=0.0), "gradient_norm_": REAL},
        optional={
            "bend_": Real(),
            "bend_scale_": Real(above=0.0),
            "curve_": Object(("SigmoidCalibrator",)),
        },
    ),
    "IsotonicCalibrator": Kept(
        "maxmargin.calibration",
        fitted={"knots_": Floats(("knots",)), "values_": Floats(("knots",), least=0.0)},
        checks=(_check_knots,),
    ),
    "CalibratedScores": Kept(
        "maxmargin.calibration", {"method": METHOD}, fitted={"calibrator_": Maybe(Object(CALIBRATORS))}
    ),
    "CoupledPairs": Kept(
        "maxmargin.decoders.coupling",
        {"method": METHOD},
        fitted={"curves_": Listed(CURVES), "code_": Maybe(Object(("Code",)))},
        checks=(_check_pairs,),
    ),
    # streams
    "Reservoir": Kept(
        "maxmargin.methods.budget.reservoir",
        {
            "X": Points("rows"),
            "labels": Ints(("rows",), below="classes"),
            "weight": Floats(("rows",), least=0.0),
            "keys": Floats(("rows",), least=0.0),
            "seen": Real(above=0.0),
            "complete": Flag(),
        },
    ),
}
