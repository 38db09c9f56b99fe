/*
 * fold.h - the form of a text in which writings that mean the same are the same: toNFKC_Casefold (The Unicode Standard,
 * section 3.13, R5), with what the features need to know of each code point. Only this module uses utf8proc.
 *
 * Most code points fold by themselves, whatever surrounds them. Such a code point is *settled*. A text may be cut
 * before each settled code point, and the pieces folded separately; a settled one that is a piece of its own folds to
 * one code point, which is looked up. Only the other pieces go through ss_fold.
 */
#ifndef SS_FOLD_H
#define SS_FOLD_H

#include <stdatomic.h>

#include "base/common.h"

/* By general category, and by script. */
typedef enum ss_point_class {
    SS_POINT_OTHER = 0, /* not part of a word */
    SS_POINT_SPACE,     /* the same, and white space */
    SS_POINT_LETTER,    /* letter or number: L* and N* */
    SS_POINT_SPACELESS, /* the same in a script that is written without spaces */
    SS_POINT_MARK       /* M*: belongs to the letter before it */
} ss_point_class;

/*
 * What is known of a code point, in a word: of a settled one, the code point that it folds to and the class of that
 * one; of any other, itself and its own class. The code point is in the lowest 21 bits, then the class, and in the two
 * highest bits whether it is settled, and a one.
 */
typedef uint32_t ss_point;

#define SS_POINT_CLASS_SHIFT 21
#define SS_POINT_SETTLED (UINT32_C(1) << 30)
#define SS_POINT_KNOWN (UINT32_C(1) << 31)

static inline uint32_t ss_point_folded(ss_point point)
{
    return point & ((1u << SS_POINT_CLASS_SHIFT) - 1);
}

static inline ss_point_class ss_point_class_of(ss_point point)
{
    return (ss_point_class)(point >> SS_POINT_CLASS_SHIFT & 7);
}

static inline bool ss_point_is_settled(ss_point point)
{
    return (point & SS_POINT_SETTLED) != 0;
}

/* Descriptions that were made before, or 0. Threads may write the same word at the same time. The planes 0 to 2 are
 * kept: others are hardly used. A page of memory is only taken when a script is met. */
#define SS_KEPT_POINTS 0x30000u
extern _Atomic uint32_t ss_kept_points[SS_KEPT_POINTS];

/* Describe a code point, and keep the description. */
ss_point ss_point_describe(uint32_t code);

static inline ss_point ss_point_look(uint32_t code)
{
    const ss_point kept = code < SS_KEPT_POINTS ? atomic_load_explicit(&ss_kept_points[code], memory_order_relaxed) : 0;
    return SS_LIKELY(kept != 0) ? kept : ss_point_describe(code);
}

/* Unicode's version, such as "15.0.0". NULL if the library was built without utf8proc; then only ss_fold_free() below
 * works. */
const char *ss_fold_unicode_version(void);

/* A piece of text that is folded. Begins zeroed, and ends with ss_fold_free(). */
typedef struct ss_fold {
    int32_t *points;
    size_t count, capacity;
} ss_fold;

/* Append a code point of the piece. MEMORY. */
sstore_status ss_fold_add(ss_fold *fold, uint32_t point, sstore_error *error);
/* Fold the piece: points[0 .. count-1] become the folded code points. MEMORY. */
sstore_status ss_fold_end(ss_fold *fold, sstore_error *error);
void ss_fold_free(ss_fold *fold);

#endif
