"""Decodes a block of a table to permuted fingerprints (block-codec.md, section 5), and refuses every malformed block.

blockfile.py has checked the trailer. The offset of a fault is one in the block.
"""

from bits import field, u16, u32
from faults import Damaged
from huffman import EQUAL, MAX_LENGTH, Code

HALF_BITS = 32
HALF_MAX = 2**HALF_BITS - 1
LOWER_BYTES = 4
GROUP_SIZE = 64
OFFSET_BYTES = 2
KEY_BYTES = 2
HEAD_BYTES = 8
TRAILER_BYTES = 8
MAX_KEY_SHIFT = 16


def group_count_of(count: int) -> int:
    return -(-count // GROUP_SIZE)


def groups_end(block_size: int, count: int) -> int:
    """E of section 5: the byte where the groups end and their offsets begin."""
    return block_size - TRAILER_BYTES - HEAD_BYTES - (OFFSET_BYTES + KEY_BYTES) * (group_count_of(count) - 1)


def suffix_bits_of(h: int) -> int:
    return 0 if h == EQUAL else HALF_BITS - 1 - h


class Frame:
    """The head, the keys, and the bytes where groups begin and end."""

    def __init__(self, block: bytes):
        head_at = len(block) - TRAILER_BYTES - HEAD_BYTES
        self.count = u16(block, head_at)
        self.key_shift = block[head_at + 2]
        self.first = u32(block, head_at + 4)
        if self.count == 0:
            raise Damaged("a block without fingerprints", offset=head_at)
        if self.key_shift > MAX_KEY_SHIFT:
            raise Damaged(f"key_shift {self.key_shift}", offset=head_at + 2)
        if block[head_at + 3] != 0:
            raise Damaged("the byte behind key_shift is not 0", offset=head_at + 3)

        group_count = group_count_of(self.count)
        offsets_at = groups_end(len(block), self.count)
        if LOWER_BYTES * self.count > offsets_at:
            raise Damaged("the column passes the offsets of groups", offset=head_at)
        keys_at = offsets_at + OFFSET_BYTES * (group_count - 1)
        self.keys = [0] + [u16(block, keys_at + KEY_BYTES * g) for g in range(group_count - 1)]
        offsets = [u16(block, offsets_at + OFFSET_BYTES * g) for g in range(group_count - 1)]
        self.bounds = [LOWER_BYTES * self.count, *offsets, offsets_at]
        for group in range(group_count):
            begin, end = self.bounds[group : group + 2]
            if 8 * begin + (self.key_shift if group else 0) > 8 * end:
                raise Damaged(f"the bounds of group {group}, bytes {begin} to {end}", offset=offsets_at)


def decode_upper_halves(block: bytes, frame: Frame, group: int, size: int, code: Code) -> list[int]:
    """The upper halves of one group, which has `size` fingerprints. They do not descend."""
    code_bit, suffix_bit = (8 * bound for bound in frame.bounds[group : group + 2])
    u = frame.first
    if group > 0:
        suffix_bit -= frame.key_shift
        u += (frame.keys[group] << frame.key_shift) + field(block, suffix_bit, frame.key_shift)
        if u > HALF_MAX:
            raise Damaged(f"group {group} begins above 2^32 - 1", offset=suffix_bit // 8)
    upper_halves = [u]
    for _ in range(size - 1):
        h = code.symbol_of_field[field(block, code_bit, MAX_LENGTH)]
        if h is None:
            raise Damaged(f"no code at bit {code_bit}", offset=code_bit // 8)
        suffix_bits = suffix_bits_of(h)
        code_end = code_bit + code.lengths[h]
        suffix_bit -= suffix_bits
        if code_end > suffix_bit:
            raise Damaged(f"the code at bit {code_bit} runs into its suffix, or past the group", offset=code_bit // 8)
        if h != EQUAL:
            if u >> suffix_bits & 1:
                raise Damaged(f"the code at bit {code_bit} is for bit {h}, which is 1 before", offset=code_bit // 8)
            u = (u >> suffix_bits | 1) << suffix_bits | field(block, suffix_bit, suffix_bits)
        code_bit = code_end
        upper_halves.append(u)
    return upper_halves


def decode_block(block: bytes, code: Code) -> list[int]:
    """All fingerprints of a block, permuted, strictly ascending. `block` includes its trailer."""
    frame = Frame(block)
    upper_halves: list[int] = []
    for group in range(group_count_of(frame.count)):
        size = min(GROUP_SIZE, frame.count - GROUP_SIZE * group)
        upper_halves += decode_upper_halves(block, frame, group, size, code)
    fingerprints = [upper << HALF_BITS | u32(block, LOWER_BYTES * i) for i, upper in enumerate(upper_halves)]
    for i, (a, b) in enumerate(zip(fingerprints, fingerprints[1:])):
        if b <= a:
            raise Damaged(f"{b:016x} follows {a:016x}", offset=LOWER_BYTES * (i + 1))
    return fingerprints
