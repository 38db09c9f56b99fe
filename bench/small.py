#!/usr/bin/env python3
"""Does any command on a small store take much longer than comparing all of its fingerprints?

Makes random stores of 1 to 10,000 records, of 64 to 1,024 bits, of several kinds of data, for any distance and plan.
Runs every command that searches them, checks the numbers of matches, and compares the processor's time with brute force
(bench_brute). A command may take ten times as long, and 20 ms, beside the start of a process; one that writes another
60 ms. Prints each that takes longer, and the longest of each command.

    bench/small.py [--cases=N] [--seed=N]

`sstore` and `bench_brute` must be on the PATH. Needs numpy.
"""

import argparse
import os
import random
import resource
import subprocess
import tempfile
import time

import numpy as np

TIMES, SECONDS, WRITE_SECONDS = 10, 0.02, 0.06
MAX_PAIRS = 2_000_000  # more take too long to print
QUERIES = 20


def make_uniform(rng, count, words):
    return rng.integers(0, 2**64, (count, words), dtype=np.uint64)


def make_clustered(rng, count, words):
    """Half are copies of one another with up to 3 flipped bits."""
    rows = make_uniform(rng, count, words)
    for i in range(count // 4, count):
        if rng.random() < 0.5:
            rows[i] = rows[rng.integers(0, count // 4 + 1)]
            for bit in rng.integers(0, 64 * words, rng.integers(0, 4)):
                rows[i, bit // 64] ^= np.uint64(1 << int(bit % 64))
    return rows


def make_skewed(rng, count, words):
    """Each word is 0 in 40 %, and one always is the same."""
    rows = make_uniform(rng, count, words)
    rows[rng.random((count, words)) < 0.4] = 0
    rows[:, rng.integers(0, words)] = 7
    return rows


def make_sparse(rng, count, words):
    """An eighth of the bits is set."""
    return make_uniform(rng, count, words) & make_uniform(rng, count, words) & make_uniform(rng, count, words)


def make_repeated(rng, count, words):
    """Words of 100 values."""
    return make_uniform(rng, 100, 1)[rng.integers(0, 100, (count, words)), 0]


def make_equal(rng, count, words):
    return np.full((count, words), 12345, dtype=np.uint64)


KINDS = {
    "uniform": make_uniform,
    "clustered": make_clustered,
    "skewed": make_skewed,
    "sparse": make_sparse,
    "repeated": make_repeated,
    "equal": make_equal,
}


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(*arguments, text=None):
    """Run sstore. Its processor time, and what it printed."""
    before = processor_seconds()
    done = subprocess.run(["sstore", *map(str, arguments)], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"sstore {' '.join(map(str, arguments))}: {done.stderr}")
    return processor_seconds() - before, done.stdout


def brute(path, bits, distance, queries=None):
    """Seconds, and the matches found."""
    command = ["bench_brute", f"--bits={bits}", f"--distance={distance}", path]
    if queries is not None:
        command.insert(1, f"--queries={queries}")
    found, seconds = subprocess.check_output(command, text=True).splitlines()[-1].split()
    return float(seconds), int(found)


def lines_of(rows):
    return "".join("".join(f"{int(word):016x}" for word in row) + "\n" for row in rows)


class Case:
    """A random store, and the time of each command on it."""

    def __init__(self, number, random_, rng, folder, report):
        self.random, self.rng, self.folder, self.report = random_, rng, folder, report
        words = random_.choice([1, 1, 2, 3, 4, 4, 5, 8, 16])
        self.bits = bits = 64 * words
        self.count = random_.choice([1, 5, 20, 300, 1000, 2500, 5000, 10000])
        kind = random_.choice(list(KINDS))
        largest = 16 * words
        self.k = min(largest, random_.choice([0, 1, 3, 7, bits // 8 - 1, largest - 1, largest, random_.randrange(largest + 1)]))
        self.plan = random_.choice(["auto"] * 3 + ["16", "20", "10", "4", "3", "2", "1"])
        self.name = f"case {number}: {self.count} {kind} records of {bits} bits, -k {self.k} --plan {self.plan}"
        self.rows = KINDS[kind](rng, self.count, words)
        self.words = words
        self.raw, self.store = os.path.join(folder, "rows.u64"), os.path.join(folder, f"{number}.store")
        self.rows.tofile(self.raw)
        self.pairs_ns, self.pairs = brute(self.raw, bits, self.k)

    def path(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def check(self, command, seconds, brute_seconds, found=None, expected=None, writes=False):
        if found != expected:
            raise RuntimeError(f"{self.name}: {command} found {found}, brute force {expected}")
        self.report(self.name, command, seconds, brute_seconds, writes)

    def measure(self):
        rows = self.path("rows", lines_of(self.rows))
        try:
            seconds, _ = run("build", "--bits", self.bits, "-k", self.k, "--plan", self.plan, self.store, rows)
        except RuntimeError as error:
            if "plan" in str(error):  # this plan does not suit this distance
                return
            raise
        self.check("build", seconds, self.pairs_ns, writes=True)
        self.check("stat", run("stat", self.store)[0], 0)
        self.queries()
        self.joins()
        self.changes()

    def queries(self):
        asked = self.rows[self.rng.integers(0, self.count, QUERIES)]
        text, raw = lines_of(asked), os.path.join(self.folder, "queries.u64")
        asked.tofile(raw)
        for k in {self.k, max(0, self.k - 1), min(self.k + 5, 16 * self.words), self.random.randrange(self.bits)}:
            brute_seconds, expected = brute(self.raw, self.bits, k, raw)
            seconds, output = run("query", "--count", "-k", k, "--input", self.path("queries", text), self.store)
            found = sum(int(line.split()[-1]) for line in output.splitlines())
            self.check(f"query --count -k {k}", seconds, brute_seconds, found, expected)
        for name, queries in ("records", text), ("random ones", lines_of(make_uniform(self.rng, QUERIES, self.words))):
            seconds, _ = run("query", "--nearest", "-k", self.bits, "--limit", 1, self.store, "-", text=queries)
            self.check(f"query --nearest of {name}", seconds, brute_seconds)

    def joins(self):
        if self.pairs < MAX_PAIRS:
            seconds, output = run("pairs", "-k", self.k, self.store)
            self.check("pairs", seconds, self.pairs_ns, output.count("\n"), self.pairs)
            seconds, output = run("join", "-k", self.k, self.store, self.store)
            self.check("join", seconds, 2 * self.pairs_ns, output.count("\n"), 2 * self.pairs + self.count)
            k = self.random.randrange(self.k + 1)
            self.check(f"pairs -k {k}", run("pairs", "-k", k, self.store)[0], self.pairs_ns)
        self.check("clusters", run("clusters", "-k", self.k, "--representatives", self.store)[0], self.pairs_ns)

    def changes(self):
        some = self.path("some", lines_of(self.rows[:500]))
        brute_seconds = 2 * self.pairs_ns * min(500, self.count) / self.count
        self.check("add --if-new", run("add", "--if-new", "--limit", 1, self.store, some)[0], brute_seconds, writes=True)
        new = self.path("new", lines_of(make_uniform(self.rng, QUERIES, self.words)))
        self.check("add", run("add", self.store, new)[0], 0, writes=True)
        query = lines_of(self.rows[:1]).strip()
        self.check("query of one more segment", run("query", "--count", "-k", self.k, self.store, query)[0], 0)
        self.check("compact", run("compact", self.store)[0], self.pairs_ns, writes=True)


class Report:
    def __init__(self):
        self.calls = self.slow = 0
        self.worst = {}
        self.start = min(run("--version")[0] for _ in range(20))

    def __call__(self, name, command, seconds, brute_seconds, writes):
        limit = self.start + TIMES * brute_seconds + SECONDS + (WRITE_SECONDS if writes else 0)
        part = seconds / limit
        self.calls += 1
        line = f"{part:5.2f}  {seconds:7.3f}  {brute_seconds:7.4f}  {command}; {name}"
        self.worst[command.split(" -k")[0]] = max(self.worst.get(command.split(" -k")[0], ""), line)
        if part > 1:
            self.slow += 1
            print("SLOW", line, flush=True)

    def print(self):
        print(" part  seconds    brute  command")
        for line in sorted(self.worst.values(), reverse=True):
            print(line)
        print(f"# start of a process: {self.start:.4f} s")
        print(f"# {self.calls} calls, {self.slow} longer than {TIMES} times brute force + {SECONDS} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"# small.py --cases={options.cases} --seed={options.seed}", flush=True)
    random_, rng, report = random.Random(options.seed), np.random.default_rng(options.seed), Report()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.cases):
            Case(number, random_, rng, folder, report).measure()
    report.print()


if __name__ == "__main__":
    main()
