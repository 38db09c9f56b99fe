#include "text/markup.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "text/character_references.h"
#include "text/short_names.h"

/* What a tag leaves behind. */
typedef enum tag_kind {
    TAG_BREAK = 0, /* a line feed, so that no words join: every element that is not listed */
    TAG_INLINE,    /* nothing: its text may be part of a word */
    TAG_DROPPED    /* a line feed; what is inside is no text, or not to be read */
} tag_kind;

static const ss_short_name tag_kinds[] = {
    {"a", TAG_INLINE},         {"abbr", TAG_INLINE},      {"acronym", TAG_INLINE}, {"b", TAG_INLINE},
    {"bdi", TAG_INLINE},       {"bdo", TAG_INLINE},       {"big", TAG_INLINE},     {"cite", TAG_INLINE},
    {"code", TAG_INLINE},      {"data", TAG_INLINE},      {"del", TAG_INLINE},     {"dfn", TAG_INLINE},
    {"em", TAG_INLINE},        {"font", TAG_INLINE},      {"i", TAG_INLINE},       {"iframe", TAG_DROPPED},
    {"ins", TAG_INLINE},       {"kbd", TAG_INLINE},       {"mark", TAG_INLINE},    {"nobr", TAG_INLINE},
    {"noembed", TAG_DROPPED},  {"noframes", TAG_DROPPED}, {"s", TAG_INLINE},       {"samp", TAG_INLINE},
    {"script", TAG_DROPPED},   {"small", TAG_INLINE},     {"span", TAG_INLINE},    {"strike", TAG_INLINE},
    {"strong", TAG_INLINE},    {"style", TAG_DROPPED},    {"sub", TAG_INLINE},     {"sup", TAG_INLINE},
    {"template", TAG_DROPPED}, {"time", TAG_INLINE},      {"tt", TAG_INLINE},      {"u", TAG_INLINE},
    {"var", TAG_INLINE},       {"wbr", TAG_INLINE},
};

/* Where the text is read, and its result written. The result is behind the reading nowhere: whatever is read is at
 * least as long as what it becomes. */
typedef struct position {
    const uint8_t *at, *end;
    const uint8_t *next_tag,
        *next_reference; /* the next '<' and '&', or `end`; looked for again once they are passed */
    uint8_t *to;
} position;

static bool is_letter(uint8_t byte)
{
    return (uint8_t)((byte | 0x20) - 'a') < 26;
}

static bool is_space(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r' || byte == '\f';
}

static bool ends_name(uint8_t byte)
{
    return is_space(byte) || byte == '/' || byte == '>';
}

static const uint8_t *find(const uint8_t *at, const uint8_t *end, uint8_t byte)
{
    const uint8_t *found = at < end ? memchr(at, byte, (size_t)(end - at)) : NULL;
    return found != NULL ? found : end;
}

static bool begins_with(const uint8_t *at, const uint8_t *end, const char *word, size_t length)
{
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

static void copy(position *self, const uint8_t *until)
{
    const size_t length = (size_t)(until - self->at);
    memcpy(self->to, self->at, length);
    self->to += length;
    self->at = until;
}

/* ----- tags ----- */

/* The key of the name that begins at `name`, which may be too long for one; sets its end. */
static uint64_t read_name(const uint8_t *name, const uint8_t *end, const uint8_t **end_out)
{
    uint8_t lower[SS_SHORT_NAME_BYTES];
    size_t size = 0;
    const uint8_t *at = name;
    for (; at < end && !ends_name(*at); at++, size++)
        if (size < sizeof lower)
            lower[size] = *at >= 'A' && *at <= 'Z' ? *at | 0x20 : *at;
    *end_out = at;
    return size <= sizeof lower ? ss_short_name_key(lower, size) : 0;
}

static const uint8_t *skip_spaces(const uint8_t *at, const uint8_t *end)
{
    while (at < end && is_space(*at))
        at++;
    return at;
}

/* Skip the value of an attribute, behind its '='. */
static const uint8_t *skip_value(const uint8_t *at, const uint8_t *end)
{
    at = skip_spaces(at, end);
    if (at < end && (*at == '"' || *at == '\'')) {
        const uint8_t *quote = find(at + 1, end, *at);
        return quote < end ? quote + 1 : end;
    }
    while (at < end && !is_space(*at) && *at != '>')
        at++;
    return at;
}

/* Skip the attributes of a tag and its '>'. *empty_out: it ends in "/>". */
static const uint8_t *skip_attributes(const uint8_t *at, const uint8_t *end, bool *empty_out)
{
    for (;;) {
        *empty_out = false;
        for (; at < end && (is_space(*at) || *at == '/'); at++)
            *empty_out = *at == '/';
        if (at == end || *at == '>')
            return at < end ? at + 1 : end;
        at++; /* a name has at least one byte, even if that is '=' */
        while (at < end && !ends_name(*at) && *at != '=')
            at++;
        at = skip_spaces(at, end);
        if (at < end && *at == '=')
            at = skip_value(at + 1, end);
    }
}

/* Skip what is inside an element that is dropped, and its end tag. */
static const uint8_t *skip_content(const uint8_t *at, const uint8_t *end, uint64_t name)
{
    bool unused;
    const uint8_t *name_end;
    for (;;) {
        at = find(at, end, '<');
        if (at == end)
            return end;
        at++;
        if (at < end && *at == '/' && read_name(at + 1, end, &name_end) == name && name_end < end)
            return skip_attributes(name_end, end, &unused);
    }
}

/* `name` is where the name of a tag begins. */
static void take_tag(position *self, const uint8_t *name, bool is_start)
{
    bool empty;
    const uint8_t *name_end;
    const uint64_t key = read_name(name, self->end, &name_end);
    const tag_kind kind = (tag_kind)ss_short_name_find(tag_kinds, sizeof tag_kinds / sizeof *tag_kinds, key);
    self->at = skip_attributes(name_end, self->end, &empty);
    if (kind == TAG_DROPPED && is_start && !empty)
        self->at = skip_content(self->at, self->end, key);
    if (kind != TAG_INLINE)
        *self->to++ = '\n';
}

/* ----- comments, declarations, CDATA ----- */

/* Where a '>' behind two equal bytes is, at `first` or later, or `end`. */
static const uint8_t *find_close(const uint8_t *first, const uint8_t *end, uint8_t byte)
{
    const uint8_t *at = find(first, end, '>');
    while (at < end && (at - first < 2 || at[-1] != byte || at[-2] != byte))
        at = find(at + 1, end, '>');
    return at;
}

/* The place behind a comment, of which "<!--" is at `begin`. It may close with the two dashes that open it. */
static const uint8_t *skip_comment(const uint8_t *begin, const uint8_t *end)
{
    const uint8_t *at = begin + 3;
    do {
        at = find(at + 1, end, '>');
        if (at < end && at[-1] == '-' && at[-2] == '-')
            return at + 1;
    } while (at < end && !(at - begin >= 7 && at[-1] == '!' && at[-2] == '-' && at[-3] == '-'));
    return at < end ? at + 1 : end;
}

/* "<!" or "<?" is at the position. */
static void take_declaration(position *self)
{
    static const char cdata[] = "<![CDATA[";
    if (begins_with(self->at, self->end, "<!--", 4)) {
        self->at = skip_comment(self->at, self->end);
        return;
    }
    if (begins_with(self->at, self->end, cdata, sizeof cdata - 1)) {
        self->at += sizeof cdata - 1;
        const uint8_t *close = find_close(self->at, self->end, ']');
        copy(self, close < self->end ? close - 2 : self->end);
        self->at = close < self->end ? close + 1 : self->end;
        return;
    }
    const uint8_t *close = find(self->at, self->end, '>');
    self->at = close < self->end ? close + 1 : self->end;
}

/* ----- text ----- */

/* '<' is at the position. */
static void take_markup(position *self)
{
    const uint8_t *at = self->at;
    const size_t left = (size_t)(self->end - at);
    if (left > 1 && is_letter(at[1]))
        take_tag(self, at + 1, true);
    else if (left > 2 && at[1] == '/' && is_letter(at[2]))
        take_tag(self, at + 2, false);
    else if (left > 1 && (at[1] == '!' || at[1] == '?'))
        take_declaration(self);
    else
        copy(self, at + 1);
}

/* '&' is at the position. */
static void take_reference(position *self)
{
    uint32_t point;
    const size_t length = ss_character_reference_read(self->at, (size_t)(self->end - self->at), &point);
    if (length == 0) {
        copy(self, self->at + 1);
        return;
    }
    self->to += ss_utf8_encode(point, self->to);
    self->at += length;
}

static void remove_all(position *self)
{
    while (self->at < self->end) {
        if (self->next_tag < self->at)
            self->next_tag = find(self->at, self->end, '<');
        if (self->next_reference < self->at)
            self->next_reference = find(self->at, self->end, '&');
        copy(self, self->next_tag < self->next_reference ? self->next_tag : self->next_reference);
        if (self->at == self->end)
            return;
        if (*self->at == '<')
            take_markup(self);
        else
            take_reference(self);
    }
}

sstore_status ss_markup_remove(ss_markup *self, const uint8_t *text, size_t size, sstore_error *error)
{
    self->size = 0;
    if (size > self->capacity) {
        const size_t capacity = ss_max_u64(size, 2 * self->capacity);
        uint8_t *bytes = ss_realloc(NULL, capacity, 1);
        if (bytes == NULL)
            return ss_fail_memory(error, capacity);
        ss_free(self->bytes);
        self->bytes = bytes;
        self->capacity = capacity;
    }
    if (size == 0)
        return SSTORE_OK;
    position reading = {.at = text,
                        .end = text + size,
                        .next_tag = find(text, text + size, '<'),
                        .next_reference = find(text, text + size, '&'),
                        .to = self->bytes};
    remove_all(&reading);
    self->size = (size_t)(reading.to - self->bytes);
    assert(self->size <= size);
    return SSTORE_OK;
}

void ss_markup_free(ss_markup *self)
{
    ss_free(self->bytes);
    *self = (ss_markup){0};
}
