#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"

#define MOST_SHOWN_BYTES 600u /* of a file's name in a message */

/* Copy `file`, keeping its end when it is too long: the end tells more. */
static void copy_file_name(char *to, size_t size, const char *file)
{
    size_t length = strlen(file);
    if (length < size) {
        memcpy(to, file, length + 1);
        return;
    }
    memcpy(to, "...", 3);
    memcpy(to + 3, file + (length - (size - 4)), size - 3);
}

/* The end of a file's name, short enough when escaped that the rest of the message has room. */
static const char *shown_end(const char *file)
{
    while (sstore_escape(file, strlen(file), 0, NULL, 0) > MOST_SHOWN_BYTES)
        file++;
    return file;
}

/* What to do about a refusal of the system, where its own words do not say. */
static const char *advice(int system_errno)
{
    switch (system_errno) {
    case EMFILE: return "; raise the limit of open files (ulimit -n), or compact the store";
    case EFBIG: return "; raise the limit of file sizes (ulimit -f), if it is not the file system's";
    default: return "";
    }
}

SS_PRINTF(6, 0)
static sstore_status fill(sstore_error *error, sstore_status status, int system_errno, const char *file,
                          uint64_t offset, const char *format, va_list arguments)
{
    if (error == NULL)
        return status;
    *error = (sstore_error){.status = status, .system_errno = system_errno, .offset = offset};
    char text[sizeof error->message];
    size_t used = 0;
    if (file != NULL) {
        copy_file_name(error->file, sizeof error->file, file);
        const char *shown = shown_end(error->file);
        used = (size_t)snprintf(text, sizeof text, "%s%s: ", shown != error->file ? "..." : "", shown);
    }
    vsnprintf(text + used, sizeof text - used, format, arguments);
    /* What a store says of itself, its recipe for one, is in some messages, and nobody vouches for it. */
    ss_printable(text, error->message, sizeof error->message);
    if (system_errno == 0)
        return status;
    char reason[128];
    /* The XSI form would need its result checked; the GNU form always returns a string. */
    const char *why = strerror_r(system_errno, reason, sizeof reason);
    const size_t length = strlen(error->message);
    snprintf(error->message + length, sizeof error->message - length, ": %s%s", why, advice(system_errno));
    return status;
}

sstore_status ss_fail(sstore_error *error, sstore_status status, int system_errno, const char *file, uint64_t offset,
                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, system_errno, file, offset, format, arguments);
    va_end(arguments);
    return status;
}

void ss_advise(sstore_error *error, const char *what)
{
    if (error == NULL)
        return;
    const size_t length = strlen(error->message);
    snprintf(error->message + length, sizeof error->message - length, "; %s", what);
}

void ss_fill_memory(sstore_error *error, uint64_t bytes)
{
    (void)ss_fail(error, SSTORE_ERROR_MEMORY, 0, NULL, SSTORE_NO_OFFSET, "out of memory: %llu bytes were refused",
                  (unsigned long long)bytes);
}

bool ss_is_of_one_file(const sstore_error *error)
{
    switch (error->status) {
    case SSTORE_ERROR_NOT_FOUND:
    case SSTORE_ERROR_DAMAGED:
    case SSTORE_ERROR_UNSUPPORTED: return true;
    default: return error->system_errno == EIO || error->system_errno == EACCES;
    }
}

sstore_status ss_fail_argument(sstore_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, SSTORE_ERROR_ARGUMENT, 0, NULL, SSTORE_NO_OFFSET, format, arguments);
    va_end(arguments);
    return SSTORE_ERROR_ARGUMENT;
}

sstore_status ss_fail_damaged(sstore_error *error, const char *file, uint64_t offset, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, SSTORE_ERROR_DAMAGED, 0, file, offset, format, arguments);
    va_end(arguments);
    return SSTORE_ERROR_DAMAGED;
}

/* ----- names ----- */

const char *sstore_status_name(sstore_status status)
{
    switch (status) {
    case SSTORE_OK: return "ok";
    case SSTORE_STOPPED: return "stopped";
    case SSTORE_ERROR_ARGUMENT: return "bad argument";
    case SSTORE_ERROR_MEMORY: return "out of memory";
    case SSTORE_ERROR_IO: return "input or output error";
    case SSTORE_ERROR_NOT_FOUND: return "not found";
    case SSTORE_ERROR_EXISTS: return "exists already";
    case SSTORE_ERROR_BUSY: return "busy";
    case SSTORE_ERROR_DAMAGED: return "damaged";
    case SSTORE_ERROR_UNSUPPORTED: return "unsupported";
    case SSTORE_ERROR_RECIPE: return "another recipe";
    }
    return "unknown status";
}

const char *sstore_version(void)
{
    return SSTORE_VERSION_STRING;
}
