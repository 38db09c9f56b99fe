/*
 * fold.h - what Unicode knows of code points: classes, lower case, canonical forms. The only module that knows
 * utf8proc.
 *
 * To fold a text is NFC(lower(NFD(text))) with the simple lower-case mapping of each code point: texts that Unicode
 * calls canonically equivalent fold alike, whichever case they came in. Lowering between NFD and NFC is what makes that
 * hold (lowering NFC text would part J with caron from its composed lower-case form), and it needs no special mappings:
 * the only code point whose full mapping differs in every context, U+0130, is decomposed before.
 *
 * Most text is folded already but for case, so the module also tells which code points are `settled`: one that is
 * followed by another settled one, or by the end, folds to its lower case alone, whatever comes before it. A text may
 * therefore be cut before any settled code point and the pieces folded apart.
 */
#ifndef SS_FOLD_H
#define SS_FOLD_H

#include "base/common.h"

typedef enum ss_point_class {
    SS_POINT_OTHER = 0, /* not part of a word */
    SS_POINT_LETTER,    /* letter or number: L* and N* */
    SS_POINT_SPACELESS, /* the same, in a script that is written without spaces: a word by itself */
    SS_POINT_MARK,      /* M*: belongs to the word before it */
    SS_POINT_FORMAT     /* Cf: dropped, as soft hyphens and joiners are not seen */
} ss_point_class;

/* False where the library was built without utf8proc; then nothing else below may be called. */
bool ss_fold_available(void);

/* Unicode's version, such as "15.0.0". */
const char *ss_fold_unicode_version(void);

ss_point_class ss_point_classify(uint32_t point);
bool ss_point_is_space(uint32_t point);
bool ss_point_is_settled(uint32_t point);
/* Simple lower-case mapping. */
uint32_t ss_point_lower(uint32_t point);

/* A piece of text being folded. Starts zeroed; ends with ss_fold_free(). */
typedef struct ss_fold {
    int32_t *points;
    size_t count, capacity;
} ss_fold;

/* Append lower(NFD(point)). MEMORY. */
sstore_status ss_fold_add(ss_fold *fold, uint32_t point, sstore_error *error);
/* Put marks into canonical order and compose: points[0 .. count-1] are the folded piece. MEMORY. */
sstore_status ss_fold_compose(ss_fold *fold, sstore_error *error);
void ss_fold_free(ss_fold *fold);

#endif
