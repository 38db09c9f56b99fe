#!/usr/bin/env python3
"""Compares 'sstore dedup --similarity' and 'sstore similarity' with the Jaccard similarity of all pairs, on random
documents of words.

    similarity_model.py CASES SEED    makes files in the working folder; prints each difference, and what was tried

The recall is so near 1 that no pair is missed by chance, so the result must be that of the exact similarities.
"""
import collections
import json
import random
import subprocess
import sys


def make_documents(numbers, count):
    """Lists of words, some near others, some equal to others."""
    vocabulary = [f"w{i}" for i in range(numbers.choice([5, 40, 400]))]
    made = []
    for _ in range(count):
        words = [numbers.choice(vocabulary) for _ in range(numbers.randint(4, 60))]
        if made and numbers.random() < 0.7:
            words = list(numbers.choice(made))
            for _ in range(numbers.choice([0, 0, 1, 2, 5, 10])):
                words[numbers.randrange(len(words))] = numbers.choice(vocabulary)
        made.append(words)
    return made


def features(words, shingle, is_multiset):
    parts = collections.Counter(tuple(words[i:i + shingle]) for i in range(len(words) - shingle + 1))
    return parts if is_multiset else collections.Counter(parts.keys())


def similarity(a, b):
    return (a & b).total() / (a | b).total()


def choose(sets, order, least, strict):
    """For each number, the numbers that may be kept instead of it: itself if it is kept."""
    may_keep, kept = {}, []
    for number in order:
        if strict:
            near = {other: similarity(sets[number], sets[other]) for other in kept}
            best = max(near.values(), default=0)
            if best >= least:
                may_keep[number] = {other for other, found in near.items() if found == best}
            else:
                may_keep[number] = {number}
                kept.append(number)
        elif number not in may_keep:
            may_keep[number] = {number}
            waiting = [number]
            while waiting:
                at = waiting.pop()
                for other in order:
                    if other not in may_keep and similarity(sets[at], sets[other]) >= least:
                        may_keep[other] = {number}
                        waiting.append(other)
    return may_keep


def check_pairs(numbers, sets, options):
    """Ask for the similarity of random pairs, by names that are written as text has them."""
    pairs = [(numbers.randrange(len(sets)), numbers.randrange(len(sets))) for _ in range(numbers.randint(0, 3000))]
    least = numbers.choice([0, 0.3, 0.8])
    form = numbers.choice(["d{}\td{}", "00\td{}\tff\td{}\t7"])
    lines = [form.format(*pair) for pair in pairs]
    text = "".join(line + "\n" for line in ["# fingerprint, name", *lines])
    run = subprocess.run(["sstore", "similarity", "--quiet", "--id-field", "name", "--jsonl", "--min", str(least), *options,
                          "documents.jsonl"], input=text, capture_output=True, text=True)
    if run.returncode != 0:
        return [f"sstore similarity: {run.stderr}"]
    wanted = [(line, similarity(sets[a], sets[b])) for line, (a, b) in zip(lines, pairs)]
    wanted = [f"{line}\t{found:.4f}" for line, found in wanted if found >= least]
    return [] if run.stdout.splitlines() == wanted else [f"sstore similarity {' '.join(options)}: other pairs"]


def run_case(numbers, seed):
    documents = make_documents(numbers, numbers.randint(1, 120))
    shingle, is_multiset = numbers.choice([1, 2, 3]), numbers.random() < 0.4
    least, strict = numbers.choice([0.7, 0.75, 0.8, 0.9]), numbers.random() < 0.5
    keep = numbers.choice(["first", "last", "max:n"])
    ranks = [numbers.randint(0, 5) for _ in documents]
    with open("documents.jsonl", "w", encoding="utf-8") as file:
        for i, words in enumerate(documents):
            file.write(json.dumps({"text": " ".join(words), "name": f"d{i}", "n": ranks[i]}) + "\n")
    command = ["sstore", "dedup", "--quiet", "--hash", "minhash", "--bits", str(numbers.choice([512, 1024])),
               "--similarity", str(least), "--recall", "0.999999", "--keep", keep,
               "--text-field", "text", "--id-field", "name", "--removed", "removed.tsv", "documents.jsonl"]
    options = ["--shingle", str(shingle)] + (["--weights", "frequency"] if is_multiset else [])
    command += options
    command += ["--strict"] if strict else []
    command += ["--memory", "8M"] if numbers.random() < 0.3 else []
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        return [f"seed {seed}: {' '.join(command)}: {run.stderr}"], 0
    sets = [features(words, shingle, is_multiset) for words in documents]
    order = sorted(range(len(documents)),
                   key=lambda i: (i if keep == "first" else -i) if keep != "max:n" else (-ranks[i], i))
    may_keep = choose(sets, order, least, strict)
    kept = [json.loads(line)["name"] for line in run.stdout.splitlines()]
    faults = [f"seed {seed}: {fault}" for fault in check_pairs(numbers, sets, options)]
    if kept != [f"d{i}" for i in range(len(documents)) if i in may_keep[i]]:
        faults.append(f"seed {seed}: {' '.join(command)}: other documents are kept")
    with open("removed.tsv", encoding="utf-8") as file:
        removed = [line.rstrip("\n").split("\t") for line in file]
    for name, instead, found in removed:
        number, other = int(name[1:]), int(instead[1:])
        if other not in may_keep[number] or abs(float(found) - similarity(sets[number], sets[other])) > 0.0006:
            faults.append(f"seed {seed}: {' '.join(command)}: {name} is dropped for {instead} at {found}")
    if len(removed) + len(kept) != len(documents):
        faults.append(f"seed {seed}: {len(removed)} removed and {len(kept)} kept of {len(documents)}")
    return faults, len(removed)


def main():
    cases, seed = int(sys.argv[1]), int(sys.argv[2])
    failed, removed = [], 0
    for i in range(cases):
        faults, count = run_case(random.Random(seed + i), seed + i)
        failed += faults
        removed += count
    for fault in failed:
        print(fault)
    print(f"figure: {cases} inputs of documents, {removed} removed by their exact similarity")
    return failed != []


if __name__ == "__main__":
    sys.exit(main())
