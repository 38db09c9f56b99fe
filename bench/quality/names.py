"""The settings of fingerprints that are measured: their names, and the options of `sstore fingerprint`."""

import dataclasses

WEIGHTS = ["frequency", "sublinear", "presence"]
FEATURES = [("words", count) for count in (1, 2, 3)] + [("chars", count) for count in (2, 3, 4, 5)]
BITS = [64, 128, 256, 512]
# What is not said by a name, and no option: of each hash its bits, weights, and words of a feature.
DEFAULTS = {"simhash": (64, "sublinear", 1), "minhash": (256, "presence", 2)}
CHARACTERS = 4
# What is added to plain settings: its name and options.
MORE = {
    "idf": ["--idf", "IDF"],
    "stop words": ["--stop-words", "STOP"],
    "ICU": ["--segment", "icu"],
}
SHOWN = {"IDF": "texts.idf", "STOP": "frequent"}


@dataclasses.dataclass(frozen=True)
class Setting:
    hash: str
    bits: int
    features: str
    shingle: int
    weights: str
    more: str = ""

    def __str__(self) -> str:
        weights = [self.weights] if self.weights != DEFAULTS[self.hash][1] or self.hash == "simhash" else []
        parts = [f"{self.hash} {self.bits}", f"{self.features} {self.shingle}", *weights, *filter(None, [self.more])]
        return ", ".join(parts)

    def features_options(self) -> list[str]:
        return ["--features", self.features, "--shingle", str(self.shingle)]

    def options(self) -> list[str]:
        """All of them, with words for files that are learned."""
        plain = [*self.features_options(), "--weights", self.weights, "--bits", str(self.bits)]
        hashed = ["--hash", "minhash"] if self.hash == "minhash" else []
        return plain + hashed + MORE.get(self.more, [])

    def shown(self) -> str:
        """Those that are no defaults, as one writes them."""
        bits, weights, words = DEFAULTS[self.hash]
        shown = ["--hash minhash"] if self.hash == "minhash" else []
        shown += [] if self.bits == bits else [f"--bits {self.bits}"]
        shown += [] if self.features == "words" else [f"--features {self.features}"]
        shown += (
            [] if self.shingle == (words if self.features == "words" else CHARACTERS) else [f"--shingle {self.shingle}"]
        )
        shown += [] if self.weights == weights else [f"--weights {self.weights}"]
        shown += [SHOWN.get(option, option) for option in MORE.get(self.more, [])]
        return f"`{' '.join(shown)}`" if shown else "the defaults"


def simhash(features: str, shingle: int, weights: str = "sublinear", more: str = "", bits: int = 64) -> Setting:
    return Setting("simhash", bits, features, shingle, weights, more)


def minhash(bits: int, features: str = "words", shingle: int = 2, weights: str = "presence", more: str = "") -> Setting:
    return Setting("minhash", bits, features, shingle, weights, more)


SIMHASH, MINHASH_64, MINHASH = simhash("words", 1), minhash(64, weights="frequency"), minhash(256)
GRID = [simhash(*features, weights) for features in FEATURES for weights in WEIGHTS]
GRID += [minhash(bits, *features) for bits in BITS for features in FEATURES]
LEARNED = [
    *(simhash("words", 1, weights, more) for weights in ("sublinear", "frequency") for more in MORE),
    *(simhash("words", 2, more="idf"), simhash("chars", 3, more="idf")),
]
OTHERS = [
    *(simhash("words", count, bits=128) for count in (1, 2)),
    *(minhash(bits, weights="frequency") for bits in (64, 128, 256)),
    *(minhash(256, shingle=count, more="ICU") for count in (1, 2)),
    minhash(256, more="stop words"),
]
SETTINGS = GRID + LEARNED + OTHERS
# Of these, tables tell by length, edits and kind of text.
COMPARED = [SIMHASH, simhash("words", 1, more="idf"), MINHASH_64, minhash(128), MINHASH, minhash(512)]
# Of these, a table tells by kind of text and length; the longer the feature, the fewer of a short text.
BY_LENGTH = [
    *COMPARED,
    *(simhash("words", 1, weights) for weights in ("frequency", "presence")),
    *(simhash("chars", count) for count in (2, 3)),
    *(simhash("words", 1, "frequency", "ICU"), simhash("chars", 2, "frequency")),
    *(minhash(256, "words", 1), minhash(512, "words", 1), minhash(256, "words", 3), minhash(512, "words", 3)),
    *(minhash(256, "chars", count) for count in (2, 3, 4)),
    *(minhash(256, shingle=1, more="ICU"), minhash(512, "chars", 3), minhash(64, "words", 1), minhash(64)),
]
# What `sstore dedup` does: MinHashes find pairs, and the documents confirm them. The distance of MINHASH that finds a
# similarity, in hundredths.
CONFIRMED = f"{MINHASH}, confirmed"
DISTANCES = {70: 52, 80: 37, 90: 22}
# The distances at which those that are compared are shown.
AT = {SIMHASH: 3, simhash("words", 1, more="idf"): 5, MINHASH_64: 8, minhash(128): 18, MINHASH: 40, minhash(512): 84}

# Those that are tried with many pairs, and at which distances.
MANY = [
    *((SIMHASH, [3, 5]), (simhash("words", 1, more="idf"), [3, 5]), (simhash("words", 1, "frequency"), [3])),
    *((MINHASH_64, [8]), (minhash(64), [8]), (minhash(128), [18]), (MINHASH, [40]), (minhash(512), [84])),
]

ALL = ["titles", "descriptions", "english", "chinese", "licences", "sources"]
LENGTHS = ["5-10", "10-25", "25-50", "50-100", "100-200", "200-1000", ">1000"]
LONG, MIDDLE, BRIEF = LENGTHS[5:], LENGTHS[2:5], LENGTHS[:2]
# Text, what is wanted, its corpora, its lengths, and the setting and distance that are recommended for it.
ADVICE = [
    ("any, 200 words or more", "nearly all", ALL, LONG, MINHASH, 40),
    ("the same", "half the bytes", ALL, LONG, minhash(128), 18),
    ("the same", "8 bytes", ALL, LONG, MINHASH_64, 8),
    ("the same", "8 bytes, most queries a second", ALL, LONG, SIMHASH, 3),
    ("any, 25 to 200 words", "nearly all", ALL, MIDDLE, MINHASH, 40),
    ("the same", "8 bytes", ALL, MIDDLE, MINHASH_64, 7),
    ("sentences, 5 to 25 words", "as many as can be", ["english"], BRIEF, minhash(256, "chars", 4), 26),
    ("titles, 5 to 25 words", "as many as can be", ["titles"], BRIEF, minhash(256, shingle=1), 30),
    ("Chinese, 10 to 50 characters", "nearly all", ["chinese"], BRIEF, minhash(512, "chars", 3), 100),
]


def max_distance(bits: int) -> int:
    """Up to which distances are counted."""
    return bits * 3 // 8


def steps(bits: int) -> list[int]:
    """The distances up to which pairs are counted: each, or with many bits some."""
    return list(range(0, max_distance(bits) + 1, max(1, bits // 128)))
