"""Bits of fingerprints and of blocks (sstore-format.md, section 1; block-codec.md, section 4).

The format numbers bits in two ways: bit 0 of a fingerprint is its most significant bit, bit 0 of a byte in a block is its
least significant bit.
"""

FINGERPRINT_BITS = 64
FINGERPRINT_MAX = 2**FINGERPRINT_BITS - 1


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


def bytes_u32(value: int) -> bytes:
    return value.to_bytes(4, "little")


def bytes_u64(value: int) -> bytes:
    return value.to_bytes(8, "little")


def bytes_u128(value: int) -> bytes:
    return value.to_bytes(16, "little")


def first_difference(a: int, b: int) -> int:
    """The number of leading bits in which two different fingerprints are equal (sstore-format.md, section 4)."""
    return FINGERPRINT_BITS - (a ^ b).bit_length()
