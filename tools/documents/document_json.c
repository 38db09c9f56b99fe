#include "documents/document_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "documents/document_order.h"
#include "input/input_hint.h"
#include "input/input_line.h"
#include "output/json_members.h"
#include "output/messages.h"
#include "sstore.h"

static bool fail(document_batch *batch, document *doc, const char *what, const char *reason)
{
    char shown[4 * JSON_REASON_BYTES];
    (void)sstore_escape(reason, strlen(reason), false, shown, sizeof shown);
    document_fault(batch, doc, "%s%s", what, shown);
    return false;
}

/* The line has no JSON object. If the first one does not even begin as one, the file is of another kind. */
static bool fail_object(document_batch *batch, document *doc, const char *line, size_t length, const char *reason)
{
    char shown[4 * JSON_REASON_BYTES];
    const bool is_other = doc->line == 1 && length > 0 && line[0] != '{' && line[0] != '[';
    const bool is_csv = is_other && memchr(line, ',', length) != NULL;
    (void)sstore_escape(reason, strlen(reason), false, shown, sizeof shown);
    document_fault(batch, doc, "expected a JSON object: %s%s", shown,
                   is_csv     ? "; if this is CSV, --csv reads it"
                   : is_other ? "; --lines takes each line as a document"
                              : "");
    return false;
}

static bool fail_key(document_batch *batch, document *doc, const json_member *member, const char *expected,
                     const char *option)
{
    char reason[2 * JSON_REASON_BYTES];
    const bool is_named = member->kind == MEMBER_OTHER && strcmp(member->text, JSON_ARRAY_NAME) != 0;
    const char *keys = member->kind == MEMBER_ABSENT ? member->text : "";
    const char *found = member->kind == MEMBER_ABSENT    ? "no such key"
                        : member->kind == MEMBER_NULL    ? "null"
                        : member->kind == MEMBER_STRING  ? "a string"
                        : member->kind == MEMBER_INTEGER ? "a number"
                        : is_named                       ? member->text
                                                         : "an array";
    snprintf(reason, sizeof reason, "%.60s': expected %s, found %s%s%s%s%s", member->key, expected, found,
             keys[0] != '\0' ? ", but " : "", keys, member->kind == MEMBER_ABSENT ? "; the key is named by " : "",
             member->kind == MEMBER_ABSENT ? option : "");
    return fail(batch, doc, "key '", reason);
}

static bool take_id(document_batch *batch, document *doc, const document_form *form, const json_member *member)
{
    if (member->kind == MEMBER_INTEGER && !form->ids_are_names) {
        line_fault fault;
        return line_parse_id(member->text, member->length, &doc->id, &fault) || fail(batch, doc, "", fault.reason);
    }
    if ((member->kind != MEMBER_STRING && member->kind != MEMBER_INTEGER) ||
        memchr(member->text, '\0', member->length) != NULL)
        return fail_key(batch, doc, member, "a whole number or a string without zeros", "--id-field");
    doc->name = document_batch_keep(batch, member->text, member->length);
    return doc->name != NULL || fail(batch, doc, "", "out of memory");
}

static bool take_order(document_batch *batch, document *doc, const document_form *form, const json_member *member)
{
    const bool is_real = member->kind == MEMBER_OTHER && strcmp(member->text, JSON_REAL_NAME) == 0;
    const bool has_text = member->kind == MEMBER_INTEGER || member->kind == MEMBER_STRING;
    const bool has_none = member->kind == MEMBER_ABSENT || member->kind == MEMBER_NULL;
    doc->lacks_order = member->kind == MEMBER_ABSENT;
    const char *text = is_real ? member->room : has_text ? member->text : "";
    const size_t length = is_real ? strlen(text) : has_text ? member->length : 0;
    if ((is_real || has_text || has_none) && document_order_read(text, length, form->is_descending, &doc->order))
        return true;
    document_fault(batch, doc, "%s", DOCUMENT_ORDER_EXPECTED);
    return false;
}

/* The text is that of a member, which is gone at the end. An array was decoded into its room. */
static void take_text(document_batch *batch, document *doc, const json_member *member, document_text *text_out)
{
    char *copy = batch->decoded + doc->length + 1; /* behind all strings */
    const bool is_array = member->text == member->room;
    if (is_array)
        memcpy(copy, member->room, sizeof member->room);
    doc->text_kind = member->kind;
    *text_out = (document_text){is_array ? copy : member->text, member->length};
}

bool document_json_read(document_batch *batch, document *doc, const document_form *form, document_text *text_out)
{
    json_member members[3] = {{.key = form->text_key}};
    size_t count = 1;
    const json_member *const text = &members[0], *id = NULL, *order = NULL;
    char reason[JSON_REASON_BYTES];
    const size_t bom_bytes = doc->line == 1 ? input_hint_bom_bytes(batch->bytes + doc->begin, doc->length) : 0;
    const char *const line = batch->bytes + doc->begin + bom_bytes;
    const size_t length = doc->length - bom_bytes;
    if (form->id_key != NULL) {
        id = &members[count];
        members[count++].key = form->id_key;
    }
    if (form->order_key != NULL) {
        order = &members[count];
        members[count++].key = form->order_key;
    }
    if (!grow(&batch->decoded, &batch->decoded_capacity, doc->length + 1 + MEMBER_MAX_BYTES, 1))
        return fail(batch, doc, "", "out of memory");
    if (!json_members_read(line, length, members, count, batch->decoded, reason))
        return fail_object(batch, doc, line, length, reason);
    for (size_t i = 0; i < count; i++)
        if (members[i].kind == MEMBER_ABSENT && &members[i] != order)
            members[i].text = json_first_keys(line, length, members[i].room);
    if (text->kind != MEMBER_STRING && text->kind != MEMBER_NULL &&
        (text->kind == MEMBER_ABSENT || !form->takes_fingerprints))
        return fail_key(batch, doc, text, form->takes_fingerprints ? "a fingerprint" : "a string",
                        form->takes_fingerprints      ? "--fingerprint-field"
                        : form->may_take_fingerprints ? "--text-field, or by --fingerprint-field for fingerprints"
                                                      : "--text-field");
    take_text(batch, doc, text, text_out);
    return (id == NULL || take_id(batch, doc, form, id)) && (order == NULL || take_order(batch, doc, form, order));
}
