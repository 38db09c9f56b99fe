"""Blocks of whole fingerprints: table 0 of a store whose fingerprints have more than 64 bits (sstore-format.md, section 16.1)."""

from bits import FINGERPRINT_BITS, WORD_BYTES, bytes_fingerprint, of_words, u64
from block import TRAILER_BYTES
from faults import Damaged


def capacity(block_size: int, fingerprint_bits: int) -> int:
    """c: the fingerprints of each block but the last."""
    return (block_size - TRAILER_BYTES) // _size(fingerprint_bits)


def block_count_of(block_size: int, fingerprint_bits: int, fingerprint_count: int) -> int:
    return -(-fingerprint_count // capacity(block_size, fingerprint_bits))


def _size(fingerprint_bits: int) -> int:
    return WORD_BYTES * fingerprint_bits // FINGERPRINT_BITS


def encode_whole(fingerprints: list[int], block_size: int, fingerprint_bits: int) -> list[bytes]:
    """Blocks, without their trailers."""
    each = capacity(block_size, fingerprint_bits)
    parts = [fingerprints[begin : begin + each] for begin in range(0, len(fingerprints), each)]
    blocks = [b"".join(bytes_fingerprint(fingerprint, fingerprint_bits) for fingerprint in part) for part in parts]
    return [block.ljust(block_size - TRAILER_BYTES, b"\0") for block in blocks]


def decode_whole(block: bytes, count: int, fingerprint_bits: int) -> list[int]:
    """The `count` fingerprints of a block. They must ascend strictly."""
    size = _size(fingerprint_bits)
    fingerprints = [of_words([u64(block, word) for word in range(at, at + size, WORD_BYTES)]) for at in range(0, count * size, size)]
    for i, (a, b) in enumerate(zip(fingerprints, fingerprints[1:])):
        if b <= a:
            raise Damaged(f"{b:x} follows {a:x}", offset=size * (i + 1))
    return fingerprints
