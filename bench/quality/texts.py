"""The real texts that are measured: those of this machine's packages, cut into documents of known length.

A *word* is a run of letters, digits and underscores; of Chinese, two successive characters count as a word, since
Chinese words have two characters more often than any other number. Documents are whole texts (the page of a manual, a
file), their paragraphs, and their sentences or lines. What a machine has depends on its packages, so figures differ a
little from machine to machine.
"""

import functools
import pathlib
import random
import re
import subprocess
from collections.abc import Callable

LENGTHS = [(5, 10), (10, 25), (25, 50), (50, 100), (100, 200), (200, 1000), (1000, 10000)]
HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"[{HAN}]{{1,2}}|[^\W{HAN}]+")
FAMILY = 20
PYTHON_LIBRARIES = "/usr/lib/python3*"


def count_words(text: str) -> int:
    return sum(1 for _ in WORD.finditer(text))


def name_of(length: tuple[int, int]) -> str:
    """Such as 10-25 for 10 to 24 words."""
    return f"{length[0]}-{length[1]}" if length[1] < 10000 else f">{length[0]}"


def titles(_: random.Random, count: int) -> list[str]:
    """The first lines of the descriptions of packages."""
    shown = subprocess.run(["apt-cache", "dumpavail"], check=True, capture_output=True).stdout.decode(errors="replace")
    return re.findall(r"^Description(?:-en)?: (.*)", shown, re.MULTILINE)


def descriptions(path: pathlib.Path, generator: random.Random, count: int) -> list[str]:
    """A sample of the descriptions of packages without their first lines, each once."""
    shown = path.read_text(errors="replace")
    found = re.findall(r"^Description-en: .*\n((?: .*\n)+)", shown, re.MULTILINE)
    different = sorted({re.sub(r"^ \.?", "", one, flags=re.MULTILINE).strip() for one in found})
    return generator.sample(different, min(count, len(different)))


def rendered(paths: list[pathlib.Path]) -> list[str]:
    """Manual pages as text, without their first and last line, which are the same in many of them."""
    found = []
    for path in paths:
        shown = subprocess.run(["mandoc", "-T", "utf8", path], capture_output=True).stdout.decode(errors="replace")
        lines = re.sub(r".\x08+", "", shown).strip().split("\n")
        found.append("\n".join(lines[1:-1]))
    return found


def pages(folder: str, generator: random.Random, count: int) -> list[str]:
    """A sample of the manual pages of a folder, each file once; of each family of names, such as git-*, only some."""
    families: dict[str, list[pathlib.Path]] = {}
    for path in sorted({path.resolve() for path in pathlib.Path("/usr/share/man").glob(f"{folder}/*.gz")}):
        if path.is_file():
            families.setdefault(re.split(r"[-_.:]", path.name)[0], []).append(path)
    chosen = [path for family in families.values() for path in generator.sample(family, min(FAMILY, len(family)))]
    return rendered(generator.sample(chosen, min(count, len(chosen))))


def english_pages(generator: random.Random, count: int) -> list[str]:
    return pages("man[1-8]", generator, count)


def chinese_pages(generator: random.Random, count: int) -> list[str]:
    return pages("zh_CN/man[1-8]", generator, count)


def files(patterns: list[str], generator: random.Random, count: int) -> list[str]:
    paths = {path.resolve() for pattern in patterns for path in pathlib.Path("/").glob(pattern.lstrip("/"))}
    chosen = sorted(path for path in paths if path.is_file() and 0 < path.stat().st_size < 400_000)
    return [path.read_text(errors="replace") for path in generator.sample(chosen, min(count, len(chosen)))]


def copyright_files(generator: random.Random, count: int) -> list[str]:
    return files(["/usr/share/doc/*/copyright"], generator, count)


def sources(generator: random.Random, count: int) -> list[str]:
    found = files([f"{PYTHON_LIBRARIES}/**/*.py"], generator, count // 2)
    return found + files(["/usr/include/**/*.h"], generator, count - len(found))


TITLES = "titles"
Corpus = tuple[str, str, Callable[[random.Random, int], list[str]], int]


def corpora(path: pathlib.Path | None) -> list[Corpus]:
    """Name, heading, whence, and how many whole texts at most. Without the path, without long descriptions."""
    long = [("descriptions", "package descriptions", functools.partial(descriptions, path), 20000)] if path else []
    return [
        (TITLES, "titles of packages", titles, 0),
        *long,
        ("english", "English man pages", english_pages, 3000),
        ("chinese", "Chinese man pages", chinese_pages, 3000),
        ("licences", "copyright files", copyright_files, 3000),
        ("sources", "source files", sources, 3000),
    ]


def paragraphs(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"\n\s*\n", text)]


def sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.!?。！？；：])\s*\n|(?<=[.!?])\s+|(?<=[。！？；])|\n\s*\n", text)]


def documents(texts: list[str], length: tuple[int, int], count: int, generator: random.Random) -> list[str]:
    """At most count documents of this length, all different, in random order: whole texts first, then parts of them."""
    found: dict[str, str] = {}
    for split in (lambda text: [text], paragraphs, sentences):
        parts = [part for text in texts for part in split(text)]
        generator.shuffle(parts)
        for part in parts:
            if len(found) >= count:
                return list(found.values())
            if length[0] <= count_words(part) < length[1]:
                found.setdefault(" ".join(part.split()).casefold(), part)
    return list(found.values())
