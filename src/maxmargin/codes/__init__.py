"""Codes: every reduction of many classes to binary problems is one matrix with entries -1, 0, +1.

Random codes draw from the estimator's one seed with BLAS on one thread, so a seed gives one code.
"""

from .family import CODES, Code, code_from_name, one_vs_one, one_vs_rest

__all__ = ["CODES", "Code", "code_from_name", "one_vs_one", "one_vs_rest"]
