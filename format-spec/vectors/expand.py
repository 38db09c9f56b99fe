"""Unpacks the stores of vectors/ into a new folder, and writes their records, answers and edited forms beside them.

    python3 format-spec/vectors/expand.py FOLDER            (--note: note the sums of the results)

Records follow from the steps by which a store was made, and answers from the records by brute force. Neither the library nor
the decoder has a part in this. Each result must have the SHA-256 in sums.txt, so no program can change together with what is
compared with it.
"""

import argparse
import sys
import tarfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

VECTORS = Path(__file__).parent
sys.path.insert(0, str(VECTORS))
sys.dont_write_bytecode = True

import make_edited  # noqa: E402
from make_stores import MAKERS, Maker  # noqa: E402

VERSION = "v2"
SUMS = VECTORS / VERSION / "sums.txt"  # as sha256sum writes them
EDITED = "edited.json"


def results(folder: Path) -> Iterator[tuple[str, str]]:
    """Unpack the stores, and yield name and text of each file to write beside them."""
    for name, bits, k, make in MAKERS:
        with tarfile.open(SUMS.with_name(f"{name}.tar.gz")) as archive:
            archive.extractall(folder)
        made = Maker(name, k, bits)
        make(made)
        yield f"{name}.records", made.record_lines()
        yield f"{name}.answers", made.answer_lines()
    yield EDITED, make_edited.edited_lines(folder)


def expand(folder: Path, note: bool = False) -> None:
    """Fill FOLDER/v2, which must not exist."""
    folder = folder / VERSION
    folder.mkdir(parents=True)
    lines = []
    for name, text in results(folder):
        (folder / name).write_text(text)
        lines.append(f"{sha256(text.encode()).hexdigest()}  {name}\n")
    if note:
        SUMS.write_text("".join(lines))
    wanted = SUMS.read_text().splitlines(keepends=True)
    if lines != wanted:
        sys.exit("not the results of sums.txt:\n" + "".join(line for line in lines if line not in wanted))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--note", action="store_true", help="note the sums, after stores were added")
    arguments = parser.parse_args()
    expand(arguments.folder, arguments.note)
