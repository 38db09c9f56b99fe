#include "input/id_range.h"

#include <string.h>

#include "input/digits.h"

/* Read a number, if there is one, and go behind it. False: it does not fit into 64 bits. */
static bool read_end(const char **text, uint64_t *value)
{
    uint64_t read;
    bool fits;
    const size_t count = digits_read_any_decimal(*text, strlen(*text), &read, &fits);
    *text += count;
    if (count > 0)
        *value = read;
    return fits;
}

bool id_range_read(const char *text, sstore_id_filter *filter, line_fault *fault)
{
    uint64_t from = 0, to = UINT64_MAX;
    const char *at = text;
    bool fits = read_end(&at, &from);
    if (*at == '\0')
        to = from;
    else if (*at == '-')
        at++, fits = read_end(&at, &to) && fits;
    if (!fits || *at != '\0' || from > to || strpbrk(text, "0123456789") == NULL)
        return line_fault_set(fault, "expected a range of ids such as 100-199 or 100-, found '%.100s'", text);
    filter->min_id = from;
    filter->max_id = to;
    return true;
}
