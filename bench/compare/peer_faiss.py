#!/usr/bin/python3
"""faiss as a side of compare.py: builds an index in memory, then does what the lines of standard input say, one thread.

    peer_faiss.py INDEX DATA DISTANCE BITS
      ready SECONDS BYTES      printed once the index is built: how long that took, and by how much resident memory grew
      time QUERIES             -> time US MATCHES: microseconds a query; one range_search in C++ for all of them
      list QUERIES OUT         -> list MATCHES: OUT gets (query, id, distance) of each, as little-endian 64-bit numbers
"""
import re
import sys
import time

import faiss
import numpy

from peer_common import read_codes, resident_bytes


def empty_index(kind, bits, distance):
    """multihash-NxB, hash-B or flat, with the flips with which it is exact at a distance: fingerprints that differ in k
    bits differ in at most k / n bits of one of n hashes."""
    if kind == "flat":
        return faiss.IndexBinaryFlat(bits)
    count, hash_bits = re.fullmatch(r"(?:multihash-(\d+)x|hash-)(\d+)", kind).groups()
    if count is None:
        index = faiss.IndexBinaryHash(bits, int(hash_bits))
    else:
        index = faiss.IndexBinaryMultiHash(bits, int(count), int(hash_bits))
    index.nflip = distance // int(count or 1)
    return index


def build(kind, codes, bits, distance):
    warmed = empty_index(kind, bits, distance)  # code is paged in before memory is looked at
    warmed.add(codes[:1000])
    del warmed
    before = resident_bytes()
    begin = time.perf_counter()
    index = empty_index(kind, bits, distance)
    index.add(codes)
    return index, time.perf_counter() - begin, resident_bytes() - before


def search(index, queries, distance):
    """All in C++, and nothing copied into Python. Its radius is exclusive, so it gets the distance plus one."""
    result = faiss.RangeSearchResult(len(queries))
    begin = time.perf_counter()
    index.range_search_c(len(queries), faiss.swig_ptr(queries), distance + 1, result)
    return result, time.perf_counter() - begin


def list_matches(index, queries, distance):
    limits, distances, ids = index.range_search(queries, distance + 1)
    query = numpy.repeat(numpy.arange(len(queries), dtype=numpy.uint64), numpy.diff(limits.astype(numpy.int64)))
    return numpy.column_stack((query, ids.astype(numpy.uint64), distances.astype(numpy.uint64)))


def serve(index, bits, distance):
    for line in sys.stdin:
        command, path, *more = line.split()
        queries = read_codes(path, bits)
        if command == "time":
            result, seconds = search(index, queries, distance)
            matches = int(faiss.rev_swig_ptr(result.lims, len(queries) + 1)[-1])
            print("time", seconds * 1e6 / len(queries), matches, flush=True)
        else:
            matches = list_matches(index, queries, distance)
            matches.astype("<u8").tofile(more[0])
            print("list", len(matches), flush=True)


def main():
    kind, data, distance, bits = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    faiss.omp_set_num_threads(1)
    index, seconds, memory = build(kind, read_codes(data, bits), bits, distance)
    print("ready", seconds, memory, flush=True)
    serve(index, bits, distance)


if __name__ == "__main__":
    main()
