"""Key masks: the permutation of a table (sstore-format.md, section 5) and the completeness of a plan (section 10)."""

from functools import cache

from bits import FINGERPRINT_BITS

MAX_PATTERNS = 200_000


class Permutation:
    """The permutation by a key mask: from a fingerprint to the number in a table, and back."""

    def __init__(self, key_mask: int):
        positions = range(FINGERPRINT_BITS)
        is_key = [key_mask >> (FINGERPRINT_BITS - 1 - bit) & 1 for bit in positions]
        keys = [bit for bit in positions if is_key[bit]]
        behind = keys[-1] + 1 if keys else 0
        others = [bit for bit in [*positions[behind:], *positions[:behind]] if not is_key[bit]]
        order = keys + others
        # Bits that stay together are moved together: (shift down, mask, shift up) of each run.
        self.moves: list[tuple[int, int, int]] = []
        begin = 0
        for to in range(1, FINGERPRINT_BITS + 1):
            if to == FINGERPRINT_BITS or order[to] != order[to - 1] + 1:
                width = to - begin
                self.moves.append((FINGERPRINT_BITS - to, 2**width - 1, FINGERPRINT_BITS - (order[begin] + width)))
                begin = to

    def apply(self, fingerprint: int) -> int:
        return sum((fingerprint >> up & mask) << down for down, mask, up in self.moves)

    def undo(self, permuted: int) -> int:
        return sum((permuted >> down & mask) << up for down, mask, up in self.moves)


@cache
def uncovered_pattern(tables: tuple[tuple[int, int], ...], k: int) -> int | None:
    """An error pattern of k bits that no table covers, or None. A table is (key mask, radius).

    A table that covers a pattern also covers every subset of its bits, so patterns of exactly k bits are enough. Bits that
    every mask treats alike form a class; only their number matters. After MAX_PATTERNS steps the search gives up and returns
    None, because its time must be bounded and the check is optional.
    """
    classes: dict[tuple[bool, ...], list[int]] = {}
    for position in range(FINGERPRINT_BITS):
        weight = 1 << (FINGERPRINT_BITS - 1 - position)
        classes.setdefault(tuple(bool(mask & weight) for mask, _ in tables), []).append(weight)
    members = list(classes.items())
    left_after = [sum(len(weights) for _, weights in members[i:]) for i in range(len(members) + 1)]
    steps = 0

    def search(index: int, bits_left: int, slack: list[int], pattern: int) -> int | None:
        nonlocal steps
        steps += 1
        if steps > MAX_PATTERNS or bits_left > left_after[index] or any(room >= bits_left for room in slack):
            return None  # given up, out of bits, or covered whatever the other bits are
        if bits_left == 0:
            return pattern
        in_tables, weights = members[index]
        for count in range(min(bits_left, len(weights)) + 1):
            rest = [room - count if inside else room for room, inside in zip(slack, in_tables)]
            found = search(index + 1, bits_left - count, rest, pattern | sum(weights[:count]))
            if found is not None:
                return found
        return None

    return search(0, k, [radius for _, radius in tables], 0)
