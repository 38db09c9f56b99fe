#!/usr/bin/env python3
"""Changes stores with names at random, and compares all that commands print with a slow model.

    names_model.py CASES SEED     exits 0 if all agree

`sstore` is looked up in PATH. Names are hostile: any bytes but zero and newline, up to 64 KiB.
"""
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import unicodedata

SPECIAL = {0x61C, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x2060, 0xFEFF, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
HOSTILE = [b"-", b"--", b"--help", b"#", b"# columns: id", b" ", b" a ", b"a b  c", b"\t", b"a\tb", b"\r", b"end\r", b'"', b"'q'",
           b'{"a":1}', b"\\", b"\\x41", b"C:\\temp\\x41", b"\x1b[31mred\x1b[0m", b"\xff\xfe", b"\xed\xa0\x80", b"\xc3", b"\x7f",
           "é\u202etxt.exe".encode(), "日本語".encode(), b"0", b"18446744073709551616", b"a,b;c", b"null", b"%s%n"]


def characters(name):
    """The characters of a name, each as bytes, and what is no UTF-8 byte by byte as (byte, None)."""
    at = 0
    while at < len(name):
        for size in range(1, 5):
            try:
                yield name[at:at + size], name[at:at + size].decode()
                at += size
                break
            except UnicodeDecodeError:
                continue
        else:
            yield name[at:at + 1], None
            at += 1


def escape(name):
    text = b""
    for raw, character in characters(name):
        if character is None or unicodedata.category(character) == "Cc" or ord(character) in SPECIAL:
            text += b"".join(b"\\x%02x" % byte for byte in raw)
        else:
            text += b"\\\\" if character == "\\" else raw
    if name[:1] == b"#" or name == b"-":
        text = b"\\x%02x" % name[0] + text[1:]
    return text


def is_utf8(name):
    try:
        name.decode()
        return True
    except UnicodeDecodeError:
        return False


def run(*arguments, data=b"", code=0):
    done = subprocess.run(["sstore", *arguments], input=data, capture_output=True)
    if done.returncode != code:
        raise AssertionError(f"{arguments}: exit {done.returncode} instead of {code}: {done.stderr[:500]}")
    return done.stdout


def rows_of(output):
    return sorted(line for line in output.split(b"\n")[:-1] if not line.startswith(b"# "))


class Model:
    def __init__(self, rng, path):
        self.rng, self.path, self.records = rng, path, set()

    def make_name(self):
        kind = self.rng.random()
        if kind < 0.4:
            return self.rng.choice(HOSTILE)
        if kind < 0.6:
            size = 65536 if self.rng.random() < 0.05 else self.rng.randint(1, 300)
            return bytes(self.rng.choice([byte for byte in range(1, 256) if byte != 10]) for _ in range(size))
        return b"/usr/share/doc/%d/page %d.html" % (self.rng.randint(0, 20), self.rng.randint(0, 50))

    def make_rows(self, count):
        base = [self.rng.getrandbits(64) for _ in range(4)]
        return [(self.rng.choice(base) ^ 1 << self.rng.randint(0, 63), self.make_name()) for _ in range(count)]

    def as_input(self, rows):
        """The rows in some form, and the options that say which."""
        form = self.rng.choice(["text", "jsonl", "swapped"])
        if form == "text":
            return b"".join(b"%016x\t%s\n" % (fp, escape(name)) for fp, name in rows), []
        if form == "swapped":
            return b"".join(b"%s\t%016x\n" % (escape(name), fp) for fp, name in rows), ["--columns", "id,fingerprint"]
        key = self.rng.choice(["id", "name"])
        objects = [{"fingerprint": "%016x" % fp, **({key: name.decode()} if is_utf8(name)
                                                   else {"escaped_name": escape(name).decode()})} for fp, name in rows]
        lines = "".join(json.dumps(item, ensure_ascii=self.rng.random() < 0.5) + "\n" for item in objects)
        return lines.encode(), ["--format", "jsonl"]

    def build(self):
        rows = self.make_rows(self.rng.randint(0, 60))
        data, options = self.as_input(rows)
        run("build", "--quiet", "--force", "--allow-empty", "--names", *options, self.path, data=data)
        self.records = set()
        self.records = self.with_ids(rows, 0)

    def with_ids(self, rows, next_id):
        """The records of rows: each has the id of its name, in the store or of the first row with the name."""
        stored, given, records = {}, {}, set()
        for _, number, name in self.records:
            stored[name] = min(number, stored.get(name, number))
        for fp, name in rows:
            number = stored.get(name)
            if number is None:
                number = given.setdefault(name, next_id)
                next_id += 1
            records.add((fp, number, name))
        return records

    def add(self):
        rows = self.make_rows(self.rng.randint(1, 20))
        rows += [(fp, name) for fp, _, name in self.rng.sample(sorted(self.records), min(3, len(self.records)))]
        next_id = int(json.loads(run("stat", "--json", self.path))["next_id"])
        data, options = self.as_input(rows)
        run("add", "--quiet", *options, *self.rng.choice([[], ["--no-compact"]]), self.path, data=data)
        self.records |= self.with_ids(rows, next_id)

    def replace(self):
        rows = self.make_rows(self.rng.randint(1, 8))
        rows += [(self.rng.getrandbits(64), name) for _, _, name in self.rng.sample(sorted(self.records), min(3, len(self.records)))]
        next_id = int(json.loads(run("stat", "--json", self.path))["next_id"])
        data, options = self.as_input(rows)
        run("add", "--quiet", "--replace", *options, self.path, data=data)
        given = {name for _, name in rows}
        self.records = self.with_ids(rows, next_id) | {record for record in self.records if record[2] not in given}

    def remove(self):
        names = [name for _, _, name in self.rng.sample(sorted(self.records), min(3, len(self.records)))] + [self.make_name()]
        run("remove", "--quiet", "--names", self.path, data=b"".join(escape(name) + b"\n" for name in names))
        self.records = {record for record in self.records if record[2] not in names}

    def remove_records(self):
        gone = set(self.rng.sample(sorted(self.records), min(3, len(self.records))))
        rows = [(fp, name) for fp, _, name in gone] + self.make_rows(1)
        if gone and self.rng.random() < 0.3:
            rows = [(fp, self.make_name()) for fp, _ in rows]
        data = b"".join(b"%016x\t%s\n" % (fp, escape(name)) for fp, name in rows)
        if self.rng.random() < 0.2: # all records of fingerprints
            data = b"".join(b"%016x\n" % fp for fp, _ in rows)
            fps = {fp for fp, _ in rows}
            rows = [(fp, name) for fp, _, name in self.records if fp in fps]
        run("remove", "--quiet", self.path, data=data)
        self.records = {record for record in self.records if (record[0], record[2]) not in rows}

    def check_dump(self):
        expected = sorted(b"%016x\t%s" % (fp, escape(name)) for fp, _, name in self.records)
        assert rows_of(run("dump", self.path)) == expected
        found = set()
        for line in run("dump", "--format", "jsonl", self.path).splitlines():
            item = json.loads(line)
            assert ("name" in item) != ("escaped_name" in item)
            found.add((item["fingerprint"], item["id"], item["name"].encode() if "name" in item else item["escaped_name"]))
        assert found == {("%016x" % fp, str(number), name if is_utf8(name) else escape(name).decode())
                         for fp, number, name in self.records}
        rebuilt = self.path + "-rebuilt"
        run("build", "--quiet", "--force", "--allow-empty", "--names", rebuilt, data=run("dump", self.path))
        assert rows_of(run("dump", rebuilt)) == expected

    def check_get(self):
        names = {name for _, _, name in self.records}
        asked = self.rng.sample(sorted(names), min(4, len(names))) + [self.make_name()]
        expected = sorted(b"%016x\t%s" % (fp, escape(name)) for fp, _, name in self.records for one in asked if name == one)
        code = 0 if names.issuperset(asked) else 1
        assert rows_of(run("get", "--name", "--", self.path, *asked, code=code)) == expected
        listed = b"".join(escape(name) + b"\n" for name in asked)
        assert rows_of(run("get", "--name", "--input", "-", self.path, data=listed, code=code)) == expected

    def check_queries(self):
        if not self.records:
            return
        query, _, name = self.rng.choice(sorted(self.records))
        queries = sorted({fp for fp, _, other in self.records if other == name})
        expected = sorted(b"%016x\t%016x\t%d\t%s" % (one, fp, (one ^ fp).bit_count(), escape(other))
                          for one in queries for fp, _, other in self.records if (one ^ fp).bit_count() <= 3)
        assert rows_of(run("query", "-k", "3", b"--name=" + name, self.path)) == expected
        expected = sorted(b"%016x\t%016x\t%d\t%s" % (query, fp, (query ^ fp).bit_count(), escape(other))
                          for fp, _, other in self.records if (query ^ fp).bit_count() <= 3)
        assert rows_of(run("query", "-k", "3", self.path, data=b"%016x\n" % query)) == expected
        pairs = sorted((one, other) for one in self.records for other in self.records
                       if one[:2] < other[:2] and (one[0] ^ other[0]).bit_count() <= 2)
        assert rows_of(run("pairs", "-k", "2", self.path)) == sorted(
            b"%016x\t%s\t%016x\t%s\t%d" % (one[0], escape(one[2]), other[0], escape(other[2]), (one[0] ^ other[0]).bit_count())
            for one, other in pairs)
        near = {record for pair in pairs for record in pair}
        assert sorted(line.split(b"\t")[2] for line in rows_of(run("clusters", "-k", "2", self.path))) == sorted(
            escape(name) for _, _, name in near)

    def choose_named(self):
        """Queries of documents, of which each has a name and up to three fingerprints."""
        chosen = self.rng.sample(sorted(self.records), min(5, len(self.records)))
        names = {name: fp for fp, _, name in chosen} | {self.make_name(): fp for fp, _, _ in chosen[:2] or [(0, 0, 0)]}
        return [(fp ^ self.rng.getrandbits(1) << self.rng.randint(0, 63), name)
                for name, fp in names.items() for _ in range(self.rng.randint(1, 3))]

    def check_named_queries(self):
        """Queries with names say whose they are, leave out its records, and are groups."""
        queries = self.choose_named()
        excludes, grouped = self.rng.random() < 0.7, self.rng.random() < 0.5
        wanted = []
        for name, rows in itertools.groupby(queries, lambda query: query[1]):
            group = [fp for fp, _ in rows]
            own = min((number for _, number, other in self.records if other == name), default=None)
            left = [record for record in self.records if not excludes or record[1] != own]
            for part in [group] if grouped else [[query] for query in group]:
                for fp, _, other in left:
                    far = [(query ^ fp).bit_count() for query in part]
                    if min(far) <= 3:
                        row = b"%016x\t%016x\t%d\t" % (part[far.index(min(far))], fp, min(far)) + escape(other) + b"\t" + escape(name)
                        wanted.append(row + b"\t%d" % sum(one <= 3 for one in far) * grouped)
        data, options = self.as_input(queries)
        options += ["--exclude-self"] * excludes + ["--group"] * grouped
        source = self.rng.choice([[], ["--input", "-"]])
        assert rows_of(run("query", "-k", "3", "--query-ids", *source, *options, self.path, data=data)) == sorted(wanted)
        query, name = queries[0]
        own = {fp for fp, _, other in self.records if other == name}
        if own:
            found = run("query", "-k", "0", "--query-ids", "--json", b"--name=" + name, self.path).splitlines()
            key = "query_name" if is_utf8(name) else "escaped_query_name"
            shown = name if is_utf8(name) else escape(name)
            assert found and all(json.loads(line)[key].encode() == shown for line in found)

    def step(self):
        self.rng.choice([self.build, self.add, self.add, self.replace, self.remove, self.remove_records, lambda: run("compact", "--quiet", self.path),
                         self.check_get, self.check_queries, self.check_named_queries, self.check_dump])()


def main():
    cases, seed = int(sys.argv[1]), int(sys.argv[2])
    print(f"seed {seed}", file=sys.stderr)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        model = Model(rng, os.path.join(folder, "STORE"))
        model.build()
        for _ in range(cases):
            model.step()
        for check in [model.check_dump, model.check_get, model.check_queries, model.check_named_queries]:
            check()
        run("verify", model.path)


main()
