#include <string.h>

#include "base/alloc.h"
#include "codec/block.h"

struct ss_block_encoder {
    ss_geometry geometry;
    const ss_code *code;
    uint32_t count;
    uint32_t step_bits; /* codes and rests of what is in */
    uint32_t key_shift;
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

/* The least shift that brings a distance from the block's first fingerprint into a key. */
static uint32_t shift_for(uint64_t distance)
{
    return distance <= UINT32_MAX ? 0 : SS_KEY_BITS - (uint32_t)__builtin_clzll(distance);
}

bool ss_block_encoder_add(ss_block_encoder *encoder, uint64_t fingerprint)
{
    ss_geometry geometry = encoder->geometry;
    uint32_t groups = (encoder->count + geometry.restart_interval) / geometry.restart_interval;
    uint32_t step_bits_then = encoder->step_bits, key_shift = encoder->key_shift;
    if (encoder->count % geometry.restart_interval != 0)
        step_bits_then += step_bits(encoder->code, ss_block_encoder_last(encoder), fingerprint);
    else if (encoder->count > 0)
        key_shift = shift_for(fingerprint - encoder->values[0]);
    uint64_t bits = ss_block_first_group_bit(geometry, groups) + (groups - 1) * key_shift + (uint64_t)step_bits_then;
    if (encoder->count == encoder->capacity || bits > ss_block_end_bit(geometry))
        return false;
    encoder->step_bits = step_bits_then;
    encoder->key_shift = key_shift;
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

void ss_block_encoder_finish(ss_block_encoder *encoder, uint8_t *to)
{
    ss_geometry geometry = encoder->geometry;
    uint32_t interval = geometry.restart_interval, slot_bytes = ss_slot_bytes(geometry);
    uint32_t groups = (encoder->count + interval - 1) / interval, key_shift = encoder->key_shift;
    uint32_t begin = ss_block_first_group_bit(geometry, groups);
    uint8_t *keys = to + SS_BLOCK_HEAD_BYTES, *slots = keys + (size_t)(groups - 1) * SS_KEY_BYTES;
    uint64_t first = encoder->values[0];

    memset(to, 0, geometry.block_bytes);
    ss_store_le16(to, (uint16_t)encoder->count);
    to[2] = (uint8_t)key_shift;
    ss_store_le64(to + 4, first);
    for (uint32_t group = 0; group < groups; group++) {
        const uint64_t *values = encoder->values + (size_t)group * interval;
        bool last = group + 1 == groups;
        uint32_t count = last ? encoder->count - group * interval : interval;
        uint32_t low_bits = group == 0 ? 0 : key_shift;
        uint32_t end = begin + low_bits + group_bits(encoder->code, values, count);
        if (last)
            end = ss_block_end_bit(geometry);
        if (group > 0) {
            uint64_t distance = values[0] - first;
            ss_store_le32(keys, (uint32_t)(distance >> key_shift));
            ss_bits_put(to, end - key_shift, distance & ss_low_mask(key_shift), key_shift);
            if (slot_bytes == 2)
                ss_store_le16(slots, (uint16_t)begin);
            else
                ss_store_le32(slots, begin);
            keys += SS_KEY_BYTES;
            slots += slot_bytes;
        }
        write_group(encoder->code, values, count, to, begin, end - low_bits);
        begin = end;
    }
    encoder->count = 0;
    encoder->step_bits = 0;
    encoder->key_shift = 0;
}
