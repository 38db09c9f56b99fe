"""Fingerprints of texts, written from fingerprint.md alone. To be read, not to be fast.

Unicode's tables are those of Python, which may be of another version than the recipe's.
"""

import collections
import ctypes
import dataclasses
import functools
import html.entities
import math
import pathlib
import re
import struct
import sys
import unicodedata

sys.path.append(str(pathlib.Path(__file__).parent.parent / "decoder"))
from xxh3 import xxh3_64, xxh3_128  # noqa: E402

# ----- markup -----

INLINE = set("a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark nobr s samp small span strike "
             "strong sub sup time tt u var wbr".encode().split())
DROPPED = set(b"iframe noembed noframes script style template".split())
COMMENT = re.compile(rb"<!--(?:-?>|.*?(?:--!?>|\Z))", re.S)
CDATA = re.compile(rb"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.S)
DECLARATION = re.compile(rb"<[!?][^>]*>?")
NAME = re.compile(rb"</?([A-Za-z][^\t\n\f\r />]*)")
SKIPPED = re.compile(rb"[\t\n\f\r /]*")
ATTRIBUTE = re.compile(rb"""[\x00-\xff][^\t\n\f\r />=]*[\t\n\f\r ]*"""
                       rb"""(?:=[\t\n\f\r ]*(?:"[^"]*(?:"|\Z)|'[^']*(?:'|\Z)|(?!["'])[^\t\n\f\r >]*))?""")
REFERENCE = re.compile(rb"&(?:#(?:[xX]([0-9a-fA-F]+)|([0-9]+));?|([A-Za-z0-9]+);)")
# What the HTML standard calls them; their names are those of HTML 4.
NAMED = {name.encode(): html.entities.html5[f"{name};"] for name in [*html.entities.name2codepoint, "apos"]}


def end_of_tag(data: bytes, at: int) -> tuple[int, bool]:
    """Where a tag ends whose name ends here, and whether it is empty."""
    while True:
        skipped = SKIPPED.match(data, at)
        assert skipped
        at = skipped.end()
        if at == len(data) or data[at : at + 1] == b">":
            return min(at + 1, len(data)), skipped.group().endswith(b"/")
        attribute = ATTRIBUTE.match(data, at)
        assert attribute
        at = attribute.end()


def take_tag(data: bytes, tag: re.Match[bytes]) -> tuple[int, bytes]:
    """Where a tag ends, with what is dropped with it, and what replaces it."""
    name, is_start = tag.group(1).lower(), not tag.group().startswith(b"</")
    at, is_empty = end_of_tag(data, tag.end())
    if name in DROPPED and is_start and not is_empty:
        close = re.compile(rb"</" + name + rb"(?=[\t\n\f\r />])", re.I).search(data, at)
        at = end_of_tag(data, close.end())[0] if close else len(data)
    return at, b"" if name in INLINE else b"\n"


def character(reference: re.Match[bytes]) -> bytes:
    """What a reference stands for; itself if that is nothing."""
    hexadecimal, decimal, name = reference.groups()
    if name is not None:
        return NAMED[name].encode() if name in NAMED else reference.group()
    number = int(hexadecimal.lstrip(b"0")[:9] or b"0", 16) if hexadecimal else int(decimal.lstrip(b"0")[:9] or b"0")
    if number == 0 or 0xD800 <= number <= 0xDFFF or number > 0x10FFFF:
        return b"\xef\xbf\xbd"
    if 0x80 <= number <= 0x9F:
        try:
            return bytes([number]).decode("cp1252").encode()
        except UnicodeDecodeError:
            pass
    return chr(number).encode()


def without_markup(data: bytes) -> bytes:
    made, at = [], 0
    while at < len(data):
        if tag := NAME.match(data, at):
            at, replaced = take_tag(data, tag)
        elif found := COMMENT.match(data, at):
            at, replaced = found.end(), b""
        elif found := CDATA.match(data, at):
            at, replaced = found.end(), found.group(1)
        elif found := DECLARATION.match(data, at):
            at, replaced = found.end(), b""
        elif (found := REFERENCE.match(data, at)) and (replaced := character(found)) != found.group():
            at = found.end()
        else:
            replaced = data[at : at + 1]
            at += 1
        made.append(replaced)
    return b"".join(made)


# ----- folding: toNFKC_Casefold -----

IGNORED = [(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
           (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
           (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)]


def is_in(code: int, ranges: list[tuple[int, int]]) -> bool:
    return any(first <= code <= last for first, last in ranges)


@functools.lru_cache(None)
def nfkc_cf(character: str) -> str:
    """The property NFKC_Casefold: folded, decomposed and freed of what is ignored, until nothing changes."""
    before, after = "", character
    while after != before:
        before = after
        after = unicodedata.normalize("NFKC", before.casefold())
        after = "".join(c for c in after if not is_in(ord(c), IGNORED))
    return after


def fold(data: bytes) -> str:
    text = unicodedata.normalize("NFD", data.decode("utf-8", "replace"))
    return unicodedata.normalize("NFC", "".join(map(nfkc_cf, text)))


# ----- units -----

SPACELESS = [(0xE00, 0xEFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF), (0x3000, 0x30FF),
             (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA9E0, 0xA9FF), (0xAA60, 0xAADF), (0xF900, 0xFAFF),
             (0x11700, 0x1174F), (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFF)]
WHITE = [(9, 13), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
         (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)]


def runs(text: str) -> list[tuple[str, list[str]]]:
    """The runs of a folded text: "words" or "characters", and their units."""
    found: list[tuple[str, list[str]]] = []
    unit: list[str] = []  # the characters of the open unit, which is the last one of the last run
    alone = False  # the open unit is a character of a script without spaces
    for c in text:
        category = unicodedata.category(c)[0]
        if category not in "LMN":
            unit = []
            continue
        if category != "M":
            was_alone, alone = alone, is_in(ord(c), SPACELESS)
            if alone or was_alone:
                unit = []
        elif not unit:
            alone = False
        if not unit:
            kind = "characters" if alone else "words"
            if not found or found[-1][0] != kind:
                found.append((kind, []))
            found[-1][1].append("")
        unit.append(c)
        found[-1][1][-1] += c
    return found


def icu_pieces(stretch: str, version: str) -> list[str]:
    """The words that ICU finds."""
    major = version.split(".")[0]
    icu = ctypes.CDLL(f"libicuuc.so.{major}")
    code = ctypes.c_int(0)
    units = stretch.encode("utf-16-le")
    open_, next_, close = (getattr(icu, f"ubrk_{name}_{major}") for name in ("open", "next", "close"))
    open_.restype = ctypes.c_void_p
    iterator = ctypes.c_void_p(open_(1, b"root", units, len(units) // 2, ctypes.byref(code)))
    assert code.value <= 0, code.value
    found, begin = [], 0
    while (end := next_(iterator)) != -1:
        found.append(units[2 * begin : 2 * end].decode("utf-16-le"))
        begin = end
    close(iterator)
    return found


def icu_words(text: str, version: str) -> list[str]:
    """The words of a folded text, those of scripts without spaces cut by ICU."""
    parts: list[tuple[bool, str]] = []  # whether it is a stretch, and what it is
    before = ""  # the category before: nothing but words and stretches has one of letters, marks or numbers
    for c in text:
        category = unicodedata.category(c)[0]
        if category in "LMN":
            goes_on = before != "" and before in "LMN"
            stretch = parts[-1][0] if category == "M" and goes_on else category != "M" and is_in(ord(c), SPACELESS)
            if goes_on and parts[-1][0] == stretch and not (stretch and len(parts[-1][1]) == 65536):
                parts[-1] = (stretch, parts[-1][1] + c)
            else:
                parts.append((stretch, c))
        before = category
    return [word for stretch, part in parts for word in (icu_pieces(part, version) if stretch else [part])]


def characters(text: str) -> list[str]:
    spaced = "".join(" " if is_in(ord(c), WHITE) else c for c in text)
    return list(" ".join(word for word in spaced.split(" ") if word != ""))


# ----- features -----


def shingles(units: list[str], n: int, between: str) -> list[str]:
    return [between.join(units[i : i + n]) for i in range(max(len(units) - n + 1, 1))] if units else []


@dataclasses.dataclass
class Frequencies:
    """A table of document frequencies."""

    documents: int
    counts: dict[int, int]  # by the feature's hash
    checksum: int = 0
    levels: int = 0

    def factor(self, hashed: int) -> float:
        def rarity(count: int) -> int:  # in units of 2^-20
            return round(math.log2((self.documents + 1) / count) * 2**20)

        found = rarity(self.counts.get(hashed, 1))
        return min(found * self.levels // rarity(1) + 1, self.levels) if self.levels else found / 2**20


@dataclasses.dataclass
class Lexicon:
    stop_words: set[str] = dataclasses.field(default_factory=set)  # folded
    weights: dict[str, float] = dataclasses.field(default_factory=dict)  # by the feature
    frequencies: Frequencies | None = None

    def factor(self, feature: str) -> float:
        if feature in self.weights:
            return round(self.weights[feature] * 2**20) / 2**20
        return self.frequencies.factor(xxh3_64(feature.encode())) if self.frequencies else 1.0

    def fields(self) -> tuple[str, str]:
        """What recipes say after the shingle, and after the weights."""

        def total(items: list[bytes]) -> str:
            return f"{sum(map(xxh3_64, items)) % 2**64:016x}"

        stop_words = f" stop-words={total([word.encode() for word in self.stop_words])}" if self.stop_words else ""
        rest = ""
        if self.weights:
            rest += " feature-weights=" + total([struct.pack("<Qq", xxh3_64(feature.encode()), round(weight * 2**20))
                                                 for feature, weight in self.weights.items()])
        if self.frequencies:
            rest += f" idf={self.frequencies.checksum:016x}"
            rest += f" levels={self.frequencies.levels}" if self.frequencies.levels else ""
        return stop_words, rest


def features(data: bytes, kind: str = "words", n: int = 3, markup: str = "none", icu: str = "",
             stop_words: set[str] | None = None) -> list[str]:
    """`icu`: the version of ICU by which words are cut, if they are."""
    text = fold(without_markup(data) if markup == "html" else data)
    if kind == "chars":
        return shingles(characters(text), n, "")
    if icu:
        return shingles([word for word in icu_words(text, icu) if word not in (stop_words or ())], n, " ")
    found = []
    for run, units in runs(text):
        units = [unit for unit in units if unit not in (stop_words or ())]
        found += shingles(units, n, " ") if run == "words" else shingles(units, 2, "")
    return found


def read_frequencies(table: bytes, levels: int = 0) -> tuple[str, Frequencies]:
    """The recipe and the contents of a table."""
    magic, version, recipe_size, documents, count, _, zero = struct.unpack("<8sIIQQQQ", table[:48])
    begin = 48 + -(-recipe_size // 8) * 8
    (checksum,) = struct.unpack("<Q", table[-8:])
    counts = dict(struct.iter_unpack("<QI", table[begin:-8]))
    assert (magic, version, zero, len(counts)) == (b"\x89sstidf\n", 1, 0, count), "the head is wrong"
    assert list(counts) == sorted(counts) and all(2 <= n <= documents for n in counts.values()), "an entry is wrong"
    assert checksum == xxh3_64(table[:-8]), "the checksum is wrong"
    return table[48 : 48 + recipe_size].decode(), Frequencies(documents, counts, checksum, levels)


# ----- simhash -----


def java128(feature: bytes) -> int:
    units = feature.decode("utf-8", "replace").encode("utf-16-le")
    codes = [code for (code,) in struct.iter_unpack("<H", units)]
    hashed = codes[0] * 2**7 if codes else 0
    for code in codes:
        hashed = (hashed * 1000003 ^ code) % 2**128
    return hashed ^ len(codes)


# By the name in recipes: the bits, the hash, and whether a sum of 0 gives a 1.
HASHES = {"xxh3-64": (64, xxh3_64, False), "xxh3-128": (128, xxh3_128, False), "java128": (128, java128, True)}


def simhash(weights: list[tuple[bytes, float]], by: str = "xxh3-64") -> int:
    """The fingerprint of weighted features."""
    bits, hash_of, ties = HASHES[by]
    sums = [0] * bits
    for feature, weight in weights:
        hashed, units = hash_of(feature), round(weight * 2**20)
        for i in range(bits):
            sums[i] += units if hashed >> (bits - 1 - i) & 1 else -units
    return sum((total > 0 or (ties and total == 0)) << (bits - 1 - i) for i, total in enumerate(sums))


# ----- MinHash -----

MASK = 2**64 - 1


def factor(r: int) -> int:
    z = r * 0x9E3779B97F4A7C15 & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return (z ^ z >> 31) | 1


def number(x: int, r: int) -> int:
    product = x * factor(r)
    return (product & MASK) ^ product >> 64 if r > 0 else x


def minhash(counts: dict[bytes, int], bits: int) -> int:
    """The fingerprint of features, each with the number of its occurrences that count."""
    elements = []
    for feature, count in counts.items():
        hashed = xxh3_64(feature)
        elements += [xxh3_64(struct.pack("<QQ", hashed, n)) if n > 1 else hashed for n in range(1, count + 1)]
    bins: list[int | None] = [None] * bits
    for r in range(bits if elements else 0):
        fallen: dict[int, int] = {}
        for x in elements:
            upper, value = divmod(number(x, r), 2**32)
            i = upper * bits >> 32
            fallen[i] = min(value, fallen.get(i, value))
        bins = [fallen.get(i) if value is None else value for i, value in enumerate(bins)]
        if None not in bins:
            break
    if elements:
        bins = [min(number(x, bits + i) % 2**32 for x in elements) if value is None else value
                for i, value in enumerate(bins)]
    return sum(((value or 0) & 1) << (bits - 1 - i) for i, value in enumerate(bins))


def bits_of(by: str) -> int:
    return int(by.partition("-")[2]) if by.startswith("minhash-") else HASHES[by][0]


def written(fingerprint: int, by: str = "xxh3-64") -> str:
    return f"{fingerprint:0{bits_of(by) // 4}x}"


WEIGHTS = {"frequency": float, "sublinear": lambda count: 1 + math.log2(count), "presence": lambda count: 1.0}


def fingerprint(data: bytes, kind: str = "words", n: int = 3, weights: str = "frequency", markup: str = "none",
                icu: str = "", lexicon: Lexicon | None = None, by: str = "xxh3-64") -> int:
    lexicon = lexicon or Lexicon()
    counts = collections.Counter(features(data, kind, n, markup, icu, lexicon.stop_words))
    if by.startswith("minhash-"):
        occurrences = {f.encode(): count if weights == "frequency" else 1 for f, count in counts.items()}
        return minhash(occurrences, bits_of(by))
    weighted = [(feature, WEIGHTS[weights](count) * lexicon.factor(feature)) for feature, count in counts.items()]
    return simhash([(feature.encode(), max(-(2.0**31), min(2.0**31, weight))) for feature, weight in weighted], by)
