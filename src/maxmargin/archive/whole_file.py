"""Files that are written as a whole or not at all, whatever happens in between."""

from __future__ import annotations

import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file beside ``path`` that replaces it after the block, or is deleted if the block failed.

    A killed process leaves the old file unchanged, and perhaps a hidden file that ends in ``.part``. The new
    file has the permissions of the old one. Devices and pipes are never replaced. An ``OSError`` of writing
    names ``path``.
    """
    target, mode, part = _names(path)
    with _new(part, path) as file:
        try:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            yield file
            with _naming(path):
                file.flush()
                os.fsync(file.fileno())
                os.replace(part, target)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise
    _sync_folder(target.parent)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise, before any work, the ``OSError`` that ``whole_file`` would begin with.

    A file is made and removed: permissions alone do not show whether a folder can be written to.
    """
    _, _, part = _names(path)
    _new(part, path).close()
    part.unlink()


def _names(path: str | os.PathLike[str]) -> tuple[Path, int | None, Path]:
    """The file, its permissions if it exists, and the file that is written first."""
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.part")
    return target, _mode_of(target, path), part


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


class _NamedFile(io.FileIO):
    """A new file whose errors of writing name the path that it is written for."""

    def __init__(self, part: Path, path: str | os.PathLike[str]) -> None:
        super().__init__(part, "xb")
        self._path = path

    def write(self, data: Any) -> int:
        """Write some bytes."""
        with _naming(self._path):
            return super().write(data)


def _new(part: Path, path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return io.BufferedWriter(_NamedFile(part, path))
    except OSError as error:
        if not part.parent.is_dir():
            raise FileNotFoundError(
                f"{os.fspath(path)}: there is no folder {part.parent}; create it, or give another path."
            ) from None
        reason = f"the folder {part.parent} cannot be written to ({error.strerror}); give another path"
        raise OSError(error.errno, reason, os.fspath(path)) from None


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name ``path`` in an error of the system: "No space left on device" alone helps nobody."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def _sync_folder(folder: Path) -> None:
    """Flush a rename to disk, on systems where folders can be synchronised."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
