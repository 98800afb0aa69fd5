"""Leave-one-out estimates from one fit: four rules that flag samples, and the shares flagged.

All rules assume that f minimises ``1/2 ||f||^2 + sum_i c_i loss(y_i (f(x_i) + b))`` with dual variables
``a_i >= 0``, one for each observation, and that leaving one observation out does not change the other costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import check_number
from .kinds import DoesNotApply, Estimate, FloatArray, MarginSample, is_vacuous

__all__ = ["jaakkola_haussler_estimate", "span_estimate", "support_vector_estimate", "xi_alpha_estimate"]

Flags = NDArray[np.bool_]
COMPARISON_SLACK = 1e-9  # for comparisons that rounding could reverse


def support_vector_flags(duals: FloatArray) -> Flags:
    """Samples with ``a_i > 0``: leaving out any other sample does not change the solution."""
    return duals > 0.0


def xi_alpha_flags(margins: FloatArray, duals: FloatArray, spread: float) -> Flags:
    """``2 a_i spread + xi_i >= 1`` with the hinge losses xi."""
    return 2.0 * duals * spread + np.maximum(0.0, 1.0 - margins) >= 1.0 - COMPARISON_SLACK


def jaakkola_haussler_flags(margins: FloatArray, duals: FloatArray, diagonal: FloatArray) -> Flags:
    """``m_i <= a_i k(x_i, x_i)``: the left-out margin is at least ``m_i - a_i k(x_i, x_i)``."""
    return margins <= duals * diagonal + COMPARISON_SLACK


def span_flags(left_out: FloatArray) -> Flags:
    """Samples whose left-out margin is at most 0."""
    return left_out <= COMPARISON_SLACK


def support_vector_estimate(sample: MarginSample, duals: Any) -> Estimate:
    """The share of support vectors: at least the leave-one-out error if b is unique or absent.

    Parameters
    ----------
    sample : MarginSample
    duals : array-like of shape (n_rows,)
        The dual variable of each row, for one of its observations.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.bounds import MarginSample, support_vector_estimate
    >>> sample = MarginSample(np.array([0.5, 1.5, 2.0, -0.2] * 50), np.ones(200), norm=3.0)
    >>> support_vector_estimate(sample, np.array([0.1, 0.0, 0.0, 1.0] * 50)).value
    0.5
    """
    return share("support-vectors", support_vector_flags(_duals(sample, duals)), sample)


def xi_alpha_estimate(sample: MarginSample, duals: Any, spread: float) -> Estimate:
    """The share with ``2 a_i spread + xi_i >= 1``: at least the leave-one-out error of an SVM with the hinge.

    With a free intercept this requires support vectors with ``0 < a_i < c_i``, which fix b, whichever sample
    is left out. Where all are at their bounds, b is not unique and the share may be too low.

    Parameters
    ----------
    sample : MarginSample
    duals : array-like of shape (n_rows,)
    spread : float
        The largest minus the smallest kernel value between rows of the sample; 1 is valid for an RBF kernel.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.bounds import MarginSample, xi_alpha_estimate
    >>> sample = MarginSample(np.array([0.5, 1.5, 2.0, -0.2] * 50), np.ones(200), norm=3.0)
    >>> xi_alpha_estimate(sample, np.array([0.1, 0.0, 0.0, 1.0] * 50), spread=1.0).value
    0.25
    """
    check_number("spread", spread, at_least=0.0)
    return share("xi-alpha", xi_alpha_flags(sample.margins, _duals(sample, duals), spread), sample)


def jaakkola_haussler_estimate(sample: MarginSample, duals: Any) -> Estimate:
    """The share with ``m_i <= a_i k(x_i, x_i)``: at least the leave-one-out error, without an intercept.

    A penalised intercept is part of f and adds 1 to ``k(x_i, x_i)``. The rule holds for any convex loss.

    Parameters
    ----------
    sample : MarginSample
    duals : array-like of shape (n_rows,)

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.bounds import MarginSample, jaakkola_haussler_estimate
    >>> sample = MarginSample(np.array([0.5, 1.5, 2.0, -0.2] * 50), np.ones(200), norm=3.0)
    >>> jaakkola_haussler_estimate(sample, np.full(200, 0.1)).value
    0.25
    """
    refuse_intercept(sample)
    flags = jaakkola_haussler_flags(sample.margins, _duals(sample, duals), sample.diagonal)
    return share("jaakkola-haussler", flags, sample)


def span_estimate(sample: MarginSample, left_out: Any) -> Estimate:
    """The share of left-out margins at most 0, if no other row changes its kind.

    Parameters
    ----------
    sample : MarginSample
    left_out : array-like of shape (n_rows,)
        From :func:`margins_left_out`.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.bounds import MarginSample, span_estimate
    >>> sample = MarginSample(np.array([0.5, 1.5, 2.0, -0.2] * 50), np.ones(200), norm=3.0)
    >>> span_estimate(sample, sample.margins - 0.1).value
    0.25
    """
    return share("span", span_flags(np.asarray(left_out, dtype=np.float64)), sample)


def refuse_intercept(sample: MarginSample) -> None:
    """Raise for a free intercept: Jaakkola and Haussler's dual has no equality constraint."""
    if sample.intercept is not None:
        raise DoesNotApply("it requires b = 0 or a penalised intercept; this intercept is free.")


def share(name: str, flags: Flags, sample: MarginSample) -> Estimate:
    """The share of observations that are flagged."""
    n_flagged = float(sample.counts @ flags)
    value = n_flagged / sample.n_samples
    terms = {"flagged": n_flagged, "of": float(sample.n_samples)}
    return Estimate(value, terms, is_vacuous(value, sample.majority_error), sample.majority_error, name)


def _duals(sample: MarginSample, duals: Any) -> FloatArray:
    values = np.asarray(duals, dtype=np.float64)
    if values.shape != sample.margins.shape or not (np.isfinite(values).all() and (values >= 0.0).all()):
        raise ValueError("duals must hold one finite number >= 0 for each row of the sample.")
    return values
