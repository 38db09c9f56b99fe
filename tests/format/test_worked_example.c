/*
 * test_worked_example.c - the bytes of a tiny store, written by hand from format-spec/, and a decoder of a few lines,
 * also written from these pages alone, on stores of every kind of data. It uses only the hash of the library's
 * internals.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "support/data.h"
#include "support/random.h"
#include "support/scratch.h"
#include "support/use_store.h"

#define BLOCK 256u
#define HEADER 4096u
#define TRAILER_AT (BLOCK - 8)
#define HEAD_AT (BLOCK - 16)
#define LENGTHS 33u /* code lengths, by h: 32 are the upper halves that do not differ */
#define IDS_NUMBER UINT32_C(0xffffffff)

/* ----- bytes and bits ----- */

static void put_number(uint8_t *to, size_t at, uint64_t number, size_t width)
{
    for (size_t i = 0; i < width; i++)
        to[at + i] = (uint8_t)(number >> (8 * i));
}

static uint64_t get_number(const uint8_t *from, size_t at, size_t width)
{
    uint64_t number = 0;
    for (size_t i = width; i-- > 0;)
        number = number << 8 | from[at + i];
    return number;
}

/* A field of bits: bit b of a block is bit b mod 8 of byte b / 8. */
static void put_bits(uint8_t *to, uint32_t at, uint64_t number, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (number >> i & 1)
            to[(at + i) / 8] |= (uint8_t)(1u << (at + i) % 8);
}

static uint64_t get_bits(const uint8_t *from, uint32_t at, uint32_t width)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < width; i++)
        number |= (uint64_t)(from[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    return number;
}

static void put_hash(uint8_t *to, size_t at, const uint8_t *from, size_t size)
{
    const ss_u128 hash = ss_hash128(from, size);
    put_number(to, at, hash.low, 8);
    put_number(to, at + 8, hash.high, 8);
}

/* The trailer that a block must have, by its file's header and its number. */
static uint64_t trailer(const uint8_t *header, const uint8_t *block, uint32_t block_bytes, uint64_t number)
{
    uint8_t key[20 + LENGTHS], place[16];
    memcpy(key, header + 16, 16);     /* segment id */
    memcpy(key + 16, header + 32, 4); /* the file's number */
    memcpy(key + 20, header + 88, LENGTHS);
    put_number(place, 0, ss_hash64(key, sizeof key), 8);
    put_number(place, 8, number, 8);
    return ss_hash64(block, block_bytes - 8) ^ ss_hash64(place, sizeof place);
}

/* ----- the tiny store ----- */

/* Five fingerprints; one has two ids. Handed over in another order. */
static const ss_record records[] = {
    {UINT64_C(0xff00ff00ff00ff00), 5}, {UINT64_C(0xdb00000000000000), 300}, {UINT64_C(0xdb00000000000001), 2},
    {UINT64_C(0xd900000000000000), 7}, {UINT64_C(0x0000000000000003), 9},   {UINT64_C(0xdb00000000000000), 1},
};
#define RECORD_COUNT 6u
#define FINGERPRINT_COUNT 5u

#define MASK_0 UINT64_C(0xffffffff00000000)
#define MASK_1 UINT64_C(0x00000000ffffffff)

static const char *segment_file(const uint8_t id[16], const char *name)
{
    return scratch_path("tiny/seg-%016" PRIx64 "/%s", get_number(id, 0, 8), name);
}

static void build_tiny(void)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_builder *builder = NULL;
    sstore_error error = {.status = SSTORE_OK};
    options.block_bytes = BLOCK;
    options.plan = "2";
    options.recipe = "by hand";
    options.memory_bytes = 1 << 20;
    assert_ok(sstore_builder_create(scratch_path("tiny"), &options, &builder, &error), &error);
    for (size_t i = 0; i < RECORD_COUNT; i++)
        assert_ok(sstore_builder_add(builder, &records[i].fingerprint, &records[i].id, 1, &error), &error);
    assert_ok(sstore_builder_finish(builder, NULL, &error), &error);
}

/* The sum modulo 2^128 of the records' hashes. */
static void put_content_sum(uint8_t *to, size_t at)
{
    uint64_t low = 0, high = 0;
    for (size_t i = 0; i < RECORD_COUNT; i++) {
        uint8_t record[16];
        put_number(record, 0, records[i].fingerprint, 8);
        put_number(record, 8, records[i].id, 8);
        const ss_u128 hash = ss_hash128(record, sizeof record);
        low += hash.low;
        high += hash.high + (low < hash.low);
    }
    put_number(to, at, low, 8);
    put_number(to, at + 8, high, 8);
}

static void make_segment_id(uint8_t id[16])
{
    uint8_t fields[72 + 2 * 16] = {0};
    put_content_sum(fields, 0);
    put_number(fields, 16, RECORD_COUNT, 8);
    put_number(fields, 24, FINGERPRINT_COUNT, 8);
    put_number(fields, 32, 2, 4);  /* version */
    put_number(fields, 36, 64, 4); /* fingerprint bits */
    put_number(fields, 40, 1, 4);  /* with ids; kind 0 behind */
    put_number(fields, 48, BLOCK, 4);
    put_number(fields, 52, 32, 4); /* column bits */
    put_number(fields, 56, 3, 4);  /* k */
    put_number(fields, 60, 2, 4);  /* tables */
    put_number(fields, 72, MASK_0, 8);
    put_number(fields, 80, 32, 4); /* prefix bits */
    put_number(fields, 84, 1, 4);  /* radius */
    put_number(fields, 88, MASK_1, 8);
    put_number(fields, 96, 32, 4);
    put_number(fields, 100, 1, 4);
    put_hash(id, 0, fields, sizeof fields);
}

/* What the headers of all three files share. */
static void make_header(const uint8_t id[16], uint32_t number, uint64_t items, uint8_t header[HEADER])
{
    memset(header, 0, HEADER);
    memcpy(header, "sstorBLK", 8);
    put_number(header, 8, 2, 4); /* version */
    put_number(header, 12, HEADER, 4);
    memcpy(header + 16, id, 16);
    put_number(header, 32, number, 4);
    put_number(header, 36, BLOCK, 4);
    put_number(header, 44, 64, 4); /* fingerprint bits */
    put_number(header, 48, 1, 8);  /* blocks */
    put_number(header, 56, items, 8);
    put_number(header, 64, 2, 4); /* tables */
    put_number(header, 68, 3, 4); /* k */
}

static void make_table_header(const uint8_t id[16], uint32_t number, const uint64_t values[FINGERPRINT_COUNT],
                              const uint32_t h[FINGERPRINT_COUNT - 1], uint8_t header[HEADER])
{
    make_header(id, number, FINGERPRINT_COUNT, header);
    put_number(header, 40, 32, 4); /* column bits */
    put_number(header, 72, 1, 4);  /* radius */
    put_number(header, 80, number == 0 ? MASK_0 : MASK_1, 8);
    for (uint32_t i = 0; i < FINGERPRINT_COUNT - 1; i++) {
        const uint64_t gap = values[i + 1] - values[i];
        header[88 + (h[i] < 32 ? h[i] : 32)] = 2; /* four h, each once: four codes of two bits */
        put_number(header, 152 + 8 * h[i], 1, 8);
        for (uint32_t bit = 0; bit < 64; bit++)
            header[664 + 8 * bit] = (uint8_t)(header[664 + 8 * bit] + (gap >> (63 - bit) & 1));
    }
    put_hash(header, 4080, header, 4080);
}

static void check_block_file(const uint8_t id[16], const char *name, const uint8_t header[HEADER], uint8_t block[BLOCK])
{
    file_bytes file = file_load(segment_file(id, name));
    put_number(block, TRAILER_AT, trailer(header, block, BLOCK, 0), 8);
    assert_int_equal(file.size, HEADER + BLOCK);
    assert_memory_equal(file.data, header, HEADER);
    assert_memory_equal(file.data + HEADER, block, BLOCK);
    file_bytes_free(&file);
}

/* What is not coded in a block of a tiny table: lower halves, and the head. There is one group, and so no key shift. */
static void put_uncoded(uint8_t block[BLOCK], const uint64_t values[FINGERPRINT_COUNT])
{
    for (uint32_t i = 0; i < FINGERPRINT_COUNT; i++)
        put_number(block, 4 * i, values[i] & 0xffffffff, 4);
    put_number(block, HEAD_AT, FINGERPRINT_COUNT, 2);
    put_number(block, HEAD_AT + 4, values[0] >> 32, 4);
}

/*
 * Table 0, ascending, how each differs from the one before, and (code, suffix) of the upper halves:
 *   00000000 00000003
 *   d9000000 00000000   bit 0   00   59000000, 31 bits
 *   db000000 00000000   bit 6   10   01000000, 25 bits (11011001, then 11011011)
 *   db000000 00000001   bit 63  11   no rest: h = 32
 *   ff00ff00 ff00ff00   bit 2   01   1f00ff00, 29 bits
 */
static void make_table_0(const uint8_t id[16], uint8_t header[HEADER], uint8_t block[BLOCK])
{
    static const uint64_t values[] = {UINT64_C(0x0000000000000003), UINT64_C(0xd900000000000000),
                                      UINT64_C(0xdb00000000000000), UINT64_C(0xdb00000000000001),
                                      UINT64_C(0xff00ff00ff00ff00)};
    static const uint32_t h[] = {0, 6, 63, 2};
    make_table_header(id, 0, values, h, header);
    memset(block, 0, BLOCK);
    put_uncoded(block, values);
    block[20] = 0xb4;                                  /* 00, 10, 11, 01, each code's first bit lowest */
    put_bits(block, 8 * HEAD_AT - 31, 0x59000000, 31); /* suffixes, from the head downwards */
    put_bits(block, 8 * HEAD_AT - 31 - 25, 0x01000000, 25);
    put_bits(block, 8 * HEAD_AT - 31 - 25 - 29, 0x1f00ff00, 29);
}

/*
 * Table 1: the low half leads.
 *   00000000 d9000000
 *   00000000 db000000   bit 38  11   no rest: h = 32
 *   00000001 db000000   bit 31  10   no rest
 *   00000003 00000000   bit 30  01   1, 1 bit
 *   ff00ff00 ff00ff00   bit 0   00   7f00ff00, 31 bits
 */
static void make_table_1(const uint8_t id[16], uint8_t header[HEADER], uint8_t block[BLOCK])
{
    static const uint64_t values[] = {UINT64_C(0x00000000d9000000), UINT64_C(0x00000000db000000),
                                      UINT64_C(0x00000001db000000), UINT64_C(0x0000000300000000),
                                      UINT64_C(0xff00ff00ff00ff00)};
    static const uint32_t h[] = {38, 31, 30, 0};
    make_table_header(id, 1, values, h, header);
    memset(block, 0, BLOCK);
    put_uncoded(block, values);
    block[20] = 0x27; /* 11, 10, 01, 00 */
    put_bits(block, 8 * HEAD_AT - 1, 1, 1);
    put_bits(block, 8 * HEAD_AT - 1 - 31, 0x7f00ff00, 31);
}

/* Ids 9, 7, 1 and 300, 2, 5 of ranks 0 to 4: from 1 on, up to 299 more, so 9 bits each. */
static void make_ids(const uint8_t id[16], uint8_t header[HEADER], uint8_t block[BLOCK])
{
    static const uint64_t values[] = {9 - 1, 7 - 1, 1 - 1, 300 - 1, 2 - 1, 5 - 1};
    make_header(id, IDS_NUMBER, RECORD_COUNT, header);
    put_hash(header, 4080, header, 4080);
    memset(block, 0, BLOCK);
    block[8] = 1;     /* base; first rank 0 before it */
    block[16] = 6;    /* records */
    block[18] = 9;    /* width */
    block[19] = 1;    /* flags: starts */
    block[20] = 0x36; /* record 3 has the rank of record 2: 0 1 1 0 1 1, the first lowest */
    for (uint32_t i = 0; i < RECORD_COUNT; i++)
        put_bits(block, 8 * 21 + 9 * i, values[i], 9);
}

static void put_manifest_table(uint8_t *to, uint64_t key_mask, const uint8_t header[HEADER])
{
    put_number(to, 0, key_mask, 8);
    put_number(to, 8, 32, 4); /* prefix bits */
    put_number(to, 12, 1, 4); /* radius */
    put_number(to, 16, 1, 8); /* blocks */
    memcpy(to + 24, header + 4080, 16);
}

static void check_manifest(const uint8_t id[16], uint8_t headers[3][HEADER])
{
    enum { SEGMENT = 64 + 8, TABLES = SEGMENT + 128, SIZE = TABLES + 2 * 40 + 16 };
    uint8_t manifest[SIZE] = {0};
    file_bytes directory = file_load(segment_file(id, "directory.mdb")),
               file = file_load(scratch_path("tiny/MANIFEST"));
    memcpy(manifest, "sstorMAN", 8);
    put_number(manifest, 8, 2, 4); /* version */
    put_number(manifest, 12, SIZE, 4);
    put_number(manifest, 32, 64, 4);  /* fingerprint bits */
    put_number(manifest, 36, 3, 4);   /* k */
    put_number(manifest, 40, 3, 4);   /* flags: ids, and a given plan */
    put_number(manifest, 48, 301, 8); /* next id: above the largest id */
    put_number(manifest, 56, 7, 4);   /* recipe, with an unused byte behind it */
    put_number(manifest, 60, 1, 4);   /* segments */
    memcpy(manifest + 64, "by hand", 7);
    uint8_t *segment = manifest + SEGMENT;
    memcpy(segment, id, 16);
    memcpy(segment + 16, id, 8); /* folder number */
    put_number(segment, 24, RECORD_COUNT, 8);
    put_number(segment, 32, FINGERPRINT_COUNT, 8);
    put_content_sum(segment, 40);
    put_number(segment, 56, BLOCK, 4);
    put_number(segment, 60, 32, 4); /* column bits */
    put_number(segment, 64, directory.size, 8);
    put_hash(segment, 72, directory.data, directory.size);
    put_number(segment, 88, 1, 8); /* id blocks */
    memcpy(segment + 96, headers[2] + 4080, 16);
    put_number(segment, 116, 2, 4); /* tables */
    put_number(segment, 120, 1 + 256 * sizeof(size_t) + 65536 * (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 1 : 2), 4);
    put_number(segment, 124, 1 << 24 | SSTORE_VERSION_MAJOR << 16 | SSTORE_VERSION_MINOR << 8 | SSTORE_VERSION_PATCH,
               4);
    put_manifest_table(manifest + TABLES, MASK_0, headers[0]);
    put_manifest_table(manifest + TABLES + 40, MASK_1, headers[1]);
    put_hash(manifest, SIZE - 16, manifest, SIZE - 16);
    assert_int_equal(file.size, SIZE);
    assert_memory_equal(file.data, manifest, SIZE);
    file_bytes_free(&directory);
    file_bytes_free(&file);
}

static void test_bytes_of_a_tiny_store(void **state)
{
    uint8_t id[16], block[BLOCK];
    static uint8_t headers[3][HEADER];
    build_tiny();
    make_segment_id(id);
    make_table_0(id, headers[0], block);
    check_block_file(id, "table-00.blk", headers[0], block);
    make_table_1(id, headers[1], block);
    check_block_file(id, "table-01.blk", headers[1], block);
    make_ids(id, headers[2], block);
    check_block_file(id, "ids.blk", headers[2], block);
    check_manifest(id, headers);
    scratch_remove(scratch_path("tiny"));
}

/* ----- a decoder ----- */

/* A table's fingerprints as its file has them, or the id column's records as (rank, id). */
typedef struct decoded {
    uint64_t *values, *ids;
    size_t count, capacity;
} decoded;

static void decoded_add(decoded *to, uint64_t value, uint64_t id)
{
    if (to->count == to->capacity) {
        to->capacity = 2 * to->capacity + 1000;
        to->values = realloc(to->values, to->capacity * sizeof(uint64_t));
        to->ids = realloc(to->ids, to->capacity * sizeof(uint64_t));
    }
    to->values[to->count] = value;
    to->ids[to->count++] = id;
}

static void decoded_free(decoded *one)
{
    free(one->values);
    free(one->ids);
}

/* The symbol whose code stands at *at; steps over it. Codes of one length are consecutive, from `code` on. */
static uint32_t read_symbol(const uint8_t *block, const uint8_t lengths[LENGTHS], uint32_t *at)
{
    uint32_t seen = 0, code = 0;
    for (uint32_t length = 1; length <= 11; length++) {
        seen = seen << 1 | (uint32_t)get_bits(block, (*at)++, 1);
        code <<= 1;
        for (uint32_t h = 0; h < LENGTHS; h++) {
            if (lengths[h] != length)
                continue;
            if (seen == code)
                return h;
            code++;
        }
    }
    fail_msg("no code");
    return 0;
}

/* Get the upper half behind `upper`. */
static uint32_t read_upper(const uint8_t *block, const uint8_t lengths[LENGTHS], uint32_t upper, uint32_t *at,
                           uint32_t *end)
{
    const uint32_t h = read_symbol(block, lengths, at), width = h < 32 ? 31 - h : 0;
    *end -= width;
    assert_true(*at <= *end);
    if (h == 32)
        return upper;
    assert_int_equal(upper >> width & 1, 0);
    return ((upper >> width | 1) << width) + (uint32_t)get_bits(block, *end, width);
}

static void decode_table_block(const uint8_t *block, uint32_t block_bytes, const uint8_t lengths[LENGTHS], decoded *to)
{
    const uint32_t head = block_bytes - 16, n = (uint32_t)get_number(block, head, 2), key_shift = block[head + 2];
    const uint32_t groups = (n + 63) / 64, keys = head - 2 * (groups - 1), begins = keys - 2 * (groups - 1);
    uint64_t key = 0;
    assert_in_range(n, 1, (block_bytes - 16) / 4);
    assert_int_equal(block[head + 3], 0);
    for (uint32_t group = 0; group < groups; group++) {
        uint32_t at = 8 * 4 * n, end = 8 * begins, upper = (uint32_t)get_number(block, head + 4, 4);
        if (group + 1 < groups)
            end = 8 * (uint32_t)get_number(block, begins + 2 * group, 2);
        if (group > 0) {
            at = 8 * (uint32_t)get_number(block, begins + 2 * (group - 1), 2);
            end -= key_shift;
            key = get_number(block, keys + 2 * (group - 1), 2);
            upper += (uint32_t)((key << key_shift) + get_bits(block, end, key_shift));
        }
        for (uint32_t i = group * 64; i < n && i < (group + 1) * 64; i++) {
            if (i > group * 64)
                upper = read_upper(block, lengths, upper, &at, &end);
            decoded_add(to, (uint64_t)upper << 32 | get_number(block, 4 * i, 4), 0);
        }
        assert_true(group + 1 == groups || end - at < 8);
        while (at < end)
            assert_int_equal(get_bits(block, at++, 1), 0);
    }
    assert_true(key_shift == 0 || key >> 15 == 1); /* it is the smallest that will do */
}

static void decode_ids_block(const uint8_t *block, decoded *to)
{
    const uint64_t base = get_number(block, 8, 8);
    const uint32_t n = (uint32_t)get_number(block, 16, 2), width = block[18], starts = block[19] & 1;
    uint64_t rank = get_number(block, 0, 8);
    const uint32_t values = 8 * (20 + (starts ? (n + 7) / 8 : 0));
    for (uint32_t i = 0; i < n; i++) {
        rank += i > 0 && (!starts || get_bits(block, 8 * 20 + i, 1));
        decoded_add(to, rank, base + get_bits(block, values + i * width, width));
    }
}

static decoded decode_file(const char *path)
{
    decoded got = {0};
    file_bytes file = file_load(path);
    const uint8_t *header = file.data;
    const uint32_t number = (uint32_t)get_number(header, 32, 4), block_bytes = (uint32_t)get_number(header, 36, 4);
    const uint64_t blocks = get_number(header, 48, 8);
    assert_int_equal(file.size, HEADER + blocks * block_bytes);
    for (uint64_t i = 0; i < blocks; i++) {
        const uint8_t *block = file.data + HEADER + i * block_bytes;
        assert_int_equal(get_number(block, block_bytes - 8, 8), trailer(header, block, block_bytes, i));
        if (number == IDS_NUMBER)
            decode_ids_block(block, &got);
        else
            decode_table_block(block, block_bytes, header + 88, &got);
    }
    assert_int_equal(got.count, get_number(header, 56, 8));
    file_bytes_free(&file);
    return got;
}

/* The block of block-codec.md, section 6, written out there, with its trailer; it has two groups, and a key shift. */
static void test_block_of_the_page(void **state)
{
    enum { PAGE_BLOCK = 512, COUNT = 66, SAME = 61 };
    static const uint32_t others[COUNT - SAME] = {0xdb, 0xdd, 0xde, 0x500ea, 0x500ee}; /* upper halves; first is 0xd9 */
    static const uint8_t begin[] = {0xd0, 0xa3, 0x07};
    static const uint8_t end[] = {0x30, 0x11, 0x01, 0x02, 0xa0, 0x42, 0x00, 0x03, 0x00, 0xd9, 0x00,
                                  0x00, 0x00, 0xea, 0xa1, 0xb9, 0x08, 0x38, 0x0e, 0xf2, 0x0a};
    uint8_t block[PAGE_BLOCK] = {0}, header[HEADER] = {0};
    decoded got = {0};
    for (uint32_t i = 0; i < COUNT; i++)
        put_number(block, 4 * i, i < SAME ? i : COUNT - 1 - i, 4);
    memcpy(block + 271, begin, sizeof begin);
    memcpy(block + PAGE_BLOCK - sizeof end, end, sizeof end);
    for (uint8_t i = 0; i < 16; i++)
        header[16 + i] = i; /* segment id; table 0 */
    header[88 + 13] = header[88 + 29] = 3;
    header[88 + 30] = 2;
    header[88 + 32] = 1;
    decode_table_block(block, PAGE_BLOCK, header + 88, &got);
    assert_int_equal(got.count, COUNT);
    for (uint32_t i = 0; i < SAME; i++)
        assert_int_equal(got.values[i], (uint64_t)0xd9 << 32 | i);
    for (uint32_t i = SAME; i < COUNT; i++)
        assert_int_equal(got.values[i], (uint64_t)others[i - SAME] << 32 | (COUNT - 1 - i));
    assert_int_equal(get_number(block, PAGE_BLOCK - 8, 8), trailer(header, block, PAGE_BLOCK, 0));
    decoded_free(&got);
}

/* The bits in the mask first, then the others from the one behind the mask's last on. */
static uint64_t permute(uint64_t fingerprint, uint64_t mask)
{
    uint64_t permuted = 0, last = 0;
    for (uint64_t bit = UINT64_C(1) << 63; bit != 0; bit >>= 1)
        if ((mask & bit) != 0) {
            permuted = permuted << 1 | ((fingerprint & bit) != 0);
            last = bit;
        }
    uint64_t bit = last;
    do {
        bit = bit == 1 ? UINT64_C(1) << 63 : bit >> 1;
        if ((mask & bit) == 0)
            permuted = permuted << 1 | ((fingerprint & bit) != 0);
    } while (bit != last);
    return permuted;
}

/* Every table must hold the distinct fingerprints, permuted and ascending. */
static void check_tables(const char *folder, const uint8_t *manifest_tables, uint32_t count, const record_set *truth)
{
    uint64_t *wanted = malloc((truth->count + 1) * sizeof *wanted);
    for (uint32_t table = 0; table < count; table++) {
        const uint64_t mask = get_number(manifest_tables, 40 * table, 8);
        size_t distinct = 0;
        for (size_t i = 0; i < truth->count; i++)
            if (i == 0 || truth->fingerprints[i] != truth->fingerprints[i - 1])
                wanted[distinct++] = permute(truth->fingerprints[i], mask);
        qsort(wanted, distinct, sizeof *wanted, compare_numbers);
        decoded got = decode_file(scratch_path("%s/table-%02u.blk", folder, table));
        assert_int_equal(got.count, distinct);
        for (size_t i = 0; i < distinct; i++)
            assert_int_equal(got.values[i], wanted[i]);
        decoded_free(&got);
    }
    free(wanted);
}

static void check_ids(const char *folder, const record_set *truth)
{
    decoded got = decode_file(scratch_path("%s/ids.blk", folder));
    uint64_t rank = 0;
    assert_int_equal(got.count, truth->count);
    for (size_t i = 0; i < truth->count; i++) {
        rank += i > 0 && truth->fingerprints[i] != truth->fingerprints[i - 1];
        assert_int_equal(got.values[i], rank);
        assert_int_equal(got.ids[i], truth->ids[i]);
    }
    decoded_free(&got);
}

static void check_decoding(const data_set *set, uint32_t block_bytes, const char *plan)
{
    sstore_write_options options = SSTORE_WRITE_OPTIONS_INIT;
    sstore_error error = {.status = SSTORE_OK};
    record_set truth;
    options.block_bytes = block_bytes;
    options.plan = plan;
    options.memory_bytes = 1 << 20;
    assert_ok(store_build(scratch_path("any"), &options, set, 0, &error), &error);
    truth = record_set_of_data(set);
    file_bytes manifest = file_load(scratch_path("any/MANIFEST"));
    const size_t segment = 64 + (get_number(manifest.data, 56, 4) + 7) / 8 * 8;
    char folder[40];
    snprintf(folder, sizeof folder, "any/seg-%016" PRIx64, get_number(manifest.data, segment + 16, 8));
    assert_int_equal(get_number(manifest.data, segment + 24, 8), truth.count);
    check_tables(folder, manifest.data + segment + 128, (uint32_t)get_number(manifest.data, segment + 116, 4), &truth);
    if (set->id_kind != DATA_NO_IDS)
        check_ids(folder, &truth);
    file_bytes_free(&manifest);
    record_set_free(&truth);
    scratch_remove(scratch_path("any"));
}

static void test_decoder_on_any_store(void **state)
{
    static const char *const plans[] = {"1", "2", "3", "4", "10", "20"};
    rng random = rng_seeded(run_seed);
    for (uint32_t i = 0; i < DATA_KIND_COUNT * 6; i++) {
        data_set set;
        const data_kind kind = (data_kind)(i % DATA_KIND_COUNT);
        const uint32_t block_bytes = 256u << i % 9;
        data_make(&random, kind, (data_ids)(i % DATA_IDS_COUNT), rng_below(&random, 1500), true, &set);
        testing_doing("store %u, seed %" PRIu64 ": %zu %s records, %s, blocks of %u bytes, plan %s", i, run_seed,
                      set.count, data_kind_name(kind), data_ids_name(set.id_kind), block_bytes, plans[i % 6]);
        check_decoding(&set, block_bytes, plans[i % 6]);
        data_free(&set);
    }
    testing_done();
}

int main(void)
{
    rng_start_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_a_tiny_store),
        cmocka_unit_test(test_block_of_the_page),
        cmocka_unit_test_teardown(test_decoder_on_any_store, testing_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
