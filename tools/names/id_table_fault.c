#include "names/id_table_fault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

sstore_status id_table_fail(sstore_error *error, sstore_status status, const char *path, uint64_t offset,
                            const char *reason)
{
    const int number = status == SSTORE_ERROR_IO ? errno : 0;
    char name[600], place[48] = "";
    (void)sstore_escape(path, strlen(path), false, name, sizeof name);
    *error = (sstore_error){.status = status, .system_errno = number, .offset = offset};
    snprintf(error->file, sizeof error->file, "%s", path);
    if (offset != SSTORE_NO_OFFSET)
        snprintf(place, sizeof place, "at byte %" PRIu64 ": ", offset);
    snprintf(error->message, sizeof error->message, "%s: %s%s%s%s", name, place, reason, number != 0 ? ": " : "",
             number != 0                      ? strerror(number)
             : status == SSTORE_ERROR_DAMAGED ? "; restore the id table from a copy, or make it again"
                                              : "");
    return status;
}
