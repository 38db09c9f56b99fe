#!/usr/bin/env python3
"""Builds stores from fingerprints in the forms of many programs, and compares them with values computed here.

    value_forms.py [CHECK...]    prints the seed, FAILED lines, and a figure; exit 1 if something failed

SSTORE_TEST_FEW=1 tries one form of eight, chosen by the seed.
"""
import base64
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import uuid

seed = int(os.environ.get("SSTORE_TEST_SEED", random.randrange(1 << 32)))
numbers = random.Random(seed)
one_of = 8 if os.environ.get("SSTORE_TEST_FEW") == "1" else 1
chosen = random.Random(seed)
tried = failed = 0


def is_tried():
    global tried
    if chosen.randrange(one_of) > 0:
        return False
    tried += 1
    return True


def sstore(*arguments, given=None):
    return subprocess.run(["sstore", *map(str, arguments)], input=given, capture_output=True, check=False)


def text(rows):
    return "".join(f"{row}\n" for row in rows).encode()


def fail(what, *found):
    global failed
    failed += 1
    print("FAILED:", what, *found)


def build(content, options, name, store="STORE"):
    shutil.rmtree(store, ignore_errors=True)
    with open(name, "wb") as file:
        file.write(content)
    return sstore("build", "--quiet", *options, store, name)


def reads(what, content, options, fingerprints, bits, ids=None, name="input"):
    """The store has these fingerprints of so many bits, and these ids or the numbers from 0."""
    if not is_tried():
        return None
    answer = build(content, options, name)
    if answer.returncode != 0:
        return fail(what, options, "is refused:", answer.stderr.decode())
    ids = range(len(fingerprints)) if ids is None else ids
    expected = sorted((f"{value:0{bits // 4}x}", str(i)) for value, i in zip(fingerprints, ids, strict=True))
    found = [tuple(line.split("\t")) for line in sstore("dump", "--no-comments", "STORE").stdout.decode().splitlines()]
    if sorted(found) != expected:
        fail(what, options, "is read wrongly:", sorted(found)[:2], expected[:2])
    return None


def refuses(what, content, options, *words, name="input"):
    """The build fails, and its message has all these words."""
    if not is_tried():
        return
    answer = build(content, options, name)
    message = answer.stderr.decode()
    if answer.returncode not in (1, 2) or os.path.exists("STORE"):
        fail(what, options, "is not refused")
    for word in words:
        if word not in message:
            fail(what, options, f"does not say '{word}':", message)


def some(bits, count=40):
    """Random values, among them some with leading zeros, none of them less than a digit long."""
    return [numbers.getrandbits(bits) >> numbers.choice((0, 0, 0, 1, 3, 9)) | 16 for _ in range(count)]


def hexes(values, bits):
    return [f"{value:0{bits // 4}x}" for value in values]


def npy(kind, shape, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.ljust(117) + b"\n" + data


WIDTHS = (64, 128, *numbers.sample(range(192, 1024, 64), 3), 1024)


def check_widths():
    """The width is that of the lines which can have no other."""
    for bits in WIDTHS:
        values = [value | 0xabc for value in some(bits)]
        zeros = [0] * numbers.randint(1, 30) + values
        reads("zeros first", text(hexes(zeros, bits)), [], zeros, bits)
        reads("zeros alone", text(hexes([0, 0], bits)), ["--no-ids"], [0], bits, ["-"])
        late = [0] * (1 + (1 << 17) // (bits // 4)) + values
        reads("zeros up to behind the sample", text(hexes(late, bits)), [], late, bits)
        refuses("binary digits after zeros", text(["0" * 64] * 5 + ["0" * 63 + "1"]), [], ":6:", "--radix bin")
        if bits > 64:
            short = "0" * (bits // 4 - 16) if numbers.randrange(2) else f"{numbers.getrandbits(60):015x}"
            line = numbers.choice((1, 2, 30))
            rows = hexes(values, bits)
            rows.insert(line - 1, short)
            refuses("one short row", text(rows), [], f"input:{line}:", f"{bits // 4} hex digits")
            lost = [f"0x{value:x}" for value in values] + ["0x0", "0x" + "1" * 16]
            reads("lost zeros after 0x", text(lost), ["--bits", bits], values + [0, int("1" * 16, 16)], bits)
            odd = [value >> 4 | 1 << (bits - 8) for value in values]
            reads("lost zeros", text(f"{value:x}" for value in odd), ["--bits", bits], odd, bits)
            refuses("lost zeros", text(hexes(values, bits) + [f"{odd[0]:x}"]), [], ":41:", f"--bits {bits}")
        decimals = [value | 1 << (bits - 1) for value in values] + [5, 0, 2 ** bits - 1]
        reads("decimal", text(decimals), ["--radix", "dec"], decimals, bits)
        reads("small decimal", text([7, *decimals]), ["--radix", "dec", "--bits", bits], [7, *decimals], bits)
        reads("signed", text([-1, -2 ** (bits - 1), 2 ** (bits - 1)]), ["--radix", "signed", "--bits", bits, "--no-ids"],
              [2 ** bits - 1, 2 ** (bits - 1)], bits, ["-", "-"])
        refuses("too large", text([1, 2 ** bits]), ["--radix", "dec", "--bits", bits], ":2:", "decimal")
        refuses("too small", text([1, -2 ** (bits - 1) - 1]), ["--radix", "dec", "--bits", bits], ":2:", "decimal")
        integers = text(json.dumps({"fingerprint": value}) for value in decimals)
        reads("JSON integers", integers, ["--format", "jsonl", "--bits", bits], decimals, bits)
        binary = [f"0b{value:b}" for value in values]
        reads("binary with lost zeros", text(binary), ["--radix", "bin", "--bits", bits], values, bits)
    refuses("63 binary digits", text(["1" + "0" * 62]), ["--radix", "bin"], "--bits 64", "--pad")
    reads("63 binary digits", text(["1" + "0" * 62]), ["--radix", "bin", "--bits", 64], [1 << 62], 64)


def check_marks():
    """What programs write around and between digits."""
    for bits in (64, 128, 256, 576, 1024):
        values = some(bits)
        rows = hexes(values, bits)

        def groups(row, size, mark):
            return mark.join(row[i:i + size] for i in range(0, len(row), size))
        for what, marked in (("bytea", [rf"\x{row}" for row in rows]), ("X''", [f"X'{row.upper()}'" for row in rows]),
                             ("colons", [groups(row, 2, ":") for row in rows]),
                             ("hyphens", [groups(row, 2, "-") for row in rows]),
                             ("groups of 4", [groups(row, 4, ":") for row in rows]),
                             ("kind", [f"p:{row}" for row in rows]), ("kind w", [f"w:{row}" for row in rows])):
            reads(what, text(marked), [], values, bits)
            reads(what + " and ids", text(f"{row}\t{i + 5}" for i, row in enumerate(marked)), [], values, bits,
                  range(5, 5 + len(values)))
        escaped = text(json.dumps({"fingerprint": rf"\x{row}"}) for row in rows)
        reads("bytea in JSON", escaped, ["--format", "jsonl"], values, bits)
    refuses("bytes that are missing", text([r"\x84ad7e0ad13e1a"]), [], "--pad")
    refuses("two fingerprints", text(["84ad7e0ad13e1a8b-84ad7e0ad13e1a8b"]), [])
    names = [uuid.UUID(int=numbers.getrandbits(128)) for _ in range(20)]
    reads("UUIDs", text(names), [], [name.int for name in names], 128)
    blank = b"\xef\xbb\xbf  84ad7e0ad13e1a8b 1 \n\n7d1b94a0c3f5e682\t2 \r\n \t \n 1\t 3\t\n\n"
    reads("blanks", blank, [], [0x84ad7e0ad13e1a8b, 0x7d1b94a0c3f5e682, 1], 64, [1, 2, 3])
    reads("empty ids", b"84ad7e0ad13e1a8b\t\n", [], [0x84ad7e0ad13e1a8b], 64)
    refuses("UTF-16", "﻿84ad7e0ad13e1a8b\t1\n".encode("utf-16-le"), [], "UTF-16")
    refuses("UTF-16 without a mark", "84ad7e0ad13e1a8b\n".encode("utf-16-le"), [], "UTF-16LE")
    refuses("quoted CSV", b'"84ad7e0ad13e1a8b","1"\n', [], "tr -d", "tr ',;'")
    refuses("a header", b"hash\tid\n84ad7e0ad13e1a8b\t1\n", [], "header")


def check_kinds():
    """A store keeps the kind of its fingerprints, and takes no others."""
    build(b"p:99ee0f1f3d3d1f0e 1\np:99ee0f1f3d3d1f0c 2\n", [], "input", "KIND")
    refuses("two kinds", b"p:99ee0f1f3d3d1f0e\np:99ee0f1f3d3d1f0c\nd:99ee0f1f3d3d1f0c\n", [], ":3:", "'p:'", "'d:'")
    refuses("a kind behind none", b"99ee0f1f3d3d1f0e\np:99ee0f1f3d3d1f0c\n", [], ":2:", "'p:'")
    refuses("none behind a kind", b"p:99ee0f1f3d3d1f0e\n99ee0f1f3d3d1f0c\n", [], ":2:", "'p:'")
    for arguments, given, right in ((("add", "KIND"), b"p:01 3\n", True), (("add", "KIND"), b"d:01 3\n", False),
                                    (("query", "KIND", "p:99ee0f1f3d3d1f0e"), None, True),
                                    (("query", "KIND", "a:99ee0f1f3d3d1f0e"), None, False),
                                    (("query", "KIND"), b"p:99ee0f1f3d3d1f0e\n", True),
                                    (("query", "KIND"), b"d:99ee0f1f3d3d1f0e\n", False),
                                    (("remove", "KIND"), b"d:99ee0f1f3d3d1f0e 1\n", False)):
        answer = sstore(*arguments, given=given)
        if (answer.returncode == 0) != right or (not right and b"goimagehash p:" not in answer.stderr):
            fail("the kind of", arguments, answer)


def check_columns():
    """One fingerprint in several columns."""
    for count, part in ((2, 32), (4, 32), (2, 64), (4, 64), (16, 64), (32, 32), (4, 16), (4, 48), (8, 24), (8, 40), (8, 48),
                        (32, 24), (16, 4)):
        bits = count * part
        values = some(bits)
        parts = [[value >> part * i & (1 << part) - 1 for i in reversed(range(count))] for value in values]
        columns = ["--columns", "id" + ",fingerprint" * count, *(["--bits", bits] if part not in (32, 64) else [])]

        def rows(form, parts=parts):
            return text("\t".join([str(i), *map(form, row)]) for i, row in enumerate(parts))
        reads("columns", rows(str), [*columns, "--radix", "dec"], values, bits)
        reads("hex columns", rows(lambda p, part=part: f"{p:0{part // 4}x}"), columns, values, bits)
        reads("signed columns", rows(lambda p, part=part: str(p - (p >> part - 1 << part))),
              [*columns, "--radix", "signed"], values, bits)
        if part == 32:
            reads("signed32 columns", rows(lambda p: str(p - (p >> 31 << 32))), [*columns, "--radix", "signed32"], values,
                  bits)
    columns = ["--columns", "fingerprint,fingerprint,id", "--radix", "dec"]
    refuses("a part that is too large", b"1 2 3\n5 4294967296 4\n", [*columns, "--bits", 64], ":2:", "32 bits")
    refuses("base64 in columns", b"AA AA 1\n", ["--columns", "fingerprint,fingerprint,id", "--radix", "base64"], "base64")
    refuses("three halves", b"1 2 3\n", ["--columns", "fingerprint,fingerprint,fingerprint", "--radix", "dec"],
            "3 columns")


def check_signed32():
    values = some(32, 100) + [0, 1 << 31, (1 << 32) - 1]
    signed = [value - (value >> 31 << 32) for value in values]
    for what, rows in (("signed", signed), ("unsigned", values)):
        reads(f"32 bits, {what}", text(rows), ["--radix", "signed32"], values, 64)
        lines = text(json.dumps({"fingerprint": row}) for row in rows)
        reads(f"32 bits in JSON, {what}", lines, ["--format", "jsonl", "--radix", "signed32"], values, 64)
    for kind, form, rows in (("<i4", "<i", signed), (">i4", ">i", signed), ("<u4", "<I", values), (">u4", ">I", values),
                             ("<i8", "<q", values)):
        array = npy(kind, f"({len(rows)},)", b"".join(struct.pack(form, row) for row in rows))
        reads(f"array {kind}", array, [], values, 64, name="input.npy")
    for wrong in (1 << 32, -(1 << 31) - 1):
        refuses("32 bits", text([1, wrong]), ["--radix", "signed32"], ":2:", "32 bits")


def check_json():
    values = some(64) + [1 << 63, (1 << 64) - 1]
    signed = text(json.dumps({"fingerprint": [byte - (byte >> 7 << 8) for byte in value.to_bytes(8, "big")]})
                  for value in values)
    reads("signed bytes", signed, ["--format", "jsonl"], values, 64)
    reads("integers", text(json.dumps({"fingerprint": value}) for value in values), ["--format", "jsonl"], values, 64)
    refuses("bytes and signed bytes", b'{"fingerprint":[200,-1,0,0,0,0,0,0]}\n', ["--format", "jsonl"], "an array")
    refuses("a double", b'{"fingerprint":9.589617806046755e18}\n', ["--format", "jsonl"], "2^53", "string")
    both = b'{"fingerprint":2819559613,"id":1}\n{"fingerprint":"2819559613","id":2}\n'
    refuses("a number and a string", both, ["--format", "jsonl"], ":2:", "--radix dec")
    reads("a number and a string", both, ["--format", "jsonl", "--radix", "dec"], [2819559613] * 2, 64, [1, 2])
    reads("a number and hex", both, ["--format", "jsonl", "--radix", "hex"], [2819559613, 0x2819559613], 64, [1, 2])
    build(text(hexes(values, 64)), [], "input", "OWN")
    for radix in ("hex", "dec", "signed", "base64", "base32", "bin"):
        own = sstore("dump", "--format", "jsonl", "--radix", radix, "OWN").stdout
        reads(f"its own dump in {radix}", own, [], values, 64, name="input.jsonl")
        other = "dec" if radix != "dec" else "bin"
        if radix != "hex":
            refuses(f"a dump in {radix}", own, ["--radix", other], radix, other, name="input.jsonl")
    for bits in (64, 128, 1024):
        wide = some(bits)

        def lists(form, wide=wide, bits=bits):
            return text(json.dumps({"fingerprint": [form(value >> i & 1) for i in reversed(range(bits))]}) for value in wide)
        reads("lists of bits", lists(int), ["--format", "jsonl"], wide, bits)
        reads("lists of booleans", lists(bool), ["--format", "jsonl"], wide, bits)
    flat = text(json.dumps({"fingerprint": row}) for row in ([0] * 64, [1] * 64, [7] * 64))
    reads("bytes that look like bits", flat, ["--format", "jsonl"], [0, int("01" * 64, 16), int("07" * 64, 16)], 512)


def check_arrays():
    for bits in (64, 128, 256, 1024):
        values = some(bits, 30)
        single = b"".join(bytes(value >> i & 1 for i in reversed(range(bits))) for value in values)
        for kind in ("|u1", "|b1", "|i1"):
            reads(f"single bits, {kind}", npy(kind, f"(30, {bits})", single), [], values, bits, name="input.npy")
        reads("single bits, the width is known", npy("|u1", f"(30, {bits})", single), ["--bits", bits], values, bits,
              name="input.npy")
        if bits <= 128:
            taken = npy("|u1", f"(30, {bits})", single)
            wide = [int.from_bytes(single[i:i + bits], "big") for i in range(0, len(single), bits)]
            reads("bytes, by --bits", taken, ["--bits", 8 * bits], wide, 8 * bits, name="input.npy")
            full = b"".join(value.to_bytes(bits, "big") for value in some(8 * bits, 30))
            reads("bytes", npy("|u1", f"(30, {bits})", full), [],
                  [int.from_bytes(full[i:i + bits], "big") for i in range(0, len(full), bits)], 8 * bits, name="input.npy")
    late = bytes(64 * 30000) + bytes(63) + b"\2"
    refuses("bytes behind bits", npy("|u1", "(30001, 64)", late), ["--no-ids"], "--bits 512", name="input.npy")
    pairs = npy("<u8", "(2, 2)", struct.pack("<4Q", 1 << 63, 7, 5, 9))
    refuses("(n, 2)", pairs, [], "--bits 128", "--bits 64", "--columns", name="input.npy")
    for options in (["--bits", 64], ["--columns", "fingerprint,id"]):
        reads("(n, 2) with ids", pairs, options, [1 << 63, 5], 64, [7, 9], name="input.npy")
    for options in (["--bits", 128], ["--columns", "fingerprint"]):
        reads("(n, 2) of 128 bits", pairs, options, [(1 << 127) + 7, (5 << 64) + 9], 128, name="input.npy")


def words(form, rows):
    """Rows of numbers, as they are stored."""
    return b"".join(struct.pack(form, number) for row in rows for number in row)


def check_array_columns():
    """What is in which column of an array, or of pairs, is as --columns says. Rows of 0 and 1 are bits in any type."""
    values, ids = some(64, 30), [numbers.getrandbits(40) for _ in range(30)]
    pairs, swapped = [*zip(values, ids)], [*zip(ids, values)]
    for kind, form in (("<u8", "<Q"), (">u8", ">Q")):
        array = npy(kind, "(30, 2)", words(form, swapped))
        for options in ([], ["--bits", 64]):
            reads("ids first", array, [*options, "--columns", "id,fingerprint"], values, 64, ids, name="input.npy")
            reads("skipped", array, [*options, "--columns", "-,fingerprint"], values, 64, name="input.npy")
        reads("the rest is skipped", npy(kind, "(30, 2)", words(form, pairs)), ["--columns", "fingerprint,-"], values, 64,
              name="input.npy")
        three = npy(kind, "(30, 3)", words(form, [(i, v, v ^ 1) for i, v in swapped]))
        for columns in ("id,fingerprint", "id,fingerprint,fingerprint"):
            reads("ids first, 128 bits", three, ["--columns", columns], [v << 64 | v ^ 1 for v in values], 128, ids,
                  name="input.npy")
        refuses("too many columns", array, ["--columns", "id,fingerprint,-,-"], "--columns", name="input.npy")
        refuses("fingerprints apart", three, ["--columns", "fingerprint,id,fingerprint"], "neighbours", name="input.npy")
        for order in ("True", "False"):
            one = npy(kind, "(30, 1)", words(form, [[v] for v in values])).replace(b"False", f"{order:5}".encode())
            reads("one column", one, [], values, 64, name="input.npy")
    reads("pairs", words("<Q", swapped), ["--columns", "id,fingerprint"], values, 64, ids, name="input.rec")
    reads("pairs whose ids are skipped", words("<Q", pairs), ["--columns", "fingerprint,-"], values, 64, name="input.rec")
    refuses("pairs of one column", words("<Q", pairs), ["--columns", "fingerprint"], "--columns", name="input.rec")
    refuses("words of two columns", words("<Q", pairs), ["--columns", "id,fingerprint"], "--columns", name="input.u64")
    halves = [(v >> 32, v & 0xffffffff) for v in values]
    small, few = [v >> 32 for v in values], [i & 0x7fffffff for i in ids]
    for kind, form in (("<u4", "<I"), (">u4", ">I")):
        array = npy(kind, "(30, 2)", words(form, halves))
        for options in ([], ["--bits", 64]):
            refuses("(n, 2) of 32 bits", array, options, "--columns fingerprint ", "--columns fingerprint,id",
                    name="input.npy")
            reads("halves", array, [*options, "--columns", "fingerprint"], values, 64, name="input.npy")
            reads("halves", array, [*options, "--columns", "fingerprint,fingerprint"], values, 64, name="input.npy")
            reads("halves and ids", npy(kind, "(30, 2)", words(form, zip(small, few))),
                  [*options, "--columns", "fingerprint,id"], small, 64, few, name="input.npy")
        reads("four halves", npy(kind, "(30, 4)", words(form, [a + a for a in halves])), [],
              [v << 64 | v for v in values], 128, name="input.npy")
    quarters = npy("<u2", "(30, 4)", words("<H", [[v >> shift & 0xffff for shift in (48, 32, 16, 0)] for v in values]))
    reads("quarters", quarters, [], values, 64, name="input.npy")
    for bits in (64, 192, 1024):
        wide = some(bits, 30)
        rows = [[v >> i & 1 for i in reversed(range(bits))] for v in wide]
        for kind, form in (("<i2", "<h"), (">i2", ">h"), ("<i4", "<i"), ("<i8", "<q"), (">u8", ">Q"), ("<f2", "<e"),
                           ("<f4", "<f"), (">f8", ">d")):
            for options in ([], ["--bits", bits]):
                reads("bits", npy(kind, f"(30, {bits})", words(form, rows)), options, wide, bits, name="input.npy")
            odd = npy(kind, f"(30, {bits})", words(form, [*rows[:-1], [2, *rows[-1][1:]]]))
            if bits > 64 and form[1] != "h":
                refuses("no bits", odd, [], "found" if form[1] in "efd" else "shape", name="input.npy")
    square = [[v >> i & 1 for i in reversed(range(64))] for v in values]
    for kind in ("|b1", "|u1", "<i8", "<f4"):
        form = {"|b1": "B", "|u1": "B", "<i8": "<q", "<f4": "<f"}[kind]
        reads("squares of bits", npy(kind, "(30, 8, 8)", words(form, square)), [], values, 64, name="input.npy")
    refuses("pictures", npy("|u1", "(30, 8, 8)", words("B", [[v] * 64 for v in range(30)])), [], "reshape",
            name="input.npy")
    for size in (63, 166):
        odd = some(size, 30)
        rows = [[v >> i & 1 for i in reversed(range(size))] for v in odd]
        for options in (["--pad", "--bits", size], *([["--pad"]] if size > 64 else [])):
            reads("an odd number of bits", npy("|u1", f"(30, {size})", words("B", rows)), options,
                  [v << -size % 64 for v in odd], size + -size % 64, name="input.npy")
    refuses("floats", npy("<f8", "(30,)", words("<d", [[v] for v in values])), [], "floats", name="input.npy")
    refuses("2048 bits", npy("|u1", "(30, 256)", bytes([7]) * 7680), [], "1024", name="input.npy")


def check_binary_signed32():
    values = some(32, 30) + [1 << 31, (1 << 32) - 1]
    signed = [v - (v >> 31 << 32) for v in values]
    for rows in (values, signed):
        data = b"".join((v & (1 << 64) - 1).to_bytes(8, "little") for v in rows)
        for name, content in (("input.u64", data), ("input.npy", npy("<i8", "(32,)", data))):
            reads("32 bits", content, ["--radix", "signed32", "--strict"], values, 64, name=name)
            long = content[:-8] + struct.pack("<Q", 1 << 40)
            refuses("more than 32 bits", long, ["--radix", "signed32"], "32 bits", f"{len(long) - 8}", name=name)
            reads("more than 32 bits", long, ["--radix", "signed32", "--skip-bad"], values[:-1], 64, name=name)


def check_sizes():
    """--pad fills any number of bits up at the end."""
    for size in (72, 166 + 2, 200, 1000, 1016, *(8 * numbers.randint(9, 127) for _ in range(2))):
        if size % 64 == 0:
            continue
        bits = (size + 63) // 64 * 64
        values = [value | 0xab << (size - 8) for value in some(size - 8)]
        filled = [value << bits - size for value in values]
        data = [value.to_bytes(size // 8, "big") for value in values]
        for radix, rows in (("hex", hexes(values, size)), ("base64", [base64.b64encode(row).decode() for row in data]),
                            ("base32", [base64.b32encode(row).decode().rstrip("=") for row in data]),
                            ("bin", [f"{value:0{size}b}" for value in values])):
            options = ["--radix", radix]
            reads(f"{size} bits in {radix}", text(rows), [*options, "--pad"], filled, bits)
            reads(f"{size} bits in {radix}", text(rows), [*options, "--pad", "--bits", size], filled, bits)
            refuses(f"{size} bits in {radix}", text(rows), options, "--pad")
            refuses(f"{size} bits in {radix}, one short", text(rows[:5] + [rows[5][:-8 if radix != "base64" else -4]]),
                    [*options, "--pad"], ":6:")
        lists = text(json.dumps({"fingerprint": list(row)}) for row in data)
        reads(f"{size} bits in JSON", lists, ["--format", "jsonl", "--pad"], filled, bits)
        array = npy("|u1", f"({len(data)}, {size // 8})", b"".join(data))
        reads(f"{size} bits in an array", array, ["--pad"], filled, bits, name="input.npy")
        refuses(f"{size} bits in an array", array, [], "--pad", name="input.npy")
        build(text(hexes(values, size)), ["--pad"], "input", "PADDED")
        found = sstore("query", "--pad", "-k", 0, "PADDED", hexes(values[:1], size)[0]).stdout.decode().split()
        if found[:3] != [f"{filled[0]:0{bits // 4}x}"] * 2 + ["0"]:
            fail("a padded query", size, found)
    lost = [0xab << 64 | 7, 0xa << 60]
    reads("72 bits with lost zeros", text(f"0x{value:x}" for value in lost), ["--pad", "--bits", 72],
          [value << 56 for value in lost], 128)
    fps = "eee65f53e9421ce50211670eae679f02e8d28a7902"
    file = text(["#FPS1", "#num_bits=166", fps + "\tCHEMBL268177"])
    refuses("FPS", file, ["--columns", "fingerprint,-"], "--pad")
    for options in ([], ["--bits", 166]):
        reads("FPS", file, ["--pad", "--columns", "fingerprint,-", *options], [int(fps, 16) << 24], 192)
    for said in (159, 177):
        wrong = file.replace(b"166", str(said).encode())
        refuses("FPS with other bits", wrong, ["--pad", "--columns", "fingerprint,-"], "168 bits", f"num_bits={said}")
    for what, file in (("FPS of 2048 bits", text(["#FPS1", "#num_bits=2048", "3c" * 256 + "\tx"])),
                       ("2048 bits", text(["3c" * 256]))):
        refuses(what, file, [], "2048 bits", "1024")
        refuses(what, file, ["--pad"], "2048 bits", "1024")


def check_packed():
    array = npy("<u8", "(3,)", bytes(24))
    for kind in ("u64", "rec"):
        refuses("an array as words", array, ["--format", kind], "--format npy")


def check_bases():
    for bits in WIDTHS:
        values = some(bits)
        data = [value.to_bytes(bits // 8, "big") for value in values]
        for encode in (base64.b32encode, lambda row: base64.b32encode(row).rstrip(b"="),
                       lambda row: base64.b32encode(row).lower()):
            reads("base32", b"".join(encode(row) + b"\n" for row in data), ["--radix", "base32"], values, bits)
        twice = text(base64.b64encode(row.hex().encode()).decode() for row in data)
        reads("hex in base64", twice, ["--radix", "base64"], values, bits)
        refuses("hex in base64 for hex", twice, [], "--radix base64")
        letters = base64.b64encode((b"3fe" * bits)[:bits // 4]).decode()  # which base32 has as well
        refuses("hex in base64 for hex", text([letters]), [], "--radix base64")
        if bits <= 512:
            raw = [int.from_bytes(row.hex().encode(), "big") for row in data]
            reads("hex in base64, as bytes", twice, ["--radix", "base64", "--bits", 2 * bits], raw, 2 * bits)
        refuses("base64 for hex", text(base64.b64encode(b"\xff" + row[1:]).decode() for row in data), [], "--radix base64")
    refuses("binary digits that would be hex", text(["10" * 120]), ["--radix", "bin"], "--pad")
    refuses("base64 without a digit", text(["/+JL/RZOjvc="]), [], "--radix base64")
    refuses("base32 for hex", text(["QSWX4CWRHYNIW==="]), [], "--radix base32")
    refuses("base64 of odd size for hex", text([base64.b64encode(bytes(range(25))).decode()]), [], "--radix base64")


def piped(command, content):
    """What a shell command makes of it."""
    return subprocess.run(["bash", "-c", command], input=content, capture_output=True, check=True).stdout


def check_remedies():
    """A message that names a remedy is right if the remedy works."""
    values = [v | 1 << 63 for v in some(64, 30)]
    rows, signed, small = hexes(values, 64), [v - (1 << 64) for v in values], [v >> 32 for v in values]
    for what, given, named, command, options in (
            ("Hive", [f"{r}\x01{i}" for i, r in enumerate(rows)], r"tr '\001' '\t'", r"tr '\001' '\t'", []),
            ("bars", [f"{r}|{i}" for i, r in enumerate(rows)], r"tr '|' '\t'", r"tr '|' '\t'", []),
            ("COPY", ["COPY t (a, b) FROM stdin;", *(rf"\\x{r}" + f"\t{i}" for i, r in enumerate(rows)), r"\."],
             r"sed -n '/^COPY /,/^\\\.$/{//!p;}'", r"sed -n '/^COPY /,/^\\\.$/{//!p;}'", []),
            ("zeros at the end", [r + "\0" for r in rows], r"tr -d '\000'", r"tr -d '\000'", []),
            ("a wide space", [f"{r}\u00a0{i}" for i, r in enumerate(rows)], "sed", "sed 's/\u00a0/ /g'", []),
            ("a wide minus", [f"\u2212{-v}" for v in signed], "sed", "sed 's/\u2212/-/g'", ["--radix", "dec"]),
            ("ids first", [f"{i}\t{base64.b64encode(v.to_bytes(8, 'big')).decode()}" for i, v in enumerate(values)],
             "--columns id,fingerprint", "cat", ["--radix", "base64", "--columns", "id,fingerprint"])):
        before = options if "--columns" not in options else options[:-2]
        refuses(what, text(given), before, named)
        reads(what, piped(command, text(given)), options, values, 64)
    refuses("the end of DOS", text(rows) + b"\x1a", [], ":31:", r"tr -d '\032'")
    refuses("UTF-16BE", rows[0].encode("utf-16-be"), [], "iconv -f UTF-16BE -t UTF-8")
    for what, line in (("a table", "+----+----+"), ("a table of psql", " id | hash "), ("a row", "| 1 | ab |")):
        refuses(what, text([line]), [], "mysql -B -N", "psql -At")
    refuses("SQL", text(["INSERT INTO t VALUES(1,'ab');"]), [], "sqlite3 -tabs")
    long = [f"ffffffff{v:08x}" for v in small]
    refuses("hex with a sign", text(long), ["--radix", "signed32"], r"sed 's/ffffffff\(........\)/\1/'")
    reads("hex with a sign", piped(r"sed 's/ffffffff\(........\)/\1/'", text(long)), [], small, 64)
    for bits in (65, 150, 216, 280):  # no numbers of 16, 32 or 48 digits, which may be hex
        wide, full = some(bits, 20), bits + -bits % 64
        wide = [v | 1 << (bits - 1) for v in wide]
        refuses("decimal", text(wide), ["--radix", "dec"], f"--bits {full}")
        refuses("decimal", text(wide[:1]), [], "--radix dec")
        reads("decimal", text(wide), ["--radix", "dec", "--bits", full], wide, full)
    one = [*rows[:7], "1" + rows[7], *rows[8:]]
    refuses("one row that is too long", text(one), [], ":8:", "68 bits", "--skip-bad")
    reads("one row that is too long", text(one), ["--skip-bad"], values[:7] + values[8:], 64, [*range(7), *range(8, 30)])
    refuses("lines of \\r", ("\r".join(rows) + "\r").encode(), [], r"tr '\r' '\n'")
    reads("lines of \\r", piped(r"tr '\r' '\n'", ("\r".join(rows) + "\r").encode()), [], values, 64)
    for name in ("phash", "P", "sha256"):
        command = "sed 's/[A-Za-z][A-Za-z0-9]*://'"
        named = text(f"{name}:{r}" for r in rows)
        refuses("a name", named, [], command)
        reads("a name", piped(command, named), [], values, 64)
    mixed = [v if v >> 63 == 0 else v - (1 << 64) for v in [*values, *(v >> 1 for v in values)]]
    reads("hex() of signed numbers", text(map(hex, mixed)), [], [v % (1 << 64) for v in mixed], 64)
    refuses("hex() of a wide number", text([hex(-1 - (1 << 64))]), [], "hex digits")
    refuses("hex() of a number that is too large", text([hex(-1 - (1 << 63))]), [], "hex digits")
    reads("ids as doubles", text(f"{r}\t{i}.0" for i, r in enumerate(rows)), [], values, 64)
    refuses("ids that are no integers", text([rows[0] + "\t1.5"]), [], "decimal id")
    refuses("ids that doubles may have rounded", text([rows[0] + "\t9007199254740993.0"]), [], "decimal id")
    half = [v & 0x7fffffff for v in small]
    extended = text(f"{v % (1 << 64):016x}" for v in (-1 - v if i % 2 else v for i, v in enumerate(half)))
    warned = sstore("build", "--force", "STORE", "-", given=extended).stderr.decode()
    command = r"sed 's/ffffffff\(........\)/\1/'"
    if command not in warned:
        fail("extended signs", warned)
    cut = [-1 - v & 0xffffffff if i % 2 else v for i, v in enumerate(half)]
    reads("extended signs", piped(command, extended), ["--strict"], cut, 64)
    for null in ("NULL", r"\N", "NaN", "None", "<NA>"):
        for after in (rows[:5], rows):
            given = text([*after, null, rows[9]])
            refuses("null", given, [], f":{len(after) + 1}:", "--skip-bad")
            reads("null", given, ["--skip-bad"], [*values[:len(after)], values[9]], 64, [*range(len(after)), len(after) + 1])
    for null in ('{"fingerprint":null}', '{"other":3}'):
        given = text([f'{{"fingerprint":"{rows[0]}"}}', null])
        refuses("null in JSON", given, [], ":2:", "--skip-bad", name="input.jsonl")
        reads("null in JSON", given, ["--skip-bad"], values[:1], 64, name="input.jsonl")
    for double in ("1.7485029721327974e+19", "17485029721327974.0", "-1.5e18"):
        refuses("a double", text([double]), [], "2^53")
    reads("two backslashes", text(rf"\\x{r}" + "\t\\N" for r in rows) + b"\\.\n", [], values, 64)
    for what, form in (("quotes", "'{}'"), ("bytea as text", r"'\x{}'"), ("E''", r"E'\\x{}'"), ("C", "0x{}ULL"),
                       ("Java", "0x{}L")):
        reads(what, text(form.format(r) for r in rows), [], values, 64)
    reads("underscores", text(r[:4] + "_" + r[4:] for r in rows), [], values, 64)
    reads("underscores", text(f"{v:_b}" for v in values), ["--radix", "bin"], values, 64)
    reads("plus", text(f"+{v}" for v in values), ["--radix", "dec"], values, 64)
    names = [uuid.UUID(int=numbers.getrandbits(128)) for _ in range(20)]
    reads("UUIDs in braces", text(f"{{{name}}}" for name in names), [], [name.int for name in names], 128)
    refuses("none behind kinds", text(["p:" + rows[0], "p:" + rows[1], rows[2]]), [], ":3:", "found none")
    refuses("a kind between none", text([rows[0], "p:" + rows[1], rows[2]]), [], ":2:", "found 'p:'")
    reads("a first row of another kind", text(["d:" + rows[0], *("p:" + r for r in rows[1:])]), ["--skip-bad"], values[1:],
          64, range(1, 30))
    refuses("digits in base64", text([base64.b64encode(b"01" * 32).decode()]), ["--radix", "base64"], "--radix bin")
    refuses("2048 bits in base64", text([base64.b64encode(bytes([200] * 256)).decode()]), ["--radix", "base64"],
            "2048 bits", "1024")


def check_other_hashes():
    """Digests whose distance is another one."""
    tlsh = f"{numbers.getrandbits(280):070X}"
    for options in ([], ["--radix", "base64"], ["--radix", "base64", "--pad"]):
        refuses("TLSH", text(["T1" + tlsh] * 3), options, "TLSH", "Hamming")
    refuses("old TLSH", text([tlsh]), [], "TLSH")
    for line, name in (("24:kHpwwAbC+d/x:aBcDeFgH", "ssdeep"), ("ssdeep,1.1--blocksize:hash:hash,filename", "ssdeep"),
                       ("sdbf:03:4:name:12:sha1:256:5:7ff:160:1:20:AAAA", "sdhash")):
        refuses(name, text([line]), [], name, "Hamming")


def check_json_parts():
    """Arrays whose numbers are words, text of bytes, or single bits."""
    def lines(rows):
        return text(json.dumps({"fingerprint": row}) for row in rows)
    options = ["--format", "jsonl"]
    for count, each in ((2, 32), (2, 64), (4, 32), (4, 64), (3, 64), (1, 64)):
        bits = count * each
        values = [numbers.getrandbits(bits) | 1 << (bits - 1) for _ in range(40)]
        parts = [[value >> (each * i) & ((1 << each) - 1) for i in reversed(range(count))] for value in values]
        reads("words in JSON", lines(parts), options, values, bits)
        signed = [[part - (1 << each) if part >> (each - 1) else part for part in row] for row in parts]
        reads("signed words in JSON", lines(signed), options, values, bits)
    for bits in WIDTHS:
        values = some(bits)
        spelled = [[f"{byte:02x}" for byte in value.to_bytes(bits // 8, "big")] for value in values]
        reads("bytes as text in JSON", lines(spelled), options, values, bits)
        digits = [[int(digit) for digit in f"{value:0{bits}b}"] for value in values]
        for what, rows in (("nested bits", [[row[i:i + 8] for i in range(0, bits, 8)] for row in digits]),
                           ("bits as doubles", [[float(digit) for digit in row] for row in digits])):
            reads(what, lines(rows), options, values, bits)
    for row in ([40000, 2, 3, 4], [1 << 20] * 5, [[1, 0], [1]], [[7] * 8] * 8, [0.5] * 64, ["zz"] * 8, ["123"] * 8, [None],
                [1.0, 255.0] * 4, [{}] * 8, [[[1, 0]] * 4] * 8, [1 << 65, 2], [-1 << 63, 1 << 64]):
        refuses("another array", lines([row]), options, ":1:")
    refuses("another array", lines([[0.5] * 64]), options, "a string of hex digits")


def check_json_arrays():
    values, ids = some(64, 300), [numbers.getrandbits(63) for _ in range(300)]
    rows = [{"id": i, "text": 'a "b",] {\\', "more": [{"x": [1, {}]}], "fingerprint": v} for i, v in zip(ids, values)]
    for indent in (None, 0, 2):
        for before in ("", "\ufeff", " \n\n"):
            array = (before + json.dumps(rows, indent=indent)).encode()
            reads("an array of JSON", array, ["--format", "jsonl"], values, 64, ids)
        apart = "\n".join(json.dumps(row, indent=indent) for row in rows).encode()
        reads("objects over lines", apart, ["--format", "jsonl"], values, 64, ids)
    refuses("an array of JSON", json.dumps(rows).encode(), [], "--format jsonl")
    refuses("an array without an end", json.dumps(rows).encode()[:-1], ["--format", "jsonl"], "ends within")
    row = json.dumps(rows[0])
    for wrong, line in ((f"[{row},]", 2), (f"[{row},,{row}]", 2), (f"[,{row}]", 1), (f"[{row} {row}]", 1),
                        (f"[{row}] {row}", 1), (f"[{row},1]", 2), (f"[[{row}]]", 1)):
        refuses("no array of objects", wrong.encode(), ["--format", "jsonl"], f":{line}:")
    bad = json.dumps([rows[0], {"fingerprint": None}, rows[1]], indent=1).encode()
    reads("an array with a null", bad, ["--format", "jsonl", "--skip-bad"], values[:2], 64, ids[:2])


print("seed", seed)
for check in (check_widths, check_marks, check_kinds, check_columns, check_signed32, check_json, check_arrays,
              check_array_columns, check_binary_signed32, check_sizes, check_packed, check_bases, check_remedies, check_other_hashes,
              check_json_parts, check_json_arrays):
    if len(sys.argv) == 1 or check.__name__ in sys.argv[1:]:
        check()
print(f"figure: {tried} forms of fingerprints: {failed} failed")
sys.exit(failed > 0)
