"""A block of a table: from bytes to permuted fingerprints (block-codec.md, section 5), strictly.

The trailer has been checked before (blockfile.py). Offsets of faults are those in the block.
"""

from bits import FINGERPRINT_BITS, FINGERPRINT_MAX, field, u16, u32, u64
from faults import Damaged
from huffman import MAX_LENGTH, Code

HEAD_BYTES = 12
KEY_BYTES = 4
TRAILER_BYTES = 8
MAX_KEY_SHIFT = 32


class Frame:
    """The head, the keys, and where groups begin and end."""

    def __init__(self, block: bytes, restart_interval: int):
        self.count = u16(block, 0)
        self.key_shift = block[2]
        self.first = u64(block, 4)
        if self.count == 0:
            raise Damaged("a block without fingerprints", offset=0)
        if self.key_shift > MAX_KEY_SHIFT:
            raise Damaged(f"key_shift {self.key_shift}", offset=2)
        if block[3] != 0:
            raise Damaged("byte 3 of a block's head is not 0", offset=3)

        group_count = -(-self.count // restart_interval)
        slot_bytes = 2 if len(block) <= 8192 else 4
        slots_at = HEAD_BYTES + KEY_BYTES * (group_count - 1)
        groups_at = slots_at + slot_bytes * (group_count - 1)
        trailer_at = len(block) - TRAILER_BYTES
        if groups_at > trailer_at:
            raise Damaged("keys and slots pass the trailer", offset=0)

        self.keys = [0] + [u32(block, HEAD_BYTES + KEY_BYTES * g) for g in range(group_count - 1)]
        slots = [field(block, 8 * (slots_at + slot_bytes * g), 8 * slot_bytes) for g in range(group_count - 1)]
        self.bounds = [8 * groups_at, *slots, 8 * trailer_at]
        for group in range(group_count):
            begin, end = self.bounds[group : group + 2]
            if begin + (self.key_shift if group else 0) > end:
                raise Damaged(f"the bounds of group {group}, bits {begin} to {end}", offset=slots_at)

        self.sizes = [restart_interval] * (group_count - 1) + [self.count - restart_interval * (group_count - 1)]


def decode_block(block: bytes, restart_interval: int, code: Code) -> list[int]:
    """All fingerprints of a block, permuted, ascending strictly; `block` with its trailer."""
    frame = Frame(block, restart_interval)
    fingerprints: list[int] = []
    for group, size in enumerate(frame.sizes):
        code_bit, rest_bit = frame.bounds[group : group + 2]
        v = frame.first
        if group > 0:
            rest_bit -= frame.key_shift
            v += (frame.keys[group] << frame.key_shift) + field(block, rest_bit, frame.key_shift)
            if v > FINGERPRINT_MAX:
                raise Damaged(f"group {group} begins above 2^64 - 1", offset=rest_bit // 8)
            if v <= fingerprints[-1]:
                raise Damaged(f"group {group} begins at {v:016x}, not above {fingerprints[-1]:016x}", offset=rest_bit // 8)
        fingerprints.append(v)
        for _ in range(size - 1):
            h = code.symbol_of_field[field(block, code_bit, MAX_LENGTH)]
            if h is None:
                raise Damaged(f"no code at bit {code_bit}", offset=code_bit // 8)
            rest_bits = FINGERPRINT_BITS - 1 - h
            code_end = code_bit + code.lengths[h]
            rest_bit -= rest_bits
            if code_end > rest_bit:
                raise Damaged(f"the code at bit {code_bit} runs into its rest, or past the group", offset=code_bit // 8)
            if v >> rest_bits & 1:
                raise Damaged(f"the code at bit {code_bit} is for bit {h}, which is 1 before", offset=code_bit // 8)
            code_bit = code_end
            v = (v >> rest_bits | 1) << rest_bits | field(block, rest_bit, rest_bits)
            fingerprints.append(v)
    return fingerprints
