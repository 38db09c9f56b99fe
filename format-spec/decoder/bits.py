"""Bits of fingerprints and of blocks (sstore-format.md, section 1; block-codec.md, section 4).

The format numbers bits in two ways: bit 0 of a fingerprint is its most significant bit, bit 0 of a byte in a block is its
least significant bit.
"""

FINGERPRINT_BITS = 64  # of a word, and of the tables that block-codec.md describes
FINGERPRINT_MAX = 2**FINGERPRINT_BITS - 1
WORD_BYTES = 8


def field(data: bytes, position: int, width: int) -> int:
    """The field of `width` bits at bit `position`. Bits behind the end of `data` count as 0."""
    piece = int.from_bytes(data[position >> 3 : (position + width + 7) >> 3], "little")
    return piece >> (position & 7) & ((1 << width) - 1)


def u16(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 2], "little")


def u32(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 4], "little")


def u64(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 8], "little")


def u128(data: bytes, offset: int) -> int:
    """The low half comes first: 16 bytes little-endian."""
    return int.from_bytes(data[offset : offset + 16], "little")


def bytes_u16(value: int) -> bytes:
    return value.to_bytes(2, "little")


def bytes_u32(value: int) -> bytes:
    return value.to_bytes(4, "little")


def bytes_u64(value: int) -> bytes:
    return value.to_bytes(8, "little")


def bytes_u128(value: int) -> bytes:
    return value.to_bytes(16, "little")


def words_of(fingerprint: int, bits: int) -> list[int]:
    """The words of a fingerprint, word 0 first: that of the most significant bits."""
    return [fingerprint >> shift & FINGERPRINT_MAX for shift in range(bits - FINGERPRINT_BITS, -1, -FINGERPRINT_BITS)]


def of_words(words: list[int]) -> int:
    """The fingerprint of these words. Its order as a number is that of the words, word 0 first."""
    fingerprint = 0
    for word in words:
        fingerprint = fingerprint << FINGERPRINT_BITS | word
    return fingerprint


def bytes_fingerprint(fingerprint: int, bits: int) -> bytes:
    """A u64 for each word, word 0 first (sstore-format.md, sections 9 and 16.1)."""
    return b"".join(bytes_u64(word) for word in words_of(fingerprint, bits))


def first_difference(a: int, b: int) -> int:
    """The number of leading bits in which two different fingerprints are equal (sstore-format.md, section 4)."""
    return FINGERPRINT_BITS - (a ^ b).bit_length()
