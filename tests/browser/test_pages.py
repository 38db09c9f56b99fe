#!/usr/bin/env python3
"""Shows the pages of `sstore report` and `sstore plan --html` in a headless Chromium, in windows of a phone and of a
desk, light and dark, and on paper. Nothing may be wider than the window, cut off, overlapping, or of low contrast; the
console must stay empty, and nothing may be fetched. A page says what its store is; without scripts it shows its numbers.

    SSTORE=build/release/tools/sstore tests/browser/test_pages.py [STORE...]

With stores, their pages are shown instead of those of small stores that the test builds. Exits with 77 if there is no
Chromium.
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile

import chromium

SSTORE = os.path.abspath(os.environ.get("SSTORE", "sstore"))
MEASURE = (pathlib.Path(__file__).parent / "measure.js").read_text()
HOSTILE = "</style><script>document.title='taken'</script><img src=x onerror=alert(1)>\"'&\u202e"
WINDOWS = [(390, False, False), (390, True, False), (1280, False, False), (1280, True, False), (1280, False, True)]
VALUES = random.Random(1)
# What some pages say, without narrow spaces.
SENTENCES = {
    "common.html": ["12372 of 30000 records are in 348 clusters:", "2000 of 2000 queries were timed at distance 3, ",
                    "0 of them found a match.", "raw: 16 bytes a record", "This is the store's own plan.", "Near-duplicates"],
    "empty.html": ["The store has no records. Its files take ", "No record has a near-duplicate within distance 3."],
    "empty-without-ids.html": ["There were no queries to time."],
    "one.html": ["No record has a near-duplicate within distance 3."],
    "pair.html": ["2 of 3 records are in 1 cluster:", "of 2 in 1 cluster within 3 bits"],
    "without-ids.html": ["raw: 8 bytes a fingerprint", "256 bytes, of which"],
    "sampled.html": ["Near-duplicates in a sample", "have one within 16 bits; --clusters finds all"],
    "many.html": ["These are the tables of the largest segment.", "removed records still take space.",
                  "These are the newest 50 of 57."],
    "wide.html": ["raw: 40 bytes a record", "This is the store's own plan.", "Each of their 4 words has an index"],
    "skewed.html": ["The store's words have other plans", "Words that queries do not search are left out.", "not searched"],
    "plan.html": ["10000000 records, distance 3", "with ids, for uniform fingerprints"],
    "plan-wide.html": ["10000000 records of 256 bits, distance 31", "16:1,16:1,16:1,16:1 for each of 4 words"],
}
# Expressions of the page's script, and their values, in which "_" is a narrow space.
NUMBERS = {
    "count(999)": "999", "count(1000)": "1_000", "count(12345678)": "12_345_678",
    "bytes(0)": "0_B", "bytes(999)": "999_B", "bytes(1000)": "1.00_kB", "bytes(26.04e9)": "26.0_GB",
    "bytes(1.5e19)": "15000_PB", "bytes(null)": "-", "time(571)": "571_ns", "time(4420)": "4.42_\xb5s",
    "timeTick(1e6)": "1_ms", "tick(0.01)": "0.01", "tick(20)": "20", "tick(1e5)": "100_K", "rounded(0)": "0",
    "rounded(0.04)": "<_0.1", "rounded(4.25)": "4.3", "rounded(1234.5)": "1_235", "rounded(7325923)": "7.33_M",
    "rounded(1e10)": "10.0_G", "rounded(null)": "-", "percent(0)": "0.0_%", "percent(0.0001)": "<_0.1_%",
    "percent(0.8486)": "84.9_%", "percent(1.608)": "161_%", "percent(4500)": "4_500_\xd7", "percent(NaN)": "-",
    "fixed(13.578, 2)": "13.58", "fixed(Infinity, 2)": "-", "percentTick(0.005)": "0.5_%",
    "linear(0, tick).ticks.map(tick).join()": "0,0.2,0.4,0.6,0.8,1", "linear(27.3, tick).ticks.join()": "0,10,20,30",
    "logarithmic(0.4, 1000, tick).ticks.map(tick).join()": "0.1,1,10,100,1_K",
    "Math.abs(logGamma(1)) < 1e-9": True, "Math.abs(logGamma(6) - Math.log(120)) < 1e-9": True,
}


def sstore(*arguments: str, lines: str = "") -> None:
    """Run the command; it must succeed."""
    subprocess.run([SSTORE, *arguments], input=lines, text=True, check=True)


def fingerprints(count: int) -> list[int]:
    """Some uniform ones, and some near earlier ones, under few prefixes."""
    made: list[int] = []
    for _ in range(count):
        if made and VALUES.random() < 0.4:
            made.append(VALUES.choice(made[: 1 + count // 50]) ^ 1 << VALUES.randrange(64))
        else:
            made.append(VALUES.getrandbits(64))
    return made


def text(values: list[int]) -> str:
    """Lines of the command's input."""
    return "".join(f"{value:016x}\n" for value in values)


def wide_text(count: int, words: int, skewed: bool = False) -> str:
    """Lines of fingerprints of several words, some near earlier ones. Of skewed ones the first word is always the same,
    and the second one has few values."""
    made: list[int] = []
    bits = 64 * words
    for _ in range(count):
        value = VALUES.getrandbits(bits)
        if made and VALUES.random() < 0.4:
            value = VALUES.choice(made[: 1 + count // 50]) ^ 1 << VALUES.randrange(bits)
        if skewed:
            value = value & (1 << bits - 128) - 1 | VALUES.randrange(3) << bits - 128
        made.append(value)
    return "".join(f"{value:0{bits // 4}x}\n" for value in made)


def report(store: str, *options: str) -> pathlib.Path:
    """The page of a store."""
    page = pathlib.Path(store.rstrip("/") + ".html")
    sstore("report", "--quiet", store, "-o", str(page), *options)
    return page


def build_of(name: str, lines: str, *options: str) -> str:
    """A new store of these fingerprints."""
    sstore("build", "--quiet", *options, name, lines=lines)
    return name


def build(name: str, count: int, *options: str) -> str:
    """A new store."""
    return build_of(name, text(fingerprints(count)), *options)


def make_pages() -> list[pathlib.Path]:
    """Stores at the ends of what there is."""
    queries = pathlib.Path("queries")
    queries.write_text(text(fingerprints(2000)))
    measured = ("--clusters", "--queries", str(queries))
    pathlib.Path("no-queries").write_text("")
    pages = [
        report(build("common", 30000), *measured),
        report(build("empty", 0), "--clusters", "--queries", str(queries)),
        report(build("one", 1), *measured),
        report(build_of("pair", "ff\nfe\nf0f0f0f0\n")),
        report(build("empty-without-ids", 0, "--no-ids"), "--queries", "no-queries"),
        report(build("without-ids", 5000, "--no-ids", "-k", "2", "--block-size", "256"), *measured),
        report(build("twenty", 2000, "--plan", "20"), *measured),
        report(build("exact", 500, "-k", "0"), *measured),
        report(build("far", 500, "-k", "16"), "--clusters"),
        report(build("sampled", 500, "-k", "16"), "--clusters=sample"),
        report(build("hostile <b>&'\" " + "x" * 60, 100, "--recipe", HOSTILE), *measured),
    ]
    added = fingerprints(3000)
    sstore("build", "--quiet", "many", lines=text(added))
    for _ in range(55):
        sstore("add", "--quiet", "--no-compact", "many", lines=text(fingerprints(5)))
    sstore("remove", "--quiet", "--no-compact", "many", lines=text(added[:7]))
    pages.append(report("many", *measured))
    build("emptied", 0)
    sstore("add", "--quiet", "emptied", lines=text(added[:50]))
    sstore("remove", "--quiet", "--no-compact", "emptied", lines=text(added[:50]))
    pages.append(report("emptied", *measured))
    queries.write_text(wide_text(2000, 4))
    sstore("build", "--quiet", "-k", "31", "wide", lines=wide_text(5000, 4))
    pages.append(report("wide", *measured))
    sstore("build", "--quiet", "-k", "20", "--no-ids", "skewed", lines=wide_text(3000, 4, skewed=True))
    sstore("add", "--quiet", "skewed", lines=wide_text(50, 4, skewed=True))
    pages.append(report("skewed", *measured))
    sstore("build", "--quiet", "--bits", "256", "wide-empty")
    pages.append(report("wide-empty", *measured))
    sstore("build", "--quiet", "-k", "63", "--plan", "20", "widest", lines=wide_text(500, 16))
    pages.append(report("widest", "--clusters"))
    for name, options in (("plan-wide", ("-n", "10M", "--bits", "256", "-k", "31")), ("plan", ("-n", "10M")), ("plan-large", ("-n", "900G", "--no-ids")), ("plan-k16", ("-n", "500", "-k", "16", "--all"))):
        sstore("plan", *options, "--html", name + ".html")
        pages.append(pathlib.Path(name + ".html"))
    return pages


def check(browser: chromium.Chromium, page: pathlib.Path) -> int:
    """Print what is wrong with a page; returns the number of complaints."""
    wrong = 0
    browser.open(page)
    for width, dark, paper in WINDOWS:
        browser.window(width, 900, dark, paper)
        found = browser.evaluate(MEASURE)
        complaints = found["wrong"] + browser.complaints
        browser.complaints.clear()
        if browser.evaluate("document.title.includes('taken')"):
            complaints.append("a script of the store's text ran")
        for complaint in complaints:
            print(f"{page}: {width} px, {'dark' if dark else 'light'}{', paper' if paper else ''}: {complaint}")
        wrong += len(complaints)
    return wrong + check_texts(browser, page)


def check_texts(browser: chromium.Chromium, page: pathlib.Path) -> int:
    """Print what a page does not say, and what it writes in another way; returns the number of complaints."""
    said = browser.evaluate("document.body.innerText + document.title").replace("\u202f", "")
    missing = [sentence for sentence in SENTENCES.get(page.name, []) if sentence not in said]
    for sentence in missing:
        print(f"{page}: does not say '{sentence}'")
    wrong = {name: found for name, value in NUMBERS.items()
             if (found := browser.evaluate(name)) != (value.replace("_", "\u202f") if isinstance(value, str) else value)}
    for name, found in wrong.items():
        print(f"{page}: {name} is {found}")
    return len(missing) + len(wrong)


def check_without_scripts(browser: chromium.Chromium, page: pathlib.Path) -> int:
    """A browser that runs no scripts shows why there are no charts, and the numbers."""
    browser.allow_scripts(False)
    browser.open(page)
    browser.window(390, 900, False)
    shown = browser.evaluate("document.body.innerText")
    is_wide = browser.evaluate("document.documentElement.scrollWidth > innerWidth")
    browser.allow_scripts(True)
    complaints = [f"without scripts: does not show '{text}'"
                  for text in ("JavaScript may be switched off", '"record_count":30000,', '"recipe":null') if text not in shown]
    complaints += ["without scripts: wider than the window"] * is_wide + browser.complaints
    browser.complaints.clear()
    for complaint in complaints:
        print(f"{page}: {complaint}")
    return len(complaints)


def main() -> int:
    """All pages."""
    program = chromium.find()
    if program is None:
        print("skipped: there is no Chromium (apt-get install chromium)")
        return 77
    stores = [os.path.abspath(store) for store in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pages = [report_elsewhere(store) for store in stores] or make_pages()
        browser = chromium.Chromium(program)
        wrong = sum(check(browser, page) for page in pages)
        wrong += 0 if stores else check_without_scripts(browser, pages[0])
        browser.close()
        os.chdir("/")
    print(f"figure: {len(pages)} pages in {len(WINDOWS)} windows each: {wrong} complaints")
    return 1 if wrong else 0


def report_elsewhere(store: str) -> pathlib.Path:
    """The page of a store, not written beside it."""
    page = pathlib.Path(os.path.basename(store) + ".html")
    sstore("report", "--quiet", store, "-o", str(page), "--clusters")
    return page


if __name__ == "__main__":
    sys.exit(main())
