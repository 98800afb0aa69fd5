"""Codes: every reduction of many classes to binary problems is one matrix with entries -1, 0, +1.

Random codes draw from the estimator's one seed with BLAS on one thread, so a seed gives one code.
"""

from .family import Code, one_vs_rest
from .names import CODES, code_from_name
from .pairs import PairCode, one_vs_one

__all__ = ["CODES", "Code", "PairCode", "code_from_name", "one_vs_one", "one_vs_rest"]
