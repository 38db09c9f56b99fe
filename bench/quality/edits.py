"""Edits of known size. An edit replaces, inserts, deletes or moves one word at a random place of a document.

Inserted words come from other documents of the same corpus, at random, so that frequent words are frequent among them.
"""

import random

from texts import WORD

SHARES = [0.01, 0.02, 0.05, 0.10, 0.20]
KINDS = ["replaced", "inserted", "deleted", "moved", "passage"]


def split(text: str) -> tuple[list[str], list[str]]:
    """The words of a text, and what stands before each of them; behind the last word there may be more."""
    words, gaps, end = [], [], 0
    for match in WORD.finditer(text):
        gaps.append(text[end : match.start()])
        words.append(match[0])
        end = match.end()
    return words, [*gaps, text[end:]]


def edited(text: str, share: float, kind: str, pool: list[str], generator: random.Random) -> str:
    """A copy with this share of its words edited, at least one: by all kinds alike if kind is mixed."""
    words, gaps = split(text)
    pieces = [[gap, word] for gap, word in zip(gaps, words)]
    count = max(1, round(share * len(words)))
    if kind == "passage":
        start = generator.randrange(max(1, len(pieces) - count))
        for piece in pieces[start : start + count]:
            piece[1] = generator.choice(pool)
        count = 0
    for _ in range(count):
        edit = generator.choice(KINDS[:4]) if kind == "mixed" else kind
        place = generator.randrange(len(pieces))
        if edit == "replaced":
            pieces[place][1] = generator.choice(pool)
        elif edit == "inserted":
            word = generator.choice(pool)
            pieces.insert(place, [pieces[place][0] or " ", word])
        elif edit == "deleted" and len(pieces) > 1:
            del pieces[place]
        elif edit == "moved":
            piece = pieces.pop(place)
            pieces.insert(generator.randrange(len(pieces) + 1), piece)
    return "".join(gap + word for gap, word in pieces) + gaps[-1]
