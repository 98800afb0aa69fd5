# The compiled module, for type checkers: `_native` is its only caller and says what it takes.
from typing import Any

def __getattr__(name: str) -> Any: ...
