#include "text/features.h"

#include <stdio.h>
#include <string.h>

#include "base/bitcount.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "text/fold.h"

/* ===== shingles ===== */

/*
 * A window that slides over the units of a text (words or characters) and hashes every `width` of them.
 *
 * The units are written one after the other into one buffer, each followed by `gap` separator bytes. So a shingle is
 * always contiguous and is hashed in place. Hashing waits until some thousand units are there: its loop then has
 * predictable branches, and no loads that overlap fresh stores.
 *
 * Invariants: starts[i] is where unit i of the buffer begins, for the `unit_count` closed units, and starts[unit_count]
 * is where the open one begins; used >= starts[unit_count]; every shingle of closed units that left the buffer has been
 * hashed.
 */

#define MAX_SHINGLE 64u
#define BATCH_UNITS 2112u /* units in the buffer beside those that it carries for the next shingles */
#define SLACK_BYTES 64u   /* bytes that may be written past `used`, by copying in large pieces */

typedef struct shingles {
    ss_bit_counter counter;
    uint64_t feature_count;
    uint32_t width, gap;
    uint8_t *bytes; /* own_bytes, or heap memory once that was too small */
    size_t used, capacity;
    size_t unit_count;
    size_t starts[MAX_SHINGLE + BATCH_UNITS + 1];
    uint8_t own_bytes[16384];
} shingles;

/* Not by one assignment, which would zero the buffers. */
static void init_shingles(shingles *to, uint32_t width, uint32_t gap)
{
    assert(width >= 1 && width <= MAX_SHINGLE && gap <= 1);
    ss_bit_counter_init(&to->counter);
    to->feature_count = 0;
    to->width = width;
    to->gap = gap;
    to->bytes = to->own_bytes;
    to->used = 0;
    to->capacity = sizeof to->own_bytes;
    to->unit_count = 0;
    to->starts[0] = 0;
}

static void hash_feature(shingles *to, size_t start, size_t end)
{
    ss_bit_counter_add(&to->counter, ss_hash64(to->bytes + start, end - start));
    to->feature_count++;
}

/* Hash all shingles of closed units, then drop the units that no later shingle needs. */
static void drain(shingles *to)
{
    size_t *starts = to->starts;
    if (to->unit_count < to->width)
        return;
    size_t count = to->unit_count - to->width + 1;
    for (size_t i = 0; i < count; i++)
        hash_feature(to, starts[i], starts[i + to->width] - to->gap);
    size_t carried = to->width - 1, shift = starts[count];
    to->used -= shift;
    memmove(to->bytes, to->bytes + shift, to->used);
    for (size_t i = 0; i <= carried; i++)
        starts[i] = starts[count + i] - shift;
    to->unit_count = carried;
}

/* Free or extend the buffer. After a drain fewer than MAX_SHINGLE units stay, so any number of units fits. The buffer
 * grows only for words that are longer than it. */
static sstore_status make_room(shingles *to, size_t bytes, sstore_error *error)
{
    drain(to);
    const size_t needed = to->used + bytes + SLACK_BYTES;
    if (needed <= to->capacity)
        return SSTORE_OK;
    const size_t capacity = ss_max_u64(2 * to->capacity, needed);
    const bool own = to->bytes == to->own_bytes;
    uint8_t *memory = ss_realloc(own ? NULL : to->bytes, capacity, 1);
    if (memory == NULL)
        return ss_fail_memory(error, capacity);
    if (own)
        memcpy(memory, to->own_bytes, to->used);
    to->bytes = memory;
    to->capacity = capacity;
    return SSTORE_OK;
}

/* Reserve `bytes` more bytes, SLACK_BYTES beyond them, and `units` <= BATCH_UNITS more units. MEMORY. */
static inline sstore_status reserve(shingles *to, size_t bytes, size_t units, sstore_error *error)
{
    if (SS_LIKELY(to->capacity - to->used >= bytes + SLACK_BYTES &&
                  to->unit_count + units <= MAX_SHINGLE + BATCH_UNITS))
        return SSTORE_OK;
    return make_room(to, bytes, error);
}

/* End the open unit. The buffer must have space for it, and for `gap` bytes, which become spaces. */
static inline void close_unit(shingles *to)
{
    if (to->gap > 0)
        to->bytes[to->used++] = ' ';
    to->starts[++to->unit_count] = to->used;
}

/* Whether any unit has been closed since the start of the text. */
static inline bool has_begun(const shingles *of)
{
    return of->feature_count > 0 || of->unit_count > 0;
}

/* ===== texts ===== */

/* The open unit, if units are words. */
typedef enum open_word { OPEN_NONE, OPEN_RUN, OPEN_SPACELESS } open_word;

typedef struct text_reader {
    const uint8_t *text;
    size_t size, position;
    sstore_feature_kind kind;
    open_word open;
    bool space_due; /* of characters: white space was read, and a space must come before the next character */
    ss_fold fold;
    shingles units;
} text_reader;

static void close_word(text_reader *reader)
{
    if (reader->open != OPEN_NONE)
        close_unit(&reader->units);
    reader->open = OPEN_NONE;
}

/* ----- ASCII: 64 bytes at once, with the results of the code point by code point way below ----- */

#define CHUNK_BYTES 2048u /* the most that one call takes */
#define HIGH_BITS UINT64_C(0x8080808080808080)
#define BYTES(x) (UINT64_C(0x0101010101010101) * (x))
#define COPY_BYTES 16u

/* A chunk in lower case, and where its words begin and end. */
typedef struct ascii_chunk {
    uint8_t lower[CHUNK_BYTES + SLACK_BYTES];
    uint16_t edges[CHUNK_BYTES + 16];
    size_t edge_count;
} ascii_chunk;

/* The number of bytes below 0x80 at the start of `text`, at most CHUNK_BYTES. */
static size_t ascii_span(const uint8_t *text, size_t size)
{
    size_t limit = size < CHUNK_BYTES ? size : CHUNK_BYTES, span = 0;
    for (; span + 8 <= limit; span += 8) {
        uint64_t high = ss_load_le64(text + span) & HIGH_BITS;
        if (high != 0)
            return span + (size_t)__builtin_ctzll(high) / 8;
    }
    while (span < limit && text[span] < 0x80)
        span++;
    return span;
}

/* The high bit of each byte of x, all below 0x80, that is in first .. last. No byte carries into the next. */
static inline uint64_t bytes_between(uint64_t x, uint8_t first, uint8_t last)
{
    return (x + BYTES(0x80u - first)) & ~(x + BYTES(0x7fu - last)) & HIGH_BITS;
}

/* Lower the eight bytes at `text` to `to`. Returns a bit for each that is a letter or digit, the first one's lowest. */
static inline uint64_t lower_eight(const uint8_t *text, uint8_t *to)
{
    uint64_t x = ss_load_le64(text);
    uint64_t lower = x | bytes_between(x, 'A', 'Z') >> 2; /* 0x80 >> 2 is the bit by which the cases differ */
    uint64_t word = bytes_between(lower, 'a', 'z') | bytes_between(x, '0', '9');
    ss_store_le64(to, lower);
    /* The product moves the bit of byte i to bit 56 + i. */
    return (word >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

/* Append the positions of the 1 bits of `edges`, plus `base`. Writes four at a time, so that few branches depend on the
 * count. */
static inline size_t append_edges(uint16_t *to, size_t count, uint64_t edges, size_t base)
{
    size_t total = count + ss_popcount(edges);
    for (; count < total; count += 4)
        for (size_t i = 0; i < 4; i++) {
            to[count + i] = (uint16_t)(base + (size_t)__builtin_ctzll(edges | UINT64_C(1) << 63));
            edges &= edges - 1;
        }
    return total;
}

/* Fill *chunk from `size` bytes: edges alternate between the first byte of a word and the byte after its last. */
static void split(ascii_chunk *chunk, const uint8_t *text, size_t size)
{
    uint64_t before = 0; /* whether the byte before the block is part of a word */
    uint8_t padded[64];
    chunk->edge_count = 0;
    for (size_t base = 0; base < size; base += 64) {
        const uint8_t *from = text + base;
        if (size - base < 64) {
            memset(padded, 0, sizeof padded);
            memcpy(padded, from, size - base);
            from = padded;
        }
        uint64_t word = 0;
        for (size_t i = 0; i < 64; i += 8)
            word |= lower_eight(from + i, chunk->lower + base + i) << i;
        chunk->edge_count = append_edges(chunk->edges, chunk->edge_count, word ^ (word << 1 | before), base);
        before = word >> 63;
    }
}

/* Append the words of `size` <= CHUNK_BYTES bytes. Letters at the start continue an open word. MEMORY. */
static sstore_status add_ascii_words(text_reader *reader, const uint8_t *text, size_t size, sstore_error *error)
{
    ascii_chunk chunk;
    shingles *words = &reader->units;
    if (reader->open == OPEN_SPACELESS)
        close_word(reader);
    sstore_status status = reserve(words, size + 2, size / 2 + 2, error);
    if (status != SSTORE_OK || size == 0)
        return status;
    split(&chunk, text, size);
    if (chunk.edge_count == 0 || chunk.edges[0] != 0)
        close_word(reader);
    if (chunk.edge_count % 2 != 0)
        chunk.edges[chunk.edge_count++] = (uint16_t)size;
    bool open = chunk.edge_count > 0 && chunk.edges[chunk.edge_count - 1] == size; /* the last word may continue */
    for (size_t i = 0; i < chunk.edge_count; i += 2) {
        const uint8_t *from = chunk.lower + chunk.edges[i];
        size_t length = (size_t)(chunk.edges[i + 1] - chunk.edges[i]);
        if (SS_LIKELY(length <= COPY_BYTES))
            memcpy(words->bytes + words->used, from, COPY_BYTES);
        else
            memcpy(words->bytes + words->used, from, length);
        words->used += length;
        if (i + 2 < chunk.edge_count || !open)
            close_unit(words);
    }
    reader->open = open ? OPEN_RUN : OPEN_NONE;
    return SSTORE_OK;
}

/* Append `size` <= CHUNK_BYTES bytes as characters, with white space folded. MEMORY. */
static sstore_status add_ascii_chars(text_reader *reader, const uint8_t *text, size_t size, sstore_error *error)
{
    shingles *chars = &reader->units;
    sstore_status status = reserve(chars, size + 1, size + 1, error);
    if (status != SSTORE_OK)
        return status;
    uint8_t *to = chars->bytes + chars->used;
    size_t written = 0;
    size_t due = reader->space_due, begun = has_begun(chars);
    for (size_t i = 0; i < size; i++) {
        /* No branch depends on the byte: a space and the byte are both written, and `written` decides which of them
         * stay. */
        uint8_t byte = text[i];
        size_t space = byte == ' ' || (uint8_t)(byte - '\t') < 5;
        to[written] = ' ';
        written += due & (space ^ 1);
        to[written] = (uint8_t)(byte | ((uint8_t)(byte - 'A') < 26) << 5);
        written += space ^ 1;
        begun |= space ^ 1;
        due = space & begun;
    }
    for (size_t i = 1; i <= written; i++)
        chars->starts[chars->unit_count + i] = chars->used + i;
    chars->unit_count += written;
    chars->used += written;
    reader->space_due = due;
    return SSTORE_OK;
}

/* Whether the text from `position` on can be taken as ASCII: the byte is ASCII, and nothing after it combines with
 * it. */
static bool at_ascii(const text_reader *reader)
{
    const uint8_t *text = reader->text + reader->position;
    size_t left = reader->size - reader->position;
    return left > 0 && text[0] < 0x80 && (left == 1 || text[1] < 0x80);
}

/* Add all ASCII bytes here except the last one before another character, which may combine with it. */
static sstore_status add_ascii(text_reader *reader, sstore_error *error)
{
    const uint8_t *text = reader->text + reader->position;
    size_t size = ascii_span(text, reader->size - reader->position);
    if (reader->position + size < reader->size && text[size] >= 0x80)
        size--;
    reader->position += size;
    return reader->kind == SSTORE_FEATURE_KIND_WORDS ? add_ascii_words(reader, text, size, error)
                                                     : add_ascii_chars(reader, text, size, error);
}

/* ----- one folded code point at a time ----- */

static void append(text_reader *reader, uint32_t point)
{
    reader->units.used += ss_utf8_encode(point, reader->units.bytes + reader->units.used);
}

static void add_to_words(text_reader *reader, uint32_t point)
{
    const ss_point_class class = ss_point_classify(point);
    if (class == SS_POINT_FORMAT)
        return;
    if (class == SS_POINT_OTHER || class == SS_POINT_SPACELESS ||
        (class == SS_POINT_LETTER && reader->open == OPEN_SPACELESS))
        close_word(reader);
    if (class == SS_POINT_OTHER)
        return;
    append(reader, point);
    if (reader->open == OPEN_NONE)
        reader->open = class == SS_POINT_SPACELESS ? OPEN_SPACELESS : OPEN_RUN;
}

static void add_to_chars(text_reader *reader, uint32_t point)
{
    shingles *chars = &reader->units;
    if (ss_point_is_space(point)) {
        /* White space at the start is trimmed; at the end it is due but never written. */
        reader->space_due = has_begun(chars);
        return;
    }
    if (ss_point_classify(point) == SS_POINT_FORMAT)
        return;
    if (reader->space_due) {
        append(reader, ' ');
        close_unit(chars);
        reader->space_due = false;
    }
    append(reader, point);
    close_unit(chars);
}

static sstore_status add_point(text_reader *reader, uint32_t point, sstore_error *error)
{
    sstore_status status = reserve(&reader->units, SS_UTF8_MAX_BYTES + 2, 2, error);
    if (status == SSTORE_OK && reader->kind == SSTORE_FEATURE_KIND_WORDS)
        add_to_words(reader, point);
    else if (status == SSTORE_OK)
        add_to_chars(reader, point);
    return status;
}

/* Fold and add text[begin .. end). */
static sstore_status add_piece(text_reader *reader, size_t begin, size_t end, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    uint32_t point;
    reader->fold.count = 0;
    for (size_t at = begin; status == SSTORE_OK && at < end;) {
        at += ss_utf8_decode(reader->text + at, end - at, &point);
        status = ss_fold_add(&reader->fold, point, error);
    }
    if (status == SSTORE_OK)
        status = ss_fold_compose(&reader->fold, error);
    for (size_t i = 0; status == SSTORE_OK && i < reader->fold.count; i++)
        status = add_point(reader, (uint32_t)reader->fold.points[i], error);
    return status;
}

/* Add the text up to a place from which ASCII can be read. Only pieces that are not settled are folded. */
static sstore_status add_others(text_reader *reader, sstore_error *error)
{
    const uint8_t *text = reader->text;
    size_t begin = reader->position, size = reader->size, next_bytes = 0;
    uint32_t point, next = 0;
    size_t end = begin + ss_utf8_decode(text + begin, size - begin, &point);
    bool alone = ss_point_is_settled(point);
    for (;;) {
        /* The piece ends before the next settled code point. */
        while (end < size) {
            next_bytes = ss_utf8_decode(text + end, size - end, &next);
            if (ss_point_is_settled(next))
                break;
            alone = false;
            end += next_bytes;
        }
        sstore_status status = alone ? add_point(reader, ss_point_lower(point), error)
                                     : add_piece(reader, begin, end, error);
        reader->position = end;
        if (status != SSTORE_OK || end == size || at_ascii(reader))
            return status;
        begin = end;
        end += next_bytes;
        point = next;
        alone = true;
    }
}

sstore_status ss_features_fingerprint(const uint8_t *text, size_t size, sstore_feature_kind kind, uint32_t shingle,
                                      bool shortcuts, uint64_t *fingerprint_out, sstore_error *error)
{
    text_reader reader;
    shingles *units = &reader.units;
    reader.text = text;
    reader.size = size;
    reader.position = 0;
    reader.kind = kind;
    reader.open = OPEN_NONE;
    reader.space_due = false;
    reader.fold = (ss_fold){0};
    init_shingles(units, shingle, kind == SSTORE_FEATURE_KIND_WORDS);
    sstore_status status = SSTORE_OK;
    if (!shortcuts)
        status = add_piece(&reader, 0, size, error);
    else
        while (status == SSTORE_OK && reader.position < size)
            status = at_ascii(&reader) ? add_ascii(&reader, error) : add_others(&reader, error);
    if (status == SSTORE_OK)
        status = reserve(units, 1, 1, error);
    if (status == SSTORE_OK) {
        close_word(&reader);
        drain(units);
        if (units->feature_count == 0 && units->unit_count > 0) /* fewer units than `width` are one feature */
            hash_feature(units, 0, units->starts[units->unit_count] - units->gap);
        *fingerprint_out = ss_bit_counter_above(&units->counter, units->feature_count / 2); /* more ones than zeros */
    }
    ss_fold_free(&reader.fold);
    if (units->bytes != units->own_bytes)
        ss_free(units->bytes);
    return status;
}

/* ===== public functions ===== */

/* Check the options (NULL: the defaults), and set the default shingle. */
static sstore_status take_options(sstore_text_options *taken, const sstore_text_options *options, sstore_error *error)
{
    *taken = (sstore_text_options)SSTORE_TEXT_OPTIONS_INIT;
    sstore_status status = ss_take_options(taken, sizeof *taken, options, SS_TEXT_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    if (taken->kind != SSTORE_FEATURE_KIND_WORDS && taken->kind != SSTORE_FEATURE_KIND_CHARS)
        return ss_fail_argument(error, "feature kind %d does not exist", (int)taken->kind);
    if (taken->shingle > MAX_SHINGLE)
        return ss_fail_argument(error, "the shingle is %u; it must be at most %u", taken->shingle, MAX_SHINGLE);
    if (taken->shingle == 0)
        taken->shingle = taken->kind == SSTORE_FEATURE_KIND_WORDS ? 3 : 4;
    return SSTORE_OK;
}

sstore_status sstore_fingerprint_text(const char *text, size_t size, const sstore_text_options *options,
                                      uint64_t *fingerprint_out, sstore_error *error)
{
    sstore_text_options taken;
    if ((text == NULL && size > 0) || fingerprint_out == NULL)
        return ss_fail_argument(error, "text and fingerprint_out must not be NULL");
    sstore_status status = take_options(&taken, options, error);
    if (status != SSTORE_OK)
        return status;
    if (ss_fold_unicode_version() == NULL)
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, NULL, SSTORE_NO_OFFSET,
                       "this library was built without utf8proc; it can fingerprint weighted features, but no text");
    return ss_features_fingerprint((const uint8_t *)text, size, taken.kind, taken.shingle, true, fingerprint_out,
                                   error);
}

size_t sstore_text_recipe(const sstore_text_options *options, char *buffer, size_t size)
{
    sstore_text_options taken;
    if (size > 0)
        buffer[0] = '\0';
    if (take_options(&taken, options, NULL) != SSTORE_OK || ss_fold_unicode_version() == NULL)
        return 0; /* no valid recipe */
    int length = snprintf(buffer, size, "sstore-text-1 features=%s shingle=%u hash=xxh3-64 unicode=%s",
                          taken.kind == SSTORE_FEATURE_KIND_WORDS ? "words" : "chars", taken.shingle,
                          ss_fold_unicode_version());
    return length < 0 ? 0 : (size_t)length;
}
