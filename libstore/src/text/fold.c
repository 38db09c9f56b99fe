#include "text/fold.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

_Atomic uint32_t ss_kept_points[SS_KEPT_POINTS];

#ifdef SSTORE_HAVE_UTF8PROC

#include <utf8proc.h>

/* At least as many as one code point becomes: U+FDFA has 18. */
#define MOST_POINTS 32

static const utf8proc_option_t canonical = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
static const utf8proc_option_t casefold = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
                                          UTF8PROC_IGNORE;

const char *ss_fold_unicode_version(void)
{
    return utf8proc_unicode_version();
}

/* Replace a code point by those of its decomposition; returns their number. */
static size_t decompose(int32_t point, utf8proc_option_t how, int32_t to[MOST_POINTS])
{
    int unused = 0;
    const utf8proc_ssize_t count = utf8proc_decompose_char(point, to, MOST_POINTS, how, &unused);
    assert(count >= 0 && count <= MOST_POINTS);
    return (size_t)count;
}

/* Put together what composes, in place; returns the new number. */
static size_t compose(int32_t *points, size_t count)
{
    const utf8proc_ssize_t left = utf8proc_normalize_utf32(points, (utf8proc_ssize_t)count,
                                                           UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    assert(left >= 0 && (size_t)left <= count);
    return (size_t)left;
}

/* ----- single code points ----- */

static bool is_between(uint32_t point, uint32_t first, uint32_t last)
{
    return point >= first && point <= last;
}

/* The property White_Space (Unicode, PropList.txt), which has not changed since Unicode 6.3. */
static bool is_space(uint32_t point)
{
    return is_between(point, '\t', '\r') || point == ' ' || point == 0x85 || point == 0xa0 || point == 0x1680 ||
           is_between(point, 0x2000, 0x200a) || point == 0x2028 || point == 0x2029 || point == 0x202f ||
           point == 0x205f || point == 0x3000;
}

/*
 * The blocks of scripts without spaces between words: Han, Hiragana and Katakana, and the scripts whose words only a
 * dictionary can find (class SA of UAX #14): Thai, Lao, Myanmar, Khmer, Tai Le, New Tai Lue, Tai Tham, Tai Viet, Ahom.
 * The ranges are those of Scripts.txt, widened to Unicode blocks (Blocks.txt), so that code points assigned later need
 * no new table. Their letters and numbers alone count.
 */
static bool is_spaceless(uint32_t point)
{
    static const struct {
        uint32_t first, last;
    } blocks[] = {
        {0x4e00, 0x9fff},   {0x3000, 0x30ff},   /* Han; CJK marks and numbers, Hiragana, Katakana */
        {0x31f0, 0x31ff},   {0x3400, 0x4dbf},   /* Katakana extensions, Han */
        {0x0e00, 0x0eff},   {0x1000, 0x109f},   /* Thai, Lao, Myanmar */
        {0x1780, 0x17ff},   {0x1950, 0x19df},   /* Khmer, Tai Le, New Tai Lue */
        {0x1a20, 0x1aaf},   {0xa9e0, 0xa9ff},   /* Tai Tham, Myanmar */
        {0xaa60, 0xaadf},   {0xf900, 0xfaff},   /* Myanmar, Tai Viet; Han, compatibility forms that do not fold */
        {0x11700, 0x1174f}, {0x1aff0, 0x1b16f}, /* Ahom; kana, historic and small */
        {0x20000, 0x3ffff},                     /* the two planes of Han */
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (is_between(point, blocks[i].first, blocks[i].last))
            return true;
    return false;
}

static ss_point_class classify(uint32_t point)
{
    switch (utf8proc_category((int32_t)point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return is_spaceless(point) ? SS_POINT_SPACELESS : SS_POINT_LETTER;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME: return SS_POINT_MARK;
    default: return is_space(point) ? SS_POINT_SPACE : SS_POINT_OTHER;
    }
}

/* Whether the code point may compose with one before it, or change places with a mark: all that do are marks, or the
 * vowels and final consonants of Hangul. A unit test compares this with utf8proc's data. */
static bool joins_earlier(uint32_t point)
{
    return classify(point) == SS_POINT_MARK || is_between(point, 0x1160, 0x11ff);
}

ss_point ss_point_describe(uint32_t code)
{
    int32_t folded[MOST_POINTS];
    const size_t count = compose(folded, decompose((int32_t)code, casefold, folded));
    const uint32_t first = count == 1 ? (uint32_t)folded[0] : code;
    const bool settled = count == 1 && !joins_earlier(code) && !joins_earlier(first);
    const uint32_t shown = settled ? first : code;
    const ss_point made = shown | (uint32_t)classify(shown) << SS_POINT_CLASS_SHIFT | (settled ? SS_POINT_SETTLED : 0) |
                          SS_POINT_KNOWN;
    if (code < SS_KEPT_POINTS)
        atomic_store_explicit(&ss_kept_points[code], made, memory_order_relaxed);
    return made;
}

/* ----- pieces ----- */

/* Allocate space for `extra` more points. */
static sstore_status reserve(ss_fold *fold, size_t extra, sstore_error *error)
{
    if (fold->capacity - fold->count >= extra)
        return SSTORE_OK;
    size_t capacity = 2 * fold->capacity + extra + 64;
    int32_t *points = ss_realloc(fold->points, capacity, sizeof *points);
    if (points == NULL)
        return ss_fail_memory(error, capacity * sizeof *points);
    fold->points = points;
    fold->capacity = capacity;
    return SSTORE_OK;
}

sstore_status ss_fold_add(ss_fold *fold, uint32_t point, sstore_error *error)
{
    const sstore_status status = reserve(fold, MOST_POINTS, error);
    if (status == SSTORE_OK)
        fold->count += decompose((int32_t)point, canonical, fold->points + fold->count);
    return status;
}

static uint32_t combining_class(int32_t point)
{
    return (uint32_t)utf8proc_get_property(point)->combining_class;
}

/* Sort a short run of marks by combining class, keeping equals in order. */
static void sort_few_marks(int32_t *marks, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        int32_t mark = marks[i];
        size_t j = i;
        for (; j > 0 && combining_class(marks[j - 1]) > combining_class(mark); j--)
            marks[j] = marks[j - 1];
        marks[j] = mark;
    }
}

/* Sort a long run in this way by counting: hostile text must not take quadratic time. `scratch` has `count` items. */
static void sort_many_marks(int32_t *marks, size_t count, int32_t *scratch)
{
    size_t ends[256] = {0};
    for (size_t i = 0; i < count; i++)
        ends[combining_class(marks[i])]++;
    for (size_t i = 1; i < 256; i++)
        ends[i] += ends[i - 1];
    for (size_t i = count; i-- > 0;)
        scratch[--ends[combining_class(marks[i])]] = marks[i];
    memcpy(marks, scratch, count * sizeof *marks);
}

/* Put the marks into canonical order. MEMORY. */
static sstore_status sort_marks(ss_fold *fold, sstore_error *error)
{
    enum { FEW = 32 };
    for (size_t first = 0; first < fold->count; first++) {
        size_t end = first;
        while (end < fold->count && combining_class(fold->points[end]) != 0)
            end++;
        size_t run = end - first;
        if (run > FEW) {
            sstore_status status = reserve(fold, run, error);
            if (status != SSTORE_OK)
                return status;
            sort_many_marks(fold->points + first, run, fold->points + fold->count);
        } else if (run > 1) {
            sort_few_marks(fold->points + first, run);
        }
        first = end;
    }
    return SSTORE_OK;
}

/* Replace each code point by its case folding. The new ones are first written behind the others. MEMORY. */
static sstore_status fold_case(ss_fold *fold, sstore_error *error)
{
    const size_t count = fold->count;
    for (size_t i = 0; i < count; i++) {
        const sstore_status status = reserve(fold, MOST_POINTS, error);
        if (status != SSTORE_OK)
            return status;
        fold->count += decompose(fold->points[i], casefold, fold->points + fold->count);
    }
    fold->count -= count;
    memmove(fold->points, fold->points + count, fold->count * sizeof *fold->points);
    return SSTORE_OK;
}

sstore_status ss_fold_end(ss_fold *fold, sstore_error *error)
{
    if (fold->count == 0)
        return SSTORE_OK;
    sstore_status status = sort_marks(fold, error);
    if (status == SSTORE_OK)
        status = fold_case(fold, error);
    if (status == SSTORE_OK)
        status = sort_marks(fold, error);
    if (status == SSTORE_OK)
        fold->count = compose(fold->points, fold->count);
    return status;
}

#else

/* Never called, except for the version. */

const char *ss_fold_unicode_version(void)
{
    return NULL;
}

ss_point ss_point_describe(uint32_t code)
{
    return code;
}

sstore_status ss_fold_add(ss_fold *fold, uint32_t point, sstore_error *error)
{
    (void)fold, (void)point, (void)error;
    return SSTORE_ERROR_UNSUPPORTED;
}

sstore_status ss_fold_end(ss_fold *fold, sstore_error *error)
{
    (void)fold, (void)error;
    return SSTORE_ERROR_UNSUPPORTED;
}

#endif

void ss_fold_free(ss_fold *fold)
{
    ss_free(fold->points);
    *fold = (ss_fold){0};
}
