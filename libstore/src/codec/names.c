#include "codec/names.h"

#include <string.h>

#include "codec/block.h"

enum { AT_FIRST_ID = 0, AT_COUNT = 8, AT_WIDTH = 10, AT_FLAGS = 11 };

#define CONTINUED 1u
#define GROUP_BYTES 2u

bool ss_name_valid(const char *name, size_t size)
{
    return size > 0 && size <= SS_MAX_NAME_BYTES && memchr(name, 0, size) == NULL &&
           memchr(name, SS_NAME_END, size) == NULL;
}

size_t ss_name_shared_bytes(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    const size_t max = ss_min_u64(a_size, b_size);
    size_t shared = 0;
    while (shared < max && a[shared] == b[shared])
        shared++;
    return shared;
}

/* ----- encoding ----- */

static uint32_t group_count(uint32_t count)
{
    return (count + SS_NAMES_A_GROUP - 1) / SS_NAMES_A_GROUP;
}

/* The smallest names take a shared length of 0, and a code. */
static uint32_t max_count(uint32_t block_bytes)
{
    return block_bytes / 2;
}

static size_t aligned(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

size_t ss_names_encoder_bytes(uint32_t block_bytes)
{
    const uint32_t count = max_count(block_bytes);
    return count * sizeof(uint64_t) + aligned(group_count(count) * sizeof(uint16_t)) + block_bytes +
           3 * aligned(SS_NAME_BUFFER_BYTES) + aligned(SS_NAME_CODES_BYTES);
}

void ss_names_encoder_init(ss_names_encoder *encoder, const ss_fragments *fragments, uint32_t block_bytes, void *memory)
{
    const uint32_t count = max_count(block_bytes);
    uint8_t *at = memory;
    *encoder = (ss_names_encoder){.fragments = fragments, .block_bytes = block_bytes, .ids = memory};
    at += count * sizeof(uint64_t);
    encoder->groups = (uint16_t *)(void *)at;
    at += aligned(group_count(count) * sizeof(uint16_t));
    encoder->data = at;
    at += block_bytes;
    encoder->first = at;
    at += aligned(SS_NAME_BUFFER_BYTES);
    encoder->last = at;
    at += aligned(SS_NAME_BUFFER_BYTES);
    encoder->next = at;
    at += aligned(SS_NAME_BUFFER_BYTES);
    encoder->codes = at;
}

static uint32_t width_of(uint64_t value)
{
    return value == 0 ? 0 : 8 - (uint32_t)__builtin_clzll(value) / 8;
}

/* The bytes before the data of a block. */
static uint32_t bytes_before_data(uint32_t count, uint32_t width)
{
    return SS_NAMES_FRAME_BYTES + count * width + GROUP_BYTES * (group_count(count) - 1);
}

static uint8_t *put_length(uint8_t *to, size_t length)
{
    for (; length >= 0x80; length >>= 7)
        *to++ = (uint8_t)(length | 0x80);
    *to++ = (uint8_t)length;
    return to;
}

/* The codes of encoder->next, which has its end, if it becomes the next name of the block. Returns their number. */
static uint32_t make_codes(const ss_names_encoder *encoder, size_t size)
{
    const bool begins_group = encoder->count % SS_NAMES_A_GROUP == 0;
    const uint8_t *before = begins_group ? encoder->first : encoder->last;
    const size_t before_size = encoder->count == 0 ? 0 : begins_group ? encoder->first_size : encoder->last_size;
    const size_t shared = ss_name_shared_bytes(before, before_size, encoder->next, size);
    uint8_t *to = put_length(encoder->codes, shared);
    to += ss_fragments_encode(encoder->fragments, encoder->next + shared, size + 1 - shared, to);
    return (uint32_t)(to - encoder->codes);
}

/* encoder->next is in the block now. */
static void note_name(ss_names_encoder *encoder, uint64_t id, size_t size)
{
    uint8_t *last = encoder->last;
    if (encoder->count == 0) {
        encoder->first_id = id;
        encoder->first_size = size;
        memcpy(encoder->first, encoder->next, size);
    }
    encoder->last = encoder->next;
    encoder->next = last;
    encoder->last_size = size;
    encoder->last_id = id;
    encoder->ids[encoder->count] = id - encoder->first_id - encoder->count;
    encoder->count++;
}

bool ss_names_encoder_add(ss_names_encoder *encoder, uint64_t id, const uint8_t *name, size_t size)
{
    const uint32_t count = encoder->count, room = encoder->block_bytes - SS_BLOCK_TRAILER_BYTES;
    assert(count == 0 || id > encoder->last_id);
    if (encoder->long_bytes > 0 || count == max_count(encoder->block_bytes))
        return false;
    memcpy(encoder->next, name, size);
    memset(encoder->next + size, 0, SS_NAME_SLACK_BYTES);
    encoder->next[size] = SS_NAME_END;
    const uint32_t codes = make_codes(encoder, size);
    const uint32_t width = count == 0 ? 0 : width_of(id - encoder->first_id - count);
    if (bytes_before_data(count + 1, width) + encoder->data_bytes + codes <= room) {
        if (count % SS_NAMES_A_GROUP == 0)
            encoder->groups[count / SS_NAMES_A_GROUP] = (uint16_t)encoder->data_bytes;
        memcpy(encoder->data + encoder->data_bytes, encoder->codes, codes);
        encoder->data_bytes += codes;
    } else if (count == 0) {
        encoder->long_at = 0;
        encoder->long_bytes = codes;
    } else {
        return false;
    }
    note_name(encoder, id, size);
    return true;
}

static void put_frame(uint8_t *block, uint64_t first_id, uint32_t count, uint32_t width, bool continued)
{
    ss_store_le64(block + AT_FIRST_ID, first_id);
    ss_store_le16(block + AT_COUNT, (uint16_t)count);
    block[AT_WIDTH] = (uint8_t)width;
    block[AT_FLAGS] = continued ? CONTINUED : 0;
}

/* Take the next part of a name that is longer than a block. */
static bool take_long(ss_names_encoder *encoder, uint8_t *block)
{
    const uint32_t room = encoder->block_bytes - SS_BLOCK_TRAILER_BYTES - SS_NAMES_FRAME_BYTES;
    const uint32_t part = ss_min_u32(room, encoder->long_bytes - encoder->long_at);
    const bool continued = encoder->long_at + part < encoder->long_bytes;
    put_frame(block, encoder->first_id, encoder->long_at == 0, 0, continued);
    memcpy(block + SS_NAMES_FRAME_BYTES, encoder->codes + encoder->long_at, part);
    encoder->long_at += part;
    if (!continued) {
        encoder->long_bytes = 0;
        encoder->count = 0;
    }
    return continued;
}

bool ss_names_encoder_take(ss_names_encoder *encoder, uint8_t *block)
{
    const uint32_t count = encoder->count;
    assert(count > 0);
    memset(block, 0, encoder->block_bytes);
    if (encoder->long_bytes > 0)
        return take_long(encoder, block);
    const uint32_t width = width_of(encoder->ids[count - 1]);
    uint8_t *to = block + SS_NAMES_FRAME_BYTES;
    put_frame(block, encoder->first_id, count, width, false);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t byte = 0; byte < width; byte++)
            *to++ = (uint8_t)(encoder->ids[i] >> 8 * byte);
    for (uint32_t group = 1; group < group_count(count); group++, to += GROUP_BYTES)
        ss_store_le16(to, encoder->groups[group]);
    memcpy(to, encoder->data, encoder->data_bytes);
    encoder->count = 0;
    encoder->data_bytes = 0;
    return false;
}

/* ----- decoding ----- */

bool ss_names_block_open(ss_names_block *block, const uint8_t *bytes, uint32_t block_bytes, const char **reason)
{
    *block = (ss_names_block){.bytes = bytes,
                              .end = block_bytes - SS_BLOCK_TRAILER_BYTES,
                              .count = ss_load_le16(bytes + AT_COUNT),
                              .width = bytes[AT_WIDTH],
                              .first_id = ss_load_le64(bytes + AT_FIRST_ID),
                              .continued = bytes[AT_FLAGS] == CONTINUED};
    *reason = "its number of names, width or flags are invalid";
    if (block->width > 8 || bytes[AT_FLAGS] > CONTINUED || block->count > max_count(block_bytes) ||
        ((block->continued || block->count == 0) && (block->count > 1 || block->width > 0)))
        return false;
    block->groups_at = SS_NAMES_FRAME_BYTES + block->count * block->width;
    block->data_at = block->count == 0 ? SS_NAMES_FRAME_BYTES : bytes_before_data(block->count, block->width);
    *reason = "it has no room for its names";
    return block->data_at < block->end;
}

SS_ALWAYS_INLINE bool id_is_below(const void *block, uint64_t index, uint64_t target)
{
    return ss_names_block_id(block, (uint32_t)index) < target;
}

uint32_t ss_names_block_find(const ss_names_block *block, uint64_t id)
{
    const uint64_t ahead = id - block->first_id;
    if (id < block->first_id)
        return block->count;
    if (block->width == 0)
        return (uint32_t)ss_min_u64(ahead, block->count);
    const uint32_t index = (uint32_t)ss_lower_bound(block, 0, block->count, id, id_is_below);
    return index < block->count && ss_names_block_id(block, index) == id ? index : block->count;
}

/* Where the codes of a group begin; a malformed one begins at the end of the block. */
static uint32_t group_at(const ss_names_block *block, uint32_t group)
{
    const uint32_t at = group == 0 ? 0 : ss_load_le16(block->bytes + block->groups_at + GROUP_BYTES * (group - 1));
    return ss_min_u32(block->data_at + at, block->end);
}

/* The number of bytes that a name shares; more than any name has if that is malformed. */
static size_t take_length(const uint8_t **at, const uint8_t *end)
{
    size_t length = 0;
    for (uint32_t shift = 0; *at < end && shift <= 14; shift += 7) {
        const uint8_t byte = *(*at)++;
        length |= (size_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return length;
    }
    return SIZE_MAX;
}

/* Decode the codes of a name behind its first `size` bytes, up to its end. */
SS_ALWAYS_INLINE bool decode_rest(const ss_fragments *fragments, const uint8_t **from, const uint8_t *end,
                                  uint8_t *name, size_t size, size_t *size_out)
{
    const uint8_t *at = *from;
    while (at < end && size <= SS_MAX_NAME_BYTES) {
        const uint8_t code = *at++, kind = fragments->kinds[code];
        if (SS_LIKELY(kind >= SS_CODE_GOES_ON)) {
            ss_store_le64(name + size, fragments->bytes[code]);
            size += fragments->lengths[code];
        } else {
            if (kind == SS_CODE_MALFORMED || at == end || *at == 0)
                return false;
            name[size++] = *at++;
        }
        if (kind == SS_CODE_ENDS || (kind == SS_CODE_ESCAPE && at[-1] == SS_NAME_END)) {
            *from = at;
            *size_out = size - 1;
            return size > 1 && size - 1 <= SS_MAX_NAME_BYTES;
        }
    }
    return false;
}

/* Decode a name, of which `name` has `size` bytes of the one that it shares with. */
SS_ALWAYS_INLINE bool decode_name(const ss_fragments *fragments, const uint8_t **at, const uint8_t *end, uint8_t *name,
                                  size_t *size)
{
    const size_t shared = take_length(at, end);
    return shared <= *size && decode_rest(fragments, at, end, name, shared, size);
}

bool ss_names_block_decode(const ss_names_block *block, const ss_fragments *fragments, uint32_t index, uint8_t *buffer,
                           size_t *size_out)
{
    const uint32_t group = index / SS_NAMES_A_GROUP;
    const uint8_t *end = block->bytes + block->end, *at = block->bytes + block->data_at;
    size_t size = 0;
    bool is_right = decode_name(fragments, &at, end, buffer, &size);
    uint32_t i = 0;
    if (group > 0 && is_right) {
        i = group * SS_NAMES_A_GROUP;
        at = block->bytes + group_at(block, group);
        is_right = decode_name(fragments, &at, end, buffer, &size);
    }
    for (; i < index && is_right; i++)
        is_right = decode_name(fragments, &at, end, buffer, &size);
    *size_out = size;
    return is_right;
}

void ss_names_block_prefetch(const ss_names_block *block, uint32_t index)
{
    __builtin_prefetch(block->bytes + group_at(block, index / SS_NAMES_A_GROUP));
}

void ss_names_walk_begin(ss_names_walk *walk, const ss_names_block *block)
{
    walk->at = block->bytes + block->data_at;
    walk->index = 0;
    walk->first_size = walk->size = 0;
}

bool ss_names_walk_next(ss_names_walk *walk, const ss_names_block *block, const ss_fragments *fragments)
{
    const bool begins_group = walk->index % SS_NAMES_A_GROUP == 0 && walk->index > 0;
    const uint8_t *end = block->bytes + block->end;
    size_t shared = take_length(&walk->at, end);
    if (begins_group && walk->at < end && shared <= walk->first_size) {
        memcpy(walk->name, walk->first, shared);
        walk->size = walk->first_size;
    }
    if (shared > walk->size || !decode_rest(fragments, &walk->at, end, walk->name, shared, &walk->size))
        return false;
    if (walk->index++ == 0) {
        walk->first_size = walk->size;
        memcpy(walk->first, walk->name, walk->size);
    }
    return true;
}

bool ss_names_decode_codes(const ss_fragments *fragments, const uint8_t *codes, size_t codes_size, uint8_t *buffer,
                           size_t *size_out)
{
    const uint8_t *at = codes;
    *size_out = 0;
    return decode_name(fragments, &at, codes + codes_size, buffer, size_out);
}
