"""The exceptions, and how a failed call of the library becomes one."""

import errno as errno_names
import os
import re
from typing import Any, ClassVar, Optional

from sstore._native import ffi, lib


class Error(Exception):
    """The base of all errors of the library.

    Attributes:
        file: the file concerned, or None; `filename` is the same, as OSError has it.
        offset: the place in the file, in bytes, or None.
        errno: of the failed system call; of NotFoundError ENOENT and of ExistsError EEXIST if no call failed; or None.
    """

    file: Optional[str] = None
    offset: Optional[int] = None
    errno: Optional[int] = None
    filename: Optional[str] = None
    _default_errno: ClassVar[Optional[int]] = None

    def __init__(
        self,
        message: str,
        *,
        file: Optional[str] = None,
        offset: Optional[int] = None,
        errno: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self._message = message
        self.file = self.filename = file
        self.offset = offset
        self.errno = self._default_errno if errno is None else errno

    def __str__(self) -> str:
        return self._message

    def __reduce__(self) -> Any:
        return _rebuild, (type(self), self._message, self.file, self.offset, self.errno)


def _rebuild(
    kind: type[Error], message: str, file: Optional[str], offset: Optional[int], errno: Optional[int]
) -> Error:
    return kind(message, file=file, offset=offset, errno=errno)


class ArgumentError(Error, ValueError):
    """An argument is out of range, or the calls came in the wrong order, such as one of a closed store."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed, or a limit of memory is too low."""


class FileError(Error, OSError):
    """A file operation failed: see `errno`."""


class NotFoundError(Error, FileNotFoundError):
    """There is no store at the path, or no folder at tmp_dir."""

    _default_errno = errno_names.ENOENT


class ExistsError(Error, FileExistsError):
    """There is already something at the path."""

    _default_errno = errno_names.EEXIST


class BusyError(Error):
    """Another process, or another object of this one, is writing to the store. Try again later."""


class DamagedError(Error):
    """A file does not hold what was written to it: see `file` and `offset`."""


class UnsupportedError(Error):
    """This version of the library does not know a format version or a feature."""


class RecipeError(Error, ValueError):
    """The store's fingerprints were made by another recipe than the expected one."""


_KINDS: dict[int, type[Error]] = {
    lib.SSTORE_ERROR_ARGUMENT: ArgumentError,
    lib.SSTORE_ERROR_MEMORY: OutOfMemoryError,
    lib.SSTORE_ERROR_IO: FileError,
    lib.SSTORE_ERROR_NOT_FOUND: NotFoundError,
    lib.SSTORE_ERROR_EXISTS: ExistsError,
    lib.SSTORE_ERROR_BUSY: BusyError,
    lib.SSTORE_ERROR_DAMAGED: DamagedError,
    lib.SSTORE_ERROR_UNSUPPORTED: UnsupportedError,
    lib.SSTORE_ERROR_RECIPE: RecipeError,
}

for _kind in (Error, *_KINDS.values()):
    _kind.__module__ = "sstore"  # where users find it, and so what tracebacks name


def text(characters: Any) -> str:
    """A text of the library."""
    return os.fsdecode(ffi.string(characters))


# Advice for C programs in messages of the library, and the same for Python.
_ADVICE = {
    "sstore_merge()": "sstore.merge()",
    "sstore_plan()": "sstore.plans()",
    "sstore_reindex()": "sstore.reindex()",
    "sstore_verify()": "sstore.verify()",
    "set force to replace it": "force=True replaces it",
    "set ignore_free_space": "set ignore_free_space=True",
    "raise memory_bytes": "raise memory",
    "another process is writing to the store; set wait_ms to wait until it ends": (
        "another process, or an open object of this one, is writing to the store; wait=True waits until it ends"
    ),
    "another process is still writing to the store after wait_ms; a larger wait_ms waits longer": (
        "another process, or an open object of this one, is still writing to the store after the given wait; "
        "wait=True waits until it ends"
    ),
    "max_memory_bytes allows": "max_memory allows",
    "use the read mode pread": 'use io="pread"',
}
_IN_C = re.compile("|".join([r"^sstore_[a-z_]+: ", *map(re.escape, _ADVICE)]))


def message_of(error: Any) -> str:
    """The message of an sstore_error, without the C function's name and with advice for Python."""
    return _IN_C.sub(lambda found: _ADVICE.get(found[0], ""), text(error.message))


def error_of(error: Any) -> Error:
    """The exception for an sstore_error."""
    file = text(error.file)
    return _KINDS.get(error.status, Error)(
        message_of(error),
        file=file or None,
        offset=None if error.offset == lib.SSTORE_NO_OFFSET else error.offset,
        errno=error.system_errno or None,
    )
