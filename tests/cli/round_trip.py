#!/usr/bin/env python3
"""Reads and writes files of other programs with the commands of docs/interchange.md, and in every other form.

    round_trip.py PAGE     exits 0 if every file comes back byte by byte

`sstore` is looked up in PATH. The files are written here, without sstore and without NumPy. If NumPy is installed, it must
agree about its arrays.
"""
import base64
import json
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
from itertools import product

COUNT = 1500
WIDE_WORDS = 4
failures = []


def signed(x):
    return x - (1 << 64) if x >> 63 else x


class Wide(int):
    """A fingerprint of more than 64 bits."""


def word_count(x):
    return WIDE_WORDS if isinstance(x, Wide) else 1


def words(x):
    """The words of a fingerprint, the most significant first."""
    return [x >> 64 * i & (1 << 64) - 1 for i in reversed(range(word_count(x)))]


def in_bytes(x):
    return x.to_bytes(8 * word_count(x), "big")


TEXT = {
    "hex": lambda x: in_bytes(x).hex(),
    "dec": str,
    "signed": lambda x: str(signed(x)),
    "base64": lambda x: base64.b64encode(in_bytes(x)).decode().rstrip("="),
    "base32": lambda x: base64.b32encode(in_bytes(x)).decode().rstrip("="),
    "bin": lambda x: "".join(f"{word:064b}" for word in words(x)),
}


def lines(rows, separator="\t"):
    return "".join(separator.join(row) + "\n" for row in rows).encode()


def npy(kind, shape, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.ljust(117) + b"\n" + data


def text_file(records, radix, columns, separator="\t"):
    part = {"fingerprint": lambda r: TEXT[radix](r[0]), "id": lambda r: "-" if r[1] is None else str(r[1])}
    return lines(([part[c](r) for c in columns.split(",")] for r in records), separator)


def json_file(records, radix, columns, fingerprint="fingerprint", identifier="id"):
    def one(record):
        part = {"fingerprint": (fingerprint, TEXT[radix](record[0])),
                "id": (identifier, None if record[1] is None else str(record[1]))}
        stated = {} if radix == "hex" else {"radix": radix}
        return json.dumps(dict(part[c] for c in columns.split(",")) | stated, separators=(",", ":"), ensure_ascii=False)
    return lines([one(r)] for r in records)


def array_file(records, columns):
    width = word_count(records[0][0]) + (columns != "fingerprint")
    shape = f"({len(records)},)" if width == 1 else f"({len(records)}, {width})"
    return npy("<u8", shape, raw_file(records, columns != "fingerprint"))


def raw_file(records, with_ids):
    numbers = [x for r in records for x in (*words(r[0]), *([r[1]] if with_ids else []))]
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def bytes_file(records):
    return npy("|u1", f"({len(records)}, {8 * word_count(records[0][0])})", b"".join(in_bytes(r[0]) for r in records))


def named_file(records):
    return lines((TEXT["hex"](r[0]), f"/pages/\u00e4 {i}.html") for i, r in enumerate(records))


def names_of(name, records):
    """The names that a command of the page reads; None: none."""
    made = {"named.tsv": "/pages/\u00e4 {}.html", "pdq.csv": "/pictures/{}, a picture.jpg"}
    form = made.get(name, "/home/\u00e4/{}.jpg" if name.startswith("czkawka") else None)
    return form and [form.format(i) for i in range(len(records))]


def check_names(what, names):
    rows = [json.loads(line) for line in dump("--format", "jsonl").stdout.splitlines()]
    expect(f"the names of {what}", {int(row["id"]): row["name"] for row in rows} == dict(enumerate(names)))


def pdq_file(records):
    """Lines as Meta's tools for PDQ print them."""
    return lines((f"{TEXT['hex'](r[0])},{i % 101},/pictures/{i}, a picture.jpg" for i, r in enumerate(records)), "")


def czkawka_file(records):
    """Groups of images, as czkawka saves its results."""
    images = [{"path": f"/home/\u00e4/{i}.jpg", "size": 1 << 40, "width": 8, "height": 8, "modified_date": 1,
               "hash": list(in_bytes(r[0])), "similarity": 0} for i, r in enumerate(records)]
    return json.dumps([images[:3], images[3:]]).encode()


def hydrus_file(records):
    path = os.path.join(os.getcwd(), "hydrus.db")
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE shape_perceptual_hashes ( phash_id INTEGER PRIMARY KEY, phash BLOB_BYTES UNIQUE )")
        db.execute("CREATE TABLE shape_perceptual_hash_map ( phash_id INTEGER, hash_id INTEGER, "
                   "PRIMARY KEY ( phash_id, hash_id ) )")
        numbers = {x: n for n, x in enumerate(sorted({r[0] for r in records}), 1)}
        db.executemany("INSERT INTO shape_perceptual_hashes VALUES ( ?, ? )",
                       ((n, x.to_bytes(8, "big")) for x, n in numbers.items()))
        db.executemany("INSERT INTO shape_perceptual_hash_map VALUES ( ?, ? )",
                       ((numbers[r[0]], r[1]) for r in records))
    db.close()
    with open(path, "rb") as file:
        content = file.read()
    os.unlink(path)
    return content


def run(command, **how):
    return subprocess.run(command, capture_output=True, **how)


def expect(what, right, detail=b""):
    if not right:
        failures.append(what)
        print(f"FAILED: {what} {detail.decode(errors='replace')}")


def dump(*options):
    return run(["sstore", "dump", *options, "x.store"])


def check_store(what, records):
    """The store must hold these records, as raw words."""
    with_ids = records[0][1] is not None
    found = dump("--format", "rec" if with_ids else "u64").stdout
    width = word_count(records[0][0])
    if width > 1 and with_ids:  # behind a header as long as a record
        header = b"\x89sstore\n" + struct.pack("<II", 0, 64 * width)
        expect(f"the header of {what}", found[:8 * (width + 1)] == header.ljust(8 * (width + 1), b"\0"))
        found = found[8 * (width + 1):]
    expect(f"the records of {what}", found == raw_file(records, with_ids))


def check_build(what, options, content, name, records):
    shutil.rmtree("x.store", ignore_errors=True)
    with open(name, "wb") as file:
        file.write(content)
    made = run(["sstore", "build", "--quiet", *options, "x.store", name])
    expect(f"{what}: build", made.returncode == 0, made.stderr)
    check_store(what, records)


def check_every_form(records, plain):
    """Each format, radix and choice of columns, with and without ids."""
    count = 0
    for radix, columns, has_ids in product(TEXT, ("fingerprint,id", "id,fingerprint", "fingerprint"), (True, False)):
        without = [] if has_ids else ["--no-ids"]
        expected = (records if columns != "fingerprint" else numbered(records)) if has_ids else plain
        source = records if has_ids else plain
        printed = source if columns != "fingerprint" or not has_ids else expected
        for form, content, extra in (("text", text_file(printed, radix, columns), []),
                                     ("jsonl", json_file(printed, radix, columns), ["--format", "jsonl"])):
            options = ["--radix", radix, "--columns", columns, *extra]
            check_build(f"{form} {' '.join(options)} {without}", options + without, content, "input", expected)
            answer = dump(*options)
            expect(f"{form} {' '.join(options)} {without}: dump", answer.stdout == content, answer.stderr)
            if form == "jsonl":
                check_build(f"jsonl {radix} {columns} {without}: states its radix",
                            ["--columns", columns, *extra, *without], content, "input", expected)
            count += 1
    for form, content, options, expected in (
            ("npy", array_file(records, "fingerprint,id"), ["--bits", "64"], records),
            ("npy", array_file(plain, "fingerprint"), ["--no-ids"], plain),
            ("npy-bytes", bytes_file(plain), ["--no-ids"], plain)):
        check_build(form, options, content, "input.npy", expected)
        expect(f"{form}: dump", dump("--format", form).stdout == content)
        count += 1
    return count


def numbered(records):
    """What a build without ids in its input makes of them: equal fingerprints stay, since their numbers differ."""
    return [(r[0], i) for i, r in enumerate(records)]


def check_loose_forms(records):
    """What is read and never written."""
    pad = text_file(records, "base64", "fingerprint,id").replace(b"\t", b"=\t")
    url = text_file(records, "base64", "fingerprint,id").replace(b"+", b"-").replace(b"/", b"_")
    ints = lines([json.dumps({"id": r[1], "x": [10 ** 30, {"y": "\\\"123"}], "fingerprint": r[0]})] for r in records)
    negative = lines([json.dumps({"fingerprint": signed(r[0]), "id": r[1]})] for r in records)
    arrays = lines([json.dumps({"fingerprint": list(r[0].to_bytes(8, "big")), "id": str(r[1])})] for r in records)
    php = json_file(records, "base64", "fingerprint,id").replace(b"/", b"\\/")
    short = lines([f"{r[1]}   {r[0]:X}"] for r in records)
    for what, options, content in (
            ("base64, padded", ["--radix", "base64"], pad), ("base64, URL", ["--radix", "base64"], url),
            ("JSON integers", ["--format", "jsonl"], ints), ("JSON, signed", ["--format", "jsonl"], negative),
            ("JSON, bytes", ["--format", "jsonl", "--radix", "bin"], arrays),
            ("JSON, escaped", ["--format", "jsonl", "--radix", "base64"], php),
            ("short hex", ["--columns", "id,fingerprint"], short)):
        check_build(what, options, content, "input", records)


def check_page(page, records, plain, wide, wide_plain):
    """The commands of the page, with a file for each name in it."""
    ids = {"pages.tsv": text_file(records, "hex", "fingerprint,id"),
           "simstore.txt": text_file(records, "hex", "id,fingerprint", " "),
           "bigint.tsv": text_file(records, "signed", "id,fingerprint"),
           "bits.tsv": text_file(records, "bin", "id,fingerprint"),
           "pages.jsonl": json_file(records, "hex", "fingerprint,id"),
           "other.jsonl": json_file(records, "signed", "id,fingerprint", "simhash", "doc"),
           "records.npy": array_file(records, "fingerprint,id"),
           "client.master.db": hydrus_file(records)}
    no_ids = {"simhash.txt": text_file(plain, "dec", "fingerprint"),
              "fingerprints.npy": array_file(plain, "fingerprint"),
              "vectors.npy": bytes_file(plain),
              "base64.txt": text_file(plain, "base64", "fingerprint"),
              "named.tsv": named_file(plain),
              "czkawka.json": czkawka_file(plain)}
    wide_ids = {"wide.tsv": text_file(wide, "hex", "fingerprint,id"),
                "wide.jsonl": json_file(wide, "hex", "fingerprint,id"),
                "wide-records.npy": array_file(wide, "fingerprint,id")}
    wide_no_ids = {"imagehash.txt": text_file(wide_plain, "hex", "fingerprint"),
                   "pdq.csv": pdq_file(wide_plain),
                   "wide-words.npy": array_file(wide_plain, "fingerprint"),
                   "wide-vectors.npy": bytes_file(wide_plain),
                   "wide-base64.txt": text_file(wide_plain, "base64", "fingerprint"),
                   "czkawka-16.json": czkawka_file(wide_plain)}
    files = {**ids, **no_ids, **wide_ids, **wide_no_ids}
    done = {"read": set(), "write": set()}
    skipped = set()
    with open(page, encoding="utf-8") as text:
        commands = [row.split("|", 2)[-1].replace("\\|", "\0").split("|")[-2].replace("\0", "|").strip(" `")
                    for row in text if row.startswith("|") and "sstore " in row]
    for command in commands:
        name = next(n for n in files if n in command.split(">")[-1].replace("'", " ").split())
        writes = ">" in command
        if not writes:
            for tool in ("jq", "sqlite3"):
                if command.startswith(tool) and shutil.which(tool) is None:
                    skipped.add(name)
                    print(f"skipped: {command}: there is no {tool}")
        if name in skipped:
            continue
        shutil.rmtree("x.store", ignore_errors=True)
        expected = (records if name in ids else numbered(plain) if name in no_ids else wide if name in wide_ids
                    else numbered(wide_plain))
        if writes and names_of(name, expected):
            run(["sstore", "build", "--quiet", "--names", "x.store"], input=files[name])
        elif writes:
            bits = ["--bits", str(64 * word_count(expected[0][0]))]
            run(["sstore", "build", "--quiet", "--format", "rec", *bits, "x.store"], input=raw_file(expected, True))
        else:
            with open(name, "wb") as file:
                file.write(files[name])
        ended = run(["bash", "-o", "pipefail", "-c", command])
        expect(command, ended.returncode == 0, ended.stderr)
        if writes:
            with open(name, "rb") as file:
                expect(f"what '{command}' writes", file.read() == files[name])
        else:
            check_store(f"'{command}'", expected)
            if names_of(name, expected):
                check_names(f"'{command}'", names_of(name, expected))
        done["write" if writes else "read"].add(name)
    expect("a command reads each file", done["read"] | skipped == set(files))
    expect("a command writes each file", done["write"] == set(files) - {"czkawka.json", "czkawka-16.json",
                                                                              "client.master.db", "pdq.csv"})
    return sum(map(len, done.values()))


def check_numpy(records, plain):
    try:
        import numpy
    except ImportError:
        print("figure: NumPy is not installed, and was not compared with")
        return
    pairs = numpy.array(records, "<u8")
    rows = numpy.array([list(r[0].to_bytes(8, "big")) for r in plain], "uint8")
    for name, array, content in (("a.npy", pairs, array_file(records, "fingerprint,id")),
                                 ("b.npy", pairs[:, 0].copy(), array_file(records, "fingerprint")),
                                 ("c.npy", rows, bytes_file(plain))):
        numpy.save(name, array)
        with open(name, "rb") as file:
            expect(f"{name} as NumPy saves it", file.read() == content)
    print("figure: NumPy writes the same arrays")


def main():
    seed = int(os.environ.get("SSTORE_TEST_SEED") or random.SystemRandom().getrandbits(32))
    print(f"seed {seed}")
    rng = random.Random(seed)
    page = os.path.abspath(sys.argv[1])
    distinct = {0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, *(rng.getrandbits(64) for _ in range(COUNT))}
    # Ids are below 2^63 because SQLite and go-simstore have no others; check_loose_forms() and the forms have larger ones.
    records = sorted({(x, rng.getrandbits(rng.randrange(1, 63))) for x in [*distinct, *rng.sample(sorted(distinct), 50)]})
    large = sorted({*records, (7, (1 << 64) - 1), (1 << 63, 1 << 63)})
    plain = [(x, None) for x in sorted(distinct)]
    # Not 0, at the beginning of a file: its digits could be binary.
    many = sorted({Wide((1 << 64 * WIDE_WORDS) - 1), *(Wide(rng.getrandbits(64 * WIDE_WORDS)) for _ in range(COUNT))})
    wide, wide_plain = [(x, rng.getrandbits(63)) for x in many], [(x, None) for x in many]
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        os.chdir(folder)
        forms = check_every_form(large, plain)
        check_loose_forms(large)
        commands = check_page(page, records, plain, wide, wide_plain)
        check_numpy(records, plain)
        os.chdir("/")
    print(f"figure: {forms} forms and {commands} commands, {len(records)} records each: {len(failures)} failed")
    return failures != []


if __name__ == "__main__":
    sys.exit(main())
