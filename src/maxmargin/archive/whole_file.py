"""Files that are written as a whole or not at all, whatever happens in between."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file beside ``path`` that replaces it after the block, or is deleted if the block failed.

    A killed process leaves the old file unchanged, and perhaps a hidden file that ends in ``.part``. The new
    file has the permissions of the old one. Devices and pipes are never replaced.
    """
    target = Path(os.path.realpath(path))
    mode = _mode_of(target, path)
    part = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.part")
    with _new(part, path) as file:
        try:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(part, target)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise
    _sync_folder(target.parent)


def _mode_of(target: Path, path: str | os.PathLike[str]) -> int | None:
    """The permissions of the file that will be replaced, if it exists."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; give the name of a file.")
    if not stat.S_ISREG(mode):
        raise OSError(f"{os.fspath(path)} is a device or a pipe, which is never replaced; give another name.")
    return stat.S_IMODE(mode)


def _new(part: Path, path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return open(part, "xb")
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{os.fspath(path)}: there is no folder {part.parent}; create it, or give another path."
        ) from None


def _sync_folder(folder: Path) -> None:
    """Flush a rename to disk, on systems where folders can be synchronised."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
