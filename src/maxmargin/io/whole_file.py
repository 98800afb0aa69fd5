"""A file that is there whole or not at all, whatever happens while it is written."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file beside ``path``, which takes its place after the block, or is gone if the block failed.

    A process that is killed leaves the old file as it was, and perhaps a hidden one that ends in ``.part``.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; give the name of a file.")
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    with open(part, "xb") as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(part, target)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Bring a rename to the disk, on systems where folders can be synchronised."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
