"""Every public estimator is described from its own docstring."""

import pytest

import maxmargin
from maxmargin.report.content.description import problem_of, typeset

ESTIMATORS = [each for name in maxmargin.__all__ if isinstance(each := getattr(maxmargin, name), type)]
WITHOUT_A_PROBLEM = {  # they wrap, choose or combine other estimators, or vary one
    "AutoSVC",
    "BudgetPerceptron",
    "CalibratedSVC",
    "OutputCodeClassifier",
    "PathCV",
}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: each.__name__)
def test_every_estimator_has_a_summary_and_its_problem(estimator):
    found = problem_of(estimator)
    assert found.summary.endswith(".")
    assert "`" not in found.summary + found.lead + found.where
    assert bool(found.formulas) == (estimator.__name__ not in WITHOUT_A_PROBLEM)


def test_formulas_of_docstrings_are_typeset():
    text = "1/2 ||w||^2 + C sum_i s_i loss(y_it (<w, x_i> - b))"
    assert typeset(text) == "½ ‖w‖^2 + C Σ_i s_i loss(y_{it} (⟨w, x_i⟩ − b))"
