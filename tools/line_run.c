/*
 * line_run.c - lines of the common shapes, without looking for their ends first.
 *
 * The common shapes: a fingerprint and an id in either order, or one alone, as 1 to 16 hex digits without 0x or as
 * decimal numbers; a tab or one space between them; LF or CRLF behind them. In such a line no byte is left over, so it
 * does not matter what else a field could hold.
 */
#include "line_run.h"

#include "digits.h"

/* The longest line: two fields, as the functions of digits.h read them, a sign, and three bytes between and behind. */
#define MOST_LINE_BYTES ((size_t)2 * DIGITS_READ_BYTES + 4)

/* Which columns there are, of those that are common. */
typedef enum line_shape { SHAPE_OTHER, SHAPE_FINGERPRINT, SHAPE_FINGERPRINT_ID, SHAPE_ID_FINGERPRINT } line_shape;

static line_shape choose_shape(const line_format *format)
{
    const line_column *columns = format->columns;
    if (format->are_ids)
        return SHAPE_OTHER;
    if (format->column_count == 1 && columns[0] == LINE_COLUMN_FINGERPRINT)
        return SHAPE_FINGERPRINT;
    if (format->column_count != 2)
        return SHAPE_OTHER;
    if (columns[0] == LINE_COLUMN_FINGERPRINT && columns[1] == LINE_COLUMN_ID)
        return SHAPE_FINGERPRINT_ID;
    return columns[0] == LINE_COLUMN_ID && columns[1] == LINE_COLUMN_FINGERPRINT ? SHAPE_ID_FINGERPRINT : SHAPE_OTHER;
}

/* Each of these takes a part of the line, and returns what follows it, or NULL if there is something else. */

static inline const char *take_fingerprint(bool decimal, const char *at, uint64_t *value_out)
{
    if (!decimal) {
        size_t count = digits_read_hex(at, value_out);
        return count > 0 ? at + count : NULL;
    }
    bool negative = *at == '-';
    size_t count = digits_read_decimal(at + negative, value_out);
    if (count == 0 || (negative && *value_out > UINT64_C(1) << 63))
        return NULL;
    *value_out = negative ? 0 - *value_out : *value_out;
    return at + negative + count;
}

static inline const char *take_id(const char *at, uint64_t *value_out)
{
    size_t count = digits_read_decimal(at, value_out);
    return count > 0 ? at + count : NULL;
}

static inline const char *take_separator(const char *at)
{
    return *at == '\t' || *at == ' ' ? at + 1 : NULL;
}

static inline const char *take_end(const char *at)
{
    if (*at == '\n')
        return at + 1;
    return at[0] == '\r' && at[1] == '\n' ? at + 2 : NULL;
}

/* What follows the fingerprint. `id_out` is NULL where no id is wanted. */
static inline const char *take_id_behind(const line_format *format, const char *at, uint64_t *id_out)
{
    uint64_t ignored;
    const char *field = take_separator(at);
    if (field == NULL)
        return id_out == NULL && format->id_may_be_missing ? take_end(at) : NULL;
    if (id_out == NULL && *field == '-')
        return take_end(field + 1);
    if (id_out == NULL && !format->ignore_ids)
        return NULL;
    at = take_id(field, id_out != NULL ? id_out : &ignored);
    return at != NULL ? take_end(at) : NULL;
}

static inline const char *take_id_before(const line_format *format, const char *at, uint64_t *id_out)
{
    uint64_t ignored;
    if (id_out == NULL && !format->ignore_ids)
        return NULL;
    at = take_id(at, id_out != NULL ? id_out : &ignored);
    return at != NULL ? take_separator(at) : NULL;
}

static inline const char *take_line(const line_format *format, line_shape shape, const char *at,
                                    uint64_t *fingerprint_out, uint64_t *id_out)
{
    if (shape == SHAPE_ID_FINGERPRINT)
        at = take_id_before(format, at, id_out);
    if (at != NULL)
        at = take_fingerprint(format->decimal, at, fingerprint_out);
    if (at != NULL)
        at = shape == SHAPE_FINGERPRINT_ID ? take_id_behind(format, at, id_out) : take_end(at);
    return at;
}

line_run line_run_parse(const line_format *format, bool with_ids, const char *text, size_t size, uint64_t *fingerprints,
                        uint64_t *ids, size_t most)
{
    const line_shape shape = choose_shape(format);
    line_run run = {0, 0};
    if (shape == SHAPE_OTHER || (with_ids && (shape == SHAPE_FINGERPRINT || format->ignore_ids)))
        return run;
    while (run.count < most && size - run.bytes >= MOST_LINE_BYTES) {
        const char *line = text + run.bytes;
        const char *next = take_line(format, shape, line, &fingerprints[run.count], with_ids ? &ids[run.count] : NULL);
        if (next == NULL)
            break;
        run.count++;
        run.bytes += (size_t)(next - line);
    }
    return run;
}
