#!/usr/bin/env python3
"""Shows the pages of `sstore report` and `sstore plan --html` in a headless Chromium, in windows of a phone and of a
desk, light and dark, and on paper. Nothing may be wider than the window, cut off, overlapping, or of low contrast; the
console must stay empty, and nothing may be fetched.

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


def build(name: str, count: int, *options: str) -> str:
    """A new store."""
    sstore("build", "--quiet", *options, name, lines=text(fingerprints(count)))
    return name


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
    for _ in range(25):
        sstore("add", "--quiet", "many", lines=text(fingerprints(5)))
    sstore("remove", "--quiet", "many", lines=text(added[:7]))
    pages.append(report("many", *measured))
    build("emptied", 0)
    sstore("add", "--quiet", "emptied", lines=text(added[:50]))
    sstore("remove", "--quiet", "emptied", lines=text(added[:50]))
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
    return wrong


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
