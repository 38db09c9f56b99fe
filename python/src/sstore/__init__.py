"""Exact Hamming-distance search over billions of fingerprints of 64 to 1,024 bits on disk.

    import sstore

    sstore.build("docs.store", sstore.simhash(texts))
    with sstore.open("docs.store") as store:
        store.query(0x84ADFE2D13E12CB)

Fingerprints and ids go in as NumPy arrays, sequences of int, or Arrow data. Results are columns: NumPy arrays.
The library works without the GIL, so threads can use it at the same time.
"""

from sstore._arrays import ArrayLike, Fingerprint
from sstore._call import PathLike, Progress, ProgressOption, Size
from sstore._columns import (
    Batches,
    BatchMatches,
    Clusters,
    Columns,
    FoundRecords,
    GroupMatches,
    Matches,
    Pairs,
    Records,
    StreamMatches,
)
from sstore._dedup import Answers, Deduplicator
from sstore._doubt import BadRow, BadRows, DoubtWarning, SkipBad, SkippedWarning
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
)
from sstore._errors import (
    text as _text_of,
)
from sstore._join import Components, components, join_keys, join_records, shard_numbers
from sstore._keep import DroppedRows, Kept, dedup
from sstore._lexicon import Features, Lexicon, Segment
from sstore._native import lib as _lib
from sstore._plot import plot_plans, plot_store
from sstore._store import (
    IoMode,
    SegmentStatistics,
    Statistics,
    Store,
    TableExplanation,
    TableStatistics,
    WordStatistics,
    open,
)
from sstore._stream import StreamMatcher, collect, find_all
from sstore._strings import Strings, StringsLike
from sstore._text import (
    Hash,
    Markup,
    Nulls,
    Weights,
    hamming_distance,
    minhash,
    minhash_distance,
    minhash_features,
    minhash_similarity,
    simhash,
    simhash_features,
    simhash_hashes,
    text_recipe,
)
from sstore._write import (
    Builder,
    Change,
    Objective,
    Plan,
    add,
    build,
    compact,
    merge,
    plans,
    reindex,
    remove,
    replace,
    shard,
    verify,
)

__version__: str = _text_of(_lib.sstore_version())

__all__ = [
    "add",
    "Answers",
    "ArgumentError",
    "ArrayLike",
    "BadRow",
    "BadRows",
    "Batches",
    "BatchMatches",
    "build",
    "Builder",
    "BusyError",
    "Change",
    "Clusters",
    "collect",
    "Columns",
    "compact",
    "Components",
    "components",
    "DamagedError",
    "dedup",
    "Deduplicator",
    "DoubtWarning",
    "DroppedRows",
    "Error",
    "ExistsError",
    "Features",
    "FileError",
    "find_all",
    "Fingerprint",
    "FoundRecords",
    "GroupMatches",
    "hamming_distance",
    "Hash",
    "IoMode",
    "join_keys",
    "join_records",
    "Kept",
    "Lexicon",
    "Markup",
    "Matches",
    "merge",
    "minhash",
    "minhash_distance",
    "minhash_features",
    "minhash_similarity",
    "NotFoundError",
    "Nulls",
    "Objective",
    "open",
    "OutOfMemoryError",
    "Pairs",
    "PathLike",
    "Plan",
    "plans",
    "plot_plans",
    "plot_store",
    "Progress",
    "ProgressOption",
    "RecipeError",
    "Records",
    "reindex",
    "remove",
    "replace",
    "Segment",
    "SegmentStatistics",
    "shard",
    "shard_numbers",
    "simhash",
    "simhash_features",
    "simhash_hashes",
    "Size",
    "SkipBad",
    "SkippedWarning",
    "Statistics",
    "Store",
    "StreamMatcher",
    "StreamMatches",
    "Strings",
    "StringsLike",
    "TableExplanation",
    "TableStatistics",
    "text_recipe",
    "UnsupportedError",
    "verify",
    "Weights",
    "WordStatistics",
]
