"""XXH3-64 and XXH3-128 with seed 0 and the default secret (sstore-format.md, section 1).

Written from the published description of Yann Collet's XXH3 (xxHash 0.8, doc/xxhash_spec.md, "XXH3 Algorithm
Overview"), whose names it keeps. The terms of the seed are left out, because the seed is 0. All arithmetic is
modulo 2^64 unless a product of 128 bits is named.
"""

from functools import lru_cache
from struct import unpack_from

MASK32 = 2**32 - 1
MASK64 = 2**64 - 1

PRIME32_1 = 0x9E3779B1
PRIME32_2 = 0x85EBCA77
PRIME32_3 = 0xC2B2AE3D
PRIME64_1 = 0x9E3779B185EBCA87
PRIME64_2 = 0xC2B2AE3D27D4EB4F
PRIME64_3 = 0x165667B19E3779F9
PRIME64_4 = 0x85EBCA77C2B2AE63
PRIME64_5 = 0x27D4EB2F165667C5
PRIME_MX1 = 0x165667919E3779F9
PRIME_MX2 = 0x9FB21C651E98DF25

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)

STRIPE_BYTES = 64
STRIPES_PER_BLOCK = (192 - STRIPE_BYTES) // 8
BLOCK_BYTES = STRIPE_BYTES * STRIPES_PER_BLOCK


def _u32(data: bytes, offset: int) -> int:
    return unpack_from("<I", data, offset)[0]


def _u64(data: bytes, offset: int) -> int:
    return unpack_from("<Q", data, offset)[0]


def _secret_pair(offset: int) -> int:
    """Two neighbouring words of the secret, xored. Short inputs are masked with them."""
    return _u64(SECRET, offset) ^ _u64(SECRET, offset + 8)


def _rotate(value: int, count: int, bits: int) -> int:
    return (value << count | value >> (bits - count)) & (2**bits - 1)


def _swap64(value: int) -> int:
    return int.from_bytes(value.to_bytes(8, "little"), "big")


def _swap32(value: int) -> int:
    return int.from_bytes(value.to_bytes(4, "little"), "big")


def _fold(a: int, b: int) -> int:
    """The two halves of the 128-bit product, xored."""
    product = a * b
    return (product ^ product >> 64) & MASK64


def _avalanche(h: int) -> int:
    h &= MASK64
    h ^= h >> 37
    h = h * PRIME_MX1 & MASK64
    return h ^ h >> 32


def _avalanche_xxh64(h: int) -> int:
    h ^= h >> 33
    h = h * PRIME64_2 & MASK64
    h ^= h >> 29
    h = h * PRIME64_3 & MASK64
    return h ^ h >> 32


def _mix16(data: bytes, offset: int, secret_offset: int) -> int:
    low, high = unpack_from("<2Q", data, offset)
    secret_low, secret_high = unpack_from("<2Q", SECRET, secret_offset)
    return _fold(low ^ secret_low, high ^ secret_high)


def _mix32(acc: tuple[int, int], data: bytes, offset_1: int, offset_2: int, secret_offset: int) -> tuple[int, int]:
    low, high = acc
    low = low + _mix16(data, offset_1, secret_offset) & MASK64
    low ^= sum(unpack_from("<2Q", data, offset_2)) & MASK64
    high = high + _mix16(data, offset_2, secret_offset + 16) & MASK64
    high ^= sum(unpack_from("<2Q", data, offset_1)) & MASK64
    return low, high


# Inputs of more than 240 bytes: both widths share the accumulators.

_SECRET_OF_STRIPE = [unpack_from("<8Q", SECRET, 8 * stripe) for stripe in range(STRIPES_PER_BLOCK)]
_SECRET_OF_SCRAMBLE = unpack_from("<8Q", SECRET, 192 - STRIPE_BYTES)
_SECRET_OF_LAST_STRIPE = unpack_from("<8Q", SECRET, 192 - STRIPE_BYTES - 7)


def _accumulate(acc: list[int], data: bytes, offset: int, secret: tuple[int, ...]) -> None:
    """Add one stripe. The sums are reduced modulo 2^64 later, with the same result."""
    for lane, (value, key) in enumerate(zip(unpack_from("<8Q", data, offset), secret)):
        acc[lane ^ 1] += value
        key ^= value
        acc[lane] += (key & MASK32) * (key >> 32)


@lru_cache(maxsize=4096)
def _accumulate_all(data: bytes) -> tuple[int, ...]:
    """Cached, because tests read the same blocks again and again."""
    acc = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1]
    block_count = (len(data) - 1) // BLOCK_BYTES
    for block in range(block_count):
        for stripe in range(STRIPES_PER_BLOCK):
            _accumulate(acc, data, block * BLOCK_BYTES + stripe * STRIPE_BYTES, _SECRET_OF_STRIPE[stripe])
        for lane, key in enumerate(_SECRET_OF_SCRAMBLE):
            value = acc[lane] & MASK64
            acc[lane] = (value ^ value >> 47 ^ key) * PRIME32_1 & MASK64
    begin = block_count * BLOCK_BYTES
    for stripe in range((len(data) - 1 - begin) // STRIPE_BYTES):
        _accumulate(acc, data, begin + stripe * STRIPE_BYTES, _SECRET_OF_STRIPE[stripe])
    _accumulate(acc, data, len(data) - STRIPE_BYTES, _SECRET_OF_LAST_STRIPE)
    return tuple(value & MASK64 for value in acc)


def _merge(acc: tuple[int, ...], secret_offset: int, start: int) -> int:
    for pair in range(4):
        low, high = unpack_from("<2Q", SECRET, secret_offset + 16 * pair)
        start += _fold(acc[2 * pair] ^ low, acc[2 * pair + 1] ^ high)
    return _avalanche(start)


def xxh3_64(data: bytes) -> int:
    """XXH3 with 64 bits of output."""
    size = len(data)
    if size == 0:
        return _avalanche_xxh64(_secret_pair(56))
    if size <= 3:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return _avalanche_xxh64(combined ^ _u32(SECRET, 0) ^ _u32(SECRET, 4))
    if size <= 8:
        h = _u32(data, size - 4) + (_u32(data, 0) << 32) ^ _secret_pair(8)
        h ^= _rotate(h, 49, 64) ^ _rotate(h, 24, 64)
        h = h * PRIME_MX2 & MASK64
        h ^= (h >> 35) + size
        h = h * PRIME_MX2 & MASK64
        return h ^ h >> 28
    if size <= 16:
        low = _u64(data, 0) ^ _secret_pair(24)
        high = _u64(data, size - 8) ^ _secret_pair(40)
        return _avalanche(size + _swap64(low) + high + _fold(low, high))
    if size <= 128:
        acc = size * PRIME64_1
        for step in range((size - 1) // 32, -1, -1):
            acc += _mix16(data, 16 * step, 32 * step)
            acc += _mix16(data, size - 16 * (step + 1), 32 * step + 16)
        return _avalanche(acc)
    if size <= 240:
        acc = size * PRIME64_1 + sum(_mix16(data, 16 * i, 16 * i) for i in range(8))
        acc = _avalanche(acc) + sum(_mix16(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, size // 16))
        return _avalanche(acc + _mix16(data, size - 16, 136 - 17))
    return _merge(_accumulate_all(data), 11, size * PRIME64_1)


def _finish_128(acc: tuple[int, int], size: int) -> int:
    low, high = acc
    result_low = _avalanche(low + high)
    result_high = -_avalanche(low * PRIME64_1 + high * PRIME64_4 + size * PRIME64_2) & MASK64
    return result_high << 64 | result_low


def xxh3_128(data: bytes) -> int:
    """XXH3 with 128 bits of output: high64 · 2^64 + low64, which is the number that a u128 holds."""
    size = len(data)
    if size == 0:
        return _avalanche_xxh64(_secret_pair(80)) << 64 | _avalanche_xxh64(_secret_pair(64))
    if size <= 3:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        low = _avalanche_xxh64(combined ^ _u32(SECRET, 0) ^ _u32(SECRET, 4))
        high = _avalanche_xxh64(_rotate(_swap32(combined), 13, 32) ^ _u32(SECRET, 8) ^ _u32(SECRET, 12))
        return high << 64 | low
    if size <= 8:
        keyed = _u32(data, 0) + (_u32(data, size - 4) << 32) ^ _secret_pair(16)
        product = keyed * (PRIME64_1 + (size << 2))
        low = product & MASK64
        high = (product >> 64) + (low << 1) & MASK64
        low ^= high >> 3
        low ^= low >> 35
        low = low * PRIME_MX2 & MASK64
        low ^= low >> 28
        return _avalanche(high) << 64 | low
    if size <= 16:
        low = _u64(data, 0)
        high = _u64(data, size - 8)
        product = (low ^ high ^ _secret_pair(32)) * PRIME64_1
        high ^= _secret_pair(48)
        product_low = (product & MASK64) + (size - 1 << 54) & MASK64
        product_high = (product >> 64) + high + (high & MASK32) * (PRIME32_2 - 1) & MASK64
        product = (product_low ^ _swap64(product_high)) * PRIME64_2
        return _avalanche((product >> 64) + product_high * PRIME64_2) << 64 | _avalanche(product)
    if size <= 128:
        acc = (size * PRIME64_1 & MASK64, 0)
        for step in range((size - 1) // 32, -1, -1):
            acc = _mix32(acc, data, 16 * step, size - 16 * (step + 1), 32 * step)
        return _finish_128(acc, size)
    if size <= 240:
        acc = (size * PRIME64_1 & MASK64, 0)
        for i in range(4):
            acc = _mix32(acc, data, 32 * i, 32 * i + 16, 32 * i)
        acc = (_avalanche(acc[0]), _avalanche(acc[1]))
        for i in range(4, size // 32):
            acc = _mix32(acc, data, 32 * i, 32 * i + 16, 32 * (i - 4) + 3)
        acc = _mix32(acc, data, size - 16, size - 32, 136 - 17 - 16)
        return _finish_128(acc, size)
    acc = _accumulate_all(data)
    low = _merge(acc, 11, size * PRIME64_1)
    high = _merge(acc, 192 - STRIPE_BYTES - 11, ~(size * PRIME64_2) & MASK64)
    return high << 64 | low
