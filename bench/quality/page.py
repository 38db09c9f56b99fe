#!/usr/bin/env python3
"""Writes the tables and plots of docs/settings.md from the results of measure.py.

    page.py [RESULTS] [--check]

The page has each table between two comments, `<!-- table: NAME -->` and `<!-- end -->`. RESULTS is the folder results
beside this file. With --check nothing is written, and the exit status is 1 if a table or plot is not that of RESULTS.
"""

import argparse
import collections
import csv
import pathlib
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from names import (
    ADVICE,
    ALL,
    AT,
    BITS,
    COMPARED,
    CONFIRMED,
    DISTANCES,
    FEATURES,
    LENGTHS,
    LONG,
    MANY,
    MINHASH,
    MINHASH_64,
    SIMHASH,
    Setting,
    minhash,
    simhash,
)
from plot import Axis, Panel, chart

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parent.parent / "docs"
PAGE = DOCS / "settings.md"
HEADINGS = {
    "titles": "titles of packages",
    "descriptions": "package descriptions",
    "english": "English man pages",
    "chinese": "Chinese man pages",
    "licences": "copyright files",
    "sources": "source files",
}
MIXED = ["200 or more", "50-100", "10-25"]
PRECISION = 0.99
SHARES = ["0.01", "0.02", "0.05", "0.1", "0.2"]
KINDS = {
    "replaced": "single words replaced",
    "inserted": "single words inserted",
    "deleted": "single words deleted",
    "moved": "single words moved",
    "passage": "one passage replaced",
}

# What a table, stop words, ICU or multisets change.
CHANGED = [
    *(SIMHASH, *(simhash("words", 1, more=more) for more in ("idf", "stop words"))),
    *(simhash("words", 1, "frequency"), simhash("words", 1, "frequency", "idf"), simhash("words", 2)),
    *(simhash("words", 2, more="idf"), simhash("chars", 3), simhash("chars", 3, more="idf")),
    *(simhash("words", 1, bits=128), minhash(64), MINHASH_64),
    *(MINHASH, minhash(256, weights="frequency"), minhash(256, more="stop words")),
]

Row = dict[str, str]
Counts = dict[str, Any]


class Results:
    """The tables of CSV, each read once. A column of several numbers is a list of them, one for each step."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.tables: dict[str, list[Row]] = {}

    def rows(self, name: str, **wanted: object) -> list[Row]:
        if name not in self.tables:
            with open(self.folder / f"{name}.csv", newline="", encoding="utf-8") as file:
                self.tables[name] = list(csv.DictReader(file))
        return [row for row in self.tables[name] if all(row[key] == str(value) for key, value in wanted.items())]

    def counts(self, name: str, **wanted: object) -> list[Counts]:
        """The counts of the only row that there is, a dictionary for each step."""
        (row,) = self.rows(name, **wanted)
        return by_step(row)

    def summed(self, name: str, k: int, corpora: Iterable[str], lengths: Iterable[str], **wanted: object) -> Counts:
        """The counts of several corpora and lengths within distance k, added up."""
        corpora, lengths, total = set(corpora), set(lengths), collections.Counter()
        for row in self.rows(name, **wanted):
            if row["corpus"] in corpora and row["length"] in lengths:
                total.update({key: value for key, value in at(by_step(row), k).items() if key != "at"})
        return dict(total)


COUNTED = ["labelled", "copies", "found", "right", "unrelated", "stray", "at"]


def by_step(row: Row) -> list[Counts]:
    """A row of lists as a list of rows."""
    columns = {key: [int(number) for number in row[key].split()] for key in COUNTED if key in row}
    return [
        {key: value[step] if len(value) > 1 else value[0] for key, value in columns.items()}
        for step in range(len(columns["at"]))
    ]


def at(steps: list[Counts], k: int) -> Counts:
    """The counts within distance k."""
    (found,) = (counts for counts in steps if counts["at"] == k)
    return found


def share(part: int, whole: int) -> str:
    """Three digits, cut off and not rounded, so that 1 is all. Of nothing there is no share."""
    if whole == 0:
        return "-"
    return "1" if part == whole else f"{1000 * part // whole / 1000:.3f}"


def recall(counts: Counts) -> str:
    return share(counts["copies"], counts["labelled"])


def precision(counts: Counts) -> str:
    return share(counts["right"], counts["found"])


def both(counts: Counts) -> str:
    return f"{recall(counts)}, {precision(counts)}"


def is_precise(counts: Counts) -> bool:
    return counts["found"] > 0 and counts["right"] >= PRECISION * counts["found"]


def per_million(part: int, whole: int) -> str:
    """Of pairs. What was never seen in so many pairs may still be less than one of them."""
    return f"< {rounded(1e6 / whole, 1)}" if part == 0 else rounded(1e6 * part / whole, 2)


def rounded(value: float, digits: int) -> str:
    """Without an exponent."""
    return f"{float(f'{value:.{digits}g}'):g}"


def table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def heading(setting: Setting) -> str:
    return f"{setting}, k = {AT[setting]}"


def advice(results: Results) -> str:
    """Without speeds if these were not measured."""
    columns = ["your text", "you want", "options", "`-k`", "bytes", "recall", "precision"]
    is_timed = (results.folder / "speeds.csv").exists()
    rows = []
    for text, wish, corpora, lengths, setting, k in ADVICE:
        counts = results.summed("cells", k, corpora, lengths, setting=setting)
        cells = [text, wish, setting.shown(), str(k), str(setting.bits // 8), recall(counts), precision(counts)]
        if is_timed:
            (row,) = results.rows("speeds", setting=setting, at=k)
            cells.append(f"{float(rounded(int(row['queries']) / float(row['seconds']), 2)):,.0f}")
        rows.append(cells)
    return table([*columns, *(["queries a second"] if is_timed else [])], rows)


def best(steps: list[Counts]) -> Counts | None:
    """Where recall is best and precision high enough, over the distances or thresholds."""
    return max((one for one in steps if is_precise(one)), key=lambda one: one["copies"], default=None)


def at_precision(steps: list[Counts]) -> str:
    found = best(steps)
    return f"{recall(found)} (k = {found['at']})" if found else "-"


def grid(results: Results, length: str) -> str:
    """The best recall with enough precision, by features and hash."""
    rows = []
    for features in FEATURES:
        settings = [simhash(*features, weights) for weights in ("frequency", "sublinear", "presence")]
        settings += [minhash(bits, *features) for bits in BITS]
        found = [at_precision(results.counts("mixed", length=length, setting=setting)) for setting in settings]
        rows.append([f"{features[0]} {features[1]}", *found])
    columns = [f"simhash, {weights}" for weights in ("frequency", "sublinear", "presence")]
    return table(["features", *columns, *(f"MinHash {bits}" for bits in BITS)], rows)


def learned(results: Results) -> str:
    """What tables, stop words and multisets change."""
    rows = []
    for setting in CHANGED:
        steps = results.counts("mixed", length=MIXED[0], setting=setting)
        short = at_precision(results.counts("mixed", length=MIXED[2], setting=setting))
        rows.append([str(setting), at_precision(steps), short])
    return table(["settings", "200 words or more", "10-25 words"], rows)


def costs(results: Results) -> str:
    """Processor time per 100 MB of text."""
    rows = []
    for row in results.rows("costs"):
        times = [float(row[key]) * 1e8 / int(row["bytes"]) if row[key] else None for key in ("fingerprint", "idf")]
        shown = ["" if time is None else rounded(time, 2) for time in times]
        size = rounded(int(row["table"]) / 1e6, 2) if row["table"] else ""
        rows.append([row["setting"], *shown, size])
    return table(["settings", "`sstore fingerprint` (s)", "`sstore idf` (s)", "table (MB)"], rows)


def many(results: Results) -> str:
    """How many unrelated pairs are found, and what that is for each document of a collection."""
    rows = []
    for setting, distances in MANY:
        (row,) = results.rows("many", setting=setting)
        steps, stray, pairs = ([int(number) for number in row[key].split()] for key in ("at", "stray", "pairs"))
        for k in distances:
            found = stray[steps.index(k)]
            each = [wrong_for_each(found, pairs[0], documents) for documents in (1e6, 1e8)]
            rows.append([str(setting), str(k), str(found), per_million(found, pairs[0]), *each])
    return table(["settings", "k", "found", "of 1 M pairs", "a document of 1 M", "of 100 M"], rows)


def wrong_for_each(stray: int, pairs: int, documents: float) -> str:
    """How many wrong ones are found for each document of a collection, at this rate."""
    return f"{'< ' if stray == 0 else ''}{rounded(documents * max(1, stray) / pairs, 2)}"


def peers(results: Results) -> str:
    """A line for each tool: as it comes, and where its recall is best at the precision asked for, by length."""
    lines = []
    for setting in COMPARED:
        steps = [results.counts("mixed", length=length, setting=setting) for length in MIXED]
        own = f"{marked(at(steps[0], AT[setting]))} (k = {AT[setting]})" if setting in (SIMHASH, MINHASH) else ""
        found = [recall(one) if (one := best(each)) else "-" for each in steps]
        lines.append([f"sstore: {setting}", str(setting.bits // 8), own, *found])
    for row in results.rows("peers", length=MIXED[0]):
        which = {"tool": row["tool"], "threshold": row["threshold"]}
        steps = [results.counts("peers", length=length, **which) for length in MIXED]
        name, own = f"{row['tool'].removesuffix(', ' + row['features'])}: {row['features']}", ""
        if row["kind"] == "pairs":
            name, own = f"{name}, threshold {row['threshold']}", marked(steps[0][0])
        elif row["own"]:
            own = f"{marked(at(steps[0], int(row['own'])))} (k = {row['own']})"
        found = [recall(one) if (one := best(each)) else "-" for each in steps]
        lines.append([name, row["bytes"], own, *found])
    columns = ["tool: features", "bytes", "as it comes, 200 words or more"]
    return table([*columns, *(f"best, {length} words" for length in MIXED)], lines)


def marked(counts: Counts) -> str:
    """Recall and precision, bold if precise enough."""
    return f"**{both(counts)}**" if is_precise(counts) else both(counts)


def pipelines(results: Results) -> str:
    """What pipelines find of the pairs of their threshold, and what sstore finds with the same features."""
    lines = []
    for row in results.rows("pipelines"):
        right = row["right"]
        cells = [recall_of_pairs(right, row["their found"], row["their right"])]
        cells += [recall_of_pairs(right, row[f"found {bits}"], row[f"right {bits}"]) for bits in BITS[1:]]
        lines.append([row[key] for key in ("pipeline", "features", "bands", "bytes", "threshold")] + [right, *cells])
    columns = ["pipeline", "features", "bands x numbers", "bytes", "similarity", "pairs", "it finds"]
    return table([*columns, *(f"sstore finds, {bits // 8} bytes" for bits in BITS[1:])], lines)


def recall_of_pairs(right: str, found: str, found_right: str) -> str:
    """Recall and precision."""
    return f"{share(int(found_right), int(right))}, {share(int(found_right), int(found))}"


def by_length(results: Results) -> str:
    rows = []
    for length in LENGTHS:
        counts = [results.summed("cells", AT[one], ALL, [length], setting=one) for one in COMPARED]
        rows.append([length, str(counts[0]["labelled"]), *map(both, counts)])
    return table(["words", "documents", *map(heading, COMPARED)], rows)


def by_corpus(results: Results) -> str:
    rows = []
    for corpus in ALL[1:]:
        counts = [results.summed("cells", AT[one], [corpus], LONG, setting=one) for one in COMPARED]
        if counts[0]:
            rows.append([HEADINGS[corpus], str(counts[0]["labelled"]), *map(both, counts)])
    return table(["200 words or more", "documents", *map(heading, COMPARED)], rows)


def edited(results: Results, setting: Setting) -> list[Counts]:
    """What is found at each share of edited words."""
    return [results.summed("edits", AT[setting], ALL, LONG, setting=setting, edited=one) for one in SHARES]


def edit_sizes(results: Results) -> str:
    rows = []
    for setting in COMPARED:
        kinds = [recall(at(results.counts("kinds", kind=kind, setting=setting), AT[setting])) for kind in KINDS]
        rows.append([heading(setting), *map(recall, edited(results, setting)), *kinds])
    for similarity in sorted(DISTANCES, reverse=True):
        sizes = [results.summed("edits", similarity, ALL, LONG, setting=CONFIRMED, edited=one) for one in SHARES]
        kinds = [at(results.counts("kinds", kind=kind, setting=CONFIRMED), similarity) for kind in KINDS]
        rows.append([f"`dedup --similarity {similarity / 100:g}`", *map(recall, sizes), *map(recall, kinds)])
    shares = [f"{100 * float(one):g} %" for one in SHARES]
    return table(["200 words or more", *shares, *(f"5 %, {kind}" for kind in KINDS.values())], rows)


def natural(results: Results) -> str:
    """How many pairs of whole texts are found, by their similarity."""
    rows = []
    for setting in COMPARED:
        classes: dict[str, list[int]] = {}
        for row in results.rows("natural", setting=setting):
            found = row["found"].split()[row["at"].split().index(str(AT[setting]))]
            total = classes.setdefault(row["similarity"], [0, 0])
            total[0] += int(found)
            total[1] += int(row["pairs"])
        rows.append([heading(setting), *(f"{found} of {pairs}" for found, pairs in classes.values())])
    classes = ["0.9 or more", "0.7 to 0.9", "0.5 to 0.7", "0.3 to 0.5", "below 0.3"]
    return table(["settings", *classes], rows)


def chinese(results: Results) -> str:
    columns = ["setting", "distance", "nearest", "median"]
    rows = [[row[column] for column in columns] for row in results.rows("chinese")]
    return table(["settings", "the two", "nearest other", "median other"], rows)


def texts(results: Results) -> str:
    rows = [[row["texts"], row["whole"], *(row[length] for length in LENGTHS)] for row in results.rows("texts")]
    return table(["texts", "whole", *LENGTHS], rows)


TABLES: dict[str, Callable[[Results], str]] = {
    "advice": advice,
    "grid": lambda results: grid(results, MIXED[0]),
    "grid-short": lambda results: grid(results, MIXED[2]),
    "lengths": by_length,
    "corpora": by_corpus,
    "edits": edit_sizes,
    "natural": natural,
    "many": many,
    "learned": learned,
    "chinese": chinese,
    "peers": peers,
    "pipelines": pipelines,
    "costs": costs,
    "texts": texts,
}

TENTHS = [number / 5 for number in range(6)]
PANELS = [("Recall", "copies", "labelled"), ("Precision", "right", "found")]


def distances_plot(results: Results) -> str:
    """Recall and precision by the share of different bits."""
    eighths = [number / 16 for number in range(7)]
    x, panels = (
        Axis("distance k, as a share of the bits", eighths, ["0", "1/16", "1/8", "3/16", "1/4", "5/16", "3/8"]),
        [],
    )
    for title, part, whole in PANELS:
        lines = []
        for setting in COMPARED:
            steps = results.counts("mixed", length=MIXED[0], setting=setting)
            points = [(one["at"] / setting.bits, one[part] / one[whole]) for one in steps if one[whole]]
            lines.append((str(setting), points))
        panels.append(Panel(f"{title}, 200 words or more", x, Axis("share", TENTHS), lines))
    return chart("Recall and precision by distance, documents of 200 or more words, 5 % edited", panels)


def lengths_plot(results: Results) -> str:
    x, panels = Axis("words per document", list(range(len(LENGTHS))), LENGTHS), []
    for title, part, whole in PANELS:
        lines = []
        for setting in COMPARED:
            counts = [results.summed("cells", AT[setting], ALL, [length], setting=setting) for length in LENGTHS]
            points = [(number, one[part] / one[whole]) for number, one in enumerate(counts) if one.get(whole)]
            lines.append((heading(setting), points))
        panels.append(Panel(title, x, Axis("share", TENTHS), lines))
    return chart("Recall and precision by length, 5 % edited", panels)


PLOTS = {"quality-distances": distances_plot, "quality-lengths": lengths_plot}


def with_tables(page: str, results: Results) -> str:
    """The page with the tables of these results."""

    def replaced(place: re.Match[str]) -> str:
        return f"<!-- table: {place[1]} -->\n{TABLES[place[1]](results)}<!-- end -->"

    return re.sub(r"<!-- table: ([a-z0-9-]+) -->\n.*?<!-- end -->", replaced, page, flags=re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, nargs="?", default=HERE / "results")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    results = Results(arguments.results)
    made = {PAGE: with_tables(PAGE.read_text(encoding="utf-8"), results)}
    made |= {DOCS / "images" / f"{name}.svg": plot(results) for name, plot in PLOTS.items()}
    different = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in different:
        print(f"{path.relative_to(DOCS.parent)} {'differs' if arguments.check else 'is written'}")
        if not arguments.check:
            path.write_text(made[path], encoding="utf-8")
    sys.exit(1 if arguments.check and different else 0)


if __name__ == "__main__":
    main()
