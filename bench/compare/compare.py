#!/usr/bin/python3
"""sstore beside faiss, mih-rs, gaoya and hammingbird: the same data, the same queries, one thread each, in turns.

Every side is a process of its own (peer_*) that does what it is told by lines; so its memory is its own, and nothing
but its own code runs while it is timed. Each round asks every side all hits, then all misses; medians of the rounds
count. Then the sides' matches are held against each other. Ratios are sstore's figure over the peer's: 0.5 is half.

sstore's time and memory are of the same process, in the same mode and with the same plan, ids included; its memory is
all of RssAnon, RssFile and the directory's memfd, a peer's is what its index added. In the modes pread and mmap, blocks
that were read are also in the page cache, if they fit: at most the size of the store, which is printed.
"""
import argparse
import math
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys

import numpy

sys.stdout.reconfigure(line_buffering=True)
HERE = os.path.dirname(os.path.abspath(__file__))

# Each peer's share of the queries, for each number of bits: slow ones get fewer. Those of faiss are named after the
# number and the bits of their hashes; any other multihash-NxB can be asked for, too, and gets OTHER_SHARE.
PEERS = {
    64: {"multihash-2x32": 1.0, "multihash-4x16": 0.1, "hash-24": 1.0, "flat": 0.0002, "mih-rs": 1.0},
    128: {"multihash-8x16": 0.1, "multihash-4x32": 1.0, "flat": 0.0004, "gaoya": 0.2, "hammingbird": 0.1},
    256: {"multihash-16x16": 0.02, "multihash-11x23": 0.5, "multihash-8x32": 0.5, "flat": 0.001, "hammingbird": 0.001},
}
OTHER_SHARE = 0.05
FEWEST_QUERIES = 10
PROBES_OF_SHARES = 33  # of a hash, for which the shares were chosen; a peer that makes more gets fewer queries again


def fail(message):
    sys.exit(f"compare.py: {message}")


def program(name):
    """The path of a program of ours; the build folder's bench/ must be on the PATH."""
    return shutil.which(name) or fail(f"{name} is not on the PATH")


class Side:
    """A process that answers lines. `ready` is what it said once it could."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ready = self._answer("ready")

    def _answer(self, word):
        words = self.process.stdout.readline().split()
        if not words or words[0] != word:
            fail(f"{self.process.args[0]} ended or answered {words} instead of '{word}'")
        return [float(word) for word in words[1:]]

    def do(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return self._answer(words[0])

    def close(self):
        self.process.stdin.close()
        self.process.wait()


# ----- data, queries and stores -----


def read_numbers(path):
    return numpy.fromfile(path, dtype="<u8")


def read_fingerprints(options, path):
    """An array with a row of words for each."""
    return read_numbers(path).reshape(-1, options.bits // 64)


def flipped(values, distance, random):
    """Each fingerprint with 0 to `distance` different bits flipped."""
    count, words = values.shape
    bits = random.random((count, 64 * words)).argsort(axis=1)[:, :distance]
    wanted = numpy.arange(distance) < random.integers(0, distance + 1, (count, 1))
    masks = numpy.where(wanted, numpy.uint64(1) << (bits % 64).astype(numpy.uint64), numpy.uint64(0))
    result = values.copy()
    for word in range(words if distance > 0 else 0):
        of_word = numpy.where(bits // 64 == word, masks, numpy.uint64(0))
        result[:, word] ^= numpy.bitwise_or.reduce(of_word, axis=1)
    return result


def write_queries(options, data):
    """Hits and misses: of a file that holds first the ones, then the others, or made from the data."""
    if options.queries_from:
        queries = read_fingerprints(options, options.queries_from)
        half = len(queries) // 2
        options.queries = min(options.queries, half)
        hits, misses = queries[:half][:options.queries], queries[half:][:options.queries]
    else:
        random = numpy.random.default_rng(options.seed)
        hits = flipped(data[random.integers(0, len(data), options.queries)], options.distance, random)
        misses = random.integers(0, 2**64, hits.shape, dtype=numpy.uint64)
    return write_part(options, "hits", hits), write_part(options, "misses", misses)


def write_part(options, kind, queries):
    path = os.path.join(options.work, f"{kind}-{len(queries)}.u64")
    queries.astype("<u8").tofile(path)
    return path


def first_queries(options, paths, count):
    return [write_part(options, kind, read_fingerprints(options, path)[:count])
            for kind, path in zip(("hits", "misses"), paths)]


class Store:
    """A store of a plan, built on one thread as the peers are."""

    def __init__(self, options, plan):
        self.path = os.path.join(options.work, f"plan-{plan.replace(':', '.').replace(',', '-')}.store")
        if os.path.exists(self.path):
            shutil.rmtree(self.path)
        command = [program("bench_build"), f"--data={options.data}", f"--records={options.count}",
                   f"--plan={plan}", f"--distance={options.distance}", "--threads=1", *bits_option(options), self.path]
        rows = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        row = rows[-1].split()
        self.plan, self.tables = " ".join(row[2:-6]), int(row[1])  # of several words it has blanks
        self.build_us, self.bytes_each = float(row[-3]), float(row[-1])


def build_stores(options):
    stores = {}
    for plan in options.plans:
        store = Store(options, plan)
        print(f"# --plan={plan}: {store.plan}, {store.bytes_each} bytes a record")
        stores.setdefault(store.plan, store)  # what auto chose may be asked for by name, too
    return stores.values()


# ----- the peers -----


def build_crate(options, name):
    """The path of the program, or None where cargo or its crate cannot be had."""
    folder = os.path.join(options.work, name)
    shutil.copytree(os.path.join(HERE, name), folder, dirs_exist_ok=True)
    environment = dict(os.environ, RUSTFLAGS="-C target-cpu=native")
    try:
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=folder, env=environment, check=True,
                       stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return None
    return os.path.join(folder, "target", "release", name)


CRATES = {"mih-rs": "peer_mih", "gaoya": "peer_gaoya_index"}
CRATE_BITS = {"mih-rs": 64, "gaoya": 128}


def has_module(name):
    command = [sys.executable, "-c", f"import {name}"]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def start_peer(options, name):
    """The side, or None with a line that says why it is left out."""
    if name in CRATES:
        if options.bits != CRATE_BITS[name]:
            print(f"# {name} is left out: it takes {CRATE_BITS[name]} bits alone")
            return None
        path = build_crate(options, CRATES[name])
        if path is None:
            print(f"# {name} is left out: cargo, or the crate, is not to be had here")
            return None
        return Side(path, options.index_data, str(options.distance))
    module = "hammingbird" if name == "hammingbird" else "faiss"
    if not has_module(module):
        print(f"# {name} is left out: {sys.executable} has no {module} (pip: faiss-cpu, hammingbird)")
        return None
    return Side(sys.executable, os.path.join(HERE, f"peer_{module}.py"), *([name] if module == "faiss" else []),
                options.index_data, str(options.distance), str(options.bits))


def bits_option(options):
    """For our programs; what they do with 64 bits is measured by the command that it always was."""
    return [f"--bits={options.bits}"] if options.bits != 64 else []


# ----- measuring -----


def median_ratio(ours, theirs):
    return statistics.median(a / b for a, b in zip(ours, theirs))


def take_turns(sides, queries, rounds):
    """For each side the times of its rounds, hits and misses."""
    times = [([], []) for _ in sides]
    for round_number in range(rounds + 1):
        for side, of_side in zip(sides, times):
            for path, of_kind in zip(queries, of_side):
                us = side.do("time", path)[0]
                if round_number > 0:  # the first warms
                    of_kind.append(us)
    return times


def list_matches(options, side, path):
    out = os.path.join(options.work, "matches.u64")
    side.do("list", path, out)
    matches = read_numbers(out).reshape(-1, 3)
    return matches[numpy.lexsort((matches[:, 2], matches[:, 1], matches[:, 0]))]


def compare_matches(ours, theirs):
    """In words: whether both found the same (query, id, distance), each as often."""
    if numpy.array_equal(ours, theirs):
        return f"same {len(ours)}"
    unique = numpy.unique(theirs, axis=0)
    both = numpy.concatenate((ours, unique))
    common = len(both) - len(numpy.unique(both, axis=0))
    words = f"it found {common} of our {len(ours)} ({100 * common / max(len(ours), 1):.2f} %)"
    if len(unique) > common:
        words += f", and {len(unique) - common} that we did not"
    if len(theirs) > len(unique):
        words += f", {len(theirs) - len(unique)} of them twice"
    return words


def hashes_of(name):
    """The number and the bits of a faiss peer's hashes, as its name says; None for others."""
    match = re.fullmatch(r"multihash-(\d+)x(\d+)|hash-(\d+)", name)
    return match and ((1, int(match[3])) if match[3] else (int(match[1]), int(match[2])))


DESCRIPTIONS = {
    "mih-rs": "mih-rs 0.3.1, number of blocks as it chooses",
    "gaoya": "gaoya 0.2.2 SimHashIndex<u128>",
    "hammingbird": "hammingbird Index",
}


def describe(options, name):
    """The description of a peer at the distance, and its fraction of the queries. One of n hashes needs only 1/n of the
    flips: fingerprints that differ in k bits differ in at most k / n bits of one of n hashes."""
    share = PEERS.get(options.bits, {}).get(name, OTHER_SHARE)
    if name in DESCRIPTIONS:
        return DESCRIPTIONS[name], share
    if name == "flat":
        return f"faiss IndexBinaryFlat({options.bits})", share
    count, bits = hashes_of(name)
    flips = options.distance // count
    probes = sum(math.comb(bits, i) for i in range(flips + 1))
    kind = f"MultiHash({options.bits}, {count}, {bits})" if count > 1 else f"Hash({options.bits}, {bits})"
    return f"faiss IndexBinary{kind}, nflip {flips}", share * min(1, PROBES_OF_SHARES / probes)


def compare_with(options, name, stores, all_queries):
    peer = start_peer(options, name)
    if peer is None:
        return []
    build_seconds, peer_bytes = peer.ready
    words, share = describe(options, name)
    count = min(max(int(options.queries * share), FEWEST_QUERIES), options.queries)
    queries = first_queries(options, all_queries, count)
    configurations = [(store, io) for store in stores for io in options.io]
    ours = [Side(program("peer_sstore"), store.path, io, str(options.distance)) for store, io in configurations]
    peer_times, *our_times = take_turns([peer, *ours], queries, options.rounds)
    memory = [side.do("memory")[0] for side in ours]
    peer_matches = [list_matches(options, peer, path) for path in queries]
    rows = []
    for (store, io), side, times, our_bytes in zip(configurations, ours, our_times, memory):
        found = [compare_matches(list_matches(options, side, path), theirs)
                 for path, theirs in zip(queries, peer_matches)]
        figures = [f"{statistics.median(them):.2f}; {statistics.median(us):.2f}; {median_ratio(us, them):.3f}"
                   for us, them in zip(times, peer_times)]
        build_us = build_seconds * 1e6 / options.count
        rows.append([words, f"{store.tables} tables, {io}", str(count), *figures,
                     f"{peer_bytes / options.count:.1f}; {our_bytes / options.count:.2f}; {our_bytes / peer_bytes:.4f}",
                     f"{store.bytes_each:.2f}",
                     f"{build_us:.3f}; {store.build_us:.3f}", " / ".join(found)])
    for side in (peer, *ours):
        side.close()
    return rows


# ----- the report -----


def print_table(header, rows):
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    for row in (header, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip(), flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="a file of little-endian 64-bit numbers, such as bench_data makes; of wider "
                                     "fingerprints several each, the most significant first")
    parser.add_argument("--work", required=True, help="a folder for stores and queries; what is in the way is replaced")
    parser.add_argument("--records", type=int, default=0, help="use the first of the data only; 0: all (0)")
    parser.add_argument("--bits", type=int, default=64, help="of a fingerprint (64)")
    parser.add_argument("--distance", type=int, default=3, help="of plan and queries (3)")
    parser.add_argument("--plans", default="auto", help="of sstore, separated by blanks (auto)")
    parser.add_argument("--io", default="pread mmap memory", help="modes of sstore (pread mmap memory)")
    parser.add_argument("--peers", help="which; of 64 bits: " + "; of ".join(
        f"{bits}: {' '.join(peers)}" for bits, peers in PEERS.items()).removeprefix("64: ") + "; any multihash-NxB")
    parser.add_argument("--queries", type=int, default=50000, help="of a kind; slow peers get less (%(default)s)")
    parser.add_argument("--queries-from", metavar="FILE", help="take these: first hits, then as many misses")
    parser.add_argument("--rounds", type=int, default=5, help="of which the median counts (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the queries (%(default)s)")
    options = parser.parse_args()
    if options.bits <= 0 or options.bits % 64 != 0:
        fail("--bits must be a multiple of 64")
    options.plans, options.io = options.plans.split(), options.io.split()
    options.peers = list(PEERS.get(options.bits, ["flat"])) if options.peers is None else options.peers.split()
    unknown = [name for name in options.peers if name not in DESCRIPTIONS and name != "flat" and not hashes_of(name)]
    if unknown:
        fail(f"there is no peer {unknown[0]}")
    return options


def main():
    options = parse()
    os.makedirs(options.work, exist_ok=True)
    data = read_fingerprints(options, options.data)[:options.records or None]
    options.count = len(data)
    options.index_data = os.path.join(options.work, "data.u64")
    data.tofile(options.index_data)
    queries = write_queries(options, data)
    del data
    print("#", shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]]))
    subprocess.run([os.path.join(HERE, "..", "machine.sh")], check=True)
    print(f"# {options.count} records of {options.bits} bits, distance {options.distance}, seed {options.seed}; "
          f"one thread, median of {options.rounds} rounds")
    stores = build_stores(options)
    rows = [row for name in options.peers for row in compare_with(options, name, stores, queries)]
    print("# three figures: the peer's; sstore's; sstore's over the peer's")
    print_table(["peer", "sstore", "queries", "hits us", "misses us", "memory B/rec", "store B/rec", "build us/rec",
                 "matches"], rows)


if __name__ == "__main__":
    main()
