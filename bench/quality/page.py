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
ALL = ["descriptions", "english", "chinese", "licences", "sources"]
HEADINGS = {
    "descriptions": "package descriptions",
    "english": "English man pages",
    "chinese": "Chinese man pages",
    "licences": "copyright files",
    "sources": "source files",
}
LENGTHS = ["5-10", "10-25", "25-50", "50-100", "100-200", "200-1000", ">1000"]
WEIGHTS = ["frequency", "sublinear", "presence"]
FEATURES = [f"words {count}" for count in range(1, 5)] + [f"chars {count}" for count in range(1, 9)]
DEFAULT, BEST, STRICT, CHINESE = "words 3 frequency", "words 1 sublinear", "words 1 presence", "words 1 frequency"
CODE, SHORT, SHORT_CHINESE = "chars 3 sublinear", "chars 2 sublinear", "chars 2 frequency"
SHOWN = [DEFAULT, CHINESE, BEST, STRICT, CODE, "chars 4 sublinear"]
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
    ("text of any kind, 200 words or more", ALL, LONG, BEST, 3),
    ("English prose, 200 words or more", ["english"], LONG, BEST, 3),
    ("the same, more recall", ["english"], LONG, BEST, 5),
    ("source code, 200 words or more", ["sources"], LONG, CODE, 3),
    ("the same, more recall", ["sources"], LONG, CODE, 5),
    ("texts that share passages, such as licences, 200 words or more", ["licences"], LONG, STRICT, 3),
    ("Chinese, 200 words or more", ["chinese"], LONG, CHINESE, 3),
    ("the same, more recall", ["chinese"], LONG, CHINESE, 5),
    ("English prose, 25 to 200 words", ["english"], MIDDLE, BEST, 4),
    ("Chinese, 25 to 200 words", ["chinese"], MIDDLE, CHINESE, 6),
    ("English sentences, 5 to 25 words", ["english"], BRIEF, SHORT, 5),
    ("Chinese sentences, 10 to 50 characters", ["chinese"], BRIEF, SHORT_CHINESE, 6),
    ("titles, 5 to 25 words", ["descriptions"], BRIEF, "chars 2 presence", 5),
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
    features, shingle, weights = setting.split()
    return f"`--features {features} --shingle {shingle} --weights {weights}`"


def short(setting: str) -> str:
    """A setting in a table's column."""
    features, shingle, weights = setting.split()
    return f"{features} {shingle}, {weights}"


def advice(results: Results) -> str:
    rows = []
    for text, corpora, lengths, setting, k in ADVICE:
        counts = results.summed("cells", corpora, lengths, k, setting=setting)
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
    at = f"k = {best['at']}" if len(steps) == MAX_K + 1 else f"similarity {best['at'] / PERMUTATIONS:.2f}"
    return f"{recall(best)} ({at})"


def wrong(results: Results) -> str:
    """How many of a million pairs below each similarity are found."""
    rows = []
    for setting in SHOWN:
        steps, cells = results.counts("mixed", length="200 or more", setting=setting), []
        for k in (3, 5, 8):
            found, right, stray = (steps[k][key] for key in ("found", "right", "stray"))
            cells.append(f"{found - right}, {stray}")
        stray = per_million(steps[K]["stray"], steps[K]["unrelated"])
        rows.append([short(setting), *cells, stray])
    return table(["settings", "k = 3", "k = 5", "k = 8", "unrelated at k = 3, of 1 M"], rows)


def peers(results: Results, length: str) -> str:
    """A line for each tool: as it comes, at k = 3, and where its recall is best at the precision asked for."""
    lines = []
    for setting in (BEST, STRICT, CODE, "chars 4 sublinear", DEFAULT):
        steps = results.counts("mixed", length=length, setting=setting)
        own = f"{both(steps[K])} (k = 3)" if setting == DEFAULT else ""
        lines.append([f"sstore: {short(setting)}", "8", own, both(steps[K]), at_precision(steps)])
    for row in results.rows("peers", length=length):
        steps, cells = by_step(row), ["", "", ""]
        if row["kind"] == "pairs":
            cells[0] = both(steps[0])
        else:
            cells[2] = at_precision(steps)
        if row["kind"] == "bits":
            cells[1] = both(steps[K])
            cells[0] = f"{both(steps[int(row['own'])])} (k = {row['own']})" if row["own"] else ""
        lines.append([f"{row['tool']}: {row['features']}", row["bytes"], *cells])
    columns = ["tool: features", "bytes", "as it comes", "k = 3", f"best recall at precision {PRECISION}"]
    return table(columns, lines)


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
        rows.append([HEADINGS[corpus], str(counts[0]["labelled"]), *map(both, counts)])
    return table(["200 words or more", "documents", *map(short, SHOWN)], rows)


def edited(results: Results, k: int, setting: str) -> list[Counts]:
    """What is found at each share of edited words."""
    return [results.summed("edits", ALL, LONG, k, setting=setting, edited=one) for one in SHARES]


def edit_sizes(results: Results) -> str:
    rows = []
    for setting, k in ((BEST, 3), (STRICT, 3), (DEFAULT, 3), (BEST, 6), (DEFAULT, 6), (BEST, 10), (DEFAULT, 10)):
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
        for setting, k in ((BEST, 3), (DEFAULT, 3), (BEST, 10)):
            classes = results.rows("natural", corpus=corpus, setting=setting)
            cells = [f"{row['found'].split()[k]} of {row['pairs']}" for row in classes]
            rows.append([HEADINGS[corpus], f"{short(setting)}, k = {k}", *cells])
    classes = ["0.9 or more", "0.7 to 0.9", "0.5 to 0.7", "0.3 to 0.5", "below 0.3"]
    return table(["similarity", "settings", *classes], rows)


def chinese(results: Results) -> str:
    rows = []
    chosen = [DEFAULT, "words 3 presence", "chars 1 frequency", "chars 1 presence", SHORT_CHINESE]
    for setting in [*chosen, "chars 3 frequency", "chars 4 frequency"]:
        (row,) = results.rows("chinese", setting=setting)
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
    columns = ["texts", "paragraphs", DEFAULT, "chars 4 sublinear", "empty"]
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
    "peers": lambda results: peers(results, "200 or more"),
    "peers-50": lambda results: peers(results, "50-100"),
    "peers-10": lambda results: peers(results, "10-25"),
    "lengths": lambda results: lengths(
        results, ALL, [(BEST, 3), (BEST, 6), (STRICT, 3), (CODE, 3), (DEFAULT, 3), (DEFAULT, 10)]
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
