#include "text/features.h"

#include <string.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/utf8.h"
#include "text/fold.h"
#include "text/shingles.h"

/* ----- runs of units ----- */

/* End a word, or a character of a script without spaces. A stop word is taken back. */
static inline void end_unit(ss_features *self)
{
    ss_shingles *units = &self->units;
    const size_t begin = units->starts[units->unit_count];
    if (SS_UNLIKELY(self->rules.stop_words != NULL) &&
        ss_feature_set_find(self->rules.stop_words, ss_hash64(units->bytes + begin, units->used - begin)) != NULL)
        units->used = begin;
    else
        ss_shingles_close_unit(units);
}

static inline void close_unit(ss_features *self)
{
    if (self->open)
        end_unit(self);
    self->open = false;
}

/* Append a word, in UTF-16, that ICU found. */
static sstore_status add_found_word(ss_features *self, const uint16_t *word, size_t length, sstore_error *error)
{
    ss_shingles *words = &self->units;
    const sstore_status status = ss_shingles_reserve(words, SS_UTF8_MAX_BYTES * length + 1, 2, error);
    if (status != SSTORE_OK)
        return status;
    for (size_t i = 0; i < length; i++) {
        uint32_t point = word[i];
        if ((point & 0xfc00) == 0xd800) /* surrogates come in pairs */
            point = 0x10000 + ((point & 0x3ff) << 10 | (word[++i] & 0x3ffu));
        words->used += ss_utf8_encode(point, words->bytes + words->used);
    }
    end_unit(self);
    return SSTORE_OK;
}

/* Cut the stretch that is open, if one is, into words. */
static sstore_status close_stretch(ss_features *self, sstore_error *error)
{
    const uint16_t *word;
    if (SS_LIKELY(!self->in_stretch))
        return SSTORE_OK;
    self->in_stretch = self->open = false;
    sstore_status status = ss_segmenter_begin(&self->segmenter, error);
    for (size_t length; status == SSTORE_OK && (length = ss_segmenter_next(&self->segmenter, &word)) > 0;)
        status = add_found_word(self, word, length, error);
    return status;
}

static sstore_status end_run(ss_features *self, sstore_error *error)
{
    sstore_status status = close_stretch(self, error);
    if (status == SSTORE_OK)
        status = ss_shingles_reserve(&self->units, 1, 1, error);
    if (status != SSTORE_OK)
        return status;
    close_unit(self);
    self->run = SS_RUN_NONE;
    return ss_shingles_end(&self->units, error);
}

static sstore_status begin_run(ss_features *self, ss_text_run run, sstore_error *error)
{
    const sstore_status status = end_run(self, error);
    self->run = run;
    ss_shingles_begin(&self->units, run == SS_RUN_SPACELESS ? self->rules.spaceless_shingle : self->rules.shingle,
                      run == SS_RUN_WORDS);
    return status;
}

static inline sstore_status need_run(ss_features *self, ss_text_run run, sstore_error *error)
{
    return SS_LIKELY(self->run == run) ? SSTORE_OK : begin_run(self, run, error);
}

/* ----- ASCII: 64 bytes at once, with the results of the code point by code point way below ----- */

#define CHUNK_BYTES 2048u /* the most that one call takes */
#define HIGH_BITS UINT64_C(0x8080808080808080)
#define BYTES(x) (UINT64_C(0x0101010101010101) * (x))
#define COPY_BYTES 16u

/* A chunk in lower case, and where its words begin and end. */
typedef struct ascii_chunk {
    uint8_t lower[CHUNK_BYTES + SS_SHINGLES_SLACK];
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
static sstore_status add_ascii_words(ss_features *self, const uint8_t *text, size_t size, sstore_error *error)
{
    ascii_chunk chunk;
    ss_shingles *words = &self->units;
    split(&chunk, text, size);
    sstore_status status = close_stretch(self, error);
    if (status == SSTORE_OK && chunk.edge_count > 0)
        status = need_run(self, SS_RUN_WORDS, error);
    if (status == SSTORE_OK)
        status = ss_shingles_reserve(words, size + 2, size / 2 + 2, error);
    if (status != SSTORE_OK || size == 0)
        return status;
    if (chunk.edge_count == 0 || chunk.edges[0] != 0)
        close_unit(self);
    if (chunk.edge_count % 2 != 0)
        chunk.edges[chunk.edge_count++] = (uint16_t)size;
    self->open = chunk.edge_count > 0 && chunk.edges[chunk.edge_count - 1] == size; /* the last word may continue */
    for (size_t i = 0; i < chunk.edge_count; i += 2) {
        const uint8_t *from = chunk.lower + chunk.edges[i];
        size_t length = (size_t)(chunk.edges[i + 1] - chunk.edges[i]);
        if (SS_LIKELY(length <= COPY_BYTES))
            memcpy(words->bytes + words->used, from, COPY_BYTES);
        else
            memcpy(words->bytes + words->used, from, length);
        words->used += length;
        if (i + 2 < chunk.edge_count || !self->open)
            end_unit(self);
    }
    return SSTORE_OK;
}

/* Lower the eight bytes at `text` and make white space spaces; sets a bit for each byte that is white space. */
static inline uint64_t plain_eight(const uint8_t *text, uint64_t *white_out)
{
    const uint64_t x = ss_load_le64(text);
    const uint64_t white = (bytes_between(x, '\t', '\r') | bytes_between(x, ' ', ' ')) >> 7;
    *white_out = white * UINT64_C(0x0102040810204080) >> 56;
    return ((x | bytes_between(x, 'A', 'Z') >> 2) & ~(white * 0xff)) | white * ' ';
}

/*
 * Append `size` <= CHUNK_BYTES bytes as characters. Of white space in a row only the first byte stays, and none at the
 * start; a space at the end is taken back, since only what follows tells whether it stays. MEMORY.
 */
static sstore_status add_ascii_chars(ss_features *self, const uint8_t *text, size_t size, sstore_error *error)
{
    ss_shingles *chars = &self->units;
    const sstore_status status = ss_shingles_reserve(chars, size + 1, size + 1, error);
    if (status != SSTORE_OK)
        return status;
    uint8_t *const begin = chars->bytes + chars->used, *to = begin, padded[8] = {0};
    uint64_t white, before = self->space_due || !ss_shingles_has_begun(chars); /* whether white space came before */
    if (self->space_due)
        *to++ = ' ';
    for (size_t i = 0; i < size; i += 8) {
        const size_t taken = size - i < 8 ? size - i : 8;
        const uint8_t *from = text + i;
        if (taken < 8)
            from = memcpy(padded, from, taken);
        const uint64_t eight = plain_eight(from, &white), dropped = white & (white << 1 | before);
        before = white >> 7;
        if (SS_LIKELY(dropped == 0)) {
            ss_store_le64(to, eight);
            to += taken;
            continue;
        }
        for (size_t byte = 0; byte < taken; byte++) {
            *to = (uint8_t)(eight >> 8 * byte);
            to += ~dropped >> byte & 1;
        }
    }
    self->space_due = to > begin && to[-1] == ' ';
    const size_t written = (size_t)(to - begin) - self->space_due;
    for (size_t i = 1; i <= written; i++)
        chars->starts[chars->unit_count + i] = chars->used + i;
    chars->unit_count += written;
    chars->used += written;
    return SSTORE_OK;
}

static void add_due_space(ss_features *self)
{
    self->units.bytes[self->units.used++] = ' ';
    ss_shingles_close_unit(&self->units);
    self->space_due = false;
}

/* Whether the text from `position` on can be taken as ASCII: the byte is ASCII, and nothing after it combines with
 * it. */
static bool at_ascii(const ss_features *self)
{
    const uint8_t *text = self->text + self->position;
    size_t left = self->size - self->position;
    return left > 0 && text[0] < 0x80 && (left == 1 || text[1] < 0x80);
}

/* Add all ASCII bytes here except the last one before another character, which may combine with it. */
static sstore_status add_ascii(ss_features *self, sstore_error *error)
{
    const uint8_t *text = self->text + self->position;
    size_t size = ascii_span(text, self->size - self->position);
    if (self->position + size < self->size && text[size] >= 0x80)
        size--;
    self->position += size;
    return self->rules.kind == SSTORE_FEATURE_KIND_WORDS ? add_ascii_words(self, text, size, error)
                                                         : add_ascii_chars(self, text, size, error);
}

/* ----- Han: the characters that most text without spaces consists of fold to themselves ----- */

#define HAN_BYTES 3u

/* Whether there is one of U+4E00 to U+9FEF, which Unicode 11 and later versions have. */
static inline bool is_han(const uint8_t *text, size_t left)
{
    if (left < HAN_BYTES || text[0] < 0xe4 || text[0] > 0xe9 || (text[1] & 0xc0) != 0x80 || (text[2] & 0xc0) != 0x80)
        return false;
    const uint32_t code = (text[0] & 0xfu) << 12 | (text[1] & 0x3fu) << 6 | (text[2] & 0x3fu);
    return code >= 0x4e00 && code <= 0x9fef;
}

/* Whether there are two: a mark may follow a single one. Cutting them into words takes so long that it needs no
 * shortcut. */
static bool at_han(const ss_features *self)
{
    const uint8_t *text = self->text + self->position;
    const size_t left = self->size - self->position;
    return self->rules.segmentation == SSTORE_SEGMENTATION_PAIRS && is_han(text, left) &&
           is_han(text + HAN_BYTES, left - HAN_BYTES);
}

/* Add all Han characters here except the last one. */
static sstore_status add_han(ss_features *self, sstore_error *error)
{
    ss_shingles *units = &self->units;
    sstore_status status = self->rules.kind == SSTORE_FEATURE_KIND_WORDS ? need_run(self, SS_RUN_SPACELESS, error)
                                                                         : SSTORE_OK;
    if (status == SSTORE_OK)
        status = ss_shingles_reserve(units, HAN_BYTES * SS_SHINGLES_UNITS, SS_SHINGLES_UNITS, error);
    if (status != SSTORE_OK)
        return status;
    if (self->space_due)
        add_due_space(self);
    close_unit(self);
    const uint8_t *from = self->text + self->position, *const end = self->text + self->size;
    for (size_t i = 2; i < SS_SHINGLES_UNITS && is_han(from + HAN_BYTES, (size_t)(end - from) - HAN_BYTES); i++) {
        memcpy(units->bytes + units->used, from, HAN_BYTES);
        units->used += HAN_BYTES;
        end_unit(self);
        from += HAN_BYTES;
    }
    self->position = (size_t)(from - self->text);
    return SSTORE_OK;
}

/* ----- one folded code point at a time ----- */

static void append(ss_features *self, uint32_t point)
{
    self->units.used += ss_utf8_encode(point, self->units.bytes + self->units.used);
}

/* Append a letter, number or mark to what ICU is to cut into words. */
static sstore_status add_to_stretch(ss_features *self, ss_point point, sstore_error *error)
{
    sstore_status status = need_run(self, SS_RUN_WORDS, error);
    if (status == SSTORE_OK && self->segmenter.point_count == SS_SEGMENTER_MAX_POINTS)
        status = close_stretch(self, error);
    if (status != SSTORE_OK)
        return status;
    if (!self->in_stretch)
        close_unit(self);
    self->in_stretch = self->open = true;
    return ss_segmenter_add(&self->segmenter, ss_point_folded(point), error);
}

static sstore_status add_to_words(ss_features *self, ss_point point, sstore_error *error)
{
    const ss_point_class class = ss_point_class_of(point);
    if (self->rules.segmentation == SSTORE_SEGMENTATION_ICU) {
        if (class == SS_POINT_SPACELESS || (class == SS_POINT_MARK && self->in_stretch))
            return add_to_stretch(self, point, error);
        const sstore_status status = close_stretch(self, error);
        if (status != SSTORE_OK)
            return status;
    }
    if (class == SS_POINT_OTHER || class == SS_POINT_SPACE) {
        close_unit(self);
        return SSTORE_OK;
    }
    /* A mark belongs to what is open, or begins a word. */
    const ss_text_run run = class == SS_POINT_SPACELESS            ? SS_RUN_SPACELESS
                            : class == SS_POINT_MARK && self->open ? self->run
                                                                   : SS_RUN_WORDS;
    const sstore_status status = need_run(self, run, error);
    if (class == SS_POINT_SPACELESS)
        close_unit(self);
    append(self, ss_point_folded(point));
    self->open = true;
    return status;
}

static void add_to_chars(ss_features *self, ss_point point)
{
    ss_shingles *chars = &self->units;
    if (ss_point_class_of(point) == SS_POINT_SPACE) {
        /* White space at the start is trimmed; at the end it is due but never written. */
        self->space_due = ss_shingles_has_begun(chars);
        return;
    }
    if (self->space_due)
        add_due_space(self);
    append(self, ss_point_folded(point));
    ss_shingles_close_unit(chars);
}

static inline sstore_status add_point(ss_features *self, ss_point point, sstore_error *error)
{
    sstore_status status = ss_shingles_reserve(&self->units, SS_UTF8_MAX_BYTES + 2, 2, error);
    if (status == SSTORE_OK && self->rules.kind == SSTORE_FEATURE_KIND_WORDS)
        status = add_to_words(self, point, error);
    else if (status == SSTORE_OK)
        add_to_chars(self, point);
    return status;
}

/* Fold and add text[begin .. end). */
static sstore_status add_piece(ss_features *self, size_t begin, size_t end, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    uint32_t code;
    self->fold.count = 0;
    for (size_t at = begin; status == SSTORE_OK && at < end;) {
        at += ss_utf8_decode(self->text + at, end - at, &code);
        status = ss_fold_add(&self->fold, code, error);
    }
    if (status == SSTORE_OK)
        status = ss_fold_end(&self->fold, error);
    for (size_t i = 0; status == SSTORE_OK && i < self->fold.count; i++)
        status = add_point(self, ss_point_look((uint32_t)self->fold.points[i]), error);
    return status;
}

/* Decode the code point at `at`, and count what is not UTF-8. Returns the place after it. */
static inline size_t decode(ss_features *self, size_t at, uint32_t *code_out)
{
    const size_t bytes = ss_utf8_decode(self->text + at, self->size - at, code_out);
    if (SS_UNLIKELY(*code_out == SS_REPLACEMENT_CHARACTER))
        self->replaced_count += !(bytes == 3 && self->text[at] == 0xef); /* U+FFFD itself is EF BF BD */
    return at + bytes;
}

/* Add the text up to a place from which ASCII can be read. Only pieces that are not settled are folded. */
static sstore_status add_others(ss_features *self, sstore_error *error)
{
    const size_t size = self->size;
    size_t begin = self->position, next_end = 0;
    uint32_t code;
    size_t end = decode(self, begin, &code);
    ss_point point = ss_point_look(code), next = point;
    bool alone = ss_point_is_settled(point);
    for (;;) {
        /* The piece ends before the next settled code point. */
        for (; end < size; end = next_end) {
            next_end = decode(self, end, &code);
            next = ss_point_look(code);
            if (ss_point_is_settled(next))
                break;
            alone = false;
        }
        const sstore_status status = alone ? add_point(self, point, error) : add_piece(self, begin, end, error);
        self->position = end;
        if (status != SSTORE_OK || end == size || at_ascii(self) || at_han(self))
            return status;
        begin = end;
        end = next_end;
        point = next;
        alone = true;
    }
}

static sstore_status add_plainly(ss_features *self, sstore_error *error)
{
    uint32_t unused;
    while (self->position < self->size)
        self->position = decode(self, self->position, &unused);
    return add_piece(self, 0, self->size, error);
}

sstore_status ss_features_init(ss_features *self, const ss_text_rules *rules, sstore_error *error)
{
    self->rules = *rules;
    self->fold = (ss_fold){0};
    self->segmenter = (ss_segmenter){.icu = NULL};
    sstore_status status = ss_shingles_init(&self->units, &rules->hash, error);
    if (status == SSTORE_OK && rules->segmentation == SSTORE_SEGMENTATION_ICU)
        status = ss_segmenter_open(&self->segmenter, error);
    if (status != SSTORE_OK)
        ss_features_free(self);
    return status;
}

void ss_features_free(ss_features *self)
{
    ss_fold_free(&self->fold);
    ss_segmenter_close(&self->segmenter);
    ss_shingles_free(&self->units);
}

sstore_status ss_features_find(ss_features *self, const uint8_t *text, size_t size, bool shortcuts,
                               ss_feature_sink sink, sstore_error *error)
{
    self->text = text;
    self->size = size;
    self->position = 0;
    self->run = SS_RUN_NONE;
    self->open = self->in_stretch = self->space_due = false;
    self->segmenter.unit_count = self->segmenter.point_count = 0; /* a text before may have failed */
    self->replaced_count = 0;
    self->units.sink = sink;
    ss_shingles_begin(&self->units, 1, 0);
    sstore_status status = self->rules.kind == SSTORE_FEATURE_KIND_CHARS ? begin_run(self, SS_RUN_CHARS, error)
                                                                         : SSTORE_OK;
    if (status == SSTORE_OK && !shortcuts)
        status = add_plainly(self, error);
    while (status == SSTORE_OK && self->position < size)
        status = at_ascii(self) ? add_ascii(self, error)
                 : at_han(self) ? add_han(self, error)
                                : add_others(self, error);
    return status == SSTORE_OK ? end_run(self, error) : status;
}
