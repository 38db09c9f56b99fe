#include "input/line_fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sstore.h"

/* How much of a wrong field a message shows. */
#define SHOWN_BYTES 40

bool line_fault_set(line_fault *fault, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->reason, sizeof fault->reason, format, arguments);
    va_end(arguments);
    fault->hint_at = strlen(fault->reason);
    fault->has_sure_hint = fault->is_null = false;
    return false;
}

bool line_fault_found(line_fault *fault, const char *expected, const char *found, size_t length)
{
    char shown[4 * SHOWN_BYTES + 1];
    if (length == 0)
        return line_fault_set(fault, "expected %s, found nothing", expected);
    (void)sstore_escape(found, length < SHOWN_BYTES ? length : SHOWN_BYTES, 0, shown, sizeof shown);
    return line_fault_set(fault, "expected %s, found '%s%s'", expected, shown, length > SHOWN_BYTES ? "..." : "");
}

void line_fault_set_hint(line_fault *fault, const char *hint)
{
    snprintf(fault->reason + fault->hint_at, sizeof fault->reason - fault->hint_at, "%s", hint);
}
