#include "documents/document_form.h"

#include <string.h>

#define LOOKED_AT 4096u

const char *document_form_doubt(const char *bytes, size_t size)
{
    static const char utf16[] = "it seems to be UTF-16, not UTF-8: give --encoding UTF-16, UTF-16LE or UTF-16BE";
    size_t zeros[2] = {0};
    if (size >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return utf16;
    if (size > LOOKED_AT)
        size = LOOKED_AT;
    for (size_t i = 0; i < size; i++)
        zeros[i % 2] += bytes[i] == '\0';
    if (zeros[0] + zeros[1] == 0)
        return NULL;
    /* Most text has code points below 256 in every second byte. */
    const size_t more = zeros[0] > zeros[1] ? zeros[0] : zeros[1], fewer = zeros[0] + zeros[1] - more;
    return more > size / 8 && fewer < more / 8 ? utf16
                                               : "it has zero bytes, so it is no text; --binary takes it as it is";
}
