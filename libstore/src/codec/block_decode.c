#include "codec/block.h"

bool ss_block_open(ss_block *block, const uint8_t *bytes, ss_geometry geometry, const ss_code *code,
                   const char **reason)
{
    uint32_t slot_bytes = ss_slot_bytes(geometry);
    uint32_t count = ss_load_slot(bytes, slot_bytes, 0);
    *reason = "the number of fingerprints is impossible";
    if (count == 0 || count > SS_BLOCK_MAX_COUNT)
        return false;
    uint32_t groups = (count + geometry.restart_interval - 1) / geometry.restart_interval;
    uint32_t first_bit = 8 * (slot_bytes + SS_KEY_BYTES) * groups;
    *block = (ss_block){.bytes = bytes, .code = code, .count = count, .group_count = groups,
                        .restart_interval = geometry.restart_interval, .slot_bytes = slot_bytes,
                        .end_bit = ss_block_end_bit(geometry)};
    if (first_bit > block->end_bit)
        return false;
    block->keys = bytes + (size_t)slot_bytes * groups;
    block->first_group_bit = first_bit;
    *reason = "the groups' positions do not rise within the block";
    uint32_t previous = block->first_group_bit;
    for (uint32_t group = 1; group < groups; group++) {
        uint32_t begin = ss_load_slot(bytes, slot_bytes, group);
        if (begin < previous || begin > block->end_bit)
            return false;
        previous = begin;
    }
    return true;
}

/*
 * Decoding a group has two halves: its codes give all h, then h and rests give the values. The first is a chain of look-ups,
 * each waiting for the one before; so the codes of LANES groups are decoded side by side, which takes little longer than one
 * group's. What the chains yield too much, since they go on until the last group is done, is forgotten.
 */
#define LANES 4u
#define MAX_LANE_INTERVAL 128u /* larger groups are decoded one by one */
#define LANE_CAPACITY (SS_LOOKUP_SYMBOLS * MAX_LANE_INTERVAL + SS_RESTS_SLACK)

static uint32_t group_count(const ss_block *block, uint32_t group)
{
    uint32_t left = block->count - group * block->restart_interval;
    return left < block->restart_interval ? left : block->restart_interval;
}

typedef struct lanes {
    uint32_t code_bit[LANES]; /* where the next code begins */
    uint32_t done[LANES];     /* how many h are decoded */
    uint8_t h[LANES][LANE_CAPACITY];
} lanes;

/* Decode `wanted` codes at least in every lane. False if that takes more rounds than codes: some bits are no code. Reads
 * up to wanted * SS_MAX_CODE_BITS bits of each lane, and the peek behind them. */
static bool decode_lane_codes(const ss_block *block, lanes *self, uint32_t wanted)
{
    const uint8_t *bytes = block->bytes;
    const ss_lookup *lookup = block->code->lookup;
    uint32_t code_bit[LANES], done[LANES] = {0}, least = 0;
    memcpy(code_bit, self->code_bit, sizeof code_bit);
    for (uint32_t round = 0; least < wanted; round++) {
        if (SS_UNLIKELY(round == wanted))
            return false;
#pragma GCC unroll 4
        for (uint32_t lane = 0; lane < LANES; lane++) {
            const ss_lookup *entry =
                &lookup[ss_bits_peek(bytes, code_bit[lane]) & ((1u << SS_MAX_CODE_BITS) - 1)];
            memcpy(&self->h[lane][done[lane]], entry->h, SS_LOOKUP_SYMBOLS);
            done[lane] += ss_lookup_symbols(entry);
            code_bit[lane] += ss_lookup_code_bits(entry);
        }
        least = done[0];
#pragma GCC unroll 4
        for (uint32_t lane = 1; lane < LANES; lane++)
            least = done[lane] < least ? done[lane] : least;
    }
    memcpy(self->code_bit, code_bit, sizeof code_bit);
    memcpy(self->done, done, sizeof done);
    return true;
}

/* Forget what a lane decoded beyond `wanted`. */
static void trim_lane(const ss_code *code, lanes *self, uint32_t lane, uint32_t wanted)
{
    uint8_t *h = self->h[lane];
    for (uint32_t i = wanted; i < self->done[lane]; i++)
        self->code_bit[lane] -= code->lengths[h[i]];
    memset(h + wanted, 63, SS_RESTS_SLACK); /* rests of no bits, so that sums may run over */
}

/* The sum of the rests' widths, 63 - h, eight at a time in lanes of 16 bits; *wide_out is whether one is too wide for
 * ss_rests_fn. h[] goes on with 63s. */
static uint32_t sum_widths(const uint8_t *h, uint32_t count, bool *wide_out)
{
    const uint64_t each = UINT64_C(0x0101010101010101), even = UINT64_C(0x00ff00ff00ff00ff);
    uint64_t sums = 0, narrow = 0;
    for (uint32_t i = 0; i < count; i += 8) {
        uint64_t widths = ss_load_le64(h + i) ^ 63 * each;
        narrow |= widths + (127 - SS_NARROW_REST_BITS) * each;
        sums += (widths & even) + (widths >> 8 & even);
    }
    *wide_out = (narrow & 128 * each) != 0;
    return (uint32_t)(sums * UINT64_C(0x0001000100010001) >> 48);
}

/* The rests of any width, one by one. */
static void decode_wide_rests(const uint8_t *bytes, uint32_t end_bit, uint64_t before, const uint8_t *h, uint32_t count,
                              uint64_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t width = 63 - (uint32_t)h[i];
        end_bit -= width;
        out[i] = before = ss_successor(before, h[i], ss_bits_get(bytes, end_bit, width));
    }
}

/* Decode the rests of a group whose h are known and whose codes end at `code_end`. */
static bool decode_group_rests(const ss_block *block, uint32_t group, const uint8_t *h, uint32_t code_end, uint64_t *out)
{
    uint32_t count = group_count(block, group) - 1, end = ss_block_group_end(block, group);
    bool wide;
    uint32_t rest_bits = sum_widths(h, count, &wide);
    uint64_t first = ss_block_key(block, group);
    if (SS_UNLIKELY(code_end + rest_bits > end))
        return false;
    out[0] = first;
    if (SS_LIKELY(!wide && end - rest_bits >= SS_RESTS_LOWEST_BIT))
        block->code->decode_rests(block->bytes, end, first, h, count, out + 1);
    else if (!wide)
        ss_rests_portable(block->bytes, end, first, h, count, out + 1);
    else
        decode_wide_rests(block->bytes, end, first, h, count, out + 1);
    return true;
}

/* Decode LANES groups, or fewer at the block's end, where the last one fills the other lanes too. */
static bool decode_lanes(const ss_block *block, uint32_t first_group, uint32_t groups, uint64_t *out)
{
    lanes self;
    uint32_t interval = block->restart_interval;
    uint32_t wanted = group_count(block, first_group) - 1; /* the first is as long as any */
    for (uint32_t lane = 0; lane < LANES; lane++)
        self.code_bit[lane] = ss_block_group_begin(block, first_group + (lane < groups ? lane : groups - 1));
    if (!decode_lane_codes(block, &self, wanted))
        return false;
    for (uint32_t lane = 0; lane < groups; lane++) {
        uint32_t group = first_group + lane;
        trim_lane(block->code, &self, lane, group_count(block, group) - 1);
        if (!decode_group_rests(block, group, self.h[lane], self.code_bit[lane], out + (size_t)lane * interval))
            return false;
    }
    return true;
}

/* Groups that are decoded alone are so in pieces of at most this many, so that h[] stays small whatever the interval. */
#define PIECE 256u

/* Decode `count` codes to h[]. Writes up to SS_LOOKUP_SYMBOLS - 1 bytes more. */
static bool decode_codes(const ss_block *block, uint32_t begin, uint32_t end, uint32_t count, uint8_t *h)
{
    uint32_t done = 0;
    while (done < count) {
        const ss_lookup *entry = &block->code->lookup[ss_bits_peek(block->bytes, begin) & ((1u << SS_MAX_CODE_BITS) - 1)];
        memcpy(h + done, entry->h, SS_LOOKUP_SYMBOLS);
        done += ss_lookup_symbols(entry);
        begin += ss_lookup_code_bits(entry);
        if (SS_UNLIKELY(entry->counts == 0 || (begin > end && done < count)))
            return false;
    }
    return true;
}

static bool decode_alone(const ss_block *block, uint32_t group, uint64_t *out)
{
    uint8_t h[PIECE + SS_LOOKUP_SYMBOLS];
    uint32_t code_bit = ss_block_group_begin(block, group), rest_bit = ss_block_group_end(block, group);
    uint32_t count = group_count(block, group);
    uint64_t value = ss_block_key(block, group);
    out[0] = value;
    for (uint32_t done = 1; done < count;) {
        uint32_t piece = count - done < PIECE ? count - done : PIECE;
        if (!decode_codes(block, code_bit, rest_bit, piece, h))
            return false;
        for (uint32_t i = 0; i < piece; i++) {
            uint32_t width = 63 - (uint32_t)h[i];
            code_bit += block->code->lengths[h[i]];
            if (SS_UNLIKELY(width > rest_bit))
                return false;
            rest_bit -= width;
            value = ss_successor(value, h[i], ss_bits_get(block->bytes, rest_bit, width));
            out[done + i] = value;
        }
        if (code_bit > rest_bit)
            return false;
        done += piece;
    }
    return true;
}

/* Whether LANES groups from `group` on can be decoded side by side: a chain that goes on too long must stay before the
 * trailer. */
static bool fits_lanes(const ss_block *block, uint32_t group, uint32_t groups)
{
    uint32_t last_begin = ss_block_group_begin(block, group + groups - 1);
    return block->restart_interval <= MAX_LANE_INTERVAL &&
           last_begin + block->restart_interval * SS_MAX_CODE_BITS <= block->end_bit;
}

bool ss_block_decode_groups(const ss_block *block, uint32_t first_group, uint32_t groups, uint64_t *out,
                            uint32_t *count_out)
{
    uint32_t interval = block->restart_interval, left = block->count - first_group * interval;
    *count_out = left < groups * interval ? left : groups * interval;
    while (groups > 0) {
        uint32_t together = groups < LANES ? groups : LANES;
        if (!fits_lanes(block, first_group, together))
            together = 1;
        bool decoded = together > 1 ? decode_lanes(block, first_group, together, out)
                                    : decode_alone(block, first_group, out);
        if (!decoded)
            return false;
        out += (size_t)together * interval;
        first_group += together;
        groups -= together;
    }
    return true;
}

bool ss_block_decode(const ss_block *block, uint64_t *out)
{
    uint32_t count;
    return ss_block_decode_groups(block, 0, block->group_count, out, &count);
}
