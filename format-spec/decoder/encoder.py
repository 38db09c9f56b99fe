"""What a writer must write, made again from what was read: blocks but for their trailers, and sstore's code lengths.

block-codec.md, section 7, and sstore-format.md, section 6, fix every bit, so that block files of equal segment id, number
and code lengths are equal (section 9). The full check compares, and the tests hold these functions against the command's
files.
"""

from bits import FINGERPRINT_BITS, first_difference
from block import HEAD_BYTES, KEY_BYTES, TRAILER_BYTES
from huffman import MAX_LENGTH, SYMBOLS, canonical_codes, reversed_bits
from ids import FLAG_GOES_ON, FLAG_STARTS
from ids import HEAD_BYTES as ID_HEAD_BYTES

MAX_ITEMS_OF_BLOCK = 65535


class Bits:
    """Bits of a block, set field by field."""

    def __init__(self) -> None:
        self.value = 0

    def put(self, position: int, width: int, value: int) -> None:
        assert value < 1 << width
        self.value |= value << position

    def to_bytes(self, block_size: int) -> bytes:
        return self.value.to_bytes(block_size - TRAILER_BYTES, "little")


class TableEncoder:
    def __init__(self, block_size: int, restart_interval: int, lengths: bytes):
        self.block_size = block_size
        self.restart_interval = restart_interval
        self.lengths = lengths
        self.fields = {h: reversed_bits(code, lengths[h]) for h, code in canonical_codes(lengths).items()}
        self.slot_bytes = 2 if block_size <= 8192 else 4
        self.end = 8 * (block_size - TRAILER_BYTES)

    def blocks(self, fingerprints: list[int]) -> list[bytes]:
        blocks: list[bytes] = []
        members: list[int] = []
        coded_bits = 0
        for fingerprint in fingerprints:
            if members:
                more_bits = 0
                if len(members) % self.restart_interval:
                    h = first_difference(members[-1], fingerprint)
                    more_bits = self.lengths[h] + FINGERPRINT_BITS - 1 - h
                members.append(fingerprint)
                frame_bits, groups_after_first = 8 * self._groups_at(members), self._group_count(members) - 1
                size = frame_bits + groups_after_first * self._key_shift(members) + coded_bits + more_bits
                if size <= self.end and len(members) <= MAX_ITEMS_OF_BLOCK:
                    coded_bits += more_bits
                    continue
                blocks.append(self._block(members[:-1]))
            members = [fingerprint]
            coded_bits = 0
        return blocks + ([self._block(members)] if members else [])

    def _group_count(self, members: list[int]) -> int:
        return -(-len(members) // self.restart_interval)

    def _groups_at(self, members: list[int]) -> int:
        return HEAD_BYTES + (KEY_BYTES + self.slot_bytes) * (self._group_count(members) - 1)

    def _key_shift(self, members: list[int]) -> int:
        last_group = (self._group_count(members) - 1) * self.restart_interval
        return max(0, (members[last_group] - members[0]).bit_length() - 8 * KEY_BYTES)

    def _block(self, members: list[int]) -> bytes:
        group_count, key_shift = self._group_count(members), self._key_shift(members)
        slots_at = HEAD_BYTES + KEY_BYTES * (group_count - 1)
        bits = Bits()
        bits.put(0, 16, len(members))
        bits.put(16, 8, key_shift)
        bits.put(32, 64, members[0])
        begin = 8 * self._groups_at(members)
        for g in range(group_count):
            group = members[g * self.restart_interval : (g + 1) * self.restart_interval]
            differences = [first_difference(a, b) for a, b in zip(group, group[1:])]
            length = sum(self.lengths[h] + FINGERPRINT_BITS - 1 - h for h in differences) + (key_shift if g else 0)
            end = self.end if g == group_count - 1 else begin + length
            code_bit, rest_bit = begin, end
            if g:
                distance = group[0] - members[0]
                bits.put(8 * (HEAD_BYTES + KEY_BYTES * (g - 1)), 8 * KEY_BYTES, distance >> key_shift)
                bits.put(8 * (slots_at + self.slot_bytes * (g - 1)), 8 * self.slot_bytes, begin)
                rest_bit -= key_shift
                bits.put(rest_bit, key_shift, distance & ((1 << key_shift) - 1))
            for h, fingerprint in zip(differences, group[1:]):
                bits.put(code_bit, self.lengths[h], self.fields[h])
                code_bit += self.lengths[h]
                rest_bits = FINGERPRINT_BITS - 1 - h
                rest_bit -= rest_bits
                bits.put(rest_bit, rest_bits, fingerprint & ((1 << rest_bits) - 1))
            begin = end
        return bits.to_bytes(self.block_size)


def id_blocks(records: list[tuple[int, int]], block_size: int) -> list[bytes]:
    """Blocks of (rank, id) records (sstore-format.md, section 6)."""
    blocks: list[bytes] = []
    begin = 0
    while begin < len(records):
        low = high = records[begin][1]
        end, starts = begin + 1, False
        while end < len(records) and end - begin < MAX_ITEMS_OF_BLOCK:
            rank, record_id = records[end]
            low_then, high_then = min(low, record_id), max(high, record_id)
            starts_then = starts or rank == records[end - 1][0]
            if _id_block_bytes(end + 1 - begin, (high_then - low_then).bit_length(), starts_then) > block_size - TRAILER_BYTES:
                break
            low, high, starts, end = low_then, high_then, starts_then, end + 1
        goes_on = end < len(records) and records[end][0] == records[end - 1][0]
        blocks.append(_id_block(records[begin:end], low, (high - low).bit_length(), starts, goes_on).to_bytes(block_size))
        begin = end
    return blocks


def _id_block_bytes(count: int, width: int, starts: bool) -> int:
    return ID_HEAD_BYTES + (-(-count // 8) if starts else 0) + -(-count * width // 8)


def _id_block(records: list[tuple[int, int]], low: int, width: int, starts: bool, goes_on: bool) -> Bits:
    base = 0 if width == 64 else low
    bits = Bits()
    bits.put(0, 64, records[0][0])
    bits.put(64, 64, base)
    bits.put(128, 16, len(records))
    bits.put(144, 8, width)
    bits.put(152, 8, (FLAG_STARTS if starts else 0) | (FLAG_GOES_ON if goes_on else 0))
    values_at = 8 * _id_block_bytes(len(records), 0, starts)
    for i, (rank, record_id) in enumerate(records):
        bits.put(values_at + i * width, width, record_id - base)
        if starts and i:
            bits.put(8 * ID_HEAD_BYTES + i, 1, rank - records[i - 1][0])
    return bits


def code_lengths(h_counts: list[int]) -> bytes:
    """sstore's own code lengths, by package-merge (block-codec.md, end of section 7)."""
    leaves = [(count, [h]) for count, h in sorted((count, h) for h, count in enumerate(h_counts) if count)]
    lengths = [0] * SYMBOLS
    if len(leaves) == 1:
        lengths[leaves[0][1][0]] = 1
    packages = leaves
    for _ in range(MAX_LENGTH - 1):
        pairs = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(packages[::2], packages[1::2])]
        packages = sorted(leaves + pairs, key=lambda package: package[0])  # stable: leaves first among equal weights
    if len(leaves) > 1:
        for _, symbols in packages[: 2 * len(leaves) - 2]:
            for h in symbols:
                lengths[h] += 1
    return bytes(lengths)
