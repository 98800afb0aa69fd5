"""Settings for the whole suite."""

from hypothesis import settings

settings.register_profile("maxmargin", deadline=None, print_blob=True)  # the machine is shared: no clocks
settings.load_profile("maxmargin")
