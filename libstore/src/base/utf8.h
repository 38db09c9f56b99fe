/*
 * utf8.h - UTF-8 to code points and back. Bytes that are not well-formed become U+FFFD, one for each "maximal subpart"
 * (The Unicode Standard, section 3.9, table 3-7 and "U+FFFD Substitution of Maximal Subparts"), as in web browsers and
 * in Python's errors="replace".
 */
#ifndef SS_UTF8_H
#define SS_UTF8_H

#include "base/common.h"

#define SS_REPLACEMENT_CHARACTER 0xfffdu
#define SS_UTF8_MAX_BYTES 4u

/* How many bytes follow a lead byte, 0 if it cannot lead, and the range of the first of them, which excludes overlong
 * forms, surrogates and code points above U+10FFFF. */
static inline uint32_t ss_utf8_tail(uint8_t lead, uint8_t *low_out, uint8_t *high_out)
{
    *low_out = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    *high_out = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    return lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
}

/* Decode the code point at the start of `size` > 0 bytes; returns how many bytes it takes. */
static inline size_t ss_utf8_decode(const uint8_t *text, size_t size, uint32_t *point_out)
{
    uint8_t lead = text[0], low, high;
    *point_out = lead;
    if (lead < 0x80)
        return 1;
    uint32_t tail = ss_utf8_tail(lead, &low, &high);
    uint32_t point = lead & (0x3fu >> tail);
    for (uint32_t i = 1; i <= tail; i++) {
        if (i >= size || text[i] < low || text[i] > high) {
            *point_out = SS_REPLACEMENT_CHARACTER;
            return i;
        }
        point = point << 6 | (text[i] & 0x3fu);
        low = 0x80;
        high = 0xbf;
    }
    *point_out = tail > 0 ? point : SS_REPLACEMENT_CHARACTER;
    return tail + 1;
}

/* Encode a code point into at most SS_UTF8_MAX_BYTES bytes; returns how many. */
static inline size_t ss_utf8_encode(uint32_t point, uint8_t *to)
{
    if (point < 0x80) {
        to[0] = (uint8_t)point;
        return 1;
    }
    const uint32_t tail = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    to[0] = (uint8_t)(0xff00u >> (tail + 1) | point >> 6 * tail); /* begins with a one for each byte */
    for (uint32_t i = 1; i <= tail; i++)
        to[i] = (uint8_t)(0x80 | (point >> 6 * (tail - i) & 0x3f));
    return tail + 1;
}

#endif
