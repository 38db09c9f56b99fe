#include "text/fold.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct range {
    uint32_t first, last;
} range;

/* Whether `point` is in one of the ascending ranges. */
static bool in_ranges(const range *ranges, size_t count, uint32_t point)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (point > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && point >= ranges[low].first;
}

/* The property White_Space (Unicode, PropList.txt), which has not changed since Unicode 6.3. */
bool ss_point_is_space(uint32_t point)
{
    if (point < 0x80)
        return point == ' ' || (point >= '\t' && point <= '\r');
    return point == 0x85 || point == 0xa0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200a) ||
           point == 0x2028 || point == 0x2029 || point == 0x202f || point == 0x205f || point == 0x3000;
}

/*
 * A settled code point has combining class 0, folds to one code point, its lower case, and never composes with a code
 * point before it. These are not all, only the ranges that make up most text. A unit test compares each of them with
 * utf8proc's data.
 */
bool ss_point_is_settled(uint32_t point)
{
    static const range settled[] = {
        {0x0000, 0x012f},   {0x0131, 0x02ff},   /* Latin except U+0130, which folds to two */
        {0x0370, 0x0373},   {0x0375, 0x037d},   /* Greek except U+0374, U+037E and U+0387, which have another form */
        {0x037f, 0x0386},   {0x0388, 0x0482},   /* Greek, Cyrillic */
        {0x0488, 0x0590},   {0x05c8, 0x060f},   /* Cyrillic, Armenian, Hebrew letters */
        {0x061b, 0x064a},   {0x0660, 0x066f},   /* Arabic letters and digits */
        {0x0671, 0x06d5},   {0x06ee, 0x0710},   /* Arabic letters of other languages, Syriac */
        {0x0e00, 0x0e37},   {0x0e3b, 0x0e47},   /* Thai except vowels and tones above and below */
        {0x0e4c, 0x0eb7},   {0x10a0, 0x1160},   /* Thai, Lao, Georgian, leading Hangul letters */
        {0x1200, 0x135c},   {0x1e00, 0x1f70},   /* Ethiopic; Latin, most of it Vietnamese, and Greek */
        {0x2002, 0x20cf},   {0x2190, 0x2328},   /* punctuation, symbols */
        {0x232b, 0x2adb},   {0x3000, 0x3029},   /* symbols, CJK punctuation except tone marks */
        {0x3030, 0x3098},   {0x309b, 0xa66e},   /* Hiragana except voice marks; kana, Han, Yi */
        {0xac00, 0xd7a3},   {0xff00, 0xffff},   /* Hangul syllables, full and half widths */
        {0x1f000, 0x1faff}, {0x20000, 0x2f7ff}, /* pictures, Han except compatibility forms */
    };
    if (point < 0x300)
        return point != 0x130;
    return in_ranges(settled, sizeof settled / sizeof settled[0], point);
}

/*
 * The blocks of scripts without spaces between words: Han, Hiragana and Katakana, and the scripts whose words only a
 * dictionary can find (class SA of UAX #14): Thai, Lao, Myanmar, Khmer, Tai Le, New Tai Lue, Tai Tham, Tai Viet, Ahom.
 * The ranges are those of Scripts.txt, widened to Unicode blocks (Blocks.txt), so that code points assigned later need
 * no new table. The category excludes code points within them that are no letter, mark or number.
 */
static bool is_spaceless(uint32_t point)
{
    static const range spaceless[] = {
        {0x0e00, 0x0eff},   {0x1000, 0x109f},   /* Thai, Lao, Myanmar */
        {0x1780, 0x17ff},   {0x1950, 0x19df},   /* Khmer, Tai Le, New Tai Lue */
        {0x1a20, 0x1aaf},   {0x3000, 0x30ff},   /* Tai Tham; CJK marks and numbers, Hiragana, Katakana */
        {0x31f0, 0x31ff},   {0x3400, 0x4dbf},   /* Katakana extensions, Han */
        {0x4e00, 0x9fff},   {0xa9e0, 0xa9ff},   /* Han, Myanmar */
        {0xaa60, 0xaadf},   {0xf900, 0xfaff},   /* Myanmar, Tai Viet; Han, compatibility forms */
        {0xff65, 0xff9f},   {0x11700, 0x1174f}, /* Katakana of half width, Ahom */
        {0x1aff0, 0x1b16f}, {0x20000, 0x3ffff}, /* kana, historic and small; the two planes of Han */
    };
    return point >= 0x0e00 && in_ranges(spaceless, sizeof spaceless / sizeof spaceless[0], point);
}

#ifdef SSTORE_HAVE_UTF8PROC

#include <utf8proc.h>

const char *ss_fold_unicode_version(void)
{
    return utf8proc_unicode_version();
}

ss_point_class ss_point_classify(uint32_t point)
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
    case UTF8PROC_CATEGORY_CF: return SS_POINT_FORMAT;
    default: return SS_POINT_OTHER;
    }
}

uint32_t ss_point_lower(uint32_t point)
{
    return (uint32_t)utf8proc_tolower((int32_t)point);
}

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
    enum { ROOM = 16 }; /* no canonical decomposition has more than four code points */
    sstore_status status = reserve(fold, ROOM, error);
    if (status != SSTORE_OK)
        return status;
    int unused = 0;
    int32_t *to = fold->points + fold->count;
    utf8proc_ssize_t count = utf8proc_decompose_char((int32_t)point, to, ROOM, UTF8PROC_DECOMPOSE | UTF8PROC_STABLE,
                                                     &unused);
    assert(count >= 1 && count <= ROOM);
    for (utf8proc_ssize_t i = 0; i < count; i++)
        to[i] = utf8proc_tolower(to[i]);
    fold->count += (size_t)count;
    return SSTORE_OK;
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

/* The same for a long run, by counting: malicious text must not take quadratic time. `scratch` has `count` elements. */
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

sstore_status ss_fold_compose(ss_fold *fold, sstore_error *error)
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
    utf8proc_ssize_t count = utf8proc_normalize_utf32(fold->points, (utf8proc_ssize_t)fold->count,
                                                      UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    assert(count >= 0 && (size_t)count <= fold->count);
    fold->count = (size_t)count;
    return SSTORE_OK;
}

#else

/* Never called, except for the version. */

const char *ss_fold_unicode_version(void)
{
    return NULL;
}

ss_point_class ss_point_classify(uint32_t point)
{
    return is_spaceless(point) ? SS_POINT_SPACELESS : SS_POINT_OTHER;
}

uint32_t ss_point_lower(uint32_t point)
{
    return point;
}

sstore_status ss_fold_add(ss_fold *fold, uint32_t point, sstore_error *error)
{
    (void)fold, (void)point, (void)error;
    return SSTORE_ERROR_UNSUPPORTED;
}

sstore_status ss_fold_compose(ss_fold *fold, sstore_error *error)
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
