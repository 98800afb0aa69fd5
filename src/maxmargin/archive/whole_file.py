"""A file that is there whole or not at all, whatever happens while it is written."""

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
    """A new file beside ``path``, which takes its place after the block, or is gone if the block failed.

    A process that is killed leaves the old file as it was, and perhaps a hidden one that ends in ``.part``.
    Who may read the old file may read the new one, and no one else. Devices and pipes are never replaced.
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
    """The permissions of the file that is to be replaced, where there is one."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; give the name of a file.")
    if not stat.S_ISREG(mode):
        raise OSError(
            f"{os.fspath(path)} is a device or a pipe, which no file may replace; give another name."
        )
    return stat.S_IMODE(mode)


def _new(part: Path, path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return open(part, "xb")
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{os.fspath(path)}: there is no folder {part.parent}; make it, or give another path."
        ) from None


def _sync_folder(folder: Path) -> None:
    """Bring a rename to the disk, on systems where folders can be synchronised."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
