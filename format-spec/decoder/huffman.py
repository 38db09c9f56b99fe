"""The code of a table: canonical Huffman codes for h (block-codec.md, section 3)."""

from faults import Damaged

SYMBOLS = 33
EQUAL = 32  # the symbol of upper halves that do not differ
MAX_LENGTH = 11


def check_lengths(lengths: bytes) -> None:
    """Refuse code lengths that are not one of the format's three kinds."""
    used = [length for length in lengths if length]
    if any(length > MAX_LENGTH for length in used):
        raise Damaged(f"a code is longer than {MAX_LENGTH} bits")
    if not used:
        return
    if len(used) == 1:
        if used[0] != 1:
            raise Damaged("the only code is not one bit long")
        return
    if sum(2 ** (MAX_LENGTH - length) for length in used) != 2**MAX_LENGTH:
        raise Damaged("the code lengths do not make a complete code")


def canonical_codes(lengths: bytes) -> dict[int, int]:
    """h -> code, a number whose most significant bit comes first in the stream."""
    codes: dict[int, int] = {}
    code = previous_length = 0
    for length, h in sorted((length, h) for h, length in enumerate(lengths) if length):
        if codes:
            code = code + 1 << length - previous_length
        codes[h] = code
        previous_length = length
    return codes


def reversed_bits(value: int, width: int) -> int:
    return int(format(value, f"0{width}b")[::-1], 2)


class Code:
    """Decodes one symbol at a time, by a table of all values of a field of the maximum length."""

    def __init__(self, lengths: bytes):
        check_lengths(lengths)
        self.lengths = lengths
        # The stream's first bit is a field's lowest one, so a field of `length` bits shows a code reversed.
        self.symbol_of_field: list[int | None] = [None] * 2**MAX_LENGTH
        for h, code in canonical_codes(lengths).items():
            for value in range(reversed_bits(code, lengths[h]), 2**MAX_LENGTH, 2 ** lengths[h]):
                self.symbol_of_field[value] = h
