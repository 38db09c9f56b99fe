"""Makes the stores of version 2 for tests of readers. It never replaces a store that exists.

    SSTORE=build/release/tools/sstore python3 format-spec/vectors/make_stores.py

Records and answers (by brute force) come from this program. The command under test makes only the stores. Two stores of wide
fingerprints come from the writer of the second decoder instead: the command always chooses the radii of words.
"""

import gzip
import os
import random
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "decoder"))
sys.dont_write_bytecode = True

from bits import of_words, words_of  # noqa: E402
from writer import Options, Part, WordPlan, write_store  # noqa: E402

SSTORE = os.environ.get("SSTORE", "sstore")
HERE = Path(__file__).parent / "v2"
MOST = 2**64 - 1

Record = tuple[int, int | None]


def as_text(records: list[Record], bits: int = 64) -> str:
    digits = bits // 4
    return "".join(f"{fingerprint:0{digits}x}" + ("" if number is None else f"\t{number}") + "\n" for fingerprint, number in records)


class Maker:
    """Follows the steps of building a store, to know its records. Without a path it writes no store."""

    def __init__(self, name: str, k: int, bits: int, path: Path | None = None):
        self.path = path
        self.k = k
        self.bits = bits
        self.records: set[Record] = set()
        self.rng = random.Random(name)

    def build(self, records: list[Record], *options: object) -> None:
        width = ["--bits", self.bits] if self.bits > 64 else []
        self.run("build", records, "-k", self.k, *width, *options)
        self.records = set(records)

    def add(self, records: list[Record]) -> None:
        self.run("add", records)
        self.records |= set(records)

    def remove(self, records: list[Record]) -> None:
        self.run("remove", records)
        self.records -= set(records)

    def run(self, command: str, records: list[Record], *options: object) -> None:
        if self.path:
            arguments = [SSTORE, command, "--quiet", *map(str, options), str(self.path)]
            subprocess.run(arguments, input=as_text(records, self.bits), text=True, check=True)

    def write(self, options: Options, parts: list[Part]) -> None:
        """Write a store with the second decoder's writer."""
        if self.path:
            write_store(self.path, options, parts)

    def ordered(self) -> list[Record]:
        return sorted(self.records, key=lambda record: (record[0], record[1] or 0))

    def queries(self) -> list[tuple[int, int]]:
        """(distance, fingerprint): near records and far from them, at the store's own distance and at others."""
        queries: dict[int, int] = {}
        others = [0, 1, 2, 5] if self.bits == 64 else [0, 1, 5, self.k + 4, self.bits // 2 - 10]
        fingerprints = sorted({record[0] for record in self.records})
        for i in range(30):
            query = self.rng.choice(fingerprints) if fingerprints and i % 3 else self.rng.getrandbits(self.bits)
            for _ in range(self.rng.randrange(self.k + 2)):
                query ^= 1 << self.rng.randrange(self.bits)
            queries[query] = self.k if i % 4 else self.rng.choice(others)
        return [(distance, query) for query, distance in queries.items()]

    def answer(self, distance: int, query: int) -> list[str]:
        near = sorted(
            ((query ^ fingerprint).bit_count(), fingerprint, number)
            for fingerprint, number in self.ordered()
            if (query ^ fingerprint).bit_count() <= distance
        )
        digits = self.bits // 4
        asked = f"{distance}\t{query:0{digits}x}"
        return [
            f"{asked}\t{d}\t{fingerprint:0{digits}x}\t{'-' if number is None else number}\n" for d, fingerprint, number in near
        ] or [f"{asked}\t-\t-\t-\n"]

    def record_lines(self) -> str:
        return "".join(f"{f:0{self.bits // 4}x}\t{'-' if number is None else number}\n" for f, number in self.ordered())

    def answer_lines(self) -> str:
        return "".join(line for query in self.queries() for line in self.answer(*query))


def uniform(rng: random.Random, count: int) -> list[Record]:
    return [(rng.getrandbits(64), None) for _ in range(count)]


def clustered(rng: random.Random, count: int, id_bits: int, bits: int = 64) -> list[Record]:
    """Fingerprints within 4 bits of a few centres. Every other one occurs several times, with different ids."""
    centres = [rng.getrandbits(bits) for _ in range(max(1, count // 40))]
    records: dict[Record, None] = {}
    while len(records) < count:
        fingerprint = rng.choice(centres)
        for _ in range(rng.randrange(5)):
            fingerprint ^= 1 << rng.randrange(bits)
        for _ in range(rng.choice([1, 1, 1, 2, 7])):
            records[fingerprint, rng.getrandbits(id_bits)] = None
    return list(records)


def make_one(made: Maker) -> None:
    made.build([(0x0123456789ABCDEF, None)], "--no-ids", "--block-size", 256, "--plan", 1)


def make_two(made: Maker) -> None:
    made.build([(0x1000000D8, 1), (0x1000000DE, 2)], "--block-size", 256, "--plan", 1)


def make_example(made: Maker) -> None:
    made.build([(0xD9, 1), (0xDB, 2), (0xDB, 7)], "--block-size", 256, "--plan", "32:1,32:1")


def make_recipe(made: Maker) -> None:
    made.build([(0xD9, 1), (0xDB, 2), (0xDB, 7)], "--block-size", 256, "--plan", 2, "--recipe", "ab")


def make_empty(made: Maker) -> None:
    made.build([], "--plan", 4)


def make_emptied(made: Maker) -> None:
    records: list[Record] = [(made.rng.getrandbits(64), i) for i in range(40)]
    made.build(records, "--block-size", 256, "--plan", 4)
    made.remove(records)


def make_groups(made: Maker) -> None:
    made.build(uniform(made.rng, 200), "--no-ids", "--block-size", "4K", "--plan", 1)


def make_whole_groups(made: Maker) -> None:
    made.build(uniform(made.rng, 192), "--no-ids", "--plan", 2, "--block-size", "2K")


def make_one_over(made: Maker) -> None:
    made.build(uniform(made.rng, 193), "--no-ids", "--plan", 2, "--block-size", "2K")


def make_halves(made: Maker) -> None:
    """Many fingerprints with the same upper half, also across the ends of groups and blocks."""
    upper_halves = [made.rng.getrandbits(made.rng.choice([10, 32])) for _ in range(150)]
    records: list[Record] = []
    for i in range(2000):
        lower_half = made.rng.getrandbits(made.rng.choice([1, 4, 32]))
        records.append((made.rng.choice(upper_halves) << 32 | lower_half, i))
    made.build(records, "--plan", 4, "--block-size", "1K")


def make_uniform(made: Maker) -> None:
    made.build(uniform(made.rng, 5000), "--no-ids")


def make_assigned(made: Maker) -> None:
    made.rng = random.Random("ordinals")  # the store's name when it was made
    records = [(made.rng.getrandbits(64), None) for _ in range(3000)]
    made.build(records, "--plan", "24:1,20:0,20:0", "--block-size", 512)
    made.records = {(fingerprint, i) for i, (fingerprint, _) in enumerate(records)}


def make_clustered(made: Maker) -> None:
    made.build(clustered(made.rng, 3000, 64), "--plan", 4, "--block-size", "1K", "--recipe", "simhash, Größe 64")


def make_dense(made: Maker) -> None:
    made.build([(0xABCDEF0000000000 + i, i // 3) for i in range(9000)], "--plan", 2, "--block-size", "64K")


def make_ends(made: Maker) -> None:
    fingerprints = [0, 1, 2**63 - 1, 2**63, MOST - 1, MOST]
    made.build([(fingerprint, number) for fingerprint in fingerprints for number in (0, 1, MOST - 1, MOST)], "--block-size", 256)


def make_repeated(made: Maker) -> None:
    """A fingerprint whose ids fill many blocks."""
    records: list[Record] = [(0x5555555555555555, i) for i in range(4000)]
    made.build(records + [(made.rng.getrandbits(64), i) for i in range(50)], "--plan", 4, "--block-size", 256)


def make_segments(made: Maker) -> None:
    """Records are added, removed and added again."""
    records = clustered(made.rng, 1500, 20)
    made.build(records[:700], "--plan", 4, "--block-size", 256, "--recipe", "by segments")
    made.add(records[700:1000])
    made.remove(made.rng.sample(records[:1000], 300))
    made.add(made.rng.sample(records[:700], 200) + records[1000:])
    made.remove(made.rng.sample(made.ordered(), 100))


def make_ten_tables(made: Maker) -> None:
    made.build(uniform(made.rng, 400), "--no-ids", "--plan", "5c2", "--block-size", 256)


def make_sixteen_tables(made: Maker) -> None:
    made.build(clustered(made.rng, 300, 8), "--plan", "4c1/4c1", "--block-size", 256)


def make_distance_0(made: Maker) -> None:
    made.build(clustered(made.rng, 500, 12), "--block-size", 256)


def make_distance_7(made: Maker) -> None:
    made.build(clustered(made.rng, 500, 12), "--plan", "16:1,16:1,16:1,16:1", "--block-size", 256)


def make_distance_16(made: Maker) -> None:
    made.build(clustered(made.rng, 500, 33), "--block-size", "2K")


def make_wide_example(made: Maker) -> None:
    """The store of sstore-format.md, section 16.5."""
    made.records = {(of_words(words), None) for words in ([1, 0xD9], [1, 0xDB], [1 << 63, 0xD9])}
    words = [WordPlan(radius, [(MOST, radius)]) for radius in (0, 2)]
    made.write(Options(made.bits, made.k, has_ids=False, block_size=256), [Part(0, made.ordered(), words=words)])


def make_wide_ids(made: Maker) -> None:
    """Several blocks of table 0 have the same key."""
    records = clustered(made.rng, 60, 12, made.bits)
    word = made.rng.getrandbits(64)
    records += [(of_words([word, made.rng.getrandbits(64)]), i) for i in range(50)]
    made.build(records, "--block-size", 256, "--recipe", "wide, recipe")


def make_wide_segments(made: Maker) -> None:
    """Records are added, removed and added again."""
    records = clustered(made.rng, 700, 20, made.bits)
    made.build(records[:400], "--block-size", 256)
    made.add(records[400:500])
    made.remove(made.rng.sample(records[:500], 120))
    made.add(made.rng.sample(records[:400], 80) + records[500:])
    made.remove(made.rng.sample(made.ordered(), 60))


def make_wide_constant(made: Maker) -> None:
    """Word 0 is the same in all fingerprints, and word 2 has two values."""
    word, pair = made.rng.getrandbits(64), [made.rng.getrandbits(64) for _ in range(2)]
    near = [words_of(fingerprint, made.bits) for fingerprint, _ in clustered(made.rng, 500, 1, made.bits)]
    records = {of_words([word, first, made.rng.choice(pair), second]) for _, first, _, second in near}
    made.build([(fingerprint, None) for fingerprint in sorted(records)], "--no-ids", "--block-size", "1K")


def make_wide_long(made: Maker) -> None:
    made.build(clustered(made.rng, 16, 64, made.bits), "--block-size", 256)


def make_wide_emptied(made: Maker) -> None:
    records: list[Record] = [(made.rng.getrandbits(made.bits), i) for i in range(20)]
    made.build(records, "--block-size", 256)
    made.remove(records)


def make_wide_plans(made: Maker) -> None:
    """Each segment has other radii and plans of its words; some words have none of the store's distance."""
    upper, lower = MOST ^ MOST >> 32, MOST >> 32
    quarters = [(0xFFFF << 48 >> 16 * quarter, 0) for quarter in range(4)]
    halves = [(upper, 1), (lower, 1)]
    records = clustered(made.rng, 400, 20, made.bits)
    first, second = records[:250], records[250:]
    gone = made.rng.sample(first, 80)
    parts = [
        Part(0, first, words=[WordPlan(3, quarters), WordPlan(-1, [(MOST, 0)]), WordPlan(3, halves)]),
        Part(1, gone),
        Part(0, second, words=[WordPlan(-1, [(1 << 63, 0)]), WordPlan(7, [(MOST, 7)]), WordPlan(0, [(upper, 0)])]),
        Part(0, gone[:30], words=[WordPlan(2, [(MOST, 2)]), WordPlan(2, halves), WordPlan(1, [(upper, 0), (lower, 0)])]),
    ]
    made.write(Options(made.bits, made.k, has_ids=True, block_size=512), parts)
    made.records = set(records) - set(gone[30:])


def make_id_index(made: Maker) -> None:
    made.build([(0xD9, 1), (0xDB, 2), (0xDB, 7)], "--block-size", 256, "--plan", 1, "--id-index")


def make_id_index_segments(made: Maker) -> None:
    """Records are added, removed and added again. Ids of several records fill more than a block of the index."""
    records = clustered(made.rng, 900, 6)
    made.build(records[:600], "--plan", 4, "--block-size", 256, "--id-index")
    made.add(records[600:])
    made.remove(made.rng.sample(records, 200))
    made.add(made.rng.sample(records[:600], 100))


def make_wide_id_index(made: Maker) -> None:
    """Ids of 64 bits, some of several records; the segment that was added has a packed index."""
    made.build(clustered(made.rng, 150, 3, made.bits) + clustered(made.rng, 50, 64, made.bits), "--block-size", 256, "--id-index")
    made.add(clustered(made.rng, 100, 20, made.bits))
    made.remove(made.rng.sample(made.ordered(), 60))


FRAGMENTS = [b"/page/", b"page", b".html\n", b"\n", b"e", b"1", b"xxxxxxxx"]


def make_names(made: Maker) -> None:
    """Two records have the same id, and two ids the same name."""
    records: list[Record] = [(0xD9, 1), (0xDB, 1), (0xDB, 2), (0xFF, 7)]
    names = {1: b"/page/1.html", 2: b"/page/2.html", 7: b"/page/1.html"}
    part = Part(0, records, [(MOST, 3)], names=names, fragments=FRAGMENTS)
    made.write(Options(made.bits, made.k, True, 256, id_index=True, has_names=True), [part])
    made.records = set(records)


def make_names_segments(made: Maker) -> None:
    """Groups of names, ids far apart, names that are longer than blocks, and any bytes, in segments that add and remove."""
    records = clustered(made.rng, 300, 12)
    names = {record_id: b"/page/%d/%s.html" % (record_id % 9, b"x" * (record_id % 30)) for _, record_id in records}
    for record_id in made.rng.sample(sorted(names), 40):
        size = made.rng.choice([1, 3, 100, 250, 700, 65536])
        names[record_id] = bytes(made.rng.choice([*range(1, 10), *range(11, 256)]) for _ in range(min(size, 3000)))
    names[max(names)] = b"y" * 65536
    first, second, gone = records[:200], records[200:], records[:50]
    parts = [
        Part(0, first, [(MOST, 3)], names=names, fragments=FRAGMENTS),
        Part(1, gone, [(MOST, 3)]),
        Part(0, second + gone[:10], [(MOST, 3)], names=names),
    ]
    made.write(Options(made.bits, made.k, True, 256, id_index=True, has_names=True), parts)
    made.records = set(records) - set(gone[10:])


MAKERS: list[tuple[str, int, int, Callable[[Maker], None]]] = [
    ("one", 64, 3, make_one),
    ("two", 64, 3, make_two),
    ("example", 64, 3, make_example),
    ("recipe", 64, 3, make_recipe),
    ("empty", 64, 3, make_empty),
    ("emptied", 64, 3, make_emptied),
    ("groups", 64, 3, make_groups),
    ("whole-groups", 64, 3, make_whole_groups),
    ("one-over", 64, 3, make_one_over),
    ("halves", 64, 3, make_halves),
    ("uniform", 64, 3, make_uniform),
    ("assigned", 64, 3, make_assigned),
    ("clustered", 64, 3, make_clustered),
    ("dense", 64, 3, make_dense),
    ("ends", 64, 3, make_ends),
    ("repeated", 64, 3, make_repeated),
    ("segments", 64, 3, make_segments),
    ("ten-tables", 64, 3, make_ten_tables),
    ("sixteen-tables", 64, 3, make_sixteen_tables),
    ("distance-0", 64, 0, make_distance_0),
    ("distance-7", 64, 7, make_distance_7),
    ("distance-16", 64, 16, make_distance_16),
    ("wide-example", 128, 3, make_wide_example),
    ("wide-ids", 128, 3, make_wide_ids),
    ("wide-segments", 128, 5, make_wide_segments),
    ("wide-constant", 256, 3, make_wide_constant),
    ("wide-long", 1024, 20, make_wide_long),
    ("wide-emptied", 192, 0, make_wide_emptied),
    ("wide-plans", 192, 7, make_wide_plans),
    ("id-index", 64, 3, make_id_index),
    ("id-index-segments", 64, 3, make_id_index_segments),
    ("wide-id-index", 128, 3, make_wide_id_index),
    ("names", 64, 3, make_names),
    ("names-segments", 64, 3, make_names_segments),
]


def without_origin(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """An archive keeps no time, owner or mode of the machine that made it."""
    info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
    info.mode = 0o755 if info.isdir() else 0o644
    return info


def pack(store: Path, archive: Path) -> None:
    with open(archive, "xb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            tar.add(store, store.name, filter=without_origin)


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for name, bits, k, make in MAKERS:
        archive = HERE / f"{name}.tar.gz"
        if archive.exists():
            continue
        with tempfile.TemporaryDirectory() as folder:
            made = Maker(name, k, bits, Path(folder) / f"{name}.store")
            make(made)
            pack(made.path, archive)
        print(archive.name)
