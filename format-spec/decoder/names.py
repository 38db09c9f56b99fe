"""Names: their column and the fingerprints that lead to them (sstore-format.md, section 18), read and written."""

from dataclasses import dataclass
from itertools import groupby

from bits import bytes_u16, bytes_u64, u16, u64
from block import TRAILER_BYTES
from faults import Damaged
from xxh3 import xxh3_64, xxh3_128

NUMBER_OF_NAMES = 0xFFFFFFFE
FRAGMENTS_AT = 1176
FRAGMENTS_BYTES = 1 + 255 + 255 * 8
MAX_FRAGMENTS = 255
FRAGMENT_BYTES = 8
ESCAPE = 255
NEWLINE = 10
MAX_NAME_BYTES = 65536
GROUP_NAMES = 16
HEAD_BYTES = 12
CONTINUED = 1

Name = tuple[int, bytes]  # id, name


def number_bits(record_count: int) -> int:
    """Of the segment's record count."""
    return record_count.bit_length()


def fingerprint_of(name: bytes, number: int, bits: int) -> int:
    hash_bits = min(32, 64 - bits)
    return xxh3_64(name) >> 64 - hash_bits << bits | number


def names_sum(names: list[Name]) -> int:
    return sum(xxh3_128(bytes_u64(name_id) + name) for name_id, name in names) % 2**128


# Fragments


def _order(fragment: bytes) -> tuple[int, int, bytes]:
    return fragment[0], -len(fragment), fragment


def parse_fragments(header: bytes) -> list[bytes]:
    stored = header[FRAGMENTS_AT : FRAGMENTS_AT + FRAGMENTS_BYTES]
    if header[88:121] != xxh3_128(stored).to_bytes(16, "little") + bytes(17):
        raise Damaged("the hash of the fragments is wrong", offset=88)
    fragments = []
    for i in range(MAX_FRAGMENTS):
        length = stored[1 + i]
        at = 1 + MAX_FRAGMENTS + FRAGMENT_BYTES * i
        text, rest = stored[at : at + length], stored[at + length : at + FRAGMENT_BYTES]
        if length > FRAGMENT_BYTES or any(rest) or (length > 0) != (i < stored[0]):
            raise Damaged(f"fragment {i} has {length} bytes", offset=FRAGMENTS_AT + 1 + i)
        if 0 in text or NEWLINE in text[:-1]:
            raise Damaged(f"fragment {i} is no part of a name", offset=FRAGMENTS_AT + at)
        if length and fragments and _order(fragments[-1]) >= _order(text):
            raise Damaged(f"fragment {i} is not in order", offset=FRAGMENTS_AT + at)
        if length:
            fragments.append(text)
    return fragments


def stored_fragments(fragments: list[bytes]) -> bytes:
    fragments = sorted(set(fragments), key=_order)
    lengths = bytes(map(len, fragments)).ljust(MAX_FRAGMENTS, b"\0")
    texts = b"".join(fragment.ljust(FRAGMENT_BYTES, b"\0") for fragment in fragments)
    return bytes([len(fragments)]) + lengths + texts.ljust(FRAGMENT_BYTES * MAX_FRAGMENTS, b"\0")


# Reading


@dataclass
class NameBlock:
    """The frame of a block. The offset of a fault is one in the block."""

    first_id: int
    ids: list[int]
    continued: bool
    codes: bytes
    groups: list[int]

    def __init__(self, block: bytes):
        self.first_id, count, width, flags = u64(block, 0), u16(block, 8), block[10], block[11]
        self.continued = flags == CONTINUED
        if width > 8 or flags > CONTINUED or count > len(block) // 2:
            raise Damaged(f"{count} names, width {width}, flags {flags:#x}", offset=8)
        if (self.continued or count == 0) and (count > 1 or width):
            raise Damaged("other names beside a part of one", offset=8)
        groups_at = HEAD_BYTES + count * width
        codes_at = groups_at + 2 * max(-(-count // GROUP_NAMES) - 1, 0)
        if codes_at >= len(block) - TRAILER_BYTES:
            raise Damaged("no room for codes", offset=8)
        values = [int.from_bytes(block[HEAD_BYTES + i * width : HEAD_BYTES + (i + 1) * width], "little") for i in range(count)]
        self.ids = [(self.first_id + i + value) % 2**64 for i, value in enumerate(values)]
        self.groups = [u16(block, at) for at in range(groups_at, codes_at, 2)]
        self.codes = block[codes_at:-TRAILER_BYTES]


class _Codes:
    """Decodes names from codes, one after the other."""

    def __init__(self, codes: bytes, fragments: list[bytes], at: int = 0):
        self.codes, self.fragments, self.at = codes, fragments, at

    def _take(self) -> int:
        if self.at >= len(self.codes):
            raise Damaged("the codes end within a name", offset=0)
        self.at += 1
        return self.codes[self.at - 1]

    def _shared(self) -> int:
        shared = 0
        for shift in 0, 7, 14:
            byte = self._take()
            shared |= (byte & 0x7F) << shift
            if byte < 0x80:
                return shared
        raise Damaged("a shared length of more than 3 bytes", offset=0)

    def next_name(self, base: bytes) -> bytes:
        shared = self._shared()
        if shared > len(base):
            raise Damaged(f"{shared} bytes are shared with {len(base)}", offset=0)
        name = bytearray(base[:shared])
        while not name.endswith(b"\n"):
            code = self._take()
            if code == ESCAPE:
                name.append(self._take())
                if name[-1] == 0:
                    raise Damaged("a name with the byte 0", offset=0)
            elif code < len(self.fragments):
                name += self.fragments[code]
            else:
                raise Damaged(f"code {code} of {len(self.fragments)} fragments", offset=0)
            if len(name) > MAX_NAME_BYTES + 1:
                raise Damaged("a name is too long", offset=0)
        if len(name) == 1:
            raise Damaged("an empty name", offset=0)
        return bytes(name[:-1])


def _names_of_block(block: NameBlock, fragments: list[bytes]) -> list[Name]:
    """A group begins where its offset says, and the group before it ends there, which the full check compares."""
    names: list[Name] = []
    codes = _Codes(block.codes, fragments)
    for index, name_id in enumerate(block.ids):
        base = names[-1][1] if names else b""
        if index and index % GROUP_NAMES == 0:
            codes.at = block.groups[index // GROUP_NAMES - 1]
            base = names[0][1]
        names.append((name_id, codes.next_name(base)))
    return names


def read_names(file, name_count: int) -> tuple[list[Name], list[bytes]]:
    """All names of a column, ascending by id, and its fragments. `file` is its BlockFile."""
    try:
        fragments = parse_fragments(file.data)
    except Damaged as fault:
        raise fault.within(file.path, 0)
    names: list[Name] = []
    long: tuple[int, bytearray] | None = None
    for offset, data in file.blocks():
        try:
            block = NameBlock(data)
            if (long is not None) != (not block.ids) or (long is not None and long[0] != block.first_id):
                raise Damaged("it does not follow the block before", offset=0)
            if long is None and block.continued:
                long = (block.first_id, bytearray())
            if long is not None:
                long[1].extend(block.codes)
                found = [] if block.continued else [(long[0], _Codes(bytes(long[1]), fragments).next_name(b""))]
                long = long if block.continued else None
            else:
                found = _names_of_block(block, fragments)
            for name_id, name in found:
                if names and name_id <= names[-1][0]:
                    raise Damaged(f"id {name_id} after {names[-1][0]}", offset=0)
                names.append((name_id, name))
        except Damaged as fault:
            raise fault.within(file.path, offset)
    if long is not None or len(names) != name_count:
        raise Damaged(f"{len(names)} names instead of {name_count}", file.path, 56)
    return names, fragments


# Writing


def _coded(text: bytes, fragments: list[bytes]) -> bytes:
    codes = bytearray()
    by_first = {first: list(same) for first, same in groupby(enumerate(fragments), key=lambda item: item[1][0])}
    at = 0
    while at < len(text):
        for code, fragment in by_first.get(text[at], []):
            if text.startswith(fragment, at):
                codes.append(code)
                at += len(fragment)
                break
        else:
            codes += bytes([ESCAPE, text[at]])
            at += 1
    return bytes(codes)


def _based(name: bytes, base: bytes, fragments: list[bytes]) -> bytes:
    shared = next((i for i, (a, b) in enumerate(zip(name, base)) if a != b), min(len(name), len(base)))
    length, stored = shared, bytearray()
    while length >= 0x80:
        stored.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes([*stored, length]) + _coded(name[shared:] + b"\n", fragments)


def _frame(first_id: int, count: int, width: int, flags: int) -> bytes:
    return bytes_u64(first_id) + bytes_u16(count) + bytes([width, flags])


class ColumnWriter:
    """Fills blocks in order. `keys` and `first_numbers` are the directory's."""

    def __init__(self, fragments: list[bytes], block_size: int):
        self.fragments, self.block_size, self.room = fragments, block_size, block_size - TRAILER_BYTES
        self.blocks: list[bytes] = []
        self.keys: list[int] = []
        self.first_numbers: list[int] = []
        self.names: list[Name] = []
        self.codes: list[bytes] = []
        self.number = 0

    def _block(self, names: list[Name], codes: list[bytes]) -> bytes:
        first = names[0][0]
        values = [name_id - first - i for i, (name_id, _) in enumerate(names)]
        width = -(-values[-1].bit_length() // 8)
        groups = [sum(map(len, codes[:i])) for i in range(GROUP_NAMES, len(codes), GROUP_NAMES)]
        data = _frame(first, len(names), width, 0) + b"".join(value.to_bytes(width, "little") for value in values)
        return data + b"".join(map(bytes_u16, groups)) + b"".join(codes)

    def _put(self, data: bytes, key: int, count: int) -> None:
        self.blocks.append(data.ljust(self.room, b"\0"))
        self.keys.append(key)
        self.first_numbers.append(self.number)
        self.number += count

    def flush(self) -> None:
        if self.names:
            self._put(self._block(self.names, self.codes), self.names[-1][0], len(self.names))
        self.names, self.codes = [], []

    def _put_long(self, name_id: int, codes: bytes) -> None:
        each = self.room - HEAD_BYTES
        for begin in range(0, len(codes), each):
            count = int(begin == 0)
            self._put(_frame(name_id, count, 0, int(begin + each < len(codes))) + codes[begin : begin + each], name_id, count)

    def add(self, name_id: int, name: bytes) -> None:
        index = len(self.names)
        base = b"" if index == 0 else self.names[0 if index % GROUP_NAMES == 0 else -1][1]
        codes = _based(name, base, self.fragments)
        names = [*self.names, (name_id, name)]
        fits = len(names) <= self.block_size // 2 and len(self._block(names, [*self.codes, codes])) <= self.room
        if fits:
            self.names, self.codes = names, [*self.codes, codes]
        elif index == 0:
            self._put_long(name_id, codes)
        else:
            self.flush()
            self.add(name_id, name)


def write_column(names: list[Name], fragments: list[bytes], block_size: int) -> ColumnWriter:
    """The blocks of a column, without trailers. The fragments are in order."""
    writer = ColumnWriter(fragments, block_size)
    for name_id, name in names:
        writer.add(name_id, name)
    writer.flush()
    return writer
