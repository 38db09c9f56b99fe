#include "serve/request_value.h"

#include <inttypes.h>
#include <string.h>

#include "input/input_line.h"

bool request_fail_fault(reply *reply_out, const line_fault *fault)
{
    return reply_fail(reply_out, REPLY_BAD_REQUEST, "%s", fault->reason);
}

bool request_read_whole(const char *name, const char *text, uint64_t *value_out, line_fault *fault)
{
    line_fault unused;
    return line_parse_id(text, strlen(text), value_out, &unused) ||
           line_fault_set(fault, "%s: expected a whole number, found '%.100s'", name, text);
}

bool request_read_fingerprint(const request *self, const char *name, const char *text, uint64_t *to, line_fault *fault)
{
    uint64_t ignored[SSTORE_MAX_WORDS];
    line_fault cause, unused;
    const size_t length = strlen(text);
    if (line_parse_hex(self->bits, text, length, to, &cause) > 0)
        return true;
    const uint32_t found = line_parse_hex(0, text, length, ignored, &unused);
    if (found > 0)
        return line_fault_set(fault, "%s: expected a fingerprint of %" PRIu32 " bits, found one of %" PRIu32 " bits",
                              name, self->bits, 64 * found);
    /* The hint names options of commands. */
    return line_fault_set(fault, "%s: %.*s", name, (int)cause.hint_at, cause.reason);
}

bool json_take_text(json_view value, char to[REQUEST_TEXT_BYTES])
{
    const size_t length = json_view_text(value, to, REQUEST_TEXT_BYTES);
    return json_view_kind(value) == JSON_VIEW_STRING && strlen(to) == length;
}

bool request_read_json_fingerprint(const request *self, json_view value, const char *name, uint64_t *to,
                                   line_fault *fault)
{
    char text[REQUEST_TEXT_BYTES];
    if (!json_take_text(value, text))
        return line_fault_set(fault, "%s: expected a string, a fingerprint of %" PRIu32 " bits in hexadecimal digits",
                              name, self->bits);
    return request_read_fingerprint(self, name, text, to, fault);
}

bool request_read_json_id(json_view value, const char *name, uint64_t *to, line_fault *fault)
{
    char text[REQUEST_TEXT_BYTES];
    if (json_take_text(value, text))
        return request_read_whole(name, text, to, fault);
    return json_view_whole(value, to) ||
           line_fault_set(fault, "%s: expected an id, a whole number or a string with one", name);
}
