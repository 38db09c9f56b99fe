"""Exact Hamming-distance search over billions of 64-bit fingerprints on disk.

    import sstore

    sstore.build("docs.store", sstore.simhash(texts))
    with sstore.open("docs.store") as store:
        store.query(0x84ADFE2D13E12CB)

Fingerprints and ids go in as NumPy arrays, sequences of int, or Arrow data, and come out as tables of NumPy arrays.
The library works without the GIL, so threads can use it at the same time.
"""

from sstore._call import Progress
from sstore._dedup import Deduplicator
from sstore._errors import (
    ArgumentError,
    BusyError,
    DamagedError,
    Error,
    ExistsError,
    FileError,
    NotFoundError,
    OutOfMemoryError,
    RecipeError,
    UnsupportedError,
    text as _text_of,
)
from sstore._native import lib as _lib
from sstore._plot import plot_plans
from sstore._store import (
    SegmentStatistics,
    Statistics,
    Store,
    TableExplanation,
    TableStatistics,
    open,
)
from sstore._stream import StreamMatcher, collect, find_all
from sstore._tables import (
    Batches,
    BatchMatches,
    Clusters,
    Matches,
    Pairs,
    Records,
    StreamMatches,
    Table,
)
from sstore._text import hamming_distance, simhash, simhash_features, simhash_hashes, text_recipe
from sstore._write import Builder, Change, Plan, add, build, compact, merge, plans, reindex, remove, shard, verify

__version__: str = _text_of(_lib.sstore_version())

__all__ = [
    "ArgumentError",
    "Batches",
    "BatchMatches",
    "Builder",
    "BusyError",
    "Change",
    "Clusters",
    "DamagedError",
    "Deduplicator",
    "Error",
    "ExistsError",
    "FileError",
    "Matches",
    "NotFoundError",
    "OutOfMemoryError",
    "Pairs",
    "Plan",
    "Progress",
    "RecipeError",
    "Records",
    "SegmentStatistics",
    "Statistics",
    "Store",
    "StreamMatcher",
    "StreamMatches",
    "Table",
    "TableExplanation",
    "TableStatistics",
    "UnsupportedError",
    "add",
    "build",
    "collect",
    "compact",
    "find_all",
    "hamming_distance",
    "merge",
    "open",
    "plans",
    "plot_plans",
    "reindex",
    "remove",
    "shard",
    "simhash",
    "simhash_features",
    "simhash_hashes",
    "text_recipe",
    "verify",
]
