"""``AutoSVC``: the best max-margin model for a table, chosen on held-out rows, with the reasons.

Which candidates run follows from predicted operations, never from the clock: fits that end in time have the
same bits on any machine and with any number of threads.
"""

from .column_groups import grouped_positions
from .estimator import AutoSVC
from .scaling import ColumnScaling

__all__ = ["AutoSVC", "ColumnScaling", "grouped_positions"]
