/*
 * input_json.c - takes a record from the members of a JSON object.
 */
#include "input/input_json.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input/input_hint.h"
#include "input/input_value.h"
#include "input/name_text.h"
#include "input/padding.h"
#include "output/json_members.h"
#include "output/records.h"

#define WORD_BYTES 8u
#define JSON_DEFAULT_ID_KEY "id"

/* The members of an object that say something; NULL: they are not looked for. */
typedef struct row_members {
    const json_member *fingerprint, *id, *name, *escaped_name, *radix, *recipe;
} row_members;

static bool has_id_column(const line_format *format)
{
    for (size_t i = 0; i < format->column_count; i++)
        if (line_column_at(format, i) == LINE_COLUMN_ID)
            return true;
    return false;
}

/* Name the key in front of a reason. */
static bool fail_at(line_fault *fault, const json_member *member)
{
    const line_fault reason = *fault;
    char key[64];
    (void)sstore_escape(member->key, strlen(member->key), false, key, sizeof key);
    return line_fault_set(fault, "key '%s': %s", key, reason.reason);
}

static bool fail_absent(line_fault *fault, const char *expected, const json_member *member, const char *hint)
{
    char keys[JSON_KEYS_BYTES];
    (void)sstore_escape(member->text, strlen(member->text), false, keys, sizeof keys);
    (void)line_fault_set(fault, "expected %s, found %s%s%s%s", expected,
                         member->kind == MEMBER_ABSENT ? "no such key" : "null", keys[0] != '\0' ? ", but " : "", keys,
                         hint);
    (void)fail_at(fault, member);
    fault->hint_at -= strlen(hint);
    return false;
}

/* The bits that all fingerprints have, or 0. */
static uint32_t known_bits(const line_format *format)
{
    return format->pads ? format->bits : 64 * format->words;
}

/* How many bytes a fingerprint has, as messages say it. */
static uint32_t expected_bytes(const line_format *format)
{
    const uint32_t known = known_bits(format);
    return known > 0 ? (known + 7) / 8 : WORD_BYTES;
}

/* The bits of an array that is a fingerprint, or 0. An array of numbers 0 and 1 has a bit in each, unless a known width
 * says that they are bytes. */
static size_t find_bits(const line_format *format, const json_member *member, bool *are_bits_out)
{
    const uint32_t known = known_bits(format);
    const size_t items = member->length;
    *are_bits_out = member->kind == MEMBER_BITS &&
                    (known > 0 ? items == known : items >= 64 && (format->pads || items % 64 == 0));
    const size_t bits = *are_bits_out ? items : items <= MEMBER_MAX_BYTES ? 8 * items : 0;
    if (known > 0)
        return padding_fits(bits, known) ? known : 0;
    return bits <= 64 * SSTORE_MAX_WORDS && (format->pads || bits % 64 == 0) &&
                   (format->words == 0 || (bits + 63) / 64 == format->words)
               ? bits
               : 0;
}

static bool take_array(const line_format *format, const json_member *member, line_record *record, line_fault *fault)
{
    uint64_t words[SSTORE_MAX_WORDS] = {0};
    char *bytes = (char *)words;
    bool are_bits;
    const size_t bits = find_bits(format, member, &are_bits), items = member->length;
    if (bits == 0)
        return line_fault_set(fault, "expected a fingerprint of %" PRIu32 " bytes, found an array of %zu%s",
                              expected_bytes(format), items,
                              format->pads || format->is_field || items > MEMBER_MAX_BYTES
                                  ? ""
                                  : "; --pad fills up other sizes");
    if (are_bits || member->kind == MEMBER_BYTES)
        memcpy(bytes, member->text, are_bits ? (items + 7) / 8 : items);
    else
        for (size_t i = 0; i < items; i++)
            bytes[i] = (char)((unsigned char)member->text[i / 8] >> (7 - i % 8) & 1);
    record->bits = (uint32_t)bits;
    record->words = (uint32_t)(bits + 63) / 64;
    record->decides = member->kind == MEMBER_BYTES;
    for (size_t i = 0; i < record->words; i++)
        record->fingerprint[i] = be64toh(words[i]);
    return true;
}

/* Integers, each with an equal part of the bits, the highest first. */
static bool take_parts(const line_format *format, const json_member *member, line_record *record, line_fault *fault)
{
    line_format decimal = *format;
    value_part parts[VALUE_MAX_PARTS];
    size_t count = 0;
    decimal.radix = RADIX_DEC;
    for (const char *at = member->text, *end = at + member->length, *stop; at < end; at = stop + 1) {
        stop = memchr(at, ',', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        if (count == VALUE_MAX_PARTS || format->pads)
            return line_fault_set(fault, "expected a fingerprint of %s, found an array of other integers",
                                  format->pads ? "bytes or bits" : "at most 32 parts");
        if (!value_parse_part(&decimal, at, (size_t)(stop - at), &parts[count++], fault))
            return false;
    }
    return value_join(&decimal, parts, count, record, fault);
}

/* Is it a string that may be a decimal number as well as hex? */
static bool is_ambiguous(const line_format *format, const json_member *member)
{
    if (format->radix != RADIX_HEX || member->length == 0 || (member->text[0] == '0' && member->length > 1))
        return false;
    for (size_t i = 0; i < member->length; i++)
        if (member->text[i] < '0' || member->text[i] > '9')
            return false;
    return true;
}

bool json_fingerprint_parse(const line_format *format, const json_member *member, line_record *record,
                            line_fault *fault)
{
    bool right = false;
    switch (member->kind) {
    case MEMBER_ABSENT:
    case MEMBER_NULL:
        (void)fail_absent(fault, "a fingerprint", member,
                          member->kind == MEMBER_NULL        ? LINE_SEE_SKIP_BAD
                          : input_hint_is_name(member->text) ? "; " INPUT_NAMES_TO_LINES
                                                             : "; --fingerprint-field names its key; of texts, "
                                                               "'sstore fingerprint --jsonl' makes fingerprints");
        fault->is_null = true;
        return false;
    case MEMBER_BYTES:
    case MEMBER_BITS: right = take_array(format, member, record, fault); break;
    case MEMBER_PARTS: right = take_parts(format, member, record, fault); break;
    case MEMBER_INTEGER: right = value_parse_number(format, member->text, member->length, record, fault); break;
    case MEMBER_STRING:
        right = value_parse(format, member->text, member->length, record, fault);
        record->value = is_ambiguous(format, member) ? LINE_VALUE_DIGITS : LINE_VALUE_TEXT;
        break;
    case MEMBER_OTHER:
        (void)line_fault_set(fault,
                             "expected a fingerprint as a string, an integer or an array of %" PRIu32
                             " bytes, found %s%s",
                             expected_bytes(format), member->text,
                             strcmp(member->text, JSON_REAL_NAME) == 0
                                 ? ", which is exact only up to 2^53: write it as a string of digits"
                             : strcmp(member->text, JSON_ARRAY_NAME) == 0
                                 ? ": write the fingerprint as a string of hex digits"
                                 : "");
        break;
    }
    return right || fail_at(fault, member);
}

static bool take_id(const json_member *member, uint64_t *id_out, line_fault *fault)
{
    bool right;
    if (member->kind == MEMBER_STRING || member->kind == MEMBER_INTEGER)
        right = line_parse_id(member->text, member->length, id_out, fault);
    else
        right = line_fault_set(fault, "expected an id as an integer or a string of decimal digits, found %s",
                               member->kind == MEMBER_OTHER ? member->text : "an array");
    return right || fail_at(fault, member);
}

static bool has_value(const json_member *member)
{
    return member != NULL && member->kind != MEMBER_ABSENT && member->kind != MEMBER_NULL;
}

/* The name is that of 'sstore dump', or else the id. */
static bool take_name(const line_format *format, const row_members *members, line_record *record_out, line_fault *fault)
{
    const json_member *name = has_value(members->name)           ? members->name
                              : has_value(members->escaped_name) ? members->escaped_name
                                                                 : members->id;
    record_out->has_id = !format->are_names && has_value(name);
    if (!has_value(name) && format->must_have_ids && !format->are_names)
        return true;
    if (!has_value(name))
        return fail_absent(fault, "a name", name, "; --id-field names its key");
    if (name->kind != MEMBER_STRING && name->kind != MEMBER_INTEGER)
        (void)line_fault_set(fault, "expected a name as a string, found %s",
                             name->kind == MEMBER_OTHER ? name->text : "an array");
    else if ((name == members->escaped_name ? name_decode : name_take)(name->text, name->length, format->name_room,
                                                                       &record_out->name_length, fault))
        return true;
    return fail_at(fault, name);
}

static bool take_members(const line_format *format, const row_members *members, line_record *record_out,
                         line_fault *fault)
{
    const json_member *id = members->id;
    if (format->are_names) {
        record_out->fingerprint[0] = 0;
        return take_name(format, members, record_out, fault);
    }
    record_out->has_id = id->kind != MEMBER_ABSENT && id->kind != MEMBER_NULL;
    if (format->are_ids && !record_out->has_id)
        return fail_absent(fault, "an id", id, "; --id-field names its key");
    if (format->are_ids)
        return take_id(id, &record_out->fingerprint[0], fault);
    if (!json_fingerprint_parse(format, members->fingerprint, record_out, fault))
        return false;
    if (format->has_names)
        return take_name(format, members, record_out, fault);
    if (format->ignore_ids || !has_id_column(format))
        record_out->has_id = false;
    else if (id->kind == MEMBER_ABSENT && !format->id_may_be_missing)
        return fail_absent(fault, "an id or null", id, "; --id-field names its key");
    if (!record_out->has_id || take_id(id, &record_out->id, fault))
        return true;
    if (id->kind == MEMBER_STRING && !format->must_have_ids)
        line_fault_set_hint(fault, "; if it is a name, --columns fingerprint leaves it out, and 'sstore build --names' "
                                   "keeps it");
    return false;
}

/* The radix that a line of 'sstore dump' states, if it has one. A key of this name with something else is ignored. */
static bool take_radix(const line_format *format, const json_member *member, radix_form *radix_out, line_fault *fault)
{
    char name[16] = "";
    *radix_out = format->radix;
    if (member == NULL || member->kind != MEMBER_STRING || member->length >= sizeof name)
        return true;
    memcpy(name, member->text, member->length);
    if (!radix_of_name(name, radix_out) || !format->radix_given || *radix_out == format->radix)
        return true;
    return line_fault_set(fault, "key 'radix': the line is of radix '%s', not '%s'; leave out --radix", name,
                          radix_name(format->radix));
}

/* The recipe that the first line of 'sstore dump' states, if it has one. */
static void take_recipe(const json_member *member, char to[LINE_RECIPE_BYTES])
{
    if (member->kind != MEMBER_STRING || member->length >= LINE_RECIPE_BYTES)
        return;
    memcpy(to, member->text, member->length);
    to[member->length] = '\0';
}

/* Let the next member be of a key, unless the fingerprint or the id has it. */
static json_member *add_key(const line_format *format, const char *key, json_member *members, size_t *count)
{
    if (strcmp(format->fingerprint_key, key) == 0 || strcmp(format->id_key, key) == 0)
        return NULL;
    members[*count].key = key;
    return &members[(*count)++];
}

static bool is_string(const char *line, size_t length)
{
    size_t at = 0;
    while (at < length && memchr(" \t\r\n", line[at], 4) != NULL)
        at++;
    return at < length && line[at] == '"';
}

/* Take a record from the members that were found. */
static bool take_record(const line_format *format, const row_members *members, line_record *record_out,
                        line_fault *fault)
{
    line_format stated;
    radix_form radix;
    if (!take_radix(format, members->radix, &radix, fault))
        return false;
    if (members->recipe != NULL)
        take_recipe(members->recipe, record_out->recipe);
    if (radix == format->radix)
        return take_members(format, members, record_out, fault);
    stated = *format;
    stated.radix = radix;
    return take_members(&stated, members, record_out, fault);
}

bool json_line_parse(const line_format *format, const char *line, size_t length, line_record *record_out,
                     line_fault *fault)
{
    json_member members[6]; /* whose rooms are not zeroed */
    char reason[JSON_REASON_BYTES], shown[4 * JSON_REASON_BYTES];
    members[0].key = format->fingerprint_key;
    members[1].key = format->id_key;
    size_t count = 2;
    row_members found = {.fingerprint = &members[0], .id = &members[1]};
    found.radix = add_key(format, RECORDS_RADIX_KEY, members, &count);
    if (format->takes_recipe)
        found.recipe = add_key(format, RECORDS_RECIPE_KEY, members, &count);
    if (format->has_names && strcmp(format->id_key, JSON_DEFAULT_ID_KEY) == 0) {
        found.name = add_key(format, RECORDS_NAME_KEY, members, &count);
        found.escaped_name = add_key(format, RECORDS_ESCAPED_NAME_KEY, members, &count);
    }
    line_record_clear(record_out);
    if (length == 0)
        return line_fault_set(fault, "expected a JSON object, found an empty line");
    /* Few lines have escapes, which are decoded elsewhere. */
    char *room = memchr(line, '\\', length) != NULL ? malloc(length) : NULL;
    if (room == NULL && memchr(line, '\\', length) != NULL)
        return line_fault_set(fault, "out of memory");
    bool right = json_members_read(line, length, members, count, room, reason);
    if (!right) {
        (void)sstore_escape(reason, strlen(reason), false, shown, sizeof shown);
        (void)line_fault_set(fault, "expected a JSON object: %s%s", shown,
                             is_string(line, length) ? "; " INPUT_STRINGS_TO_LINES : "");
    } else {
        if (members[0].kind == MEMBER_ABSENT && !format->are_ids)
            members[0].text = json_first_keys(line, length, members[0].room);
        right = take_record(format, &found, record_out, fault);
    }
    free(room);
    return right;
}
