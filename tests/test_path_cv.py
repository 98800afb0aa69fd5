"""Cross-validation over a grid: honest folds, the table of scikit-learn, shared work."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import KernelSVC, LeastSquaresClassifier, PathCV


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some checks use unscaled data
@parametrize_with_checks(
    [
        PathCV(KernelSVC(tol=1e-8), Cs=[0.1, 10], cv=2),
        PathCV(LeastSquaresClassifier(), Cs=[0.1, 10], cv=2, eliminate=True),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
