"""Reads stores: a second decoder, written from format-spec alone, in Python 3.11 and its standard library.

    python3 sstore_decode.py dump STORE      all records as text, as 'sstore dump' prints them
    python3 sstore_decode.py verify STORE    the full check of sstore-format.md, section 12
    python3 sstore_decode.py query STORE FINGERPRINT DISTANCE    matches, ascending: distance, fingerprint and id

Exit status: 0 for success, 1 for a fault, which is reported on standard error with file and offset, 2 for wrong usage.
"""

import argparse
import sys

sys.dont_write_bytecode = True  # leave nothing beside the sources

import store
from faults import Fault
from query import Searcher


def dump(path: str) -> int:
    sys.stdout.writelines(store.dump_lines(path))
    return 0


def verify(path: str) -> int:
    faults = store.verify(path)
    for fault in faults:
        print(f"sstore_decode: {fault}", file=sys.stderr)
    if not faults:
        print(f"ok: {path}")
    return 1 if faults else 0


def query(path: str, fingerprint: int, distance: int) -> int:
    searcher = Searcher(path)
    digits = searcher.fingerprint_bits // 4
    for found_distance, found, record_id in searcher.query(fingerprint, distance):
        print(f"{found_distance}\t{found:0{digits}x}\t{'-' if record_id is None else record_id}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Read a store by its format specification alone.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, work in ("dump", dump), ("verify", verify), ("query", query):
        command = commands.add_parser(name)
        command.set_defaults(work=work)
        command.add_argument("path", metavar="STORE")
        if work is query:
            command.add_argument("fingerprint", metavar="FINGERPRINT", type=lambda text: int(text, 16), help="in hexadecimal")
            command.add_argument("distance", metavar="DISTANCE", type=int)
    arguments = vars(parser.parse_args())
    work = arguments.pop("work")
    try:
        return work(**arguments)
    except (Fault, OSError, ValueError) as error:
        print(f"sstore_decode: {error}", file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1


if __name__ == "__main__":
    sys.exit(main())
