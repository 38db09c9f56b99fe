#!/usr/bin/env python3
"""Signatures of other tools: peers.py NAME DOCUMENTS OUTPUT reads JSON Lines and writes an array of NumPy.

Each tool runs in a process of its own, since several of them are modules named simhash. Fingerprints are 64-bit words,
one a document. Signatures of MinHash are rows of numbers. The pairs that an index finds by itself are rows of two.
"""

import collections
import json
import math
import re
import sys
import unicodedata

import numpy

PERMUTATIONS = 128
RUNS = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+|[^\W_\u3400-\u4dbf\u4e00-\u9fff]+")


def words(text):
    """Those that sstore takes: runs of letters and numbers, and all pairs of successive Chinese characters."""
    found = []
    for run in RUNS.findall(unicodedata.normalize("NFKC", text).casefold()):
        if "\u3400" <= run[0] <= "\u9fff" and len(run) > 1:
            found += [run[place : place + 2] for place in range(len(run) - 1)]
        else:
            found.append(run)
    return found


def shingles(text, count):
    found = words(text)
    return [" ".join(found[place : place + count]) for place in range(max(1, len(found) - count + 1))]


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


def signatures(texts, features):
    from datasketch import MinHash

    sets = [[feature.encode() for feature in set(features(text))] for text in texts]
    return numpy.array([one.hashvalues for one in MinHash.bulk(sets, num_perm=PERMUTATIONS)])


def minhash_words(texts):
    return signatures(texts, words)


def minhash_shingles(texts):
    return signatures(texts, lambda text: shingles(text, 3))


def minhash_index(texts):
    """datasketch's index as it comes: 128 permutations, threshold 0.9, over the words between white space."""
    from datasketch import MinHash, MinHashLSH

    made = MinHash.bulk([[word.encode() for word in text.split()] for text in texts], num_perm=PERMUTATIONS)
    index = MinHashLSH()
    for number, signature in enumerate(made):
        index.insert(number, signature)
    return pairs((number, index.query(signature)) for number, signature in enumerate(made))


def gaoya_minhash(texts):
    """gaoya's index as it comes: 100 hashes of 32 bits, threshold 0.75, over words."""
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex()
    for number, text in enumerate(texts):
        index.insert_document(number, text)
    return pairs((number, index.query(text)) for number, text in enumerate(texts))


def pairs(answers):
    found = [(number, other) for number, others in answers for other in others if number < other]
    return numpy.array(sorted(set(found)), dtype=numpy.int64).reshape(-1, 2)


# Name: folder of the tool, kind, distance that it comes with, bytes of a signature, its features, and the function.
PEERS = {
    "simhash": ("simhash", "bits", 2, 8, "4 characters, frequency", simhash_default),
    "simhash, same features": ("simhash", "bits", 2, 8, "1 word, sublinear", simhash_same),
    "python-simhash": ("python-simhash", "bits", None, 8, "1 word, frequency", python_simhash),
    "simhash-pybind (simhash-py)": ("simhash-pybind", "bits", 3, 8, "4 words, frequency", simhash_pybind),
    "gaoya SimHash": ("gaoya", "bits", 5, 8, "1 word, frequency", gaoya_simhash),
    "text-dedup SimHash": ("text-dedup", "bits", 3, 8, "3 characters, presence", text_dedup_simhash),
    "datasketch MinHash": ("datasketch", "rows", None, 512, "1 word", minhash_words),
    "datasketch MinHash, shingles": ("datasketch", "rows", None, 512, "3 words", minhash_shingles),
    "datasketch MinHashLSH": ("datasketch", "pairs", None, 512, "1 word, threshold 0.9", minhash_index),
    "gaoya MinHash": ("gaoya", "pairs", None, 400, "1 word, threshold 0.75", gaoya_minhash),
}


def main():
    _, name, documents, output = sys.argv
    texts = [json.loads(line)["text"] for line in open(documents, encoding="utf-8")]
    numpy.save(output, PEERS[name][5](texts))


if __name__ == "__main__":
    main()
