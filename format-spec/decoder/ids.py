"""Decodes the id column to (rank, id) pairs (sstore-format.md, section 6)."""

from collections.abc import Iterator
from itertools import accumulate

from bits import field, u16, u64
from block import TRAILER_BYTES
from blockfile import BlockFile
from faults import Damaged

HEAD_BYTES = 20
FLAG_STARTS = 1
FLAG_CONTINUED = 2


class IdBlock:
    """A decoded block. The offset of a fault is one in the block."""

    def __init__(self, block: bytes):
        self.first_rank = u64(block, 0)
        count = u16(block, 16)
        width = block[18]
        base = u64(block, 8)
        flags = block[19]
        if count == 0:
            raise Damaged("a block without records", offset=16)
        if width > 64:
            raise Damaged(f"values of {width} bits", offset=18)
        if width == 64 and base != 0:
            raise Damaged(f"base {base} beside values of 64 bits", offset=8)
        if flags & ~(FLAG_STARTS | FLAG_CONTINUED):
            raise Damaged(f"flags {flags:#x}", offset=19)
        self.continued = bool(flags & FLAG_CONTINUED)
        values_at = HEAD_BYTES + (-(-count // 8) if flags & FLAG_STARTS else 0)
        if values_at + -(-count * width // 8) > len(block) - TRAILER_BYTES:
            raise Damaged("values pass the trailer", offset=16)
        self.ids = [(base + field(block, 8 * values_at + i * width, width)) % 2**64 for i in range(count)]
        if flags & FLAG_STARTS:
            steps = [field(block, 8 * HEAD_BYTES + i, 1) for i in range(1, count)]
        else:
            steps = [1] * (count - 1)
        self.ranks = list(accumulate(steps, initial=self.first_rank))


def id_records(file: BlockFile, distinct_count: int, record_count: int) -> Iterator[tuple[int, int]]:
    """(rank, id) of all records, strictly ascending. The ranks are 0..distinct_count - 1, without gaps."""
    continued = False
    rank, record_id, records = -1, -1, 0
    for offset, block in file.blocks():
        try:
            id_block = IdBlock(block)
            if id_block.first_rank != (rank if continued else rank + 1):
                raise Damaged(f"first rank {id_block.first_rank} after {rank}", offset=0)
            for next_rank, next_id in zip(id_block.ranks, id_block.ids):
                if next_rank == rank and next_id <= record_id:
                    raise Damaged(f"id {next_id} after {record_id} at rank {rank}", offset=0)
                rank, record_id = next_rank, next_id
                yield rank, record_id
        except Damaged as fault:
            raise fault.within(file.path, offset)
        continued = id_block.continued
        records += len(id_block.ids)
    if continued:
        raise Damaged("the last block is continued", file.path, len(file.data) - file.block_size + 19)
    if rank != distinct_count - 1 or records != record_count:
        raise Damaged(f"{rank + 1} ranks and {records} records instead of {distinct_count} and {record_count}", file.path, 56)
