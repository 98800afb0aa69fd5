"""The input of a fit: checked parameters, canonical rows and weights, folds, memory."""

from .advice import Advised, ParameterError, python_argument
from .checks import (
    check_alpha,
    check_choice,
    check_costs,
    check_flag,
    check_grid,
    check_kernel_sums,
    check_label_types,
    check_number,
    check_sample_weight,
    check_scale,
    check_symmetric,
    check_weights,
    class_weights,
    label_numbers,
    numeric_targets,
)
from .exact_sums import precise_product, sum_of_products
from .folds import apart_by_folds, check_folds, given_folds, is_number, stratified_folds
from .memory import MemoryPool, lazy_array
from .memory_limits import available_bytes, machine_bytes
from .mixing import key_of, mixed
from .origin import near_origin
from .rows import Rows, WeightedRows, canonical, canonical_index
from .validation import check_rows, checked_input, validate_rows

__all__ = [
    "Advised",
    "MemoryPool",
    "ParameterError",
    "Rows",
    "WeightedRows",
    "apart_by_folds",
    "available_bytes",
    "canonical",
    "canonical_index",
    "check_alpha",
    "check_choice",
    "check_costs",
    "check_flag",
    "check_folds",
    "check_grid",
    "check_kernel_sums",
    "check_label_types",
    "check_number",
    "check_rows",
    "check_sample_weight",
    "check_scale",
    "check_symmetric",
    "check_weights",
    "checked_input",
    "class_weights",
    "given_folds",
    "is_number",
    "key_of",
    "label_numbers",
    "lazy_array",
    "machine_bytes",
    "mixed",
    "near_origin",
    "numeric_targets",
    "precise_product",
    "python_argument",
    "stratified_folds",
    "sum_of_products",
    "validate_rows",
]
