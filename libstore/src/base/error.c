#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* ===== errors ===== */

#define MAX_SHOWN_BYTES 600u /* of a file's name in a message */

/* Copy `file`. If it is too long, keep its end, which tells more. */
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

/* The end of a file's name, short enough when escaped to leave room for the rest of the message. */
static const char *shown_end(const char *file)
{
    while (sstore_escape(file, strlen(file), false, NULL, 0) > MAX_SHOWN_BYTES)
        file++;
    return file;
}

/* Advice for an errno whose text has none. */
static const char *advice(int system_errno)
{
    switch (system_errno) {
    case EMFILE: return "; raise the limit of open files (ulimit -n), or compact the store";
    case EFBIG: return "; raise the limit of file sizes (ulimit -f), or use a file system that allows larger files";
    default: return "";
    }
}

/* Append to a message. */
SS_PRINTF(2, 3)
static void append(sstore_error *error, const char *format, ...)
{
    va_list arguments;
    const size_t length = strlen(error->message);
    va_start(arguments, format);
    vsnprintf(error->message + length, sizeof error->message - length, format, arguments);
    va_end(arguments);
}

bool ss_check_next(const char *function, bool is_usable, size_t capacity, size_t *count_out, sstore_error *error)
{
    if (count_out != NULL)
        *count_out = 0;
    if (is_usable && capacity > 0 && count_out != NULL)
        return true;
    (void)ss_fail_argument(error,
                           "%s: iterator and count_out must not be NULL, the capacity must be at least 1, and after a "
                           "failed call the iterator can only be freed",
                           function);
    return false;
}

sstore_status ss_fail_as(sstore_error *error, const sstore_error *cause)
{
    if (error != NULL)
        *error = *cause;
    return cause->status;
}

sstore_status ss_fail(sstore_error *error, sstore_status status, int system_errno, const char *file, uint64_t offset,
                      const char *format, ...)
{
    if (error == NULL)
        return status;
    *error = (sstore_error){.status = status, .system_errno = system_errno, .offset = offset};
    char text[sizeof error->message], reason[128];
    size_t used = 0;
    if (file != NULL) {
        copy_file_name(error->file, sizeof error->file, file);
        const char *shown = shown_end(error->file);
        used = (size_t)snprintf(text, sizeof text, "%s%s: ", shown != error->file ? "..." : "", shown);
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    /* Some messages contain text from a store, for example its recipe, which may be malicious. */
    ss_printable(text, error->message, sizeof error->message);
    if (system_errno != 0) /* GNU's strerror_r() always returns a string */
        append(error, ": %s%s", strerror_r(system_errno, reason, sizeof reason), advice(system_errno));
    return status;
}

sstore_status ss_check_distance(uint32_t words, uint32_t distance, sstore_error *error)
{
    const uint32_t max = SSTORE_MAX_BUILD_DISTANCE * words;
    if (distance <= max)
        return SSTORE_OK;
    return ss_fail_argument(error, "the distance is %u; it must be 0 to %u", distance, max);
}

sstore_status ss_check_fingerprint_bits(uint32_t bits, sstore_error *error)
{
    if (ss_fingerprint_bits_valid(bits))
        return SSTORE_OK;
    return ss_fail_argument(error, "fingerprints of %u bits are impossible; they have a multiple of 64, up to %u", bits,
                            SS_WORD_BITS * SSTORE_MAX_WORDS);
}

sstore_status ss_take_fingerprint_bits(uint32_t *bits, sstore_error *error)
{
    *bits = *bits != 0 ? *bits : SS_WORD_BITS;
    return ss_check_fingerprint_bits(*bits, error);
}

sstore_status ss_check_memory(uint64_t limit_bytes, uint64_t min_bytes, sstore_error *error)
{
    if (limit_bytes >= min_bytes)
        return SSTORE_OK;
    return ss_fail_argument(error, "the memory limit is %llu bytes; it must be at least %llu",
                            (unsigned long long)limit_bytes, (unsigned long long)min_bytes);
}

void ss_advise(sstore_error *error, const char *what)
{
    if (error != NULL)
        append(error, "; %s", what);
}

bool ss_is_of_one_file(const sstore_error *error)
{
    return error->status == SSTORE_ERROR_NOT_FOUND || error->status == SSTORE_ERROR_DAMAGED ||
           error->status == SSTORE_ERROR_UNSUPPORTED || error->system_errno == EIO || error->system_errno == EACCES;
}

/* ===== names ===== */

const char *sstore_status_name(sstore_status status)
{
    switch (status) {
    case SSTORE_OK: return "ok";
    case SSTORE_STOPPED: return "stopped";
    case SSTORE_ERROR_ARGUMENT: return "invalid argument";
    case SSTORE_ERROR_MEMORY: return "out of memory";
    case SSTORE_ERROR_IO: return "input or output error";
    case SSTORE_ERROR_NOT_FOUND: return "not found";
    case SSTORE_ERROR_EXISTS: return "already exists";
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

/* ===== text that is safe to show ===== */

#define ESCAPE_BYTES 4u /* of one byte: \xNN */

/* Characters that a terminal obeys instead of showing: controls (some terminals take U+009B for an escape and a
 * bracket), direction marks, which reorder text, and separators, which begin a line. Also invisible characters without
 * width, but not those that join letters: some languages need them. */
static const struct {
    uint32_t first, last;
} escaped[] = {
    {0x0000, 0x001f}, /* controls of ASCII */
    {0x007f, 0x009f}, /* delete, and the controls of ISO 8859 */
    {0x061c, 0x061c}, /* Arabic letter mark */
    {0x200b, 0x200b}, /* zero-width space */
    {0x200e, 0x200f}, /* left-to-right and right-to-left mark */
    {0x2028, 0x2029}, /* line and paragraph separator */
    {0x202a, 0x202e}, /* embeddings and overrides of direction */
    {0x2060, 0x2060}, /* word joiner */
    {0x2066, 0x2069}, /* isolates of direction */
    {0xfeff, 0xfeff}, /* byte order mark */
};

/* Whether a character of `length` bytes, decoded as `point`, is written as it is. */
static bool is_plain(const char *character, size_t length, uint32_t point)
{
    static const char replacement[] = "\xef\xbf\xbd"; /* decoding also returns it for bytes that are no UTF-8 */
    if (point == SS_REPLACEMENT_CHARACTER)
        return length == sizeof replacement - 1 && memcmp(character, replacement, length) == 0;
    for (size_t i = 0; i < sizeof escaped / sizeof *escaped; i++)
        if (point >= escaped[i].first && point <= escaped[i].last)
            return false;
    return true;
}

/* Write one character of `length` bytes, at most SS_UTF8_MAX_BYTES of them; returns how many bytes it takes. */
static size_t put_character(const char *character, size_t length, uint32_t point, bool double_backslashes, char *to)
{
    if (point == '\\' && double_backslashes) {
        memcpy(to, "\\\\", 2);
        return 2;
    }
    if (is_plain(character, length, point)) {
        memcpy(to, character, length);
        return length;
    }
    for (size_t i = 0; i < length; i++) {
        static const char digits[] = "0123456789abcdef";
        const uint8_t byte = (uint8_t)character[i];
        memcpy(to + ESCAPE_BYTES * i, (const char[]){'\\', 'x', digits[byte >> 4], digits[byte & 15]}, ESCAPE_BYTES);
    }
    return ESCAPE_BYTES * length;
}

size_t sstore_escape(const char *text, size_t length, bool double_backslashes, char *buffer, size_t size)
{
    size_t total = 0, used = 0;
    for (size_t at = 0; at < length;) {
        char written[ESCAPE_BYTES * SS_UTF8_MAX_BYTES];
        uint32_t point;
        const size_t taken = ss_utf8_decode((const uint8_t *)text + at, length - at, &point);
        const size_t count = put_character(text + at, taken, point, double_backslashes != 0, written);
        if (used == total && used + count < size) { /* nothing was left out before */
            memcpy(buffer + used, written, count);
            used += count;
        }
        total += count;
        at += taken;
    }
    if (size > 0)
        buffer[used] = '\0';
    return total;
}

void ss_printable(const char *text, char *to, size_t size)
{
    (void)sstore_escape(text, strlen(text), false, to, size);
}

/* ===== public structs that grow ===== */

#define MAX_STRUCT_BYTES ((size_t)1 << 16) /* a struct_size above it was not set */

static size_t read_struct_size(const void *from)
{
    size_t size;
    memcpy(&size, from, sizeof size);
    return size;
}

static sstore_status fail_struct_size(sstore_error *error)
{
    return ss_fail_argument(error,
                            "struct_size is not set: use the struct's initializer, or set it to the struct's size");
}

sstore_status ss_take_options(void *to, size_t size, const void *from, size_t first_size, sstore_error *error)
{
    if (from == NULL)
        return SSTORE_OK;
    const size_t from_size = read_struct_size(from);
    if (from_size < first_size || from_size > MAX_STRUCT_BYTES)
        return fail_struct_size(error);
    for (size_t i = size; i < from_size; i++)
        if (((const uint8_t *)from)[i] != 0)
            return ss_fail(error, SSTORE_ERROR_UNSUPPORTED, 0, NULL, SSTORE_NO_OFFSET,
                           "the options have a field that this version of the library does not know");
    memcpy(to, from, from_size < size ? from_size : size);
    memcpy(to, &size, sizeof size);
    return SSTORE_OK;
}

sstore_status ss_check_result(const void *to, size_t first_size, sstore_error *error)
{
    const bool is_valid = to == NULL ||
                          (read_struct_size(to) >= first_size && read_struct_size(to) <= MAX_STRUCT_BYTES);
    return is_valid ? SSTORE_OK : fail_struct_size(error);
}

sstore_status ss_give_result(void *to, const void *from, size_t size, size_t first_size, sstore_error *error)
{
    const sstore_status status = ss_check_result(to, first_size, error);
    if (status != SSTORE_OK)
        return status;
    const size_t to_size = read_struct_size(to);
    if (to_size > size)
        memset((uint8_t *)to + size, 0, to_size - size);
    memcpy(to, from, to_size < size ? to_size : size);
    memcpy(to, &to_size, sizeof to_size);
    return SSTORE_OK;
}
