"""Reads stores: a second decoder, written from format-spec alone, in Python 3.11 and its standard library.

    python3 sstore_decode.py dump STORE      all records as text, as 'sstore dump' prints them
    python3 sstore_decode.py verify STORE    the full check of sstore-format.md, section 12

Exit status: 0 for success, 1 for a fault, which is reported on standard error with file and offset, 2 for wrong usage.
"""

import argparse
import sys

sys.dont_write_bytecode = True  # leave nothing beside the sources

import store
from faults import Fault


def dump(path: str) -> int:
    for fingerprint, record_id in store.dump(path):
        sys.stdout.write(f"{fingerprint:016x}\t{'-' if record_id is None else record_id}\n")
    return 0


def verify(path: str) -> int:
    faults = store.verify(path)
    for fault in faults:
        print(f"sstore_decode: {fault}", file=sys.stderr)
    if not faults:
        print(f"ok: {path}")
    return 1 if faults else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Read a store by its format specification alone.")
    parser.add_argument("command", choices=["dump", "verify"])
    parser.add_argument("store", metavar="STORE")
    arguments = parser.parse_args()
    try:
        return {"dump": dump, "verify": verify}[arguments.command](arguments.store)
    except (Fault, OSError) as error:
        print(f"sstore_decode: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
