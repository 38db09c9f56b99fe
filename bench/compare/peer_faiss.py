#!/usr/bin/python3
"""faiss as a side of compare.py: builds an index in memory, then does what the lines of standard input say, one thread.

    peer_faiss.py INDEX DATA DISTANCE
      ready SECONDS BYTES      printed once the index is built: how long that took, and by how much resident memory grew
      time QUERIES             -> time US MATCHES: microseconds a query; one range_search in C++ for all of them
      list QUERIES OUT         -> list MATCHES: OUT gets (query, id, distance) of each, as little-endian 64-bit numbers
"""
import sys
import time

import faiss
import numpy

# The radius of faiss's range_search is exclusive, so it gets the distance plus one. The flips for which an index is exact at a
# distance: fingerprints that differ in k bits differ in at most k / n bits of one of n hashes.
INDEXES = {
    "multihash-2x32": lambda distance: multi_hash(2, 32, distance // 2),
    "multihash-4x16": lambda distance: multi_hash(4, 16, distance // 4),
    "hash-24": lambda distance: single_hash(24, distance),
    "flat": lambda distance: faiss.IndexBinaryFlat(64),
}


def multi_hash(hashes, bits, flips):
    index = faiss.IndexBinaryMultiHash(64, hashes, bits)
    index.nflip = flips
    return index


def single_hash(bits, flips):
    index = faiss.IndexBinaryHash(64, bits)
    index.nflip = flips
    return index


def read_codes(path):
    return numpy.fromfile(path, dtype=numpy.uint8).reshape(-1, 8)


def resident_bytes():
    """RssAnon + RssFile, as the memory of the other sides is counted."""
    with open("/proc/self/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return sum(int(lines[name].split()[0]) * 1024 for name in ("RssAnon", "RssFile"))


def build(kind, codes, distance):
    warmed = INDEXES[kind](distance)  # code is paged in before memory is looked at
    warmed.add(codes[:1000])
    del warmed
    before = resident_bytes()
    begin = time.perf_counter()
    index = INDEXES[kind](distance)
    index.add(codes)
    return index, time.perf_counter() - begin, resident_bytes() - before


def search(index, queries, distance):
    """All in C++, and nothing copied into Python."""
    result = faiss.RangeSearchResult(len(queries))
    begin = time.perf_counter()
    index.range_search_c(len(queries), faiss.swig_ptr(queries), distance + 1, result)
    return result, time.perf_counter() - begin


def list_matches(index, queries, distance):
    limits, distances, ids = index.range_search(queries, distance + 1)
    query = numpy.repeat(numpy.arange(len(queries), dtype=numpy.uint64), numpy.diff(limits.astype(numpy.int64)))
    return numpy.column_stack((query, ids.astype(numpy.uint64), distances.astype(numpy.uint64)))


def serve(index, distance):
    for line in sys.stdin:
        command, path, *more = line.split()
        queries = read_codes(path)
        if command == "time":
            result, seconds = search(index, queries, distance)
            matches = int(faiss.rev_swig_ptr(result.lims, len(queries) + 1)[-1])
            print("time", seconds * 1e6 / len(queries), matches, flush=True)
        else:
            matches = list_matches(index, queries, distance)
            matches.astype("<u8").tofile(more[0])
            print("list", len(matches), flush=True)


def main():
    kind, data, distance = sys.argv[1], sys.argv[2], int(sys.argv[3])
    faiss.omp_set_num_threads(1)
    index, seconds, memory = build(kind, read_codes(data), distance)
    print("ready", seconds, memory, flush=True)
    serve(index, distance)


if __name__ == "__main__":
    main()
