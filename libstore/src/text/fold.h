/*
 * fold.h - the Unicode properties of code points: classes, lower case, canonical forms. Only this module uses utf8proc.
 *
 * A folded text is NFC(lower(NFD(text))) with the simple lower-case mapping of each code point. Canonically equivalent
 * texts fold alike, in upper or lower case. Therefore text is lowered between NFD and NFC: lowering NFC text would
 * separate J with caron from its composed lower-case form. Special mappings are not needed: the only code point whose
 * full mapping differs in every context, U+0130, is decomposed before.
 *
 * Most text is already folded except for case. So this module also tells which code points are settled. A settled code
 * point that is followed by another one, or by the end, folds to its lower case, whatever precedes it. So a text may be
 * cut before any settled code point, and the pieces folded separately.
 */
#ifndef SS_FOLD_H
#define SS_FOLD_H

#include "base/common.h"

typedef enum ss_point_class {
    SS_POINT_OTHER = 0, /* not part of a word */
    SS_POINT_LETTER,    /* letter or number: L* and N* */
    SS_POINT_SPACELESS, /* the same in a script without spaces: a word by itself */
    SS_POINT_MARK,      /* M*: part of the word before it */
    SS_POINT_FORMAT     /* Cf: dropped, since soft hyphens and joiners are invisible */
} ss_point_class;

/* Unicode's version, such as "15.0.0". NULL if the library was built without utf8proc; then only ss_fold_free() below
 * works. */
const char *ss_fold_unicode_version(void);

ss_point_class ss_point_classify(uint32_t point);
bool ss_point_is_space(uint32_t point);
bool ss_point_is_settled(uint32_t point);
uint32_t ss_point_lower(uint32_t point); /* simple mapping */

/* A piece of text that is folded. Begins zeroed, and ends with ss_fold_free(). */
typedef struct ss_fold {
    int32_t *points;
    size_t count, capacity;
} ss_fold;

/* Append lower(NFD(point)). MEMORY. */
sstore_status ss_fold_add(ss_fold *fold, uint32_t point, sstore_error *error);
/* Put marks into canonical order and compose: points[0 .. count-1] become the folded piece. MEMORY. */
sstore_status ss_fold_compose(ss_fold *fold, sstore_error *error);
void ss_fold_free(ss_fold *fold);

#endif
