/*
 * input_json.c - takes a record from the members of a JSON object.
 */
#include "input/input_json.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "output/json_plain.h"

#define WORD_BYTES 8u

static bool has_id_column(const line_format *format)
{
    for (size_t i = 0; i < format->column_count; i++)
        if (format->columns[i] == LINE_COLUMN_ID)
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
    (void)line_fault_set(fault, "expected %s, found %s%s", expected,
                         member->kind == MEMBER_ABSENT ? "no such key" : "null", hint);
    return fail_at(fault, member);
}

/* The bytes of a fingerprint, which may be of any width if `words` is 0. Returns how many words they are, or 0. */
static uint32_t take_bytes(const json_member *member, uint32_t words, uint64_t *fingerprint_out, line_fault *fault)
{
    const size_t found = member->length / WORD_BYTES;
    if (member->length % WORD_BYTES != 0 || found == 0 || found > SSTORE_MAX_WORDS || (words != 0 && found != words)) {
        (void)line_fault_set(fault, "expected a fingerprint of %u bytes, found an array of %zu",
                             words > 1 ? WORD_BYTES * words : WORD_BYTES, member->length);
        return 0;
    }
    memcpy(fingerprint_out, member->text, member->length);
    for (size_t i = 0; i < found; i++)
        fingerprint_out[i] = be64toh(fingerprint_out[i]);
    return (uint32_t)found;
}

static bool take_fingerprint(const line_format *format, const json_member *member, line_record *record,
                             line_fault *fault)
{
    record->words = 0;
    if (member->kind == MEMBER_ABSENT || member->kind == MEMBER_NULL)
        return fail_absent(fault, "a fingerprint", member,
                           "; --fingerprint-field names its key; of texts, "
                           "'sstore fingerprint --jsonl' makes fingerprints");
    if (member->kind == MEMBER_BYTES)
        record->words = take_bytes(member, format->words, record->fingerprint, fault);
    else if (member->kind == MEMBER_OTHER)
        (void)line_fault_set(fault, "expected a fingerprint as a string, an integer or an array of %u bytes, found %s",
                             format->words > 1 ? WORD_BYTES * format->words : WORD_BYTES, member->text);
    else
        record->words = line_parse_fingerprint(member->kind == MEMBER_INTEGER ? RADIX_DEC : format->radix,
                                               format->words, member->text, member->length, record->fingerprint, fault);
    record->may_be_bits = format->words == 0 && member->kind == MEMBER_STRING && format->radix == RADIX_HEX &&
                          line_may_be_bits(record->fingerprint, record->words);
    return record->words > 0 || fail_at(fault, member);
}

static bool take_id(const json_member *member, uint64_t *id_out, line_fault *fault)
{
    bool right;
    if (member->kind == MEMBER_STRING || member->kind == MEMBER_INTEGER)
        right = line_parse_id(member->text, member->length, id_out, fault);
    else
        right = line_fault_set(fault, "expected an id as an integer or a string of decimal digits, found %s",
                               member->kind == MEMBER_BYTES ? "an array" : member->text);
    return right || fail_at(fault, member);
}

static bool take_members(const line_format *format, const json_member *fingerprint, const json_member *id,
                         line_record *record_out, line_fault *fault)
{
    record_out->has_id = id->kind != MEMBER_ABSENT && id->kind != MEMBER_NULL;
    if (format->are_ids && !record_out->has_id)
        return fail_absent(fault, "an id", id, "; --id-field names its key");
    if (format->are_ids)
        return take_id(id, &record_out->fingerprint[0], fault);
    if (!take_fingerprint(format, fingerprint, record_out, fault))
        return false;
    if (format->ignore_ids || !has_id_column(format))
        record_out->has_id = false;
    else if (id->kind == MEMBER_ABSENT && !format->id_may_be_missing)
        return fail_absent(fault, "an id or null", id, "; --id-field names its key");
    return !record_out->has_id || take_id(id, &record_out->id, fault);
}

bool json_line_parse(const line_format *format, const char *line, size_t length, line_record *record_out,
                     line_fault *fault)
{
    json_member members[2]; /* whose rooms are not zeroed */
    char reason[JSON_REASON_BYTES], shown[4 * JSON_REASON_BYTES];
    members[0].key = format->fingerprint_key;
    members[1].key = format->id_key;
    record_out->words = 1;
    record_out->may_be_bits = false;
    record_out->has_id = false;
    record_out->id = 0;
    if (length == 0)
        return line_fault_set(fault, "expected a JSON object, found an empty line");
    json_value *object = NULL;
    if (!json_plain_read(line, length, members, 2, NULL) &&
        (object = json_object_read(line, length, members, 2, reason)) == NULL) {
        (void)sstore_escape(reason, strlen(reason), false, shown, sizeof shown);
        return line_fault_set(fault, "expected a JSON object: %s", shown);
    }
    const bool right = take_members(format, &members[0], &members[1], record_out, fault);
    json_value_free(object);
    return right;
}
