"""Makes every checksum of an edited store right again, so that tests reach the checks behind the checksums.

It sets segment ids (sstore-format.md, section 9), header checksums and trailers (section 4) and the manifest's checksum
(section 3.5), also of word indexes (section 16.2) and id indexes (section 17). It leaves content sums, directories and names of folders unchanged.
"""

from pathlib import Path

from bits import FINGERPRINT_BITS, bytes_u32, bytes_u64, bytes_u128, u16, u32, u64
from xxh3 import xxh3_64, xxh3_128


def set_checksums(store: Path) -> None:
    """Folders say which indexes a segment has: these fields of the manifest may be what was edited."""
    manifest = bytearray((store / "MANIFEST").read_bytes())
    at = 64 + -(-u32(manifest, 56) // 8) * 8
    for _ in range(u32(manifest, 60)):
        folder = store / f"seg-{u64(manifest, at + 16):016x}"
        at = _set_entry(manifest, at, folder, manifest[32:44])
        for word_folder in sorted(folder.glob("word-*")):
            k = max(u16(manifest, at + 114) - 1, 0)
            at = _set_entry(manifest, at, word_folder, bytes_u32(FINGERPRINT_BITS) + bytes_u32(k) + bytes_u32(1))
        if (folder / "id-index").exists():
            has_ids = manifest[at + 113] != 1
            at = _set_entry(manifest, at, folder / "id-index", bytes_u32(FINGERPRINT_BITS) + bytes_u32(0) + bytes_u32(has_ids))
        if (folder / "names").exists():
            at = _set_entry(manifest, at, folder / "names", bytes_u32(FINGERPRINT_BITS) + bytes_u32(0) + bytes_u32(0))
    manifest[-16:] = bytes_u128(xxh3_128(bytes(manifest[:-16])))
    (store / "MANIFEST").write_bytes(manifest)


def _set_entry(manifest: bytearray, at: int, folder: Path, store_fields: bytes) -> int:
    """Seal a segment or an index, and its files. `store_fields` are fingerprint bits, k and flags. Returns the entry's end."""
    table_count = u32(manifest, at + 116)
    segment_id = _segment_id(manifest, at, table_count, store_fields)
    manifest[at : at + 16] = segment_id
    block_size = u32(manifest, at + 56)
    for number in range(table_count):
        checksum_at = at + 128 + 40 * number + 24
        path = folder / f"table-{number:02d}.blk"
        manifest[checksum_at : checksum_at + 16] = _set_file_checksums(path, segment_id, block_size)
    if u32(store_fields, 8) & 1 and (folder / "ids.blk").exists():
        manifest[at + 96 : at + 112] = _set_file_checksums(folder / "ids.blk", segment_id, block_size)
    if (folder / "names.blk").exists():
        file = bytearray((folder / "names.blk").read_bytes())
        file[88:104] = bytes_u128(xxh3_128(bytes(file[1176:3472])))
        (folder / "names.blk").write_bytes(file)
        manifest[at + 96 : at + 112] = _set_file_checksums(folder / "names.blk", segment_id, block_size)
    return at + 128 + 40 * table_count


def _segment_id(manifest: bytes, at: int, table_count: int, store_fields: bytes) -> bytes:
    data = manifest[at + 40 : at + 56] + manifest[at + 24 : at + 40]
    data += manifest[8:12] + store_fields[:4] + bytes_u32(u32(store_fields, 8) & 1)
    data += manifest[at + 112 : at + 116] + manifest[at + 56 : at + 64] + store_fields[4:8]
    data += manifest[at + 116 : at + 120] + bytes_u64(0)
    for table_at in range(at + 128, at + 128 + 40 * table_count, 40):
        data += manifest[table_at : table_at + 16]
    return bytes_u128(xxh3_128(bytes(data)))


def _set_file_checksums(path: Path, segment_id: bytes, block_size: int) -> bytes:
    """Seal one block file. Returns its header checksum, as bytes."""
    file = bytearray(path.read_bytes())
    file[16:32] = segment_id
    file[4080:4096] = bytes_u128(xxh3_128(bytes(file[:4080])))
    file_key = bytes_u64(xxh3_64(bytes(file[16:36] + file[88:121])))
    for index, begin in enumerate(range(4096, len(file), block_size)):
        trailer_at = begin + block_size - 8
        salt = xxh3_64(file_key + bytes_u64(index))
        file[trailer_at : trailer_at + 8] = bytes_u64(xxh3_64(bytes(file[begin:trailer_at])) ^ salt)
    path.write_bytes(file)
    return bytes(file[4080:4096])
