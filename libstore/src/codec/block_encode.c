#include <string.h>

#include "base/alloc.h"
#include "codec/block.h"

struct ss_block_encoder {
    ss_geometry geometry;
    const ss_code *code;
    uint32_t count;
    uint32_t used_bits; /* by slots, keys, codes and rests of what is in */
    uint64_t *values;
    uint32_t capacity; /* of values */
};

bool ss_geometry_valid(ss_geometry geometry)
{
    uint32_t bytes = geometry.block_bytes;
    return bytes >= SS_BLOCK_MIN_BYTES && bytes <= SS_BLOCK_MAX_BYTES && (bytes & (bytes - 1)) == 0 &&
           geometry.restart_interval >= 1 && geometry.restart_interval <= SS_BLOCK_MAX_COUNT;
}

ss_block_encoder *ss_block_encoder_create(ss_geometry geometry, const ss_code *code)
{
    ss_block_encoder *encoder = ss_alloc(1, sizeof *encoder);
    if (encoder == NULL)
        return NULL;
    /* Every fingerprint takes a bit at least, but for the firsts of groups, which take more. */
    uint64_t capacity = ss_min_u64(ss_block_end_bit(geometry), SS_BLOCK_MAX_COUNT);
    *encoder = (ss_block_encoder){.geometry = geometry, .code = code, .capacity = (uint32_t)capacity};
    encoder->values = ss_alloc(encoder->capacity, sizeof *encoder->values);
    if (encoder->values != NULL)
        return encoder;
    ss_free(encoder);
    return NULL;
}

void ss_block_encoder_free(ss_block_encoder *encoder)
{
    if (encoder == NULL)
        return;
    ss_free(encoder->values);
    ss_free(encoder);
}

uint32_t ss_block_encoder_count(const ss_block_encoder *encoder)
{
    return encoder->count;
}

uint64_t ss_block_encoder_last(const ss_block_encoder *encoder)
{
    return encoder->values[encoder->count - 1];
}

/* Code and rest of the step from one fingerprint to the next. */
static uint32_t step_bits(const ss_code *code, uint64_t from, uint64_t to)
{
    uint32_t h = ss_first_difference(from, to);
    return code->lengths[h] + 63 - h;
}

bool ss_block_encoder_add(ss_block_encoder *encoder, uint64_t fingerprint)
{
    ss_geometry geometry = encoder->geometry;
    uint32_t bits;
    if (encoder->count % geometry.restart_interval == 0)
        bits = 8 * (ss_slot_bytes(geometry) + SS_KEY_BYTES);
    else
        bits = step_bits(encoder->code, ss_block_encoder_last(encoder), fingerprint);
    if (encoder->count == encoder->capacity || encoder->used_bits + bits > ss_block_end_bit(geometry))
        return false;
    encoder->used_bits += bits;
    encoder->values[encoder->count++] = fingerprint;
    return true;
}

/* Write the steps within values[0 .. count-1]: codes forward from `begin`, rests backward from `end`. */
static void write_group(const ss_code *code, const uint64_t *values, uint32_t count, uint8_t *to, uint32_t begin,
                        uint32_t end)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t h = ss_first_difference(values[i - 1], values[i]);
        ss_bits_put(to, begin, code->codes[h], code->lengths[h]);
        begin += code->lengths[h];
        end -= 63 - h;
        ss_bits_put(to, end, values[i] & ss_low_mask(63 - h), 63 - h);
    }
}

static uint32_t group_bits(const ss_code *code, const uint64_t *values, uint32_t count)
{
    uint32_t bits = 0;
    for (uint32_t i = 1; i < count; i++)
        bits += step_bits(code, values[i - 1], values[i]);
    return bits;
}

static void store_slot(uint8_t *block, uint32_t slot_bytes, uint32_t index, uint32_t value)
{
    if (slot_bytes == 2)
        ss_store_le16(block + 2 * (size_t)index, (uint16_t)value);
    else
        ss_store_le32(block + 4 * (size_t)index, value);
}

void ss_block_encoder_finish(ss_block_encoder *encoder, uint8_t *to)
{
    ss_geometry geometry = encoder->geometry;
    uint32_t interval = geometry.restart_interval, slot_bytes = ss_slot_bytes(geometry);
    uint32_t groups = (encoder->count + interval - 1) / interval;
    uint8_t *keys = to + (size_t)slot_bytes * groups;
    uint32_t begin = 8 * (slot_bytes + SS_KEY_BYTES) * groups;

    memset(to, 0, geometry.block_bytes);
    for (uint32_t group = 0; group < groups; group++) {
        const uint64_t *values = encoder->values + (size_t)group * interval;
        bool last = group + 1 == groups;
        uint32_t count = last ? encoder->count - group * interval : interval;
        uint32_t end = last ? ss_block_end_bit(geometry) : begin + group_bits(encoder->code, values, count);
        store_slot(to, slot_bytes, group, group == 0 ? encoder->count : begin);
        ss_store_le64(keys + SS_KEY_BYTES * (size_t)group, values[0]);
        write_group(encoder->code, values, count, to, begin, end);
        begin = end;
    }
    encoder->count = 0;
    encoder->used_bits = 0;
}
