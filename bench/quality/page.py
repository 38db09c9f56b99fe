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

from plot import Axis, Panel, chart

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parent.parent / "docs"
PAGE = DOCS / "settings.md"
ALL = ["titles", "descriptions", "english", "chinese", "licences", "sources"]
HEADINGS = {
    "titles": "titles of packages",
    "descriptions": "package descriptions",
    "english": "English man pages",
    "chinese": "Chinese man pages",
    "licences": "copyright files",
    "sources": "source files",
}
LENGTHS = ["5-10", "10-25", "25-50", "50-100", "100-200", "200-1000", ">1000"]
WEIGHTS = ["frequency", "sublinear", "presence"]
FEATURES = [f"words {count}" for count in range(1, 5)] + [f"chars {count}" for count in range(1, 9)]
DEFAULT, STRICT, CHINESE, SHINGLED = "words 1 sublinear", "words 1 presence", "words 1 frequency", "words 3 frequency"
IDF, LEVELS, LOOSE = "words 1 sublinear idf", "words 1 sublinear levels", "words 1 frequency idf"
CODE, SHORT, SHORT_CHINESE = "chars 3 sublinear", "chars 2 sublinear", "chars 2 frequency"
CHINESE_ICU = "words 1 frequency icu"
SHOWN = [SHINGLED, CHINESE, DEFAULT, STRICT, IDF, CODE, "chars 4 sublinear"]
EXTRAS = {
    "idf": (["idf"], ["--idf texts.idf"]),
    "levels": (["idf", "5 levels"], ["--idf texts.idf", "--levels 5"]),
    "stop": (["stop words"], ["--stop-words frequent"]),
    "icu": (["ICU"], ["--segment icu"]),
}
MAX_K, K = 10, 3
PERMUTATIONS = 128
PRECISION = 0.99
SHARES = ["0.01", "0.02", "0.05", "0.1", "0.2"]
KINDS = {
    "replaced": "single words replaced",
    "inserted": "single words inserted",
    "deleted": "single words deleted",
    "moved": "single words moved",
    "passage": "one passage replaced",
}

# Text, its corpora, its lengths, and the settings and distance that are recommended for it.
LONG, MIDDLE, BRIEF = ["200-1000", ">1000"], ["25-50", "50-100", "100-200"], ["5-10", "10-25"]
ADVICE = [
    ("text of any kind, 200 words or more", ALL, LONG, DEFAULT, 3),
    ("the same, more precision, with a table of your texts", ALL, LONG, IDF, 3),
    ("the same, more recall, with a table of your texts", ALL, LONG, IDF, 5),
    ("English prose, 200 words or more", ["english"], LONG, DEFAULT, 3),
    ("the same, more recall", ["english"], LONG, DEFAULT, 5),
    ("source code, 200 words or more", ["sources"], LONG, CODE, 3),
    ("the same, more recall", ["sources"], LONG, CODE, 5),
    ("texts that share passages, such as licences, 200 words or more", ["licences"], LONG, STRICT, 3),
    ("the same, more recall, with a table of your texts", ["licences"], LONG, IDF, 3),
    ("Chinese, 200 words or more", ["chinese"], LONG, CHINESE, 3),
    ("the same, more recall", ["chinese"], LONG, CHINESE, 5),
    ("English prose, 25 to 200 words", ["english"], MIDDLE, DEFAULT, 4),
    ("package descriptions, 25 to 200 words", ["descriptions"], MIDDLE, DEFAULT, 4),
    ("the same, more recall, with a table of your texts", ["descriptions"], MIDDLE, IDF, 6),
    ("Chinese, 25 to 200 words", ["chinese"], MIDDLE, CHINESE, 6),
    ("the same, with ICU", ["chinese"], MIDDLE, CHINESE_ICU, 6),
    ("English sentences, 5 to 25 words", ["english"], BRIEF, SHORT, 5),
    ("Chinese sentences, 10 to 50 characters", ["chinese"], BRIEF, SHORT_CHINESE, 6),
    ("the same, with ICU", ["chinese"], BRIEF, CHINESE_ICU, 6),
    ("titles, 5 to 25 words", ["titles"], BRIEF, SHORT, 5),
]
LEARNED = [
    *(CHINESE, LOOSE, f"{CHINESE} stop", DEFAULT, IDF, LEVELS, f"{DEFAULT} stop"),
    *("words 2 sublinear", "words 2 sublinear idf", SHINGLED, f"{SHINGLED} idf"),
    *(CODE, f"{CODE} idf", "chars 4 sublinear", "chars 4 sublinear idf"),
]
EDITED = [
    *((DEFAULT, 3), (STRICT, 3), (IDF, 3), (SHINGLED, 3)),
    *((DEFAULT, 6), (IDF, 6), (SHINGLED, 6), (DEFAULT, 10), (SHINGLED, 10)),
]

Row = dict[str, str]
Counts = dict[str, Any]


class Results:
    """The tables of CSV, each read once. A column of several numbers is a list of them, one for each k."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.tables: dict[str, list[Row]] = {}

    def rows(self, name: str, **wanted: str) -> list[Row]:
        if name not in self.tables:
            with open(self.folder / f"{name}.csv", newline="", encoding="utf-8") as file:
                self.tables[name] = list(csv.DictReader(file))
        return [row for row in self.tables[name] if all(row[key] == value for key, value in wanted.items())]

    def counts(self, name: str, **wanted: str) -> list[Counts]:
        """The counts of the only row that there is, a dictionary for each k."""
        (row,) = self.rows(name, **wanted)
        return by_step(row)

    def summed(self, name: str, corpora: Iterable[str], lengths: Iterable[str], k: int, **wanted: str) -> Counts:
        """The counts of several corpora and lengths added up."""
        corpora, lengths, total = set(corpora), set(lengths), collections.Counter()
        for row in self.rows(name, **wanted):
            if row["corpus"] in corpora and row["length"] in lengths:
                total.update({key: value for key, value in by_step(row)[k].items() if key in COUNTED})
        return dict(total)


COUNTED = ["labelled", "copies", "found", "right", "unrelated", "stray"]


def by_step(row: Row) -> list[Counts]:
    """A row of lists as a list of rows."""
    columns = {key: [int(number) for number in value.split()] for key, value in row.items() if key in COUNTED + ["at"]}
    steps = max(map(len, columns.values()))
    return [
        {key: value[step] if len(value) == steps else value[0] for key, value in columns.items()}
        for step in range(steps)
    ]


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


def options(setting: str) -> str:
    """Those of a setting that are not defaults."""
    features, shingle, weights, *extras = setting.split()
    shown = [] if features == "words" else [f"--features {features}"]
    shown += [] if shingle == {"words": "1", "chars": "4"}[features] else [f"--shingle {shingle}"]
    shown += [] if weights == "sublinear" else [f"--weights {weights}"]
    shown += [option for extra in extras for option in EXTRAS[extra][1]]
    return f"`{' '.join(shown)}`" if shown else "the defaults"


def short(setting: str) -> str:
    """A setting in a table's column."""
    features, shingle, weights, *extras = setting.split()
    return ", ".join([f"{features} {shingle}", weights, *(label for extra in extras for label in EXTRAS[extra][0])])


def advice(results: Results) -> str:
    rows = []
    for text, corpora, lengths, setting, k in ADVICE:
        counts = results.summed("cells", corpora, lengths, k, setting=setting)
        if not counts:
            continue
        stray = per_million(counts["stray"], counts["unrelated"])
        rows.append([text, options(setting), str(k), recall(counts), precision(counts), stray])
    return table(["your text", "options", "k", "recall", "precision", "unrelated, of 1 M"], rows)


def grid(results: Results, length: str, shown: Callable[[list[Counts]], str]) -> str:
    """What is shown of the counts of all k, for each features and weights."""
    rows = []
    for features in FEATURES:
        settings = [f"{features} {weights}" for weights in WEIGHTS]
        rows.append([features, *(shown(results.counts("mixed", length=length, setting=one)) for one in settings)])
    return table(["features", *WEIGHTS], rows)


def at_precision(steps: list[Counts]) -> str:
    """The best recall that is precise enough, over the distances or thresholds."""
    precise = [counts for counts in steps if is_precise(counts)]
    if not precise:
        return "-"
    best = max(precise, key=lambda counts: counts["copies"])
    at = f"k = {best['at']}" if len(steps) == MAX_K + 1 else f"similarity {1 - best['at'] / PERMUTATIONS:.2f}"
    return f"{recall(best)} ({at})"


def wrong(results: Results) -> str:
    """How many pairs are found that are not right, and how many of them are unrelated."""
    rows = []
    for setting in SHOWN:
        steps, cells = results.counts("mixed", length="200 or more", setting=setting), []
        for k in (3, 5, 8):
            found, right, stray = (steps[k][key] for key in ("found", "right", "stray"))
            cells.append(f"{found - right}, {stray}")
        stray = per_million(steps[K]["stray"], steps[K]["unrelated"])
        rows.append([short(setting), *cells, stray])
    return table(["settings", "k = 3", "k = 5", "k = 8", "unrelated at k = 3, of 1 M"], rows)


def learned(results: Results) -> str:
    """What files that are learned from the texts change."""
    rows = []
    for setting in LEARNED:
        steps = results.counts("mixed", length="200 or more", setting=setting)
        stray = per_million(steps[5]["stray"], steps[5]["unrelated"])
        rows.append([short(setting), *(both(steps[k]) for k in (3, 5, 8)), at_precision(steps), stray])
    best = f"best recall at precision {PRECISION}"
    return table(["settings", "k = 3", "k = 5", "k = 8", best, "unrelated at k = 5, of 1 M"], rows)


def costs(results: Results) -> str:
    """Processor time per 100 MB of text."""
    rows = []
    for row in results.rows("costs"):
        times = [float(row[key]) * 1e8 / int(row["bytes"]) if row[key] else None for key in ("fingerprint", "idf")]
        shown = ["" if time is None else rounded(time, 2) for time in times]
        size = rounded(int(row["table"]) / 1e6, 2) if row["table"] else ""
        rows.append([short(row["setting"]), *shown, size])
    return table(["settings", "`sstore fingerprint` (s)", "`sstore idf` (s)", "table (MB)"], rows)


def many(results: Results) -> str:
    """How many unrelated pairs are found, and what that is for each document of a collection."""
    rows = []
    for row in results.rows("many"):
        stray, pairs = [int(number) for number in row["stray"].split()], int(row["pairs"])
        rates = [per_million(stray[k], pairs) for k in (K, 5)]
        each = [wrong_for_each(stray[K], pairs, documents) for documents in (1e6, 1e8)]
        rows.append([short(row["setting"]), *(str(stray[k]) for k in (K, 5)), *rates, *each])
    columns = ["settings", "k = 3", "k = 5", "k = 3, of 1 M", "k = 5, of 1 M", "a document of 1 M", "of 100 M"]
    return table(columns, rows)


def wrong_for_each(stray: int, pairs: int, documents: float) -> str:
    """How many wrong ones are found for each document of a collection, at this rate."""
    return f"{'< ' if stray == 0 else ''}{rounded(documents * max(1, stray) / pairs, 2)}"


def segmented(results: Results) -> str:
    """Pairs of characters beside the words of ICU, in Chinese."""
    rows = []
    for length in LENGTHS:
        cells = []
        for setting in (CHINESE, CHINESE_ICU, DEFAULT, f"{DEFAULT} icu"):
            steps = [results.summed("cells", ["chinese"], [length], k, setting=setting) for k in range(MAX_K + 1)]
            cells += [both(steps[K]), both(steps[6])]
        rows.append([length, *cells])
    names = [short(setting) for setting in (CHINESE, CHINESE_ICU, DEFAULT, f"{DEFAULT} icu")]
    return table(["words", *(f"{name}, k = {k}" for name in names for k in (K, 6))], rows)


def peers(results: Results, length: str) -> str:
    """A line for each tool: as it comes, at k = 3, and where its recall is best at the precision asked for."""
    lines = []
    for setting in (DEFAULT, STRICT, "chars 4 sublinear", IDF, LEVELS, "chars 3 sublinear idf", SHINGLED):
        steps = results.counts("mixed", length=length, setting=setting)
        own = f"{marked(steps[K])} (k = 3)" if setting == DEFAULT else ""
        lines.append([f"sstore: {short(setting)}", "8", own, marked(steps[K]), at_precision(steps)])
    for row in results.rows("peers", length=length):
        steps, cells = by_step(row), ["", "", ""]
        if row["kind"] == "pairs":
            cells[0] = marked(steps[0])
        else:
            cells[2] = at_precision(steps)
        if row["kind"] == "bits":
            cells[1] = marked(steps[K])
            cells[0] = f"{marked(steps[int(row['own'])])} (k = {row['own']})" if row["own"] else ""
        lines.append([f"{row['tool']}: {row['features']}", row["bytes"], *cells])
    columns = ["tool: features", "bytes", "as it comes", "k = 3", f"best recall at precision {PRECISION}"]
    return table(columns, lines)


def marked(counts: Counts) -> str:
    """Recall and precision, bold if precise enough."""
    return f"**{both(counts)}**" if is_precise(counts) else both(counts)


def lengths(results: Results, corpora: list[str], settings: list[tuple[str, int]]) -> str:
    """Recall and precision of some settings by length."""
    rows = []
    for length in LENGTHS:
        counts = [results.summed("cells", corpora, [length], k, setting=setting) for setting, k in settings]
        if counts[0]:
            rows.append([length, str(counts[0]["labelled"]), *map(both, counts)])
    return table(["words", "documents", *(f"{short(setting)}, k = {k}" for setting, k in settings)], rows)


def corpora(results: Results) -> str:
    rows = []
    for corpus in ALL[1:]:
        counts = [results.summed("cells", [corpus], LONG, K, setting=setting) for setting in SHOWN]
        if counts[0]:
            rows.append([HEADINGS[corpus], str(counts[0]["labelled"]), *map(both, counts)])
    return table(["200 words or more", "documents", *map(short, SHOWN)], rows)


def edited(results: Results, k: int, setting: str) -> list[Counts]:
    """What is found at each share of edited words."""
    return [results.summed("edits", ALL, LONG, k, setting=setting, edited=one) for one in SHARES]


def edit_sizes(results: Results) -> str:
    rows = []
    for setting, k in EDITED:
        rows.append([f"{short(setting)}, k = {k}", *map(recall, edited(results, k, setting))])
    return table(["200 words or more", *(f"{100 * float(one):g} %" for one in SHARES)], rows)


def kinds(results: Results) -> str:
    rows = []
    for kind, heading in KINDS.items():
        found = [recall(results.counts("kinds", kind=kind, setting=setting)[K]) for setting in SHOWN]
        rows.append([heading, *found])
    return table(["5 % of the words", *map(short, SHOWN)], rows)


def natural(results: Results) -> str:
    """How many pairs of whole texts are found, by their similarity."""
    rows = []
    for corpus in ALL[1:]:
        for setting, k in ((DEFAULT, 3), (SHINGLED, 3), (DEFAULT, 10)):
            classes = results.rows("natural", corpus=corpus, setting=setting)
            if not classes:
                continue
            cells = [f"{row['found'].split()[k]} of {row['pairs']}" for row in classes]
            rows.append([HEADINGS[corpus], f"{short(setting)}, k = {k}", *cells])
    classes = ["0.9 or more", "0.7 to 0.9", "0.5 to 0.7", "0.3 to 0.5", "below 0.3"]
    return table(["similarity", "settings", *classes], rows)


def chinese(results: Results) -> str:
    rows = []
    chosen = [DEFAULT, STRICT, CHINESE_ICU, "words 2 frequency icu", IDF, "chars 1 frequency"]
    chosen += ["chars 1 presence", SHORT_CHINESE, SHORT, "chars 3 frequency", "chars 4 sublinear"]
    for row in (row for setting in chosen for row in results.rows("chinese", setting=setting)):
        setting = row["setting"]
        found = [per_million(int(row["found"].split()[k]), int(row["pairs"])) for k in (3, 6, 10)]
        rows.append([short(setting), row["distance"], row["nearest"], row["median"], *found])
    columns = ["settings", "the two", "nearest other", "median other", "k = 3", "k = 6", "k = 10"]
    return table(columns, rows)


def scripts(results: Results) -> str:
    columns = ["pages", "similar", "median distance", "within 3", "within 10"]
    rows = [[short(row["setting"]), *(row[column] for column in columns)] for row in results.rows("scripts")]
    columns[1] = "similarity 0.5 or more"
    return table(["settings", *columns], rows)


def empty(results: Results) -> str:
    columns = ["texts", "paragraphs", SHINGLED, "chars 4 sublinear", "empty"]
    rows = [[row[column] for column in columns] for row in results.rows("empty")]
    return table(["texts", "paragraphs", "no words", "no characters", "empty"], rows)


def texts(results: Results) -> str:
    rows = [[row["texts"], row["whole"], *(row[length] for length in LENGTHS)] for row in results.rows("texts")]
    return table(["texts", "whole", *LENGTHS], rows)


TABLES: dict[str, Callable[[Results], str]] = {
    "advice": advice,
    "three": lambda results: grid(results, "200 or more", lambda steps: both(steps[K])),
    "precise": lambda results: grid(results, "200 or more", at_precision),
    "wrong": wrong,
    "short": lambda results: grid(results, "10-25", at_precision),
    "learned": learned,
    "costs": costs,
    "many": many,
    "segmented": segmented,
    "peers": lambda results: peers(results, "200 or more"),
    "peers-50": lambda results: peers(results, "50-100"),
    "peers-10": lambda results: peers(results, "10-25"),
    "lengths": lambda results: lengths(
        results, ALL, [(DEFAULT, 3), (DEFAULT, 6), (STRICT, 3), (IDF, 3), (CODE, 3), (SHINGLED, 3), (SHINGLED, 10)]
    ),
    "corpora": corpora,
    "edits": edit_sizes,
    "kinds": kinds,
    "natural": natural,
    "chinese": chinese,
    "scripts": scripts,
    "empty": empty,
    "texts": texts,
}

TENTHS = [number / 5 for number in range(6)]
PARTS = [("Recall", "copies", "labelled"), ("Precision", "right", "found")]


def distances_plot(results: Results) -> str:
    """Recall and precision by k."""
    x, panels = Axis("distance k (bits)", list(range(MAX_K + 1))), []
    for title, part, whole in PARTS:
        lines = []
        for setting in SHOWN:
            steps = results.counts("mixed", length="200 or more", setting=setting)
            lines.append((short(setting), [(one["at"], one[part] / one[whole]) for one in steps if one[whole]]))
        panels.append(Panel(f"{title}, 200 words or more", x, Axis("share", TENTHS), lines))
    return chart("Recall and precision by distance, documents of 200 or more words, 5 % edited", panels)


def lengths_plot(results: Results) -> str:
    x, panels = Axis("words per document", list(range(len(LENGTHS))), LENGTHS), []
    for title, part, whole in PARTS:
        lines = []
        for setting in SHOWN:
            counts = [results.summed("cells", ALL, [length], K, setting=setting) for length in LENGTHS]
            points = [(number, one[part] / one[whole]) for number, one in enumerate(counts) if one.get(whole)]
            lines.append((short(setting), points))
        panels.append(Panel(f"{title} at k = {K}", x, Axis("share", TENTHS), lines))
    return chart(f"Recall and precision by length at k = {K}, 5 % edited", panels)


def edits_plot(results: Results) -> str:
    names = [f"{100 * float(one):g} %" for one in SHARES]
    x, panels = Axis("edited words", list(range(len(SHARES))), names), []
    for k in (3, 6):
        lines = []
        for setting in SHOWN:
            shares = [counts["copies"] / counts["labelled"] for counts in edited(results, k, setting)]
            lines.append((short(setting), list(enumerate(shares))))
        panels.append(Panel(f"Recall at k = {k}, 200 words or more", x, Axis("share", TENTHS), lines))
    return chart("Recall by the share of edited words", panels)


def chinese_plot(results: Results) -> str:
    lines, marked = [], []
    for setting in (DEFAULT, SHORT_CHINESE):
        (row,) = results.rows("chinese_histogram", setting=setting)
        counts = enumerate(row["counts"].split())
        lines.append((short(setting), [(bits, 100 * int(count) / int(row["pairs"])) for bits, count in counts]))
        marked.append(float(results.rows("chinese", setting=setting)[0]["distance"]))
    panel = Panel(
        "The two sentences (vertical lines) and unrelated ones (curves)",
        Axis("distance (bits)", list(range(0, 65, 8))),
        Axis("% of the unrelated sentences", [0, 5, 10, 15]),
        lines,
        marked,
    )
    return chart("Distances of two Chinese sentences to each other and to unrelated ones", [panel])


PLOTS = {
    "quality-distances": distances_plot,
    "quality-lengths": lengths_plot,
    "quality-edits": edits_plot,
    "quality-chinese": chinese_plot,
}


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
