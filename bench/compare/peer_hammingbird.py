#!/usr/bin/python3
"""hammingbird as a side of compare.py: builds an index in memory, then does what the lines of standard input say.

    peer_hammingbird.py DATA DISTANCE BITS
      ready SECONDS BYTES      printed once the index is built: how long that took, and by how much resident memory grew
      time QUERIES             -> time US MATCHES: microseconds a query; one query_batch for all of them, lists included
      list QUERIES OUT         -> list MATCHES: OUT gets (query, id, distance) of each, as little-endian 64-bit numbers

It works on one thread: query_batch has no others, and what it is built on is told to have none.
"""
import os
import sys
import time

os.environ["RAYON_NUM_THREADS"] = "1"
import hammingbird
import numpy

from peer_common import read_codes, resident_bytes


def build(codes, distance):
    warmed = hammingbird.Index(codes.shape[1], distance)  # code is paged in before memory is looked at
    warmed.add_batch(codes[:1000])
    del warmed
    before = resident_bytes()
    begin = time.perf_counter()
    index = hammingbird.Index(codes.shape[1], distance)
    index.add_batch(codes)
    return index, time.perf_counter() - begin, resident_bytes() - before


def serve(index, bits):
    for line in sys.stdin:
        command, path, *more = line.split()
        queries = read_codes(path, bits)
        begin = time.perf_counter()
        found = index.query_batch(queries)
        seconds = time.perf_counter() - begin
        matches = numpy.array([(i, *match) for i, of_query in enumerate(found) for match in of_query], dtype="<u8")
        if command == "time":
            print("time", seconds * 1e6 / len(queries), len(matches), flush=True)
        else:
            matches.tofile(more[0])
            print("list", len(matches), flush=True)


def main():
    data, distance, bits = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    index, seconds, memory = build(read_codes(data, bits), distance)
    print("ready", seconds, memory, flush=True)
    serve(index, bits)


if __name__ == "__main__":
    main()
