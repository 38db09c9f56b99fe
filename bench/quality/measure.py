#!/usr/bin/env python3
"""Measures how well fingerprints of texts find near-duplicates, and writes tables as CSV.

    measure.py SSTORE WORK RESULTS [--seed N] [--count N] [--descriptions FILE]
        [--peers FOLDER] [--python PYTHON]

*Recall* is the share of edited copies that are found: pairs of a document and its copy within k bits. *Precision* is
the share of found pairs that are right, among all pairs of all documents and their copies. A pair is right if one is
the copy of the other, or if their true similarity (truth.py) is at least 0.5: real texts have near-duplicates of their
own.
A pair is *unrelated* if its similarity is below 0.3; *stray* pairs are unrelated ones that are found.
"""

import argparse
import collections
import csv
import os
import pathlib
import random
import re
import subprocess
import time
from typing import Any

import numpy

import edits
import peers
import settings
import texts
import truth

MAX_K = 10
ENOUGH = 50
CLOSE = 5  # bits
SHARE = 0.05  # of edited words, unless another one is said
LONG = [(200, 1000), (1000, 10000)]
# Those of which tables and plots by length, edits and corpus tell.
SHOWN = [
    "words 3 frequency",
    "words 1 frequency",
    "words 1 sublinear",
    "words 1 presence",
    "words 1 sublinear idf",
    "chars 3 sublinear",
    "chars 4 sublinear",
]
# Those that are tried with many pairs.
RECOMMENDED = [
    *SHOWN,
    "chars 5 sublinear",
    "words 1 frequency idf",
    "words 1 sublinear levels",
    "chars 3 sublinear idf",
]
# Those whose time is measured.
COSTS = [
    *("words 1 sublinear", "words 1 sublinear idf", "words 1 sublinear stop", "words 1 sublinear icu"),
    *("words 2 sublinear idf", "words 3 frequency", "chars 3 sublinear", "chars 3 sublinear idf"),
]
SHOWN_SHORT = ["words 1 sublinear", "chars 2 frequency"]
SENTENCES = ["你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"]


# Numbers, and lists of them for each k.
Counts = dict[str, Any]


class Collection:
    """Documents, a copy of each, and which of all pairs among them are right."""

    def __init__(self, path: pathlib.Path, originals: list[str], copies: list[str]):
        self.path, self.count = path, len(originals)
        every = originals + copies
        settings.write_documents(path, every)
        self.upper = numpy.triu_indices(len(every), 1)
        similar = truth.similarities(every)
        self.copies = numpy.arange(self.count)
        self.edited = similar[self.copies, self.copies + self.count]
        similar[self.copies, self.copies + self.count] = 1
        self.right = similar[self.upper] >= truth.NEAR
        self.unrelated = similar[self.upper] < truth.UNRELATED

    def judge(self, distances: numpy.ndarray) -> Counts:
        """What is found within each k, of a square matrix of distances."""
        return self.counts(distances, list(range(MAX_K + 1)))

    def counts(self, values: numpy.ndarray, steps: list[int]) -> Counts:
        """What is found at each step: the pairs of at most this value, of a square matrix of small ones."""
        pairs, copies = values[self.upper], values[self.copies, self.copies + self.count]
        kinds = {"copies": copies, "found": pairs, "right": pairs[self.right], "stray": pairs[self.unrelated]}
        found = {
            kind: numpy.cumsum(numpy.bincount(those, minlength=256))[steps].tolist() for kind, those in kinds.items()
        }
        return {"labelled": self.count, "unrelated": int(self.unrelated.sum()), "at": steps, **found}


def within(distances: numpy.ndarray) -> list[int]:
    """How many are within each k."""
    return [int((distances <= k).sum()) for k in range(MAX_K + 1)]


class Measurement:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments, self.sstore = arguments, arguments.sstore
        self.corpora = texts.corpora(arguments.descriptions)
        self.settings: dict[str, settings.Options] = {}
        self.shown: list[str] = []
        self.started = time.monotonic()
        self.whole: dict[str, list[str]] = {}
        self.pools: dict[str, list[str]] = {}
        self.cells: dict[tuple[str, tuple[int, int]], list[str]] = {}

    def say(self, what: str) -> None:
        print(f"{time.monotonic() - self.started:6.0f} s  {what}", flush=True)

    def generator(self, *purpose: object) -> random.Random:
        """A generator of its own for each purpose, so that no part of the run changes another one."""
        return random.Random(" ".join(map(str, (self.arguments.seed, *purpose))))

    def write(self, name: str, rows: list[Counts]) -> None:
        """As CSV, where the numbers of a list have spaces between them."""
        with open(self.arguments.results / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys() if rows else [], lineterminator="\n")
            writer.writeheader()
            for row in rows:
                lists = {key: " ".join(map(str, value)) for key, value in row.items() if isinstance(value, list)}
                writer.writerow({**row, **lists})

    def edited(self, corpus: str, originals: list[str], fraction: float, kind: str = "mixed") -> list[str]:
        generator = self.generator("edits", corpus, fraction, kind)
        return [edits.edited(text, fraction, kind, self.pools[corpus], generator) for text in originals]

    def judge_all(self, collection: Collection, **names: str) -> list[Counts]:
        """By all settings; those with ICU are for Chinese."""
        rows = []
        for setting in self.settings:
            if names.get("corpus") == "chinese" or not setting.endswith("icu"):
                distances = self.distances(collection.path, setting, 2 * collection.count)
                rows.append({**names, "setting": setting, **collection.judge(distances)})
        return rows

    def recalls(self, originals: list[str], copies: list[str], **names: object) -> list[Counts]:
        """How many copies are found, by the settings that are shown."""
        settings.write_documents(self.work("originals"), originals)
        settings.write_documents(self.work("copies"), copies)
        rows = []
        for setting in self.shown:
            before, after = (self.prints(self.work(name), setting, len(originals)) for name in ("originals", "copies"))
            copies_found = within(numpy.bitwise_count(before ^ after))
            rows.append({**names, "setting": setting, "labelled": len(originals), "copies": copies_found})
        return rows

    def prints(self, path: pathlib.Path, name: str, count: int) -> numpy.ndarray:
        return settings.fingerprints(self.sstore, path, self.settings[name], count)

    def distances(self, path: pathlib.Path, name: str, count: int) -> numpy.ndarray:
        return settings.distances(self.sstore, path, self.settings[name], count)

    def read(self) -> None:
        """The texts, and the documents of each corpus and length, if there are enough of them."""
        rows, enough = [], min(ENOUGH, self.arguments.count)
        for corpus, heading, source, count in self.corpora:
            self.whole[corpus] = source(self.generator("texts", corpus), count)
            sample = self.generator("pool", corpus).sample(self.whole[corpus], min(1000, len(self.whole[corpus])))
            self.pools[corpus] = [word for text in sample for word in texts.WORD.findall(text)]
            row = {"texts": heading, "whole": len(self.whole[corpus])}
            for length in texts.LENGTHS:
                generator = self.generator("documents", corpus, length)
                found = texts.documents(self.whole[corpus], length, self.arguments.count, generator)
                row[texts.name_of(length)] = len(found) if len(found) >= enough else 0
                if len(found) >= enough:
                    self.cells[corpus, length] = found
            rows.append(row)
        self.write("texts", rows)
        self.say("texts are read")

    def learn(self) -> None:
        """Tables and stop words of all whole texts, for the settings that need them."""
        every = [text for whole in self.whole.values() for text in whole]
        self.settings = settings.known_settings(self.sstore, self.arguments.work, every)
        self.shown = [name for name in SHOWN if name in self.settings]
        self.say(f"{len(self.settings)} settings; files are learned from {len(every)} texts")

    def by_length(self) -> None:
        """Every corpus and length by itself, with all settings: 5 % edited, and for some of them the other shares."""
        rows, sizes = [], []
        for (corpus, length), originals in self.cells.items():
            names = {"corpus": corpus, "length": texts.name_of(length)}
            collection = Collection(self.work("cell"), originals, self.edited(corpus, originals, SHARE))
            rows += self.judge_all(collection, **names)
            for fraction in edits.SHARES:
                sizes += self.recalls(originals, self.edited(corpus, originals, fraction), **names, edited=fraction)
            self.say(f"{corpus} {texts.name_of(length)}: {len(originals)} documents")
        self.write("cells", rows)
        self.write("edits", sizes)

    def work(self, name: str) -> pathlib.Path:
        return self.arguments.work / f"{name}.jsonl"

    def mixed(self, lengths: list[tuple[int, int]], kind: str = "mixed") -> tuple[list[str], list[str]]:
        """Documents of all corpora together, and their copies."""
        originals, copies = [], []
        for (corpus, length), found in self.cells.items():
            if length in lengths:
                chosen = found[: self.arguments.count * 3 // 4]
                originals += chosen
                copies += self.edited(corpus, chosen, SHARE, kind)
        return originals, copies

    def all_together(self) -> None:
        """All corpora together: all settings, and the other tools."""
        rows, curves = [], []
        for name, lengths in (("200 or more", LONG), ("50-100", [(50, 100)]), ("10-25", [(10, 25)])):
            collection = Collection(self.work("mixed"), *self.mixed(lengths))
            median = numpy.median(collection.edited)
            self.say(f"mixed {name}: {collection.count} documents; median similarity of their copies {median:.2f}")
            judged = self.judge_all(collection, length=name)
            rows += judged
            if lengths == LONG:
                self.check_store(collection, judged)
            if self.arguments.peers:
                curves += self.others(name, collection)
        self.write("mixed", rows)
        self.write("peers", curves)

    def kinds(self) -> None:
        """Documents of 200 or more words, and copies with edits of one kind."""
        rows = []
        for kind in edits.KINDS:
            rows += self.recalls(*self.mixed(LONG, kind), kind=kind)
        self.write("kinds", rows)
        self.say("kinds of edits are measured")

    def check_store(self, collection: Collection, judged: list[Counts]) -> None:
        """`sstore pairs` must find as many pairs as are counted here."""
        store = self.arguments.work / "check.store"
        for name in self.shown:
            subprocess.run(["rm", "-rf", store], check=True)
            made = subprocess.run(
                [self.sstore, "fingerprint", "--jsonl", *self.settings[name], collection.path],
                check=True,
                capture_output=True,
            ).stdout
            subprocess.run([self.sstore, "build", "--quiet", store, "-"], input=made, check=True)
            shown = subprocess.run([self.sstore, "pairs", "-k", str(MAX_K), store], check=True, capture_output=True)
            counted = collections.Counter(line.rsplit(b"\t", 1)[1] for line in shown.stdout.splitlines())
            found = numpy.cumsum([counted[str(k).encode()] for k in range(MAX_K + 1)])
            expected = next(row["found"] for row in judged if row["setting"] == name)
            if list(found) != expected:
                raise SystemExit(f"measure.py: sstore pairs finds {list(found)} pairs, not {expected}")
        self.say("sstore pairs finds the same pairs")

    def others(self, length: str, collection: Collection) -> list[Counts]:
        rows = []
        for name, (folder, kind, own_k, size, features, _) in peers.PEERS.items():
            path = self.arguments.peers / folder
            if not path.is_dir():
                self.say(f"{name} is left out: it is not installed")
                continue
            output = self.arguments.work / "peer.npy"
            environment = {**os.environ, "PYTHONPATH": f"{path}:{path}-needs"}
            command = [self.arguments.python, peers.__file__, name, collection.path, output]
            began = time.monotonic()
            subprocess.run(command, check=True, env=environment)
            names = {"length": length, "tool": name, "kind": kind, "own": own_k, "bytes": size, "features": features}
            rows.append({**names, **peer_counts(kind, collection, numpy.load(output))})
            self.say(f"{name}: {time.monotonic() - began:.0f} s")
        return rows

    def natural(self) -> None:
        """Whole texts as they are, and their own near-duplicates."""
        rows = []
        for corpus, _, _, _ in self.corpora:
            if corpus == texts.TITLES:
                continue
            found = {" ".join(text.split()): text for text in self.whole[corpus] if texts.count_words(text) >= 25}
            chosen = self.generator("natural", corpus).sample(sorted(found.values()), min(1500, len(found)))
            settings.write_documents(self.work("natural"), chosen)
            upper = numpy.triu_indices(len(chosen), 1)
            similar = truth.similarities(chosen)[upper]
            for name in self.shown:
                distances = self.distances(self.work("natural"), name, len(chosen))[upper]
                for low, high in ((0.9, 1.01), (0.7, 0.9), (0.5, 0.7), (0.3, 0.5), (0, 0.3)):
                    among = distances[(similar >= low) & (similar < high)]
                    names = {"corpus": corpus, "documents": len(chosen), "setting": name, "similarity": low}
                    rows.append({**names, "pairs": len(among), "found": within(among)})
            self.say(f"near-duplicates of {corpus}: {len(chosen)} texts")
        self.write("natural", rows)

    def many_pairs(self) -> None:
        """How many unrelated pairs are found among all whole texts of 200 or more words."""
        least = LONG[0][0]
        unique = {" ".join(text.split()) for whole in self.whole.values() for text in whole}
        long = sorted(text for text in unique if texts.count_words(text) >= least)
        settings.write_documents(self.work("long"), long)
        shingles = [truth.shingles(text) for text in long]
        rows = []
        for name in filter(self.settings.__contains__, RECOMMENDED):
            near = close_pairs(self.prints(self.work("long"), name, len(long)))
            stray = [
                distance for one, other, distance in near if jaccard(shingles[one], shingles[other]) < truth.UNRELATED
            ]
            names = {"setting": name, "texts": len(long), "pairs": len(long) * (len(long) - 1) // 2}
            rows.append({**names, "found": len(near), "stray": within(numpy.array(stray))[: CLOSE + 1]})
        self.write("many", rows)
        self.say(f"unrelated pairs among {len(long)} texts")

    def costs(self) -> None:
        """Processor time for all whole texts, and the size of learned tables."""
        whole, rows = self.work("whole"), []
        size = sum(len(text.encode()) for texts_of_corpus in self.whole.values() for text in texts_of_corpus)
        for name in filter(self.settings.__contains__, COSTS):
            options = self.settings[name]
            row = {"setting": name, "bytes": size, "idf": "", "table": ""}
            row["fingerprint"] = processor_time([self.sstore, "fingerprint", "--jsonl", *options, whole])
            if "--idf" in options:
                table = self.arguments.work / "again"
                table.unlink(missing_ok=True)
                row["idf"] = processor_time([self.sstore, "idf", "--jsonl", *options[:4], table, whole])
                row["table"] = table.stat().st_size
            rows.append(row)
        self.write("costs", rows)
        self.say("costs are measured")

    def short_chinese(self) -> None:
        """The two sentences, and their distances to unrelated short sentences, and of these to each other."""
        others = self.cells["chinese", (5, 10)] + self.cells["chinese", (10, 25)]
        others = [text for text in others if len(truth.TOKEN.findall(text)) <= 40 and mostly_chinese(text)]
        settings.write_documents(self.work("chinese"), SENTENCES + others)
        upper = numpy.triu_indices(len(others), 1)
        unrelated = truth.similarities(others)[upper] < truth.NEAR
        rows, histogram = [], []
        for name in self.settings:
            distances = self.distances(self.work("chinese"), name, 2 + len(others))
            to_others, among = distances[:2, 2:].ravel(), distances[2:, 2:][upper][unrelated]
            rows.append(
                {
                    "setting": name,
                    "sentences": len(others),
                    "distance": int(distances[0, 1]),
                    "nearest": int(to_others.min()),
                    "median": int(numpy.median(to_others)),
                    "pairs": len(among),
                    "found": within(among),
                }
            )
            if name in SHOWN_SHORT:
                counts = numpy.bincount(to_others, minlength=65)
                histogram.append({"setting": name, "pairs": len(to_others), "counts": counts.tolist()})
        self.write("chinese", rows)
        self.write("chinese_histogram", histogram)
        self.say(f"short Chinese sentences: {len(others)}")

    def scripts(self) -> None:
        """Pages in simplified and traditional characters."""
        folder = pathlib.Path("/usr/share/man")
        both = sorted(
            path.relative_to(folder / "zh_CN")
            for path in (folder / "zh_CN").glob("man[1-8]/*.gz")
            if (folder / "zh_TW" / path.relative_to(folder / "zh_CN")).exists()
        )
        chosen = self.generator("scripts").sample(both, min(300, len(both)))
        pages = texts.rendered([folder / script / path for script in ("zh_CN", "zh_TW") for path in chosen])
        settings.write_documents(self.work("scripts"), pages)
        sets = [truth.shingles(page) for page in pages]
        similar = numpy.array([jaccard(*pair) for pair in zip(sets, sets[len(chosen) :])])
        rows = []
        for name in self.shown:
            prints = self.prints(self.work("scripts"), name, len(pages))
            distances = numpy.bitwise_count(prints[: len(chosen)] ^ prints[len(chosen) :])
            rows.append(
                {
                    "setting": name,
                    "pages": len(chosen),
                    "similar": int((similar >= truth.NEAR).sum()),
                    "median similarity": f"{numpy.median(similar):.2f}",
                    "median distance": int(numpy.median(distances)),
                    "within 3": int((distances <= 3).sum()),
                    "within 10": int((distances <= 10).sum()),
                }
            )
        self.write("scripts", rows)
        self.say("pages in two scripts are compared")

    def without_features(self) -> None:
        """How many paragraphs have no feature, and so get no fingerprint."""
        rows = []
        for corpus, heading, _, _ in self.corpora:
            parts = [part for text in self.whole[corpus][:500] for part in texts.paragraphs(text)]
            settings.write_documents(self.work("parts"), parts)
            row = {"texts": heading, "paragraphs": len(parts), "empty": sum(not part for part in parts)}
            for name in ("words 3 frequency", "chars 4 sublinear"):
                found = settings.answers(self.sstore, self.work("parts"), self.settings[name])
                row[name] = len(parts) - len(found)
            rows.append(row)
        self.write("empty", rows)
        self.say("documents without features are counted")


def processor_time(command: list[Any]) -> str:
    """Of all threads of a command, in seconds."""
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    return f"{after.children_user + after.children_system - before.children_user - before.children_system:.2f}"


def mostly_chinese(text: str) -> bool:
    return 2 * len(re.findall(f"[{texts.HAN}]", text)) > len("".join(text.split()))


def jaccard(one: set[tuple[str, ...]], two: set[tuple[str, ...]]) -> float:
    return len(one & two) / max(1, len(one | two))


def close_pairs(prints: numpy.ndarray) -> list[tuple[int, int, int]]:
    """Those within a small distance, which is the third number."""
    found = []
    for number, one in enumerate(prints[:-1]):
        distances = numpy.bitwise_count(one ^ prints[number + 1 :])
        found += [
            (number, number + 1 + int(other), int(distances[other])) for other in (distances <= CLOSE).nonzero()[0]
        ]
    return found


def peer_counts(kind: str, collection: Collection, made: numpy.ndarray) -> Counts:
    """At each distance, or at each threshold of similarity, or as an index answers."""
    size = 2 * collection.count
    if kind == "bits":
        return collection.judge(numpy.bitwise_count(made[:, None] ^ made[None, :]))
    differ = numpy.ones((size, size), dtype=numpy.uint8)
    if kind == "pairs":
        differ[made[:, 0], made[:, 1]] = 0
        return collection.counts(differ, [0])
    for first in range(0, size, 64):
        differ[first : first + 64] = (made[first : first + 64, None, :] != made[None, :, :]).sum(axis=2)
    return collection.counts(differ, list(range(0, peers.PERMUTATIONS * 3 // 4 + 1, 2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sstore", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--count", type=int, default=300, help="documents of each corpus and length at most")
    parser.add_argument(
        "--descriptions", type=pathlib.Path, help="of packages, as in a list of apt; none: without them"
    )
    parser.add_argument("--peers", type=pathlib.Path, help="a folder of each other tool; none: without them")
    parser.add_argument("--python", default="python3", help="which runs the other tools")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    arguments.results.mkdir(parents=True, exist_ok=True)
    print(f"seed {arguments.seed}", flush=True)
    measurement = Measurement(arguments)
    measurement.read()
    measurement.learn()
    measurement.short_chinese()
    measurement.scripts()
    measurement.without_features()
    measurement.all_together()
    measurement.kinds()
    measurement.by_length()
    measurement.natural()
    measurement.many_pairs()
    measurement.costs()
    measurement.say("done")


if __name__ == "__main__":
    main()
