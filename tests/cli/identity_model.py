#!/usr/bin/env python3
"""Compares 'sstore query', 'scan' and 'add --if-new' with a slow model, for questions that concern ids.

    identity_model.py CASES SEED    makes files in the working folder; prints each difference, and what was tried
"""
import itertools
import random
import shutil
import subprocess
import sys


def run(*arguments, text=None):
    done = subprocess.run(["sstore", *arguments], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"FAILED: {done.returncode}: sstore {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def near_value(numbers, values, bits):
    value = numbers.choice(values) if values and numbers.random() < 0.8 else numbers.getrandbits(bits)
    for _ in range(numbers.randint(0, 2)):
        value ^= 1 << numbers.randrange(bits)
    return value


class Case:
    """A store that was built, added to and removed from, and questions."""

    def __init__(self, numbers):
        self.numbers = numbers
        self.bits = numbers.choice([64, 64, 64, 128, 256])
        self.digits = self.bits // 4
        self.made = set()  # in all stores so far
        self.store_count = numbers.choice([1, 1, 2, 4])
        self.stores = [self.make_store(f"{i}.store") for i in range(self.store_count)]
        self.records = self.stores[0]

    def lines(self, records):
        return "".join(f"{value:0{self.digits}x}\t{number}\n" for value, number in records)

    def make_store(self, path):
        """Build a store, add to it and remove from it. Returns its records."""
        numbers, values, records = self.numbers, [value for value, _ in sorted(self.made)], set()
        largest = numbers.choice([5, 60, 300, 1 << 40])
        for step in range(numbers.randint(1, 4)):
            chosen = []
            for _ in range(numbers.randint(1, 80)):
                values.append(near_value(numbers, values, self.bits))
                chosen.append((values[-1], numbers.randint(0, largest)))
            if step == 0:
                run("build", "--quiet", "--force", "-k", "3", path, "-", text=self.lines(chosen))
                records = set(chosen)
            elif numbers.random() < 0.6:
                run("add", "--quiet", "--no-compact", path, "-", text=self.lines(chosen))
                records |= set(chosen)
            else:
                gone = [record for record in sorted(records) if numbers.random() < 0.3]
                run("remove", "--quiet", "--no-compact", path, "-", text=self.lines(gone))
                records -= set(gone)
        self.made |= records
        return records

    def choose_range(self):
        """An option, and the ids that it allows."""
        ids = sorted(number for _, number in self.records) or [0]
        first, last = sorted(self.numbers.choices([0, *ids], k=2))
        return self.numbers.choice([
            (f"{first}-{last}", first, last), (f"{first}-", first, 1 << 64), (f"-{last}", 0, last), (f"{last}", last, last),
        ])

    def find(self, group, distance, first, last, excluded=None, stores=1):
        """The matches of a group of queries, each record once: (distance, fingerprint, id, store, query, how many queries)."""
        found = []
        for store, records in enumerate(self.stores[:stores]):
            for value, number in records:
                far = [bin(value ^ query).count("1") for query in group]
                if min(far) <= distance and first <= number <= last and (store > 0 or number != excluded):
                    near = sum(one <= distance for one in far)
                    found.append((min(far), value, number, store, group[far.index(min(far))], near))
        return sorted(found)

    def line(self, match):
        far, value, number, _, query, _ = match
        return f"{query:0{self.digits}x}\t{value:0{self.digits}x}\t{far}\t{number}"

    def choose_queries(self):
        """Fingerprints, most of them near records, and ids, most of them of these records."""
        records, count = sorted(self.records), self.numbers.choice([1, 1, 3, 30])
        values, made, repeats = [value for value, _ in records], [], self.numbers.choice([0, 0.6])
        for _ in range(count):
            value, number = self.numbers.choice(records) if records else (0, 0)
            if self.numbers.random() < 0.3:
                value, number = near_value(self.numbers, values, self.bits), self.numbers.randint(0, 300)
            made.append((value, number))
            while self.numbers.random() < repeats:  # the same document, in another form
                made.append((near_value(self.numbers, [value], self.bits), number))
        return made

    def ask(self):
        """Ask one question, and compare the answer with that of the model."""
        numbers = self.numbers
        queries = self.choose_queries()
        written, first, last = self.choose_range()
        distance = numbers.choice([0, 3, 3, 5, self.bits])
        limit = numbers.choice([None, None, 1, 3, 1000])
        nearest, counts, excludes, shows = (numbers.random() < share for share in (0.3, 0.3, 0.4, 0.4))
        options = ["-k", str(distance), "--ids", written, "--output-radix", "hex"]
        options += ["--nearest"] * nearest + ["--count"] * counts + (["--limit", str(limit)] if limit else [])
        options += ["--exclude-self"] * excludes + ["--query-ids"] * shows
        given = [f"{value:0{self.digits}x}" for value, _ in queries]
        by_id = excludes and queries[0] in self.records and numbers.random() < 0.5
        if by_id:
            queries = [record for record in sorted(self.records) if record[1] == queries[0][1]]
        grouped, stores = numbers.random() < 0.4, numbers.randint(1, self.store_count)
        options += ["--group"] * grouped + [f"--also={i}.store" for i in range(1, stores)]
        wanted = []
        for number, group in itertools.groupby(queries, lambda query: query[1]):
            group = [value for value, _ in group]
            for part in [group] if grouped else [[value] for value in group]:
                found = self.find(part, distance, first, last, number if excludes else None, stores)
                if nearest and limit is None and found:
                    found = self.find(part, found[0][0], first, last, number if excludes else None, stores)
                found = found[:limit]
                rows = [f"{part[0]:0{self.digits}x}\t{len(found)}"] if counts else [self.line(match) for match in found]
                rows = [f"{row}\t{number}" if shows else row for row in rows]
                if not counts and stores > 1:
                    rows = [f"{row}\t{match[3]}.store" for row, match in zip(rows, found)]
                if not counts and grouped:
                    rows = [f"{row}\t{match[5]}" for row, match in zip(rows, found)]
                wanted += rows
        if by_id:
            got = run("query", *options, "--id", str(queries[0][1]), "0.store")
        elif not excludes and not shows and not grouped and numbers.random() < 0.5:
            got = run("query", *options, "0.store", *given)
        else:
            source = numbers.choice([["--input", "-"], []])
            got = run("query", *options, *source, "0.store", text=self.lines(queries))
        self.compare(got, wanted, options)

    def ask_scan(self):
        """The same for a scan of the records, whose matches come in any order."""
        values = sorted({value for value, _ in self.records})
        queries = {near_value(self.numbers, values, self.bits) for _ in range(5)}
        written, first, last = self.choose_range()
        with open("queries.txt", "w", encoding="ascii") as file:
            file.writelines(f"{query:0{self.digits}x}\n" for query in queries)
        options = ["--queries", "queries.txt", "-k", "3", "--ids", written]
        got = run("scan", *options, "-", text=self.lines(sorted(self.records)))
        wanted = [self.line(match) for query in queries for match in self.find([query], 3, first, last)]
        self.compare("".join(sorted(got.splitlines(keepends=True))), sorted(wanted), ["scan", *options])

    def ask_new(self):
        """Add what is new: near a record neither of the other stores nor of its own, or before it in the input."""
        records, distance = set(self.records), self.numbers.choice([0, 2, 3])
        limit, given = self.numbers.choice([None, 1, 2]), self.choose_queries() + self.choose_queries()
        given = [(value, self.numbers.randint(1000, 1 << 50)) for value, _ in given]
        shutil.copytree("0.store", "new.store")
        wanted = []
        for value, number in given:
            own, self.stores[0] = self.stores[0], set()
            found = self.find([value], distance, 0, 1 << 64, stores=self.store_count)
            self.stores[0] = records
            found = found or self.find([value], distance, 0, 1 << 64)
            self.stores[0] = own
            wanted += [f"{self.line(match)}\t{match[3] or 'new'}.store" for match in found[:limit]]
            if not found:
                records.add((value, number))
                wanted.append(f"{value:0{self.digits}x}\tnew\t-\t{number}\tnew.store")
        options = ["-k", str(distance), *(["--limit", str(limit)] if limit else [])]
        options += [f"--also={i}.store" for i in range(1, self.store_count)]
        if self.store_count == 1:
            wanted = [row.rsplit("\t", 1)[0] for row in wanted]
        source = self.numbers.choice(["-", "given.txt"])
        with open("given.txt", "w", encoding="ascii") as file:
            file.write(self.lines(given))
        got = run("add", "--quiet", "--if-new", *options, "new.store", source, text=self.lines(given))
        self.compare(got, wanted, ["add", *options])
        self.compare(run("dump", "new.store"), self.lines(sorted(records)).splitlines(), ["dump"])
        shutil.rmtree("new.store")

    def compare(self, got, wanted, options):
        if got.splitlines() != wanted:
            print(f"FAILED: {options}: found\n{got}instead of\n" + "".join(f"{row}\n" for row in wanted))


def main():
    cases, seed = int(sys.argv[1]), int(sys.argv[2])
    asked = 0
    for number in range(cases):
        case = Case(random.Random(seed + number))
        for _ in range(6):
            case.ask()
        if case.records:
            case.ask_scan()
        case.ask_new()
        asked += 8
    print(f"figure: {cases} stores from seed {seed}: {asked} questions with ids, as a slow model answers them", file=sys.stderr)


main()
