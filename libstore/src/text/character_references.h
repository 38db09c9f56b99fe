/* character_references.h - the references of HTML to characters, such as &amp; and &#233;. */
#ifndef SS_CHARACTER_REFERENCES_H
#define SS_CHARACTER_REFERENCES_H

#include "base/common.h"

/*
 * Read the reference at the start of `size` > 0 bytes, of which the first is '&'. Returns its length and sets the code
 * point, which takes at most that many bytes in UTF-8; returns 0 if there is none.
 */
size_t ss_character_reference_read(const uint8_t *text, size_t size, uint32_t *point_out);

#endif
