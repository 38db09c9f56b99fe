/* short_names.h - tables of names of at most eight bytes. A name is one number, so that comparing is one step. */
#ifndef SS_SHORT_NAMES_H
#define SS_SHORT_NAMES_H

#include "base/bytes.h"
#include "base/common.h"

#define SS_SHORT_NAME_BYTES 8u

typedef struct ss_short_name {
    char name[SS_SHORT_NAME_BYTES + 1]; /* with zeros behind */
    uint16_t value;                     /* not 0 */
} ss_short_name;

/* The bytes from the highest on, with zeros behind: keys are ordered as the names are. 0 if there is no such name. */
static inline uint64_t ss_short_name_key(const uint8_t *name, size_t size)
{
    uint64_t key = 0;
    if (size > SS_SHORT_NAME_BYTES)
        return 0;
    for (size_t i = 0; i < size; i++) {
        if (name[i] == 0) /* it would be taken for the end */
            return 0;
        key |= (uint64_t)name[i] << (56 - 8 * i);
    }
    return key;
}

/* The value of a key in a table that is sorted by name, or 0. */
static inline uint16_t ss_short_name_find(const ss_short_name *table, size_t count, uint64_t key)
{
    size_t first = 0;
    while (count > 1) { /* it is not before `first` */
        const size_t half = count / 2;
        const uint64_t found = __builtin_bswap64(ss_load_le64((const uint8_t *)table[first + half].name));
        first = found <= key ? first + half : first;
        count -= half;
    }
    return __builtin_bswap64(ss_load_le64((const uint8_t *)table[first].name)) == key ? table[first].value : 0;
}

#endif
