#!/usr/bin/env python3
"""Compares 'sstore dedup' with a slow model, on random documents that bring fingerprints.

    dedup_model.py CASES SEED    makes files in the working folder; prints each difference, and what was tried
"""
import csv
import datetime
import gzip
import io
import json
import random
import subprocess
import sys

SUFFIXES = ["jsonl", "csv", "tsv"]


def make_documents(numbers, bits, count):
    """Dicts with a fingerprint, some near others, a name, a number or date by which they are ordered, and a note."""
    made, as_date = [], numbers.random() < 0.3
    for i in range(count):
        value = numbers.getrandbits(bits)
        if made and numbers.random() < 0.7:
            value = numbers.choice(made)["value"]
            for _ in range(numbers.randint(0, max(2, bits // 20))):
                value ^= 1 << numbers.randrange(bits)
        order = numbers.choice([None, numbers.randint(-5, 5), numbers.randint(0, 10) / 4, 10.0 ** numbers.randint(-9, 9)])
        if as_date and order is not None:
            order = datetime.datetime.fromtimestamp(numbers.randint(0, 2 << 30), datetime.timezone.utc)
        note = "".join(numbers.choice('ab ",;\n\r\u00e4') for _ in range(numbers.randint(0, 9)))
        made.append({"value": value, "name": f"name {i}", "order": order, "note": note})
    return made


def written_order(order):
    return order.isoformat() if isinstance(order, datetime.datetime) else order


def rows(form, documents, bits, columns, as_numbers):
    """The header and the rows of documents in a form, as text without the last line feed. Fingerprints in JSON may be
    numbers, which are decimal."""
    out = []
    for document in documents:
        fields = {"fp": f"{document['value']:0{bits // 4}x}", "name": document["name"],
                  "n": written_order(document["order"]), "note": document["note"]}
        if form == "jsonl":
            fields["fp"] = document["value"] if as_numbers else fields["fp"]
            out.append(json.dumps({column: fields[column] for column in columns}))
        elif form == "csv":
            row = io.StringIO()
            csv.writer(row).writerow(["" if fields[c] is None else fields[c] for c in columns])
            out.append(row.getvalue()[:-2])
        else:
            plain = {c: " ".join(str("" if fields[c] is None else fields[c]).split()) for c in columns}
            out.append("\t".join(plain[c] for c in columns))
    header = None if form == "jsonl" else ("," if form == "csv" else "\t").join(columns)
    return header, out


def distance(a, b):
    return bin(a["value"] ^ b["value"]).count("1")


def choose(documents, keep, k, strict, max_group):
    """The number that is kept instead, for each number that is dropped."""
    def key(number):
        order = documents[number]["order"]
        if isinstance(order, datetime.datetime):
            order = order.timestamp()
        if keep in ("first", "last"):
            return number if keep == "first" else -number
        return (order is None, 0 if order is None else -order if keep.startswith("max:") else order, number)
    sequence = [i for i in sorted(range(len(documents)), key=key) if not documents[i].get("stored")]
    kept_of, kept = {}, []
    for number in sequence:
        if strict:
            near = [(distance(documents[number], documents[other]), documents[other]["value"], other) for other in kept]
            near = [item for item in near if item[0] <= k]
            if near:
                kept_of[number] = min(near)[2]
            else:
                kept.append(number)
        elif number not in kept_of:
            kept_of[number] = number
            waiting = [number]
            while waiting:
                at = waiting.pop()
                for other in sequence:
                    if other not in kept_of and distance(documents[at], documents[other]) <= k:
                        kept_of[other] = number
                        waiting.append(other)
    kept_of = {number: other for number, other in kept_of.items() if number != other}
    sizes = {}
    for other in kept_of.values():
        sizes[other] = sizes.get(other, 1) + 1
    return {number: other for number, other in kept_of.items() if not max_group or sizes[other] <= max_group}


def escaped(name):
    return name.replace("\\", "\\\\")


def write_inputs(numbers, form, header, lines):
    """Write the rows to one to three files, some compressed. Returns the paths, and where each begins."""
    paths, cuts = [], sorted(numbers.randint(0, len(lines)) for _ in range(numbers.randint(0, 2)))
    for part, (begin, end) in enumerate(zip([0] + cuts, cuts + [len(lines)])):
        path = f"part{part}.{form}" + numbers.choice(["", ".gz"])
        text = "\n".join(([] if header is None else [header]) + lines[begin:end])
        if text and numbers.random() < 0.7:
            text += "\n"
        with (gzip.open if path.endswith(".gz") else open)(path, "wb") as file:
            file.write(text.encode())
        paths.append(path)
    return paths


def mark_stored(documents, k, numbers, bits, is_named):
    """Build a store of some fingerprints, with names or ids, and mark the documents near one. Returns its dump."""
    store = [numbers.choice(documents)["value"] ^ (1 << numbers.randrange(bits)) for _ in range(5)]
    known = [escaped(f"stored\\{i}") if is_named else str(i) for i in range(5)]
    lines = [f"{value:0{bits // 4}x}\t{name}" for value, name in zip(store, known)]
    subprocess.run(["sstore", "build", "--quiet", "--force", "-k", str(k), "against.store", *(["--names"] if is_named else [])],
                   input="\n".join(lines).encode(), check=True)
    for document in documents:
        near = min((bin(document["value"] ^ value).count("1"), value, i) for i, value in enumerate(store))
        document["stored"] = (near[0], known[near[2]]) if near[0] <= k else None
    return lines


def run_case(seed):
    numbers = random.Random(seed)
    bits = numbers.choice([64, 64, 128, 256, 1024])
    k = numbers.randint(0, bits // 20)
    documents = make_documents(numbers, bits, numbers.randint(1, 120))
    columns = numbers.sample(["fp", "name", "n", "note"], 4)
    form = numbers.choice(SUFFIXES)
    keep = numbers.choice(["first", "last", "max:n", "min:n"])
    strict = numbers.random() < 0.5
    max_group = numbers.choice([0, 0, numbers.randint(1, 9)])
    options = ["--fingerprint-field", "fp", "--id-field", "name", "-k", str(k), "--keep", keep, "--removed", "removed.tsv",
               "--tmp-dir", ".", "--quiet"]
    options += ["--strict"] if strict else []
    options += ["--max-group", str(max_group)] if max_group else []
    stored_lines, is_named, updates = [], numbers.random() < 0.5, False
    if numbers.random() < 0.5:
        stored_lines = mark_stored(documents, k, numbers, bits, is_named)
        updates = is_named and numbers.random() < 0.5
        options += ["--update" if updates else "--against", "against.store"]
    header, lines = rows(form, documents, bits, columns, as_numbers=bits == 64 and numbers.random() < 0.5)
    paths = write_inputs(numbers, form, header, lines)
    kept_of = choose(documents, keep, k, strict, max_group)
    stored = {i for i, document in enumerate(documents) if document.get("stored")}
    wanted = ([] if header is None else [header]) + [
        line for i, line in enumerate(lines) if i not in kept_of and i not in stored]
    removed = []
    for i, document in enumerate(documents):
        if i in stored:
            near = document["stored"]
            removed.append(f"{document['name']}\tagainst.store:{near[1]}\t{near[0]}")
        elif i in kept_of:
            other = documents[kept_of[i]]
            removed.append(f"{document['name']}\t{other['name']}\t{distance(document, other)}")
    if len(paths) == 1 and not paths[0].endswith(".gz") and numbers.random() < 0.5:
        with open(paths[0], "rb") as file:
            done = subprocess.run(["sstore", "dedup", f"--{form}"] + options, stdin=file, capture_output=True)
    else:
        done = subprocess.run(["sstore", "dedup"] + options + paths, capture_output=True)
    got = done.stdout.decode()
    with open("removed.tsv") as file:
        got_removed = file.read().splitlines()
    said = [line for line in done.stderr.decode().splitlines() if "more than --max-group" not in line]
    if done.returncode != 0 or said or got.rstrip("\n") != "\n".join(wanted).rstrip("\n") or got_removed != removed:
        print(f"FAILED: seed {seed}: sstore dedup {' '.join(options + paths)}: exit {done.returncode}")
        print(done.stderr.decode())
    if updates:
        stored_lines += [f"{document['value']:0{bits // 4}x}\t{document['name']}" for i, document in enumerate(documents)
                         if i not in kept_of and i not in stored]
        dumped = subprocess.run(["sstore", "dump", "--no-comments", "against.store"], capture_output=True).stdout.decode()
        if sorted(dumped.splitlines()) != sorted(set(stored_lines)):
            print(f"FAILED: seed {seed}: --update: the store does not have what is kept")
    return len(kept_of)


def main():
    cases, seed = int(sys.argv[1]), int(sys.argv[2])
    dropped = sum(run_case(seed + i) for i in range(cases))
    print(f"figure: {cases} sets of documents, seed {seed}, of which {dropped} were dropped", file=sys.stderr)


if __name__ == "__main__":
    main()
