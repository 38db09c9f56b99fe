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

void ss_shingles_init(ss_shingles *shingles, uint32_t width, uint32_t gap)
{
    assert(width >= 1 && width <= SS_MAX_SHINGLE && gap <= 1);
    ss_bit_counter_init(&shingles->counter);
    shingles->feature_count = 0;
    shingles->width = width;
    shingles->gap = gap;
    shingles->bytes = shingles->own_bytes;
    shingles->used = 0;
    shingles->capacity = sizeof shingles->own_bytes;
    shingles->unit_count = 0;
    shingles->starts[0] = 0;
}

static void hash_feature(ss_shingles *shingles, size_t start, size_t end)
{
    ss_bit_counter_add(&shingles->counter, ss_hash64(shingles->bytes + start, end - start));
    shingles->feature_count++;
}

/* Hash all shingles of closed units, then drop the units that no later shingle needs. */
static void drain(ss_shingles *shingles)
{
    const size_t *starts = shingles->starts;
    if (shingles->unit_count < shingles->width)
        return;
    size_t count = shingles->unit_count - shingles->width + 1;
    for (size_t i = 0; i < count; i++)
        hash_feature(shingles, starts[i], starts[i + shingles->width] - shingles->gap);
    size_t kept = shingles->width - 1, shift = starts[count];
    shingles->used -= shift;
    memmove(shingles->bytes, shingles->bytes + shift, shingles->used);
    for (size_t i = 0; i <= kept; i++)
        shingles->starts[i] = starts[count + i] - shift;
    shingles->unit_count = kept;
}

/* Double the buffer until it holds `bytes`. Only a text with words longer than the buffer comes here. */
static sstore_status grow(ss_shingles *shingles, size_t bytes, sstore_error *error)
{
    size_t capacity = 2 * shingles->capacity;
    if (bytes > capacity)
        capacity = bytes;
    bool own = shingles->bytes == shingles->own_bytes;
    uint8_t *memory = ss_realloc(own ? NULL : shingles->bytes, capacity, 1);
    if (memory == NULL)
        return ss_fail_memory(error, capacity);
    if (own)
        memcpy(memory, shingles->own_bytes, shingles->used);
    shingles->bytes = memory;
    shingles->capacity = capacity;
    return SSTORE_OK;
}

sstore_status ss_shingles_make_room(ss_shingles *shingles, size_t bytes, size_t units, sstore_error *error)
{
    assert(units <= SS_SHINGLE_BATCH);
    (void)units; /* fewer than SS_MAX_SHINGLE stay after a drain, so any number fits */
    drain(shingles);
    size_t needed = bytes + SS_SHINGLE_SLACK;
    if (shingles->capacity - shingles->used < needed)
        return grow(shingles, shingles->used + needed, error);
    return SSTORE_OK;
}

uint64_t ss_shingles_finish(ss_shingles *shingles)
{
    drain(shingles);
    if (shingles->feature_count == 0 && shingles->unit_count > 0)
        hash_feature(shingles, 0, shingles->starts[shingles->unit_count] - shingles->gap);
    return ss_bit_counter_above(&shingles->counter, shingles->feature_count / 2); /* more ones than zeros */
}

void ss_shingles_free(ss_shingles *shingles)
{
    if (shingles->bytes != shingles->own_bytes)
        ss_free(shingles->bytes);
}

/* ===== ASCII ===== */

#define HIGH_BITS UINT64_C(0x8080808080808080)
#define BYTES(x) (UINT64_C(0x0101010101010101) * (x))
#define COPY_BYTES 16u

/* A chunk in lower case, and where its words begin and end. */
typedef struct ascii_chunk {
    uint8_t lower[SS_ASCII_CHUNK + SS_SHINGLE_SLACK];
    uint16_t edges[SS_ASCII_CHUNK + 16];
    size_t edge_count;
} ascii_chunk;

size_t ss_ascii_span(const uint8_t *text, size_t size)
{
    size_t limit = size < SS_ASCII_CHUNK ? size : SS_ASCII_CHUNK, span = 0;
    for (; span + 8 <= limit; span += 8) {
        uint64_t high = ss_load_le64(text + span) & HIGH_BITS;
        if (high != 0)
            return span + (size_t)__builtin_ctzll(high) / 8;
    }
    while (span < limit && text[span] < 0x80)
        span++;
    return span;
}

/* The high bit of each byte of x, all below 0x80, that lies in first .. last. No byte carries into the next. */
static inline uint64_t bytes_between(uint64_t x, uint8_t first, uint8_t last)
{
    return (x + BYTES(0x80u - first)) & ~(x + BYTES(0x7fu - last)) & HIGH_BITS;
}

/* Lower the eight bytes at `text` to `to`; returns a bit for each that is a letter or digit, the first one's lowest. */
static inline uint64_t lower_eight(const uint8_t *text, uint8_t *to)
{
    uint64_t x = ss_load_le64(text);
    uint64_t lower = x | bytes_between(x, 'A', 'Z') >> 2; /* 0x80 >> 2 is the bit that tells the cases apart */
    uint64_t word = bytes_between(lower, 'a', 'z') | bytes_between(x, '0', '9');
    ss_store_le64(to, lower);
    /* The product moves the bit of byte i to bit 56 + i. */
    return (word >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

/* Append the positions of the 1 bits of `edges`, `base` added. Writes by four, so that
 * few branches depend on the count. */
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

sstore_status ss_ascii_add_words(ss_shingles *words, const uint8_t *text, size_t size, bool *in_word,
                                 sstore_error *error)
{
    ascii_chunk chunk;
    assert(size <= SS_ASCII_CHUNK);
    sstore_status status = ss_shingles_reserve(words, size + 2, size / 2 + 2, error);
    if (status != SSTORE_OK || size == 0)
        return status;
    split(&chunk, text, size);
    if (*in_word && (chunk.edge_count == 0 || chunk.edges[0] != 0))
        ss_shingles_close_unit(words);
    if (chunk.edge_count % 2 != 0)
        chunk.edges[chunk.edge_count++] = (uint16_t)size;
    bool open = chunk.edge_count > 0 && chunk.edges[chunk.edge_count - 1] == size; /* the last word may go on */
    for (size_t i = 0; i < chunk.edge_count; i += 2) {
        const uint8_t *from = chunk.lower + chunk.edges[i];
        size_t length = (size_t)(chunk.edges[i + 1] - chunk.edges[i]);
        if (SS_LIKELY(length <= COPY_BYTES))
            memcpy(words->bytes + words->used, from, COPY_BYTES);
        else
            memcpy(words->bytes + words->used, from, length);
        words->used += length;
        if (i + 2 < chunk.edge_count || !open)
            ss_shingles_close_unit(words);
    }
    *in_word = open;
    return SSTORE_OK;
}

sstore_status ss_ascii_add_chars(ss_shingles *chars, const uint8_t *text, size_t size, bool *space_due,
                                 sstore_error *error)
{
    assert(size <= SS_ASCII_CHUNK);
    sstore_status status = ss_shingles_reserve(chars, size + 1, size + 1, error);
    if (status != SSTORE_OK)
        return status;
    uint8_t *to = chars->bytes + chars->used;
    size_t written = 0;
    size_t due = *space_due, begun = ss_shingles_begun(chars);
    for (size_t i = 0; i < size; i++) {
        /* No branch asks what the byte is: both a space and the byte are written, and kept or not by what is added. */
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
    *space_due = due;
    return SSTORE_OK;
}

/* ===== features ===== */

#define DEFAULT_WORDS 3u
#define DEFAULT_CHARS 4u

/* What the open unit is, when units are words. */
typedef enum open_word { OPEN_NONE, OPEN_RUN, OPEN_SPACELESS } open_word;

typedef struct text_reader {
    const uint8_t *text;
    size_t size, position;
    sstore_feature_kind kind;
    open_word open;
    bool space_due; /* characters: white space was read and is to come before the next character */
    ss_fold fold;
    ss_shingles shingles;
} text_reader;

/* ----- one folded code point at a time ----- */

static void close_word(text_reader *reader)
{
    if (reader->open != OPEN_NONE)
        ss_shingles_close_unit(&reader->shingles);
    reader->open = OPEN_NONE;
}

static void append(text_reader *reader, uint32_t point)
{
    ss_shingles *to = &reader->shingles;
    to->used += ss_utf8_encode(point, to->bytes + to->used);
}

static void add_to_words(text_reader *reader, uint32_t point)
{
    switch (ss_point_classify(point)) {
    case SS_POINT_OTHER: close_word(reader); break;
    case SS_POINT_FORMAT: break;
    case SS_POINT_LETTER:
        if (reader->open == OPEN_SPACELESS)
            close_word(reader);
        append(reader, point);
        reader->open = OPEN_RUN;
        break;
    case SS_POINT_SPACELESS:
        close_word(reader);
        append(reader, point);
        reader->open = OPEN_SPACELESS;
        break;
    case SS_POINT_MARK:
        append(reader, point);
        if (reader->open == OPEN_NONE)
            reader->open = OPEN_RUN;
        break;
    }
}

static void add_to_chars(text_reader *reader, uint32_t point)
{
    ss_shingles *chars = &reader->shingles;
    if (ss_point_is_space(point)) {
        /* White space at the start is trimmed; at the end it is due but never written. */
        reader->space_due = ss_shingles_begun(chars);
        return;
    }
    if (ss_point_classify(point) == SS_POINT_FORMAT)
        return;
    if (reader->space_due) {
        append(reader, ' ');
        ss_shingles_close_unit(chars);
        reader->space_due = false;
    }
    append(reader, point);
    ss_shingles_close_unit(chars);
}

static sstore_status add_point(text_reader *reader, uint32_t point, sstore_error *error)
{
    sstore_status status = ss_shingles_reserve(&reader->shingles, SS_UTF8_MAX_BYTES + 2, 2, error);
    if (status != SSTORE_OK)
        return status;
    if (reader->kind == SSTORE_FEATURES_WORDS)
        add_to_words(reader, point);
    else
        add_to_chars(reader, point);
    return SSTORE_OK;
}

/* ----- pieces of text ----- */

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

/* Whether from `position` on the text can be taken as ASCII: the byte is, and nothing after it combines with it. */
static bool at_ascii(const text_reader *reader)
{
    const uint8_t *text = reader->text + reader->position;
    size_t left = reader->size - reader->position;
    return left > 0 && text[0] < 0x80 && (left == 1 || text[1] < 0x80);
}

/* Add all ASCII bytes here but the last one before something else, which may combine with it. */
static sstore_status add_ascii(text_reader *reader, sstore_error *error)
{
    const uint8_t *text = reader->text + reader->position;
    size_t size = ss_ascii_span(text, reader->size - reader->position);
    if (reader->position + size < reader->size && text[size] >= 0x80)
        size--;
    reader->position += size;
    if (reader->kind == SSTORE_FEATURES_WORDS) {
        if (reader->open == OPEN_SPACELESS)
            close_word(reader);
        bool in_word = reader->open == OPEN_RUN;
        sstore_status status = ss_ascii_add_words(&reader->shingles, text, size, &in_word, error);
        reader->open = in_word ? OPEN_RUN : OPEN_NONE;
        return status;
    }
    return ss_ascii_add_chars(&reader->shingles, text, size, &reader->space_due, error);
}

/* Add what follows up to a place from which ASCII can be read, folding only what is not settled. */
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
    reader.text = text;
    reader.size = size;
    reader.position = 0;
    reader.kind = kind;
    reader.open = OPEN_NONE;
    reader.space_due = false;
    reader.fold = (ss_fold){0};
    ss_shingles_init(&reader.shingles, shingle, kind == SSTORE_FEATURES_WORDS);
    sstore_status status = SSTORE_OK;
    if (!shortcuts)
        status = add_piece(&reader, 0, size, error);
    else
        while (status == SSTORE_OK && reader.position < size)
            status = at_ascii(&reader) ? add_ascii(&reader, error) : add_others(&reader, error);
    if (status == SSTORE_OK)
        status = ss_shingles_reserve(&reader.shingles, 1, 1, error);
    if (status == SSTORE_OK) {
        close_word(&reader);
        *fingerprint_out = ss_shingles_finish(&reader.shingles);
    }
    ss_fold_free(&reader.fold);
    ss_shingles_free(&reader.shingles);
    return status;
}

/* ----- public functions ----- */

/* The kind and the shingle of options, NULL being the defaults. */
static sstore_status read_options(const sstore_text_options *options, sstore_feature_kind *kind_out,
                                  uint32_t *shingle_out, sstore_error *error)
{
    sstore_text_options taken = SSTORE_TEXT_OPTIONS_INIT;
    sstore_status status = ss_take_options(&taken, sizeof taken, options, SS_TEXT_OPTIONS_SIZE_1, error);
    if (status != SSTORE_OK)
        return status;
    if (taken.kind != SSTORE_FEATURES_WORDS && taken.kind != SSTORE_FEATURES_CHARS)
        return ss_fail_argument(error, "there is no feature kind %d", (int)taken.kind);
    if (taken.shingle > SS_MAX_SHINGLE)
        return ss_fail_argument(error, "a shingle of %u: at most %u are allowed", taken.shingle, SS_MAX_SHINGLE);
    *kind_out = taken.kind;
    *shingle_out = taken.shingle;
    if (taken.shingle == 0)
        *shingle_out = taken.kind == SSTORE_FEATURES_WORDS ? DEFAULT_WORDS : DEFAULT_CHARS;
    return SSTORE_OK;
}

sstore_status sstore_fingerprint_text(const char *text, size_t size, const sstore_text_options *options,
                                      uint64_t *fingerprint_out, sstore_error *error)
{
    sstore_feature_kind kind = SSTORE_FEATURES_WORDS;
    uint32_t shingle = DEFAULT_WORDS;
    if ((text == NULL && size > 0) || fingerprint_out == NULL)
        return ss_fail_argument(error, "the text or the place for the fingerprint is missing");
    sstore_status status = read_options(options, &kind, &shingle, error);
    if (status != SSTORE_OK)
        return status;
    if (!ss_fold_available())
        return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, NULL, SSTORE_NO_OFFSET,
                       "this library was built without utf8proc and cannot read text; weighted features it can");
    return ss_features_fingerprint((const uint8_t *)text, size, kind, shingle, true, fingerprint_out, error);
}

size_t sstore_text_recipe(const sstore_text_options *options, char *buffer, size_t size)
{
    sstore_feature_kind kind = SSTORE_FEATURES_WORDS;
    uint32_t shingle = DEFAULT_WORDS;
    if (size > 0)
        buffer[0] = '\0';
    if (read_options(options, &kind, &shingle, NULL) != SSTORE_OK || !ss_fold_available())
        return 0; /* there is no such recipe */
    int length = snprintf(buffer, size, "sstore-text-1 features=%s shingle=%u hash=xxh3-64 unicode=%s",
                          kind == SSTORE_FEATURES_WORDS ? "words" : "chars", shingle, ss_fold_unicode_version());
    return length < 0 ? 0 : (size_t)length;
}
