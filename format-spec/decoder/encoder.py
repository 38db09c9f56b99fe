"""Encodes blocks, except their trailers, as a writer must, and computes sstore's code lengths.

block-codec.md, section 7, and sstore-format.md, section 6, fix every bit, so that block files of equal segment id, number
and code lengths are equal (section 9). The full check compares blocks with these. Tests compare these functions with the
files of the command.
"""

from collections import Counter

from bits import FINGERPRINT_BITS, bytes_u32, first_difference
from block import (
    OFFSET_BYTES,
    GROUP_SIZE,
    HALF_BITS,
    HALF_MAX,
    HEAD_BYTES,
    KEY_BYTES,
    LOWER_BYTES,
    TRAILER_BYTES,
    group_count_of,
    groups_end,
    suffix_bits_of,
)
from huffman import EQUAL, MAX_LENGTH, SYMBOLS, canonical_codes, reversed_bits
from ids import FLAG_CONTINUED, FLAG_STARTS
from ids import HEAD_BYTES as ID_HEAD_BYTES

MAX_ITEMS_OF_BLOCK = 65535


class Bits:
    """Bits of a block, or of a group, set field by field."""

    def __init__(self) -> None:
        self.value = 0

    def put(self, position: int, width: int, value: int) -> None:
        assert value < 1 << width
        self.value |= value << position

    def to_bytes(self, size: int) -> bytes:
        return self.value.to_bytes(size, "little")


class TableEncoder:
    def __init__(self, block_size: int, lengths: bytes):
        self.block_size = block_size
        self.lengths = lengths
        self.fields = {h: reversed_bits(code, lengths[h]) for h, code in canonical_codes(lengths).items()}

    def blocks(self, fingerprints: list[int]) -> list[bytes]:
        blocks: list[bytes] = []
        members: list[int] = []
        step_bits: list[int] = []  # of each group
        for fingerprint in fingerprints:
            if len(members) % GROUP_SIZE == 0:
                step_bits.append(0)
            else:
                step_bits[-1] += self.step_bits([members[-1], fingerprint])
            members.append(fingerprint)
            if len(members) % GROUP_SIZE == 1:  # only here key_shift can change, and with it the size of the other groups
                key_shift = key_shift_of(members)
                others = sum(group_bytes(bits, key_shift, g) for g, bits in enumerate(step_bits[:-1]))
            last = group_bytes(step_bits[-1], key_shift, len(step_bits) - 1)
            if LOWER_BYTES * len(members) + others + last > groups_end(self.block_size, len(members)):
                blocks.append(self._block(members[:-1]))
                members, step_bits, key_shift, others = [fingerprint], [0], 0, 0
        return blocks + ([self._block(members)] if members else [])

    def step_bits(self, group: list[int]) -> int:
        """The bits of the codes and suffixes of a group."""
        symbols = [symbol_of(a, b) for a, b in zip(group, group[1:])]
        return sum(self.lengths[h] + suffix_bits_of(h) for h in symbols)

    def _block(self, members: list[int]) -> bytes:
        groups = [members[begin : begin + GROUP_SIZE] for begin in range(0, len(members), GROUP_SIZE)]
        key_shift, first = key_shift_of(members), members[0] >> HALF_BITS
        end = groups_end(self.block_size, len(members))
        block = b"".join(bytes_u32(fingerprint & HALF_MAX) for fingerprint in members)
        offsets, keys = b"", b""
        for g, group in enumerate(groups):
            distance = (group[0] >> HALF_BITS) - first
            if g:
                offsets += len(block).to_bytes(OFFSET_BYTES, "little")
                keys += (distance >> key_shift).to_bytes(KEY_BYTES, "little")
            size = end - len(block) if g == len(groups) - 1 else group_bytes(self.step_bits(group), key_shift, g)
            block += self._group(group, size, key_shift if g else 0, distance)
        return block + offsets + keys + len(members).to_bytes(2, "little") + bytes([key_shift, 0]) + bytes_u32(first)

    def _group(self, group: list[int], size: int, low_bits: int, distance: int) -> bytes:
        bits = Bits()
        code_bit, suffix_bit = 0, 8 * size - low_bits
        bits.put(suffix_bit, low_bits, distance & ((1 << low_bits) - 1))
        for a, b in zip(group, group[1:]):
            h = symbol_of(a, b)
            bits.put(code_bit, self.lengths[h], self.fields[h])
            code_bit += self.lengths[h]
            suffix_bit -= suffix_bits_of(h)
            bits.put(suffix_bit, suffix_bits_of(h), b >> HALF_BITS & ((1 << suffix_bits_of(h)) - 1))
        return bits.to_bytes(size)


def symbol_of(a: int, b: int) -> int:
    """h of two neighbours."""
    return min(first_difference(a, b), EQUAL)


def key_shift_of(members: list[int]) -> int:
    last_group = (group_count_of(len(members)) - 1) * GROUP_SIZE
    return max(0, ((members[last_group] >> HALF_BITS) - (members[0] >> HALF_BITS)).bit_length() - 8 * KEY_BYTES)


def group_bytes(coded_bits: int, key_shift: int, group: int) -> int:
    return -(-(coded_bits + (key_shift if group else 0)) // 8)


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
        continued = end < len(records) and records[end][0] == records[end - 1][0]
        bits = _id_block(records[begin:end], low, (high - low).bit_length(), starts, continued)
        blocks.append(bits.to_bytes(block_size - TRAILER_BYTES))
        begin = end
    return blocks


def _id_block_bytes(count: int, width: int, starts: bool) -> int:
    return ID_HEAD_BYTES + (-(-count // 8) if starts else 0) + -(-count * width // 8)


def _id_block(records: list[tuple[int, int]], low: int, width: int, starts: bool, continued: bool) -> Bits:
    base = 0 if width == 64 else low
    bits = Bits()
    bits.put(0, 64, records[0][0])
    bits.put(64, 64, base)
    bits.put(128, 16, len(records))
    bits.put(144, 8, width)
    bits.put(152, 8, (FLAG_STARTS if starts else 0) | (FLAG_CONTINUED if continued else 0))
    values_at = 8 * _id_block_bytes(len(records), 0, starts)
    for i, (rank, record_id) in enumerate(records):
        bits.put(values_at + i * width, width, record_id - base)
        if starts and i:
            bits.put(8 * ID_HEAD_BYTES + i, 1, rank - records[i - 1][0])
    return bits


def table_counts(permuted: list[int]) -> tuple[list[int], list[int]]:
    """The h counts and gap bit counts of a table (sstore-format.md, section 4)."""
    h_counts: Counter[int] = Counter()
    gap_bytes = [Counter() for _ in range(8)]
    for a, b in zip(permuted, permuted[1:]):
        h_counts[first_difference(a, b)] += 1
        for counts, byte in zip(gap_bytes, (b - a).to_bytes(8, "big")):
            counts[byte] += 1
    gap_bit_counts = [
        sum(count for byte, count in gap_bytes[bit // 8].items() if byte & 0x80 >> bit % 8) for bit in range(FINGERPRINT_BITS)
    ]
    return [h_counts[bit] for bit in range(FINGERPRINT_BITS)], gap_bit_counts


def code_lengths(h_counts: list[int]) -> bytes:
    """sstore's own code lengths, by package-merge (block-codec.md, end of section 7)."""
    times = [*h_counts[:EQUAL], sum(h_counts[EQUAL:])]
    leaves = [(count, [h]) for count, h in sorted((count, h) for h, count in enumerate(times) if count)]
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
