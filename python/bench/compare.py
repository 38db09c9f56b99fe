#!/usr/bin/env python3
"""Compares the package with other Python packages, and with the sstore command.

    compare.py [--records N] [--documents N] [--bench-query build/release/bench/bench_query]

Each runs in a process of its own, on the same data: half of the fingerprints are uniform, half near others. One side
after the other; of packages the best of three rounds, of the command the best of five, of single queries the median of
five. Memory is what the process takes more after build and queries than
before (VmRSS, with mapped files). Packages that are not installed are left out: pip install faiss-cpu simhash gaoya
pybktree.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import pathlib
import random
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

DISTANCE = 3
ROUNDS = 3
CHECKED = 20  # queries, for which all packages must find as many matches


def make_fingerprints(count: int) -> Any:
    rng = np.random.default_rng(1)
    made = rng.integers(0, 1 << 64, count, dtype=np.uint64)
    half = count // 2
    made[half:] = made[rng.integers(0, half, count - half)] ^ (
        np.uint64(1) << rng.integers(0, 64, count - half, dtype=np.uint64)
    )
    return made


def make_queries(fingerprints: Any, count: int) -> Any:
    rng = np.random.default_rng(2)
    near = fingerprints[rng.integers(0, len(fingerprints), count // 2)] ^ np.uint64(1 << 40)
    return np.concatenate([near, rng.integers(0, 1 << 64, count - count // 2, dtype=np.uint64)])


def make_documents(count: int) -> list[str]:
    rng = random.Random(3)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(5000)]
    return [" ".join(rng.choices(words, k=40)) for _ in range(count)]


def memory() -> int:
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    raise RuntimeError


# ----- the sides: each takes its data, and returns functions for one query and for a batch, which count matches -----

Answer = tuple[Callable[[Any], int], "Callable[[Any], int] | None"]


def side_sstore(fingerprints: Any, folder: str) -> Answer:
    import sstore

    sstore.build(folder + "/a.store", fingerprints, threads=1)
    store = sstore.open(folder + "/a.store")
    return (lambda q: len(store.query(int(q)))), (lambda qs: len(store.query_batch(qs, threads=1)))


def side_faiss_multi_hash(fingerprints: Any, folder: str) -> Answer:
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryMultiHash(64, 4, 16)
    index.add(fingerprints.view(np.uint8).reshape(-1, 8))

    def batch(queries: Any) -> int:
        limits, _, _ = index.range_search(queries.view(np.uint8).reshape(-1, 8), DISTANCE + 1)
        return int(limits[-1])

    return (lambda q: batch(np.array([q]))), batch


def side_faiss_flat(fingerprints: Any, folder: str) -> Answer:
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryFlat(64)
    index.add(fingerprints.view(np.uint8).reshape(-1, 8))

    def batch(queries: Any) -> int:
        limits, _, _ = index.range_search(queries.view(np.uint8).reshape(-1, 8), DISTANCE + 1)
        return int(limits[-1])

    return (lambda q: batch(np.array([q]))), batch


def side_simhash(fingerprints: Any, folder: str) -> Answer:
    import simhash

    index = simhash.SimhashIndex(
        [(str(i), simhash.Simhash(f)) for i, f in enumerate(fingerprints.tolist())], k=DISTANCE
    )
    return (lambda q: len(index.get_near_dups(simhash.Simhash(int(q))))), None


def side_pybktree(fingerprints: Any, folder: str) -> Answer:
    import pybktree

    # A tree holds each fingerprint once.
    tree = pybktree.BKTree(pybktree.hamming_distance, fingerprints.tolist())
    return (lambda q: len(tree.find(int(q), DISTANCE))), None


def side_texts_sstore(documents: Any, folder: str) -> Answer:
    import sstore

    sstore.build(folder + "/a.store", sstore.simhash(documents, shingle=1, threads=1), threads=1)
    store = sstore.open(folder + "/a.store")
    return (lambda d: len(store.query(int(sstore.simhash([d], shingle=1, threads=1)[0])))), None


def side_texts_gaoya(documents: Any, folder: str) -> Answer:
    from gaoya.simhash import SimHashStringIndex

    index = SimHashStringIndex(hash_size=64, num_blocks=4, hamming_distance=DISTANCE)
    for i, document in enumerate(documents):
        index.insert_document(i, document)
    return (lambda d: len(index.query(d))), None


# name, function, package, the most records and single queries that it takes in minutes
SIDES = [
    ("sstore", side_sstore, "sstore", 1 << 62, 20000),
    ("faiss-cpu IndexBinaryMultiHash(64, 4, 16)", side_faiss_multi_hash, "faiss", 1 << 62, 20000),
    ("faiss-cpu IndexBinaryFlat", side_faiss_flat, "faiss", 1 << 62, 200),
    ("simhash SimhashIndex", side_simhash, "simhash", 1_000_000, 2000),
    ("pybktree BKTree", side_pybktree, "pybktree", 1_000_000, 20),
    ("texts: sstore", side_texts_sstore, "sstore", 1 << 62, 2000),
    ("texts: gaoya SimHashStringIndex", side_texts_gaoya, "gaoya", 1 << 62, 2000),
]


def run_side(number: int, count: int) -> None:
    """One side, in this process. Prints its figures."""
    name, side, package, most, singles = SIDES[number]
    count = min(count, most)
    is_text = name.startswith("texts")
    data: Any = make_documents(count) if is_text else make_fingerprints(count)
    queries = data[:singles] if is_text else make_queries(data, max(singles, 20000))
    importlib.import_module(package)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        before, started = memory(), time.perf_counter()
        single, batch = side(data, folder)
        figures: dict[str, Any] = {"records": count, "build s": time.perf_counter() - started}
        started = time.perf_counter()
        figures["matches"] = sum(map(single, queries[:singles]))
        figures["query us"] = (time.perf_counter() - started) / singles * 1e6
        figures["check"] = sum(map(single, queries[:CHECKED]))
        if batch is not None:
            part = queries[: max(singles, 2000)]
            started = time.perf_counter()
            figures["batch matches"] = batch(part)
            figures["batch us"] = (time.perf_counter() - started) / len(part) * 1e6
        figures["MiB"] = (memory() - before) / (1 << 20)
    print(json.dumps(figures))


def best(figures: list[dict[str, Any]]) -> dict[str, Any]:
    return {key: min(one[key] for one in figures) for key in figures[0]}


def compare_packages(records: int, documents: int) -> None:
    print("| package | records | build | one query | a query of a batch | memory | matches, of so many queries |")
    print("|---|---|---|---|---|---|---|")
    checks: dict[tuple[bool, int], int] = {}
    for number, (name, _, package, _, _) in enumerate(SIDES):
        if importlib.util.find_spec(package) is None:
            continue
        count = documents if name.startswith("texts") else records
        figures = []
        for _ in range(ROUNDS):
            ran = subprocess.run(
                [sys.executable, __file__, "--side", str(number), "--records", str(count)],
                capture_output=True,
                text=True,
                check=True,
            )
            figures.append(json.loads(ran.stdout.splitlines()[-1]))
        f = best(figures)
        expected = checks.setdefault((name.startswith("texts"), f["records"]), f["check"])
        assert f["check"] == expected, f"{name}: {f['check']} matches, but {expected}"
        batch = f"{f['batch us']:.2f} µs" if "batch us" in f else ""
        print(
            f"| {name} | {f['records']:,} | {f['build s']:.2f} s | {f['query us']:.1f} µs | {batch} "
            f"| {f['MiB']:.0f} MiB "
            f"| {f['matches']:,} of {SIDES[number][4]:,} |",
            flush=True,
        )


# ----- the command -----


def measure(arguments: list[str]) -> tuple[float, float]:
    """Seconds, and MiB at the peak."""
    code = (
        "import resource, subprocess, sys, time\n"
        "t = time.perf_counter(); subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "print(time.perf_counter() - t, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    ran = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    seconds, peak = ran.stdout.split()
    return float(seconds), float(peak)


def compare_command(records: int) -> None:
    command = str(pathlib.Path(sysconfig.get_path("scripts"), "sstore"))
    fingerprints = make_fingerprints(records)
    queries = make_queries(fingerprints, 1_000_000)
    load = "import numpy as np, sstore, time; f = np.load('f.npy'); q = np.load('q.npy'); "
    end = (
        "s = time.perf_counter() - t; "
        "peak = [int(x.split()[1]) for x in open('/proc/self/status') if x[:6] == 'VmHWM:']; "
        "print(s, peak[0] / 1024 - (f.nbytes + q.nbytes) / 2**20)"
    )
    with tempfile.TemporaryDirectory(dir=".") as folder:
        np.save(f"{folder}/f.npy", fingerprints)
        np.save(f"{folder}/q.npy", queries)

        def python(call: str) -> tuple[float, float]:
            code = f"{load}t = time.perf_counter(); {call}; {end}"
            ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
            seconds, peak = ran.stdout.split()
            return float(seconds), float(peak)

        idle = python("pass")[1]
        memory = f"peak memory: command, Python without the arrays (idle: {idle:.0f})"
        print(f"\n| task | threads | command | Python | Python / command | {memory} |")
        print("|---|---|---|---|---|---|")
        for threads in (1, 2):
            tasks = {
                f"build, {records:,} records": (
                    [
                        command,
                        "build",
                        "--quiet",
                        "--force",
                        f"--threads={threads}",
                        f"{folder}/c.store",
                        f"{folder}/f.npy",
                    ],
                    f"sstore.build('p.store', f, threads={threads}, force=True)",
                ),
                "batch of 1,000,000 queries": (
                    [command, "query", f"--threads={threads}", "--input", f"{folder}/q.npy", f"{folder}/c.store"],
                    f"sstore.open('p.store').query_batch(q, threads={threads})",
                ),
            }
            for task, (arguments, call) in tasks.items():
                c, p = zip(*((measure(arguments), python(call)) for _ in range(5)))
                seconds, own = min(c)[0], min(p)[0]
                print(
                    f"| {task} | {threads} | {seconds:.2f} s | {own:.2f} s | {own / seconds:.2f} "
                    f"| {min(x[1] for x in c):.0f}, {min(x[1] for x in p):.0f} MiB |",
                    flush=True,
                )


def compare_single(bench_query: str, records: int) -> None:
    """A loop of single queries here, and the C call as bench_query measures it, on the same store."""
    import sstore

    fingerprints = make_fingerprints(records)
    rng = np.random.default_rng(99)
    hits = rng.choice(fingerprints, 100_000) ^ (np.uint64(1) << rng.integers(0, 64, 100_000, dtype=np.uint64))
    misses = rng.integers(0, 1 << 64, 100_000, dtype=np.uint64)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        sstore.build(f"{folder}/s.store", fingerprints)
        print(flush=True)
        subprocess.run([bench_query, "--io=mmap", f"{folder}/s.store"], check=True)
        with sstore.open(f"{folder}/s.store", io="mmap") as store:
            for name, queries in (("hits", hits.tolist()), ("misses", misses.tolist())):
                times = []
                for _ in range(ROUNDS + 2):
                    begin = time.perf_counter()
                    for query in queries:
                        store.query(query)
                    times.append((time.perf_counter() - begin) / len(queries) * 1e6)
                print(f"Python, {name}: {sorted(times)[len(times) // 2]:.2f} µs a query")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--bench-query", help="the program bench_query, to compare single queries with the C call")
    parser.add_argument("--side", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side is not None:
        run_side(given.side, given.records)
        return
    print(f"# {' '.join(sys.argv)}; Python {sys.version.split()[0]}")
    compare_packages(given.records, given.documents)
    compare_command(10 * given.records)
    if given.bench_query is not None:
        compare_single(given.bench_query, 10 * given.records)


if __name__ == "__main__":
    main()
