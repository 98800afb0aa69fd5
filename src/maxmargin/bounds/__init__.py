"""Guarantees for a fitted model: upper bounds on its error, and estimates without a guarantee.

:func:`report` computes all of them for a fitted classifier. The other functions are its parts; they take
plain numbers from any source.
"""

from .hold_out import finite_class_bound, finite_class_excess, hold_out_bound, union_excess
from .kinds import Bound, DoesNotApply, Entry, Estimate, Inapplicable, MarginSample
from .leave_one_out import (
    jaakkola_haussler_estimate,
    span_estimate,
    support_vector_estimate,
    xi_alpha_estimate,
)
from .margin import hinge_bound, margin_bound, scaled_margin_bound
from .pac_bayes import gibbs_bound, kl, kl_inverse, pac_bayes_bound
from .rademacher import rademacher_complexity, rademacher_monte_carlo
from .report import Report, report
from .span import SupportProblem, margins_left_out
from .stability import stability_bound

__all__ = [
    "Bound",
    "DoesNotApply",
    "Entry",
    "Estimate",
    "Inapplicable",
    "MarginSample",
    "Report",
    "SupportProblem",
    "finite_class_bound",
    "finite_class_excess",
    "gibbs_bound",
    "hinge_bound",
    "hold_out_bound",
    "jaakkola_haussler_estimate",
    "kl",
    "kl_inverse",
    "margin_bound",
    "margins_left_out",
    "pac_bayes_bound",
    "rademacher_complexity",
    "rademacher_monte_carlo",
    "report",
    "scaled_margin_bound",
    "span_estimate",
    "stability_bound",
    "support_vector_estimate",
    "union_excess",
    "xi_alpha_estimate",
]
