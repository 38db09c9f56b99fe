#include "text/features.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/utf8.h"
#include "text/ascii.h"
#include "text/fold.h"
#include "text/shingle.h"

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
    if (!ss_take_options(&taken, sizeof taken, options, sizeof taken))
        return ss_fail_argument(error, "the text options are not set by SSTORE_TEXT_OPTIONS_INIT");
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
