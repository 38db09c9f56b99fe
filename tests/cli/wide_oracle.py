#!/usr/bin/env python3
"""Makes fingerprints of any width, and finds by trying all records what queries must print.

    wide_oracle.py make BITS COUNT SEED         lines of fingerprint and id: groups of near ones, some equal
    wide_oracle.py near DUMP QUERIES DISTANCE   lines as 'sstore query' prints them
    wide_oracle.py nearest DUMP QUERIES         the same for --nearest
    wide_oracle.py pairs DUMP DUMP DISTANCE     lines as 'sstore join' prints them, or 'sstore pairs' of one dump twice
    wide_oracle.py clusters DUMP DISTANCE       lines as 'sstore clusters' prints them
    wide_oracle.py dedup DUMP INPUT DISTANCE    lines as 'sstore add --if-new' prints them
"""
import random
import sys


def make(bits, count, seed):
    numbers, value = random.Random(seed), 0
    for i in range(count):
        if i % 4 == 0:
            value = numbers.getrandbits(bits)
        else:
            for _ in range(numbers.randint(0, bits // 16)):
                value ^= 1 << numbers.randrange(bits)
        print(f"{value:0{bits // 4}x}\t{numbers.choice((i, i, i, 1 << 63)) + 5}")


def records(dump):
    with open(dump) as lines:
        return [line.split() for line in lines]


def distances(query, known):
    value = int(query, 16)
    found = ((bin(value ^ int(fingerprint, 16)).count("1"), fingerprint, identifier) for fingerprint, identifier in known)
    return sorted(found, key=lambda one: (one[0], one[1], int(one[2]) if one[2] != "-" else 0))


def near(dump, queries, distance):
    known = records(dump)
    with open(queries) as lines:
        for query in lines.read().split():
            found = distances(query, known)
            limit = found[0][0] if distance is None and found else distance
            for bits, fingerprint, identifier in found:
                if limit is not None and bits <= limit:
                    print(query, fingerprint, bits, identifier, sep="\t")


def numbers(dump):
    """Records that can be compared: as numbers."""
    return [(int(fingerprint, 16), int(identifier), fingerprint) for fingerprint, identifier in records(dump)]


def difference(one, other):
    return bin(one[0] ^ other[0]).count("1")


def find_pairs(left, right, limit):
    for one in left:
        for other in right:
            if (left is not right or one[:2] < other[:2]) and difference(one, other) <= limit:
                yield one, other


def pairs(left_dump, right_dump, limit):
    left = numbers(left_dump)
    right = left if right_dump == left_dump else numbers(right_dump)
    for one, other in find_pairs(left, right, limit):
        print(one[2], one[1], other[2], other[1], difference(one, other), sep="\t")


def clusters(dump, limit):
    known = numbers(dump)
    cluster = {record: {record} for record in known}
    for one, other in find_pairs(known, known, limit):
        if cluster[one] is not cluster[other]:
            both = cluster[one] | cluster[other]
            for record in both:
                cluster[record] = both
    for record in known:
        if len(cluster[record]) > 1:
            first = min(cluster[record], key=lambda other: (other[1], other[0]))
            print(len(cluster[record]), record[2], record[1], difference(record, first), sep="\t")


def dedup(dump, given, limit):
    known = numbers(dump)
    for record in numbers(given):
        near = sorted((difference(record, other), *other) for other in known if difference(record, other) <= limit)
        for bits, _, identifier, fingerprint in near:
            print(record[2], fingerprint, bits, identifier, sep="\t")
        if not near:
            print(record[2], "new", "-", record[1], sep="\t")
            known.append(record)


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "make":
        make(*map(int, rest))
    elif what in ("near", "nearest"):
        near(rest[0], rest[1], int(rest[2]) if what == "near" else None)
    else:
        {"pairs": pairs, "clusters": clusters, "dedup": dedup}[what](*rest[:-1], int(rest[-1]))
