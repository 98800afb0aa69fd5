"""``python -m maxmargin`` is the command ``maxmargin``."""

import sys

from .cli import main

sys.exit(main())
