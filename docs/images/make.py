#!/usr/bin/env python3
"""Makes the pictures of this folder: parts of the report of a store of real data, in a headless Chromium.

    docs/images/make.py [BUILD]      BUILD is build/release unless it is given, with the benchmarks

The store has the fingerprints of the file paths in Debian's Contents index (bench/paths.sh, which says what it needs),
7.3 million records. The queries are 10,000 of them, and the same with eight bits flipped. Takes half a minute. The
times in the pictures are those of the machine.
"""

import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

IMAGES = pathlib.Path(__file__).resolve().parent
PROJECT = IMAGES.parent.parent
sys.path.insert(0, str(PROJECT / "tests" / "browser"))

import chromium  # noqa: E402

MAX_BYTES = 150_000
# Name, width of the window, dark, the first and the last part of the page, and the height at most.
PICTURES = [
    ("report", 1000, False, "header", "#clusters", 1000),
    ("report-queries", 1000, True, "#queries", "#queries", 2000),
    ("report-phone", 390, True, "header", "#clusters", 844),
    ("report-plans", 1000, False, "#plans", "#plans", 2000),
]
MARGIN = 16
BOX = """(() => {{
  const [first, last] = ["{first}", "{last}"].map((s) => document.querySelector(s).getBoundingClientRect());
  return {{ top: first.top + scrollY, bottom: last.bottom + scrollY }};
}})()"""


def make_store(build: pathlib.Path) -> None:
    """The page of the store, page.html."""
    sstore = str(build / "tools" / "sstore")
    subprocess.run([PROJECT / "bench" / "paths.sh", sstore, build / "bench" / "bench_data", "paths.u64"], check=True)
    recipe = subprocess.run([sstore, "fingerprint", "--recipe", "--lines", "--features", "chars"], check=True,
                            capture_output=True, text=True).stdout.strip()
    subprocess.run([sstore, "build", "--quiet", "--recipe", recipe, "paths.store", "paths.u64"], check=True)
    stored = [value for (value,) in struct.iter_unpack("<Q", pathlib.Path("paths.u64").read_bytes())]
    numbers = random.Random(1)
    queries = numbers.sample(stored, 10_000)
    changed = [query ^ sum(1 << bit for bit in numbers.sample(range(64), 8)) for query in queries]
    pathlib.Path("queries.txt").write_text("".join(f"{query:016x}\n" for query in queries + changed))
    subprocess.run([sstore, "report", "paths.store", "-o", "page.html", "--queries", "queries.txt", "--clusters"],
                   check=True)


def main() -> None:
    """All pictures."""
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else PROJECT / "build" / "release").resolve()
    program = chromium.find()
    if program is None:
        sys.exit("make.py: there is no Chromium; as root: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_store(build)
        browser = chromium.Chromium(program)
        for name, width, dark, first, last, most in PICTURES:
            browser.window(width, 900, dark)
            browser.open(pathlib.Path("page.html"))
            box = browser.evaluate(BOX.format(first=first, last=last))
            top = max(box["top"] - MARGIN, 0)
            path = IMAGES / f"{name}.png"
            browser.picture(path, {"x": 0, "y": top, "width": width, "height": min(box["bottom"] + MARGIN - top, most)})
            if path.stat().st_size > MAX_BYTES:
                sys.exit(f"make.py: {path} has {path.stat().st_size} bytes, more than {MAX_BYTES}")
            print(path, path.stat().st_size)
        browser.close()
        os.chdir("/")


if __name__ == "__main__":
    main()
