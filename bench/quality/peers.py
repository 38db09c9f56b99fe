#!/usr/bin/env python3
"""Signatures of other tools: peers.py NAME DOCUMENTS OUTPUT reads JSON Lines and writes an array of NumPy.

Each tool runs in a process of its own, since several of them are modules named simhash. Fingerprints are 64-bit words,
one a document. Signatures of MinHash are rows of numbers. The pairs that an index finds are rows of three: two
documents, and the number of the threshold. Those of a pipeline are rows of two.
"""

import collections
import dataclasses
import functools
import json
import math
import pathlib
import re
import sys
from collections.abc import Callable

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "format-spec" / "fingerprint"))
import fingerprint  # noqa: E402


def features(text, kind, count):
    """Those that sstore takes."""
    return fingerprint.features(text.encode(), kind, count)


def words(text):
    return features(text, "words", 1)


def as_array(values):
    return numpy.array(values, dtype=numpy.uint64)


def simhash_default(texts):
    from simhash import Simhash

    return as_array([Simhash(text).value for text in texts])


def simhash_same(texts):
    from simhash import Simhash

    counts = [collections.Counter(words(text)) for text in texts]
    return as_array([Simhash({word: 1 + math.log2(n) for word, n in count.items()}).value for count in counts])


def python_simhash(texts):
    from simhash import simhash

    return as_array([simhash(text.split(), hasher="xxh3") for text in texts])


def simhash_pybind(texts):
    import simhash

    found = []
    for text in texts:
        tokens = re.findall(r"\w+", text.lower())
        parts = simhash.shingle(tokens) if len(tokens) >= 4 else [tokens]
        found.append(simhash.compute([simhash.unsigned_hash(" ".join(part).encode()) for part in parts]))
    return as_array(found)


def gaoya_simhash(texts):
    from gaoya.simhash import SimHashStringIndex

    index = SimHashStringIndex().index
    return as_array([index.doc2signature(text) for text in texts])


def text_dedup_simhash(texts):
    from text_dedup.simhash import embed_func
    from text_dedup.utils import xxh3_64_digest

    made = [embed_func(text, 0, ngram=3, permutations=[], hash_func=xxh3_64_digest) for text in texts]
    return as_array([int.from_bytes(one["__signature__"], "big") for one in made])


def signatures(texts, kind="words", count=2, hashes=128):
    from datasketch import MinHash

    sets = [[feature.encode() for feature in set(features(text, kind, count))] for text in texts]
    return MinHash.bulk(sets, num_perm=hashes)


def minhash(texts, count):
    """128 numbers of each document, of features of so many words."""
    return numpy.array([one.hashvalues for one in signatures(texts, count=count)])


THRESHOLDS = [0.5, 0.7, 0.8]


def minhash_index(texts, hashes):
    """datasketch's index, of pairs of words."""
    from datasketch import MinHashLSH

    made, found = signatures(texts, hashes=hashes), []
    for step, threshold in enumerate(THRESHOLDS):
        index = MinHashLSH(threshold=threshold, num_perm=hashes)
        for number, signature in enumerate(made):
            index.insert(number, signature)
        found += pairs(((number, index.query(signature)) for number, signature in enumerate(made)), step)
    return numpy.array(found)


def gaoya_minhash(texts):
    """gaoya's index as it comes: 100 hashes of 32 bits, threshold 0.75, over words."""
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex()
    for number, text in enumerate(texts):
        index.insert_document(number, text)
    return numpy.array(pairs(((number, index.query(text)) for number, text in enumerate(texts)), 0))


def rensa(texts, name):
    """128 numbers of 32 bits of each document, of pairs of words."""
    import rensa

    found = []
    for text in texts:
        made = getattr(rensa, name)(num_perm=128, seed=42)
        made.update(sorted(set(features(text, "words", 2))))
        found.append(made.digest())
    return numpy.array(found)


def text_dedup_minhash(texts):
    """The bands of text-dedup as it comes: 5 words, 250 hashes of 32 bits, threshold 0.7."""
    from text_dedup import minhash as tool

    hashes, bits = 250, numpy.uint32
    bands, rows = tool.optimal_param(0.7, hashes, 0.5, 0.5)
    prime, numbers = numpy.uint64((1 << 61) - 1), tool.RNG
    permutations = (
        numbers.randint(1, prime, size=hashes, dtype=numpy.uint64),
        numbers.randint(0, prime, size=hashes, dtype=numpy.uint64),
    )
    made = [
        tool.embed_func(
            text,
            number,
            num_perm=hashes,
            ngram_size=5,
            min_length=5,
            hashranges=[(band * rows, band * rows + rows) for band in range(bands)],
            permutations=permutations,
            hash_func=tool.sha1_hash,
            dtype=numpy.uint64,
            max_hash=bits((1 << 32) - 1),
            modulo_prime=prime,
        )[tool.SIGNATURE_COLUMN]
        for number, text in enumerate(texts)
    ]
    return numpy.array([(*pair, 0) for pair in banded(made)])


def banded(made):
    """The pairs of documents that have the same value in a band."""
    found = set()
    for band in zip(*made):
        same = collections.defaultdict(list)
        for number, value in enumerate(band):
            same[value].append(number)
        found |= {(one, other) for alike in same.values() for one in alike for other in alike if one < other}
    return sorted(found)


def pairs(answers, step):
    return sorted({(number, other, step) for number, others in answers for other in others if number < other})


@dataclasses.dataclass(frozen=True)
class Peer:
    folder: str
    kind: str  # bits of a fingerprint, rows of numbers, or pairs
    own: int | str  # the distance that it comes with
    bytes: int  # of a signature
    features: str
    made: Callable
    thresholds: tuple[float, ...] = ()


PEERS = {
    "simhash": Peer("simhash", "bits", 2, 8, "4 characters, frequency", simhash_default),
    "simhash, same features": Peer("simhash", "bits", 2, 8, "1 word, sublinear", simhash_same),
    "python-simhash": Peer("python-simhash", "bits", "", 8, "1 word, frequency", python_simhash),
    "simhash-pybind (simhash-py)": Peer("simhash-pybind", "bits", 3, 8, "4 words, frequency", simhash_pybind),
    "gaoya SimHash": Peer("gaoya", "bits", 5, 8, "1 word, frequency", gaoya_simhash),
    "text-dedup SimHash": Peer("text-dedup", "bits", 3, 8, "3 characters, presence", text_dedup_simhash),
    "datasketch MinHash, 1 word": Peer("datasketch", "rows", "", 512, "1 word", functools.partial(minhash, count=1)),
    "datasketch MinHash": Peer("datasketch", "rows", "", 512, "2 words", functools.partial(minhash, count=2)),
    "datasketch MinHash, 3 words": Peer("datasketch", "rows", "", 512, "3 words", functools.partial(minhash, count=3)),
    "rensa RMinHash": Peer("rensa", "rows", "", 512, "2 words", functools.partial(rensa, name="RMinHash")),
    "rensa CMinHash": Peer("rensa", "rows", "", 512, "2 words", functools.partial(rensa, name="CMinHash")),
    "datasketch MinHashLSH 128": Peer(
        "datasketch", "pairs", "", 512, "2 words", functools.partial(minhash_index, hashes=128), tuple(THRESHOLDS)
    ),
    "datasketch MinHashLSH 256": Peer(
        "datasketch", "pairs", "", 1024, "2 words", functools.partial(minhash_index, hashes=256), tuple(THRESHOLDS)
    ),
    "gaoya MinHash": Peer("gaoya", "pairs", "", 400, "1 word", gaoya_minhash, (0.75,)),
    "text-dedup MinHash": Peer("text-dedup", "pairs", "", 1000, "5 words", text_dedup_minhash, (0.7,)),
}


@dataclasses.dataclass(frozen=True)
class Pipeline:
    """The features, bands and threshold of another one's pipeline. Its hashes here are datasketch's."""

    features: str
    shingle: int
    bands: int
    rows: int
    threshold: float

    def __call__(self, texts):
        made = signatures(texts, self.features, self.shingle, self.bands * self.rows)
        hashes = [one.hashvalues.reshape(self.bands, self.rows) for one in made]
        return numpy.array(banded([[band.tobytes() for band in one] for one in hashes]))


PIPELINES = {
    "datatrove": Pipeline("words", 5, 14, 8, 0.72),
    "text-dedup": Pipeline("words", 5, 25, 10, 0.7),
    "SlimPajama": Pipeline("words", 13, 9, 13, 0.8),
    "NeMo Curator": Pipeline("chars", 24, 20, 13, 0.8),
}


def main():
    _, name, documents, output = sys.argv
    texts = [json.loads(line)["text"] for line in open(documents, encoding="utf-8")]
    made = PIPELINES[name] if name in PIPELINES else PEERS[name].made
    numpy.save(output, made(texts))


if __name__ == "__main__":
    main()
