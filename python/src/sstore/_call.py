"""Calls of the library: options, progress, and what a call that takes long needs."""

from __future__ import annotations

import functools
import operator
import os
import re
import threading
import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar, Union

import numpy as np

from sstore._errors import ArgumentError, OutOfMemoryError, error_of, text
from sstore._native import ffi, lib

if TYPE_CHECKING:
    from types import TracebackType

PathLike = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]
Size = Union[int, str]


@dataclass(frozen=True)
class Progress:
    """How far a call is.

    Attributes:
        phase: what it does now, in one word, such as "sorting", "writing", "answering", "comparing".
        done, total: records, fingerprints or queries of this phase; a total of 0 is unknown.
        fraction: of the work of the whole call, 0 to 1; an estimate. The last report of a complete call has 1: if the
            function raises then, the call has already taken effect.
        table: the table that is made, from 0.
        table_count: 0 until the plan is chosen, and in batches of queries.
    """

    phase: str
    done: int
    total: int
    fraction: float
    table: int
    table_count: int


ProgressOption = Union[bool, Callable[[Progress], object]]


def encode(path: PathLike) -> bytes:
    """A path as the library takes it."""
    return _bytes_of(path, "path")


def _bytes_of(text: PathLike, what: str) -> bytes:
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError as error:
        raise ArgumentError(f"{what}: {error}") from None
    if b"\0" in encoded:
        raise ArgumentError(f"{what}: expected a text without null bytes")
    return encoded


def size_of(size: Optional[Size], what: str) -> int:
    """Bytes, also written as "512M": the suffixes K, M, G and T are powers of 1024. None is 0, the default."""
    if size is None:
        return 0
    if isinstance(size, str):
        match = re.fullmatch(r"([0-9]{1,20})([KMGT]?)", size)
        if match is None:
            raise ArgumentError(f'{what}: expected a size such as 65536, "512K", "64M" or "2G", found {size!r}')
        size = int(match[1]) << 10 * " KMGT".index(match[2] or " ")
    return number_of(size, what, (1 << 64) - 1)


def number_of(value: Any, what: str, largest: int) -> int:
    """A number from 0 to largest."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: expected int, found {value!r}") from None
    if not 0 <= number <= largest:
        raise ArgumentError(f"{what}: expected 0 to {largest}, found {number}")
    return number


def count_of(value: Any, what: str, largest: int = (1 << 64) - 1) -> int:
    """A number from 1 to largest."""
    number = number_of(value, what, largest)
    if number == 0:
        raise ArgumentError(f"{what}: expected at least 1, found 0")
    return number


def limit_of(limit: Optional[int]) -> int:
    """A limit on matches as the library takes it: 0 is none."""
    return 0 if limit is None else count_of(limit, "limit")


def rows_of(batch_size: int) -> int:
    """The rows of a batch: at least 1."""
    return count_of(batch_size, "batch_size")


def flag_of(value: Any, what: str) -> bool:
    """A truth value, not anything that has one."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what}: expected bool, found {value!r}")
    return bool(value)


class _Bar:
    """A bar of tqdm, of the fraction of a call. It appears with the first report."""

    def __init__(self) -> None:
        from tqdm.auto import tqdm

        self._tqdm: Any = tqdm
        self._bar: Any = None

    def __call__(self, progress: Progress) -> None:
        if self._bar is None:
            self._bar = self._tqdm(total=100, bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}")
        self._bar.set_description_str(progress.phase, refresh=False)
        self._bar.n = round(100 * progress.fraction, 1)
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


_SomeCall = TypeVar("_SomeCall", bound="Call")


class Call:
    """One call of the library, or some that belong together: its error, and its progress.

    Signals are looked for a few times a second while the library works, so that Ctrl-C stops it. Keeps alive what the
    library's structs point to.

    A handle of the library is used by one thread at a time: `with call.lock:`, so that others wait.
    """

    def __init__(self, progress: ProgressOption = False) -> None:
        self.error = ffi.new("sstore_error *")
        self.exception: Optional[BaseException] = None
        self.lock = threading.RLock()
        self._reporting = False
        self._keep: list[Any] = []
        self._bar: Optional[_Bar] = None
        self._report: Optional[Callable[[Progress], object]] = None
        self._last: Optional[Progress] = None
        if callable(progress):
            self._report = progress
        elif flag_of(progress, "progress"):
            try:
                self._report = self._bar = _Bar()
            except ImportError:
                pass  # tqdm is optional, and so is the bar
        self._handle = ffi.new_handle(weakref.ref(self))  # no cycle, which would live until a collection
        self._watch = ffi.new("sspy_watch *", {"report": lib.sspy_report, "python": self._handle})
        self._process = os.getpid()

    def __enter__(self: _SomeCall) -> _SomeCall:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.end(kind is None)

    def end(self, complete: bool) -> None:
        """The call has ended. If it is complete, the last report says so. Calling this again does nothing."""
        try:
            if complete and self._last is not None and self._last.fraction < 1:
                self._tell(replace(self._last, fraction=1.0))
        finally:
            self._report = None
            if self._bar is not None:
                self._bar.close()

    def options(self, kind: str, /, **fields: Any) -> Any:
        """A struct of options. Texts may be str, and None. If it has on_progress, it is set."""
        made = ffi.new(kind + " *")
        made.struct_size = ffi.sizeof(kind)
        for name, value in fields.items():
            kind_of_field = _fields(kind)[name]
            if isinstance(value, ffi.CData):
                setattr(made, name, value)
            elif value is None and kind_of_field == "pointer":
                setattr(made, name, ffi.NULL)
            elif kind_of_field == "pointer":
                if not isinstance(value, (str, bytes)):
                    raise TypeError(f"{name}: expected str, found {value!r}")
                self._keep.append(ffi.new("char[]", _bytes_of(value, name)))
                setattr(made, name, self._keep[-1])
            elif kind_of_field == "flag":
                setattr(made, name, flag_of(value, name))
            else:
                setattr(made, name, number_of(value, name, kind_of_field))
        if "on_progress" in _fields(kind):
            made.on_progress = lib.sspy_watch_progress
            made.progress_context = self._watch
        return made

    def check(self, status: int) -> None:
        """Raise what a status tells, if it is not OK."""
        if status == lib.SSTORE_OK:
            return
        if status == lib.SSTORE_STOPPED:
            # A callback in C keeps no exception. It stops a call only if memory is out.
            exception, self.exception = self.exception, None
            raise exception or OutOfMemoryError("out of memory")
        raise error_of(self.error)

    def create(
        self, kind: str, free: Any, function: Any, *arguments: Any, keep: object = None, own: bool = False
    ) -> Any:
        """Make a handle of the library by function(*arguments, handle_out, error).

        The returned pointer frees its handle when it is collected, also if an exception interrupts this function.
        `keep` stays alive until then. With `own`, a child of fork() does not free it: writers would remove what their
        parent writes.
        """
        made = ffi.new(kind + " **")

        def destroy(_: Any = None) -> None:
            native, made[0] = made[0], ffi.NULL
            if not own or os.getpid() == self._process:
                free(native)

        destroy.keep = keep  # type: ignore[attr-defined]
        try:
            self.check(function(*arguments, made, self.error))
            return ffi.gc(made[0], destroy)
        except BaseException:
            destroy()
            if self._bar is not None:
                self._bar.close()
            raise

    def iterate(self, function: Any, *arguments: Any, keep: object) -> Any:
        """Make an iterator of the library, as create() does."""
        return self.create("sstore_iterator", lib.sstore_iterator_free, function, *arguments, keep=keep)

    def check_usable(self) -> None:
        """A callback must not use the object that calls it. The lock lets it through, since the thread is the same."""
        if self._reporting:
            raise RuntimeError("a progress function must not use the object whose progress it gets")
        if os.getpid() != self._process:
            raise RuntimeError("after fork() the child must not use batches, matchers and writers of its parent")

    def report(self, progress: Any) -> None:
        """Takes an sstore_progress."""
        self._tell(
            Progress(
                text(progress.phase),
                progress.done,
                progress.total,
                progress.fraction,
                progress.table,
                progress.table_count,
            )
        )

    def _tell(self, progress: Progress) -> None:
        if self._report is None:
            return
        self._last = progress
        self._reporting = True
        try:
            self._report(progress)
        finally:
            self._reporting = False


@functools.lru_cache
def _fields(kind: str) -> dict[str, Any]:
    """The fields of a struct: "pointer", "flag", or of an integer the largest value."""
    found: dict[str, Any] = {}
    for name, field in ffi.typeof(kind).fields:
        if field.type.kind == "pointer":
            found[name] = "pointer"
        elif field.type.cname == "_Bool":
            found[name] = "flag"
        else:
            found[name] = (1 << 8 * ffi.sizeof(field.type)) - 1
    return found


def result(kind: str) -> Any:
    """A struct that the library fills."""
    made = ffi.new(kind + " *")
    made.struct_size = ffi.sizeof(kind)
    return made


def _keep_exception(_kind: object, exception: BaseException, trace: Any) -> None:
    """A callback failed: keep its exception, which check() raises after the call. Ctrl-C may also come before or after
    the callback's own code, so its `context` is read from the frame."""
    call = ffi.from_handle(trace.tb_frame.f_locals["context"])()
    call.exception = exception


@ffi.def_extern(error=1, onerror=_keep_exception)  # type: ignore[untyped-decorator]
def sspy_report(context: Any, progress: Any) -> int:
    ffi.from_handle(context)().report(progress)
    return 0


class Collector(Call):
    """A call with a callback, whose results are appended to a list."""

    def __init__(self, convert: Callable[[Any], Any], progress: ProgressOption = False) -> None:
        super().__init__(progress)
        self.items: list[Any] = []
        self.convert = convert

    @property
    def context(self) -> Any:
        """What the callback gets."""
        return self._handle


def _collect(context: Any, item: Any) -> int:
    collector = ffi.from_handle(context)()
    collector.items.append(collector.convert(item))
    return 0


for _name in ("sspy_problem", "sspy_plan", "sspy_table"):
    ffi.def_extern(_name, error=1, onerror=_keep_exception)(_collect)
