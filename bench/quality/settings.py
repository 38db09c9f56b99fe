"""The settings of fingerprints that are measured, and the fingerprints that `sstore fingerprint` makes with them.

IDF and STOP in the options stand for files that are learned from the whole texts: the table of `sstore idf` for the
same features, and the words that are in most texts. A setting whose options the command does not know is left out with
a message.
"""

import collections
import dataclasses
import json
import pathlib
import subprocess

import numpy

import peers
from names import MORE, Setting

STOP_WORDS = 100

Options = list[str]


def known_settings(sstore: pathlib.Path, work: pathlib.Path, whole: list[str], wanted: list[Setting]) -> list["Made"]:
    """Those that this command knows, with files that are learned from these texts."""
    documents, stop = work / "whole.jsonl", work / "stop-words"
    write_documents(documents, whole)
    stop.write_text("".join(f"{word}\n" for word in frequent_words(whole)))
    known = []
    for setting in wanted:
        table = work / f"{setting.features}-{setting.shingle}.idf"
        learned = {"IDF": str(table), "STOP": str(stop)}
        made = Made(setting, [learned.get(option, option) for option in setting.options()])
        commands = [[sstore, "fingerprint", "--recipe", *made.options]]
        if setting.more in MORE and "IDF" in MORE[setting.more] and not table.exists():
            commands.insert(0, [sstore, "idf", "--jsonl", *setting.features_options(), table, documents])
        answers = [subprocess.run(command, capture_output=True, text=True) for command in commands]
        failed = [answer for answer in answers if answer.returncode != 0]
        if failed:
            print(f"setting {setting} is left out: {failed[0].stderr.strip()}", flush=True)
        else:
            known.append(made)
    return known


def frequent_words(whole: list[str]) -> list[str]:
    """The words that are in most texts."""
    counts = collections.Counter(word for text in whole for word in set(peers.words(text)))
    return [word for word, _ in counts.most_common(STOP_WORDS)]


def write_documents(path: pathlib.Path, texts: list[str]) -> None:
    """As JSON Lines, which the command and the other tools read. The id is the line's number, from 0."""
    path.write_text("".join(document(number, text) for number, text in enumerate(texts)))


def document(number: int, text: str) -> str:
    """A line."""
    return json.dumps({"id": number, "text": text}) + "\n"


@dataclasses.dataclass(frozen=True)
class Made:
    """A setting, and its options with the files that it needs."""

    setting: Setting
    options: Options

    def prints(self, sstore: pathlib.Path, path: pathlib.Path, count: int) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Those of a file of so many documents, a row of 64-bit words each, and which of them have features."""
        command = [sstore, "fingerprint", "--jsonl", "--no-comments", *self.options, path]
        lines = subprocess.run(command, check=True, capture_output=True).stdout.splitlines()
        digits = self.setting.bits // 4
        found = numpy.zeros((count, self.setting.bits // 64), dtype=numpy.uint64)
        numbers = [int(line[digits + 1 :]) for line in lines]
        values = b"".join(bytes.fromhex(line[:digits].decode()) for line in lines)
        found[numbers] = numpy.frombuffer(values, dtype=numpy.uint64).reshape(-1, found.shape[1])
        with_features = numpy.zeros(count, dtype=bool)
        with_features[numbers] = True
        return found, with_features

    def distances(self, sstore: pathlib.Path, path: pathlib.Path, count: int) -> numpy.ndarray:
        """Of all pairs of the documents of a file. One without features, which is in no store, is far from all."""
        prints, with_features = self.prints(sstore, path, count)
        square = numpy.empty((count, count), dtype=numpy.uint16)
        for number, one in enumerate(prints):
            square[number] = bits_between(one, prints)
        square[~with_features] = square[:, ~with_features] = self.setting.bits
        return square


def bits_between(ones: numpy.ndarray, others: numpy.ndarray) -> numpy.ndarray:
    """The distances of rows of words."""
    return numpy.bitwise_count(ones ^ others).sum(axis=-1, dtype=numpy.uint16)
