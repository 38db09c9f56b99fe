#!/usr/bin/env python3
"""Measures how well fingerprints of texts find near-duplicates, and writes tables as CSV.

    measure.py SSTORE WORK RESULTS [--seed N] [--count N] [--descriptions FILE] [--made N] [--only PART,...]
        [--peers FOLDER] [--python PYTHON]

*Recall* is the share of edited copies that are found: pairs of a document and its copy within k bits. *Precision* is
the share of found pairs that are right, among all pairs of all documents and their copies. A pair is right if one is
the copy of the other, or if their true similarity (truth.py) is at least 0.5: real texts have near-duplicates of their
own.
A pair is *unrelated* if its similarity is below 0.3; *stray* pairs are unrelated ones that are found.
"""

import argparse
import csv
import os
import pathlib
import random
import re
import shutil
import subprocess
import time
from typing import Any

import numpy

import edits
import names
import peers
import settings
import texts
import truth

ENOUGH = 50
SHARE = 0.05  # of edited words, unless another one is said
LONG = [(200, 1000), (1000, 10000)]
QUERIES = 25000
PARTS = 4  # paragraphs of a made document
SENTENCES = ["你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"]
CHINESE = [
    *(names.SIMHASH, names.simhash("words", 1, "frequency", "ICU"), names.simhash("chars", 2, "frequency")),
    *(names.MINHASH, names.minhash(256, shingle=1, more="ICU"), names.minhash(256, "chars", 2)),
]
# Those whose time is measured.
COSTS = [
    *(names.SIMHASH, names.simhash("words", 1, more="idf"), names.simhash("words", 2, more="idf")),
    *(names.simhash("chars", 4), names.minhash(64), names.minhash(128), names.minhash(256), names.minhash(512)),
    *(names.minhash(256, "chars", 4), names.minhash(256, more="ICU")),
]


# Numbers, and lists of them for each distance.
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

    def counts(self, values: numpy.ndarray, steps: list[int]) -> Counts:
        """What is found at each step: the pairs of at most this value, of a square matrix of small ones."""
        pairs, copies = values[self.upper], values[self.copies, self.copies + self.count]
        kinds = {"copies": copies, "found": pairs, "right": pairs[self.right], "stray": pairs[self.unrelated]}
        found = {kind: within(those, steps) for kind, those in kinds.items()}
        return {"labelled": self.count, "unrelated": int(self.unrelated.sum()), "at": steps, **found}


def within(distances: numpy.ndarray, steps: list[int]) -> list[int]:
    """How many are within each of these distances."""
    return numpy.cumsum(numpy.bincount(distances, minlength=steps[-1] + 1))[steps].tolist()


class Measurement:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments, self.sstore = arguments, arguments.sstore
        self.corpora = texts.corpora(arguments.descriptions)
        self.made: dict[names.Setting, settings.Made] = {}
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

    def work(self, name: str) -> pathlib.Path:
        return self.arguments.work / f"{name}.jsonl"

    def known(self, wanted: list[names.Setting]) -> list[settings.Made]:
        return [self.made[setting] for setting in wanted if setting in self.made]

    def edited(self, corpus: str, originals: list[str], fraction: float, kind: str = "mixed") -> list[str]:
        generator = self.generator("edits", corpus, fraction, kind)
        return [edits.edited(text, fraction, kind, self.pools[corpus], generator) for text in originals]

    def judge_all(self, collection: Collection, chosen: list[names.Setting], **named: str) -> list[Counts]:
        """By these settings; those with ICU are for Chinese."""
        rows = []
        for made in self.known(chosen):
            if named.get("corpus") == "chinese" or made.setting.more != "ICU":
                distances = made.distances(self.sstore, collection.path, 2 * collection.count)
                counts = collection.counts(distances, names.steps(made.setting.bits))
                rows.append({**named, "setting": str(made.setting), **counts})
        return rows

    def recalls(self, originals: list[str], copies: list[str], **named: object) -> list[Counts]:
        """How many copies are found, by the settings that are compared."""
        settings.write_documents(self.work("originals"), originals)
        settings.write_documents(self.work("copies"), copies)
        rows = []
        for made in self.known(names.COMPARED):
            (before, one), (after, other) = (
                made.prints(self.sstore, self.work(name), len(originals)) for name in ("originals", "copies")
            )
            distances = numpy.where(one & other, settings.bits_between(before, after), made.setting.bits)
            steps = names.steps(made.setting.bits)
            row = {**named, "setting": str(made.setting), "labelled": len(originals), "at": steps}
            rows.append({**row, "copies": within(distances, steps)})
            if made.setting == names.MINHASH:
                row = {**row, "setting": names.CONFIRMED, "at": list(names.DISTANCES)}
                rows.append({**row, "copies": self.confirmed_copies(originals, copies, distances)})
        return rows

    def confirmed_copies(self, originals: list[str], copies: list[str], distances: numpy.ndarray) -> list[int]:
        """How many copies have each similarity, among those whose MinHashes are near enough for it."""
        documents, count = self.work("both"), len(originals)
        settings.write_documents(documents, originals + copies)
        pairs = "".join(f"{number}\t{number + count}\n" for number in range(count))
        confirm = [self.sstore, "similarity", "--jsonl", "--id-field", "id", documents]
        shown = subprocess.run(confirm, input=pairs.encode(), check=True, capture_output=True).stdout
        lines = [line.split(b"\t") for line in shown.splitlines()]
        similar = numpy.zeros(count)
        similar[[int(line[0]) for line in lines]] = [float(line[-1]) for line in lines]
        return [int(((similar >= at / 100) & (distances <= most)).sum()) for at, most in names.DISTANCES.items()]

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
        made = settings.known_settings(self.sstore, self.arguments.work, every, names.SETTINGS)
        self.made = {one.setting: one for one in made}
        self.say(f"{len(self.made)} settings; files are learned from {len(every)} texts")

    def by_length(self) -> None:
        """Every corpus and length by itself: 5 % edited, and for some settings the other shares."""
        rows, sizes = [], []
        for (corpus, length), originals in self.cells.items():
            named = {"corpus": corpus, "length": texts.name_of(length)}
            collection = Collection(self.work("cell"), originals, self.edited(corpus, originals, SHARE))
            rows += self.judge_all(collection, names.BY_LENGTH, **named)
            for fraction in edits.SHARES:
                copies = self.edited(corpus, originals, fraction)
                sizes += self.recalls(originals, copies, **named, edited=fraction)
            self.say(f"{corpus} {texts.name_of(length)}: {len(originals)} documents")
        self.write("cells", rows)
        self.write("edits", sizes)

    def mixed(self, lengths: list[tuple[int, int]], shares: list[float], kind: str = "mixed") -> list[list[str]]:
        """Documents of all corpora together, and their copies, of which these shares of words are edited in turn."""
        originals, copies = [], []
        for (corpus, length), found in self.cells.items():
            if length in lengths:
                chosen = found[: self.arguments.count * 3 // 4]
                for number, share in enumerate(shares):
                    mine = chosen[number :: len(shares)]
                    originals += mine
                    copies += self.edited(corpus, mine, share, kind)
        return [originals, copies]

    def all_together(self) -> None:
        """All corpora together: all settings, and the other tools."""
        rows, curves = [], []
        for name, lengths in (("200 or more", LONG), ("50-100", [(50, 100)]), ("10-25", [(10, 25)])):
            collection = Collection(self.work("mixed"), *self.mixed(lengths, [SHARE]))
            median = numpy.median(collection.edited)
            self.say(f"mixed {name}: {collection.count} documents; median similarity of their copies {median:.2f}")
            judged = self.judge_all(collection, names.SETTINGS, length=name)
            rows += judged
            self.say("all settings are measured")
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
            rows += self.recalls(*self.mixed(LONG, [SHARE], kind), kind=kind)
        self.write("kinds", rows)
        self.say("kinds of edits are measured")

    def check_store(self, collection: Collection, judged: list[Counts]) -> None:
        """`sstore pairs` must find as many pairs as are counted here."""
        for made in self.known(names.COMPARED):
            steps = [step for step in names.steps(made.setting.bits) if step <= made.setting.bits // 4]
            store = self.build(made, collection.path, steps[-1])
            shown = subprocess.run([self.sstore, "pairs", "-k", str(steps[-1]), store], check=True, capture_output=True)
            distances = numpy.array([int(line.rsplit(b"\t", 1)[1]) for line in shown.stdout.splitlines()])
            expected = next(row["found"] for row in judged if row["setting"] == str(made.setting))[: len(steps)]
            if within(distances, steps) != expected:
                raise SystemExit(f"{made.setting}: sstore pairs finds {within(distances, steps)} pairs, not {expected}")
        self.say("sstore pairs finds the same pairs")

    def build(self, made: settings.Made, documents: pathlib.Path, distance: int) -> pathlib.Path:
        """A store of documents, for queries within this distance."""
        store = self.arguments.work / "made.store"
        shutil.rmtree(store, ignore_errors=True)
        command = [self.sstore, "fingerprint", "--jsonl", "--id-field", "id", *made.options, documents]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as prints:
            build = [self.sstore, "build", "--quiet", "-k", str(distance), store, "-"]
            subprocess.run(build, stdin=prints.stdout, check=True)
        if prints.returncode != 0:
            raise SystemExit(f"measure.py: {command} has failed")
        return store

    def others(self, length: str, collection: Collection) -> list[Counts]:
        rows = []
        for name, peer in peers.PEERS.items():
            made = self.asked(name, peer.folder, collection.path)
            if made is not None:
                row = {"length": length, "tool": name, "kind": peer.kind, "own": peer.own, "bytes": peer.bytes}
                rows += [{**row, "features": peer.features, **one} for one in peer_counts(peer, collection, made)]
        return rows

    def asked(self, name: str, folder: str, documents: pathlib.Path) -> numpy.ndarray | None:
        """What a tool answers to these documents. None: it is not installed."""
        path = self.arguments.peers / folder
        if not path.is_dir():
            self.say(f"{name} is left out: it is not installed")
            return None
        output = self.arguments.work / "peer.npy"
        environment = {**os.environ, "PYTHONPATH": f"{path}:{path}-needs"}
        began = time.monotonic()
        command = [self.arguments.python, peers.__file__, name, documents, output]
        subprocess.run(command, check=True, env=environment)
        self.say(f"{name}: {time.monotonic() - began:.0f} s")
        return numpy.load(output)

    def pipelines(self) -> None:
        """What the pipelines of others find, and sstore with their features and threshold. A pair is right if their
        features have this similarity: it is a question of hashes and bands only."""
        rows = []
        if not self.arguments.peers:
            return
        originals, copies = self.mixed(LONG[:1], edits.SHARES)
        settings.write_documents(self.work("pipelines"), originals + copies)
        for name, pipeline in peers.PIPELINES.items():
            found = self.asked(name, "datasketch", self.work("pipelines"))
            if found is None:
                continue
            sets = [set(peers.features(text, pipeline.features, pipeline.shingle)) for text in originals + copies]
            similar = truth.similarities_of(sets)
            right = numpy.triu(similar >= pipeline.threshold, 1)
            row = {"pipeline": name, "features": f"{pipeline.features} {pipeline.shingle}"}
            row |= {"bands": f"{pipeline.bands} x {pipeline.rows}", "bytes": 4 * pipeline.bands * pipeline.rows}
            row |= {"threshold": pipeline.threshold, "right": int(right.sum())}
            for bits in names.BITS[1:]:
                setting = names.minhash(bits, pipeline.features, pipeline.shingle)
                mine = self.confirmed(setting, pipeline.threshold)
                row[f"found {bits}"], row[f"right {bits}"] = len(mine), int(right[tuple(mine.T)].sum())
            theirs = {"their found": len(found), "their right": int(right[tuple(found.T)].sum())}
            rows.append({**row, **theirs})
            self.say(f"{name}: {row}, {theirs}")
        self.write("pipelines", rows)

    def confirmed(self, setting: names.Setting, threshold: float) -> numpy.ndarray:
        """The pairs of documents of a similarity that MinHashes find and that the documents confirm."""
        made = settings.Made(setting, setting.options())
        documents, store = self.work("pipelines"), self.arguments.work / "made.store"
        shutil.rmtree(store, ignore_errors=True)
        prints = [self.sstore, "fingerprint", "--jsonl", "--id-field", "id", *made.options, documents]
        output = subprocess.run(prints, check=True, capture_output=True).stdout
        similarity = ["--similarity", str(threshold)]
        subprocess.run([self.sstore, "build", "--quiet", *similarity, store, "-"], input=output, check=True)
        pairs = subprocess.run([self.sstore, "pairs", *similarity, store], check=True, capture_output=True).stdout
        confirm = [self.sstore, "similarity", "--jsonl", "--id-field", "id", "--min", str(threshold)]
        confirm += [*setting.features_options(), documents]
        shown = subprocess.run(confirm, input=pairs, check=True, capture_output=True).stdout
        found = [sorted(map(int, line.split(b"\t")[1:4:2])) for line in shown.splitlines() if line[:1] != b"#"]
        return numpy.array(sorted(found), dtype=numpy.int64).reshape(-1, 2)

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
            for made in self.known(names.COMPARED):
                distances = made.distances(self.sstore, self.work("natural"), len(chosen))[upper]
                steps = names.steps(made.setting.bits)
                for low, high in ((0.9, 1.01), (0.7, 0.9), (0.5, 0.7), (0.3, 0.5), (0, 0.3)):
                    among = distances[(similar >= low) & (similar < high)]
                    named = {"corpus": corpus, "documents": len(chosen), "setting": str(made.setting)}
                    row = {**named, "similarity": low, "pairs": len(among), "at": steps}
                    rows.append({**row, "found": within(among, steps)})
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
        for setting, steps in names.MANY:
            for made in self.known([setting]):
                prints, _ = made.prints(self.sstore, self.work("long"), len(long))
                stray = [
                    distance
                    for one, other, distance in close_pairs(prints, steps[-1])
                    if jaccard(shingles[one], shingles[other]) < truth.UNRELATED
                ]
                row = {"setting": str(setting), "texts": len(long), "pairs": len(long) * (len(long) - 1) // 2}
                rows.append({**row, "at": steps, "stray": within(numpy.array(stray, dtype=numpy.int64), steps)})
                self.say(f"{setting}: unrelated pairs among {len(long)} texts")
        self.write("many", rows)

    def costs(self) -> None:
        """Processor time for all whole texts, and the size of learned tables."""
        whole, rows = self.work("whole"), []
        size = sum(len(text.encode()) for texts_of_corpus in self.whole.values() for text in texts_of_corpus)
        for made in self.known(COSTS):
            row = {"setting": str(made.setting), "bytes": size, "idf": "", "table": ""}
            row["fingerprint"] = processor_time([self.sstore, "fingerprint", "--jsonl", *made.options, whole])
            if made.setting.more == "idf":
                table = self.arguments.work / "again"
                table.unlink(missing_ok=True)
                features = made.setting.features_options()
                row["idf"] = processor_time([self.sstore, "idf", "--jsonl", *features, table, whole])
                row["table"] = table.stat().st_size
            rows.append(row)
        self.write("costs", rows)
        self.say("costs are measured")

    def speeds(self) -> None:
        """Queries a second of a large store, of documents that are made of paragraphs of the texts; the questions are
        edited copies of some of them."""
        parts = sorted(
            {
                part
                for whole in self.whole.values()
                for text in whole
                for part in texts.paragraphs(text)
                if 20 <= texts.count_words(part) < 100
            }
        )
        generator, pool = self.generator("speeds"), [word for words in self.pools.values() for word in words]
        count = self.arguments.made
        with open(self.work("made"), "w", encoding="utf-8") as every, open(self.work("questions"), "w") as questions:
            for number in range(count):
                text = "\n\n".join(generator.choices(parts, k=PARTS))
                every.write(settings.document(number, text))
                if number % max(1, count // QUERIES) == 0:
                    copy = edits.edited(text, SHARE, "mixed", pool, generator)
                    questions.write(settings.document(number, copy))
        self.say(f"{count} documents are made of {len(parts)} paragraphs")
        rows = []
        for *_, setting, distance in names.ADVICE:
            for made in self.known([setting]):
                rows.append({"setting": str(setting), "at": distance, "made": count, **self.speed(made, distance)})
                self.say(f"{setting}, k = {distance}: {rows[-1]['queries'] / rows[-1]['seconds']:.0f} queries a second")
        self.write("speeds", rows)

    def speed(self, made: settings.Made, distance: int) -> Counts:
        store = self.build(made, self.work("made"), distance)
        command = [self.sstore, "fingerprint", "--jsonl", "--id-field", "id", *made.options, self.work("questions")]
        asked = subprocess.run(command, check=True, capture_output=True).stdout
        ask = [self.sstore, "query", "-k", str(distance), store, "-"]
        times = []
        for _ in range(3):
            began = time.monotonic()
            answers = subprocess.run(ask, input=asked, check=True, capture_output=True).stdout
            times.append(time.monotonic() - began)
        size = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
        queries, found = (sum(line[:1] != b"#" for line in lines.splitlines()) for lines in (asked, answers))
        return {"queries": queries, "answers": found, "seconds": round(sorted(times)[1], 3), "store": size}

    def short_chinese(self) -> None:
        """The two sentences, and their distances to unrelated short sentences."""
        others = self.cells["chinese", (5, 10)] + self.cells["chinese", (10, 25)]
        others = [text for text in others if len(truth.TOKEN.findall(text)) <= 40 and mostly_chinese(text)]
        settings.write_documents(self.work("chinese"), SENTENCES + others)
        rows = []
        for made in self.known(CHINESE):
            distances = made.distances(self.sstore, self.work("chinese"), 2 + len(others))
            to_others = distances[:2, 2:].ravel()
            row = {"setting": str(made.setting), "sentences": len(others), "distance": int(distances[0, 1])}
            rows.append({**row, "nearest": int(to_others.min()), "median": int(numpy.median(to_others))})
        self.write("chinese", rows)
        self.say(f"short Chinese sentences: {len(others)}")


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


def close_pairs(prints: numpy.ndarray, most: int) -> list[tuple[int, int, int]]:
    """Those within a distance, which is the third number."""
    found = []
    for number, one in enumerate(prints[:-1]):
        distances = settings.bits_between(one, prints[number + 1 :])
        found += [
            (number, number + 1 + int(other), int(distances[other])) for other in (distances <= most).nonzero()[0]
        ]
    return found


def peer_counts(peer: peers.Peer, collection: Collection, made: numpy.ndarray) -> list[Counts]:
    """At each distance, or at each threshold of similarity, or as an index answers at each of its thresholds."""
    size = 2 * collection.count
    if peer.kind == "bits":
        square = numpy.bitwise_count(made[:, None] ^ made[None, :])
        return [{"threshold": "", **collection.counts(square, names.steps(64))}]
    if peer.kind == "pairs":
        rows = []
        for number, threshold in enumerate(peer.thresholds):
            square = numpy.ones((size, size), dtype=numpy.uint8)
            found = made[made[:, 2] == number]
            square[found[:, 0], found[:, 1]] = 0
            rows.append({"threshold": threshold, **collection.counts(square, [0])})
        return rows
    differ = numpy.empty((size, size), dtype=numpy.uint16)
    for number, one in enumerate(made):
        differ[number] = (made != one).sum(axis=1)
    hashes = made.shape[1]
    return [{"threshold": "", **collection.counts(differ, list(range(0, hashes * 3 // 4 + 1, max(1, hashes // 64))))}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sstore", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--count", type=int, default=150, help="documents of each corpus and length at most")
    parser.add_argument("--made", type=int, default=1000000, help="documents of the store whose speed is measured")
    parser.add_argument(
        "--descriptions", type=pathlib.Path, help="of packages, as in a list of apt; none: without them"
    )
    parser.add_argument("--peers", type=pathlib.Path, help="a folder of each other tool; none: without them")
    parser.add_argument("--python", default="python3", help="which runs the other tools")
    parser.add_argument("--only", default="", help="parts, with commas between them; the others' results stay")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    arguments.results.mkdir(parents=True, exist_ok=True)
    print(f"seed {arguments.seed}", flush=True)
    measurement = Measurement(arguments)
    parts = [
        *(measurement.short_chinese, measurement.all_together, measurement.kinds),
        *(measurement.by_length, measurement.natural, measurement.many_pairs, measurement.pipelines),
        *(measurement.costs, measurement.speeds),
    ]
    wanted = arguments.only.split(",") if arguments.only else [part.__name__ for part in parts]
    measurement.read()
    measurement.learn()
    for part in parts:
        if part.__name__ in wanted:
            part()
    measurement.say("done")


if __name__ == "__main__":
    main()
