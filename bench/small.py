#!/usr/bin/env python3
"""Does any command on a small store take much longer than comparing all of its fingerprints?

Makes random stores of 1 to 10,000 records, of 64 to 1,024 bits, of several kinds of data, for any distance and plan.
Runs every command that reads or changes them, checks the numbers of matches, and compares the processor's time with
brute force (bench_brute). A command may take ten times as long, and 20 ms, beside the start of a process; one that
writes or removes files also what creating, syncing and removing so many takes. One that takes longer is tried twice
more, since the machine may be busy. Prints each that still takes longer, and the longest of each command.

    bench/small.py [--cases=N] [--seed=N]

`sstore` and `bench_brute` must be on the PATH. Needs numpy.
"""

import argparse
import os
import random
import resource
import shutil
import subprocess
import tempfile
import time

import numpy as np

TIMES, SECONDS, TRIES = 10, 0.02, 3
LINE_SECONDS = 1e-7  # to print a match: brute force would do that, too
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


def sync_seconds(folder, count=50):
    """The processor time of creating, syncing and removing a folder with a small file."""
    path = os.path.join(folder, "synced")
    before = time.process_time()
    for _ in range(count):
        os.mkdir(path)
        handle = os.open(path, os.O_RDONLY)
        with open(os.path.join(path, "file"), "wb") as file:
            file.write(bytes(8192))
            file.flush()
            os.fsync(file.fileno())
        os.fsync(handle)
        os.close(handle)
        shutil.rmtree(path)
    return (time.process_time() - before) / count


def count_files(folder):
    return sum(len(files) + 1 for _, _, files in os.walk(folder))


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


def count_lines(output):
    return output.count("\n")


def sum_of_counts(output):
    return sum(int(line.split()[-1]) for line in output.splitlines())


class Case:
    """A random store, and the time of each command on it."""

    def __init__(self, number, random_, rng, folder, report):
        self.random, self.rng, self.folder, self.report = random_, rng, folder, report
        words = random_.choice([1, 1, 2, 3, 4, 4, 5, 8, 16])
        self.bits = bits = 64 * words
        self.count = random_.choice([1, 5, 20, 300, 1000, 2500, 5000, 10000])
        kind = random_.choice(list(KINDS))
        largest = 16 * words
        distances = [0, 1, 3, 7, bits // 8 - 1, largest - 1, largest, random_.randrange(largest + 1)]
        self.k = min(largest, random_.choice(distances))
        self.plan = random_.choice(["auto"] * 3 + ["16", "20", "10", "4", "3", "2", "1"])
        self.name = f"case {number}: {self.count} {kind} records of {bits} bits, -k {self.k} --plan {self.plan}"
        self.rows = KINDS[kind](rng, self.count, words)
        self.words = words
        self.raw, self.store = os.path.join(folder, "rows.u64"), os.path.join(folder, f"{number}.store")
        self.rows.tofile(self.raw)
        self.pairs_seconds, self.pairs = brute(self.raw, bits, self.k)

    def path(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def check(self, brute_seconds, command, *arguments, name=None, text=None, count=None, expected=None):
        """A command that reads. `count` tells the matches in its output."""
        tries = []
        for _ in range(TRIES):
            seconds, output = run(command, *arguments, text=text)
            tries.append(seconds)
            if count is not None and count(output) != expected:
                raise RuntimeError(f"{self.name}: {command} found {count(output)}, brute force {expected}")
            if self.report.is_quick(seconds, brute_seconds):
                break
            self.report.calibrate()
        self.report(self.name, name or command, min(tries), brute_seconds)

    def check_change(self, brute_seconds, command, *arguments, name=None, made=None):
        """A command that writes stores, and may remove the files that they had."""
        made, saved, tries = [self.store] if made is None else made, self.store + ".saved", []
        if os.path.exists(made[0]):
            shutil.copytree(made[0], saved)
        before = count_files(saved)
        for _ in range(TRIES):
            for path in made:
                shutil.rmtree(path, ignore_errors=True)
            if os.path.exists(saved):
                shutil.copytree(saved, made[0])
            tries.append(run(command, *arguments)[0])
            files = before + sum(map(count_files, made))
            if self.report.is_quick(tries[-1], brute_seconds, files):
                break
            self.report.calibrate()
        shutil.rmtree(saved, ignore_errors=True)
        self.report(self.name, name or command, min(tries), brute_seconds, files)

    def measure(self):
        rows = self.path("rows", lines_of(self.rows))
        form = ["--bits", self.bits, "-k", self.k]
        try:
            self.check_change(self.pairs_seconds, "build", *form, "--plan", self.plan, self.store, rows)
        except RuntimeError as error:
            if "plan" in str(error):  # this plan does not suit this distance
                return
            raise
        self.check(0, "stat", self.store)
        self.check(self.pairs_seconds, "dump", self.store)
        self.check(self.pairs_seconds, "verify", self.store)
        self.queries()
        self.joins(rows)
        self.copies()
        self.changes()

    def queries(self):
        asked = self.rows[self.rng.integers(0, self.count, QUERIES)]
        text, raw = lines_of(asked), os.path.join(self.folder, "queries.u64")
        asked.tofile(raw)
        for k in {self.k, max(0, self.k - 1), min(self.k + 5, 16 * self.words), self.random.randrange(self.bits)}:
            brute_seconds, expected = brute(self.raw, self.bits, k, raw)
            self.check(brute_seconds, "query", "--count", "-k", k, self.store, "-", name=f"query --count -k {k}",
                       text=text, count=sum_of_counts, expected=expected)
        for name, queries in ("records", text), ("random ones", lines_of(make_uniform(self.rng, QUERIES, self.words))):
            self.check(brute_seconds, "query", "--nearest", "-k", self.bits, "--limit", 1, self.store, "-",
                       name=f"query --nearest of {name}", text=queries)

    def joins(self, rows):
        if self.pairs < MAX_PAIRS:
            smaller, both_ways = self.random.randrange(self.k + 1), 2 * self.pairs + self.count
            once = self.pairs_seconds + LINE_SECONDS * self.pairs
            twice = 2 * self.pairs_seconds + LINE_SECONDS * both_ways
            self.check(once, "pairs", "-k", self.k, self.store, count=count_lines, expected=self.pairs)
            self.check(once, "pairs", "-k", smaller, self.store, name=f"pairs -k {smaller}")
            self.check(twice, "join", "-k", self.k, self.store, self.store, count=count_lines, expected=both_ways)
            self.check(twice, "query", "-k", self.k, "--input", rows, self.store, name="query of all",
                       count=count_lines, expected=both_ways)
        self.check(self.pairs_seconds, "clusters", "-k", self.k, "--representatives", self.store)

    def copies(self):
        merged, part = self.store + ".merged", self.store + ".part"
        shards = [f"{part}-{i:05}-of-00003" for i in range(3)]
        self.check_change(self.pairs_seconds, "merge", merged, self.store, made=[merged])
        self.check_change(self.pairs_seconds, "shard", "--count=3", self.store, part, made=shards)

    def changes(self):
        some = self.path("some", lines_of(self.rows[:500]))
        new = self.path("new", lines_of(make_uniform(self.rng, QUERIES, self.words)))
        old = self.path("old", lines_of(self.rows[:QUERIES]))
        some_seconds = 2 * self.pairs_seconds * min(500, self.count) / self.count
        self.check_change(some_seconds, "add", "--if-new", "--limit", 1, self.store, some, name="add --if-new")
        self.check_change(self.pairs_seconds, "add", self.store, new)
        self.check_change(self.pairs_seconds, "remove", self.store, old)
        self.check(0, "query", "--count", "-k", self.k, self.store, lines_of(self.rows[:1]).strip(),
                   name="query of several segments")
        self.check_change(self.pairs_seconds, "compact", self.store)


class Report:
    def __init__(self, folder):
        self.calls = self.slow = 0
        self.worst = {}
        self.folder = folder
        self.calibrate()

    def calibrate(self):
        """What the machine needs now for what every program does: its speed changes from minute to minute."""
        self.start = min(run("--version")[0] for _ in range(20))
        self.sync = sorted(sync_seconds(self.folder) for _ in range(5))[2]

    def limit(self, brute_seconds, files):
        return self.start + TIMES * brute_seconds + SECONDS + files * self.sync

    def is_quick(self, seconds, brute_seconds, files=0):
        return seconds <= self.limit(brute_seconds, files)

    def __call__(self, name, command, seconds, brute_seconds, files=0):
        part = seconds / self.limit(brute_seconds, files)
        self.calls += 1
        line = f"{part:5.2f}  {seconds:7.3f}  {brute_seconds:7.4f}  {command}; {name}"
        self.worst[command.split(" -k")[0]] = max(self.worst.get(command.split(" -k")[0], ""), line)
        if not self.is_quick(seconds, brute_seconds, files):
            self.slow += 1
            print("SLOW", line, flush=True)

    def print(self):
        print(" part  seconds    brute  command")
        for line in sorted(self.worst.values(), reverse=True):
            print(line)
        print(f"# start of a process: {self.start:.4f} s, a synced file and its folder: {self.sync:.6f} s")
        print(f"# {self.calls} calls, {self.slow} longer than {TIMES} times brute force + {SECONDS} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"# small.py --cases={options.cases} --seed={options.seed}", flush=True)
    random_, rng = random.Random(options.seed), np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        report = Report(folder)
        for number in range(options.cases):
            Case(number, random_, rng, folder, report).measure()
    report.print()


if __name__ == "__main__":
    main()
