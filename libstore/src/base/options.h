/* options.h - public structs that grow: a caller compiled against an older header hands over a shorter one. */
#ifndef SS_OPTIONS_H
#define SS_OPTIONS_H

#include <string.h>

#include "base/common.h"

/*
 * Lay the caller's options (NULL: none) over `to`, which holds the defaults and begins with struct_size, as theirs
 * does. False where theirs has a size that no version had: larger than ours, or smaller than the first version's.
 */
static inline bool ss_take_options(void *to, size_t size, const void *from, size_t first_version_size)
{
    size_t from_size;
    if (from == NULL)
        return true;
    memcpy(&from_size, from, sizeof from_size);
    if (from_size < first_version_size || from_size > size)
        return false;
    memcpy(to, from, from_size);
    return true;
}

/*
 * Fill the caller's struct, which begins with struct_size as set by the caller, from `from`: as much of it as the
 * caller's version has. False where struct_size is one that no version had.
 */
static inline bool ss_give_facts(void *to, const void *from, size_t size, size_t first_version_size)
{
    size_t to_size;
    memcpy(&to_size, to, sizeof to_size);
    if (to_size < first_version_size || to_size > size)
        return false;
    memcpy(to, from, to_size);
    memcpy(to, &to_size, sizeof to_size);
    return true;
}

#endif
