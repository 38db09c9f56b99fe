"""Results as Arrow data, by nanoarrow: an array of rows, or a stream of batches, each made when it is asked for."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sstore._native import ffi, lib


def arrow_of(columns: Mapping[str, Any]) -> Any:
    """A nanoarrow.c_array of structs that shares the columns' memory, except that of bool, which Arrow packs, and of
    fingerprints of several words, which become bytes, the most significant first."""
    import nanoarrow
    from nanoarrow import c_array_from_buffers

    fields, children = {}, []
    for name, column in columns.items():
        if hasattr(column, "arrow"):  # Strings
            children.append(column.arrow())
            fields[name] = children[-1].schema
            continue
        column = np.ascontiguousarray(column)
        buffer: Any = column
        if column.ndim > 1:
            fields[name] = nanoarrow.fixed_size_binary(8 * column.shape[1])
            buffer = column.astype(">u8").view(np.uint8).reshape(-1)
        elif column.dtype == np.bool_:
            fields[name] = nanoarrow.bool_()
            buffer = np.packbits(column, bitorder="little")
        else:
            fields[name] = getattr(nanoarrow, column.dtype.name)()
        children.append(c_array_from_buffers(fields[name], len(column), [None, buffer]))
    count = len(next(iter(columns.values())))
    return c_array_from_buffers(nanoarrow.struct(fields), count, [None], children=children)


class _Source:
    """What a stream reads: arrays of one schema."""

    def __init__(self, schema: Any, arrays: Iterator[Any]) -> None:
        self.schema = schema
        self.arrays = arrays
        self.message: Any = ffi.NULL


_sources: dict[int, Any] = {}  # what lives until its stream is released, by the address of the stream's state


def stream_of(schema: Any, arrays: Iterator[Any]) -> Any:
    """A nanoarrow.c_array_stream over nanoarrow.c_arrays; `schema` is a nanoarrow.c_schema."""
    from nanoarrow.c_array_stream import CArrayStream

    made = CArrayStream.allocate()
    native = ffi.cast("struct ArrowArrayStream *", made._addr())
    handle = ffi.new_handle(_Source(schema, arrays))
    state = ffi.new("sspy_stream_state *", {"source": handle})
    _sources[int(ffi.cast("uintptr_t", state))] = handle, state
    native.get_schema = lib.sspy_stream_schema
    native.get_next = lib.sspy_stream_next
    native.get_last_error = lib.sspy_stream_error
    native.private_data = state
    native.release = lib.sspy_stream_release
    return made


def _state_of(stream: Any) -> Any:
    return ffi.cast("sspy_stream_state *", stream.private_data)


def _source_of(stream: Any) -> _Source:
    source: _Source = ffi.from_handle(_state_of(stream).source)
    return source


def _move(kind: str, source: Any, target: Any) -> None:
    """Moves an array or a schema, as the C data interface asks for."""
    native = ffi.cast(f"struct {kind} *", source._addr())
    target[0] = native[0]
    native.release = ffi.NULL


def _failed(_kind: object, exception: BaseException, trace: Any) -> None:
    stream = trace.tb_frame.f_locals["stream"]
    text = f"{type(exception).__name__}: {exception}".encode("utf-8", "replace").replace(b"\0", b"")
    source, state = _source_of(stream), _state_of(stream)
    state.message = source.message = ffi.new("char[]", text)
    state.is_interrupted = isinstance(exception, KeyboardInterrupt)


@ffi.def_extern(error=errno.EIO, onerror=_failed)  # type: ignore[untyped-decorator]
def sspy_stream_schema(stream: Any, out: Any) -> int:
    import nanoarrow

    _move("ArrowSchema", nanoarrow.c_schema(_source_of(stream).schema).__deepcopy__(), out)
    return 0


@ffi.def_extern(error=errno.EIO, onerror=_failed)  # type: ignore[untyped-decorator]
def sspy_stream_next(stream: Any, out: Any) -> int:
    array = next(_source_of(stream).arrays, None)
    if array is None:
        out.release = ffi.NULL  # the end
    else:
        _move("ArrowArray", array, out)
    return 0


@ffi.def_extern()  # type: ignore[untyped-decorator]
def sspy_stream_forget(state: Any) -> None:
    _sources.pop(int(ffi.cast("uintptr_t", state)), None)
