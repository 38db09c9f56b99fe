#include "codec/fragments.h"

#include <stdlib.h>
#include <string.h>

/* ----- the table ----- */

static uint64_t mask_of(uint32_t length)
{
    return length == SS_FRAGMENT_BYTES ? UINT64_MAX : (UINT64_C(1) << 8 * length) - 1;
}

static uint8_t last_byte(uint64_t bytes, uint32_t length)
{
    return (uint8_t)(bytes >> 8 * (length - 1));
}

/* In the order of their bytes: as big-endian numbers. */
static int compare_bytes(uint64_t a, uint64_t b)
{
    a = __builtin_bswap64(a);
    b = __builtin_bswap64(b);
    return a < b ? -1 : a > b;
}

/* In the order of the table. */
static int compare_fragments(uint64_t a, uint32_t a_length, uint64_t b, uint32_t b_length)
{
    const uint8_t a_first = (uint8_t)a, b_first = (uint8_t)b;
    if (a_first != b_first)
        return a_first < b_first ? -1 : a_first > b_first;
    if (a_length != b_length)
        return a_length > b_length ? -1 : 1;
    return compare_bytes(a, b);
}

/* Whether its bytes are of a name, of which only the last may be the end. */
static bool is_text(uint64_t bytes, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        const uint8_t byte = (uint8_t)(bytes >> 8 * i);
        if (byte == 0 || (byte == SS_NAME_END && i + 1 < length))
            return false;
    }
    return true;
}

/* Fill in what follows from count, lengths and bytes. */
static void complete(ss_fragments *fragments)
{
    uint32_t code = 0;
    for (uint32_t byte = 0; byte <= 256; byte++) {
        while (code < fragments->count && (fragments->bytes[code] & 0xff) < byte)
            code++;
        fragments->begins[byte] = (uint16_t)code;
    }
    memset(fragments->kinds, SS_CODE_MALFORMED, sizeof fragments->kinds);
    for (code = 0; code < fragments->count; code++)
        fragments->kinds[code] = last_byte(fragments->bytes[code], fragments->lengths[code]) == SS_NAME_END
                                     ? SS_CODE_ENDS
                                     : SS_CODE_GOES_ON;
    fragments->kinds[SS_ESCAPE_CODE] = SS_CODE_ESCAPE;
}

bool ss_fragments_load(ss_fragments *fragments, const uint8_t bytes[SS_FRAGMENTS_STORED_BYTES], const char **reason)
{
    *fragments = (ss_fragments){.count = bytes[0]};
    for (uint32_t i = 0; i < SS_MAX_FRAGMENTS; i++) {
        const uint32_t length = bytes[1 + i];
        const uint64_t text = ss_load_le64(bytes + 1 + SS_MAX_FRAGMENTS + (size_t)i * SS_FRAGMENT_BYTES);
        *reason = "a fragment of the names is malformed";
        if (i >= fragments->count) {
            if (length != 0 || text != 0)
                return false;
            continue;
        }
        if (length == 0 || length > SS_FRAGMENT_BYTES || (text & ~mask_of(length)) != 0 || !is_text(text, length))
            return false;
        *reason = "the fragments of the names are not in order";
        if (i > 0 && compare_fragments(fragments->bytes[i - 1], fragments->lengths[i - 1], text, length) >= 0)
            return false;
        fragments->lengths[i] = (uint8_t)length;
        fragments->bytes[i] = text;
    }
    complete(fragments);
    return true;
}

void ss_fragments_store(const ss_fragments *fragments, uint8_t bytes[SS_FRAGMENTS_STORED_BYTES])
{
    memset(bytes, 0, SS_FRAGMENTS_STORED_BYTES);
    bytes[0] = (uint8_t)fragments->count;
    for (uint32_t i = 0; i < fragments->count; i++) {
        bytes[1 + i] = fragments->lengths[i];
        ss_store_le64(bytes + 1 + SS_MAX_FRAGMENTS + (size_t)i * SS_FRAGMENT_BYTES, fragments->bytes[i]);
    }
}

/* The longest fragment at `text`, of which `left` bytes are left; SS_ESCAPE_CODE if there is none. */
SS_ALWAYS_INLINE uint32_t find_fragment(const ss_fragments *fragments, const uint8_t *text, size_t left)
{
    const uint64_t next = ss_load_le64(text);
    const uint32_t end = fragments->begins[text[0] + 1];
    for (uint32_t code = fragments->begins[text[0]]; code < end; code++) {
        const uint32_t length = fragments->lengths[code];
        if (length <= left && ((next ^ fragments->bytes[code]) & mask_of(length)) == 0)
            return code;
    }
    return SS_ESCAPE_CODE;
}

size_t ss_fragments_encode(const ss_fragments *fragments, const uint8_t *text, size_t size, uint8_t *codes_out)
{
    uint8_t *to = codes_out;
    for (size_t at = 0; at < size;) {
        const uint32_t code = find_fragment(fragments, text + at, size - at);
        *to++ = (uint8_t)code;
        if (code == SS_ESCAPE_CODE)
            *to++ = text[at++];
        else
            at += fragments->lengths[code];
    }
    return (size_t)(to - codes_out);
}

/* ----- choosing fragments ----- */

#define ROUNDS 6
#define TOKENS (256 + SS_MAX_FRAGMENTS) /* a byte that is escaped, or 256 + the code of a fragment */
#define MAX_CANDIDATES 65536u
/* A fragment of one byte saves an escape wherever nothing longer matches, also in texts that the sample does not
 * have. */
#define SINGLE_WEIGHT 8u

typedef struct candidate {
    uint64_t bytes;
    uint64_t gain; /* bytes of the sample that it stands for */
    uint8_t length;
} candidate;

struct ss_fragment_choice {
    uint32_t singles[TOKENS];
    uint32_t pairs[TOKENS][TOKENS];
    size_t count;
    candidate candidates[MAX_CANDIDATES];
};

size_t ss_fragment_choice_bytes(void)
{
    return sizeof(ss_fragment_choice);
}

void ss_fragment_sample_add(ss_fragment_sample *sample, const uint8_t *text, size_t size)
{
    const size_t taken = ss_min_u64(size, SS_SAMPLE_TEXT_BYTES);
    if (sample->count == SS_SAMPLE_TEXTS)
        return;
    memcpy(sample->text + sample->bytes, text, taken);
    sample->bytes += taken;
    sample->lengths[sample->count++] = (uint8_t)taken;
}

static uint64_t token_bytes(const ss_fragments *fragments, uint32_t token)
{
    return token < 256 ? token : fragments->bytes[token - 256];
}

static uint32_t token_length(const ss_fragments *fragments, uint32_t token)
{
    return token < 256 ? 1 : fragments->lengths[token - 256];
}

/* Count the tokens of the sample, and their pairs. */
static void count_tokens(ss_fragment_choice *choice, const ss_fragments *fragments, const ss_fragment_sample *sample)
{
    const uint8_t *text = sample->text;
    memset(choice->singles, 0, sizeof choice->singles);
    memset(choice->pairs, 0, sizeof choice->pairs);
    for (size_t i = 0; i < sample->count; text += sample->lengths[i++]) {
        uint32_t last = 0; /* no text has the byte 0 */
        for (size_t at = 0; at < sample->lengths[i];) {
            const uint32_t code = find_fragment(fragments, text + at, sample->lengths[i] - at);
            const uint32_t token = code == SS_ESCAPE_CODE ? text[at] : 256 + code;
            choice->singles[token]++;
            if (last != 0)
                choice->pairs[last][token]++;
            at += token_length(fragments, token);
            last = token;
        }
    }
}

static void add_candidate(ss_fragment_choice *choice, uint64_t bytes, uint32_t length, uint64_t count)
{
    const uint64_t weight = length == 1 ? SINGLE_WEIGHT : length;
    if (count > 0 && choice->count < MAX_CANDIDATES)
        choice->candidates[choice->count++] = (candidate){bytes, count * weight, (uint8_t)length};
}

static void collect_candidates(ss_fragment_choice *choice, const ss_fragments *fragments)
{
    choice->count = 0;
    for (uint32_t a = 0; a < 256 + fragments->count; a++) {
        const uint32_t length = token_length(fragments, a);
        const uint64_t bytes = token_bytes(fragments, a);
        if (choice->singles[a] == 0)
            continue;
        add_candidate(choice, bytes, length, choice->singles[a]);
        /* The first byte alone stays a candidate, so that it can come back. */
        if (length > 1)
            add_candidate(choice, bytes & 0xff, 1, choice->singles[a]);
        for (uint32_t b = 0; b < 256 + fragments->count; b++) {
            const uint32_t joined = length + token_length(fragments, b);
            if (joined <= SS_FRAGMENT_BYTES)
                add_candidate(choice, bytes | token_bytes(fragments, b) << 8 * length, joined, choice->pairs[a][b]);
        }
    }
}

static int compare_in_table(const void *a, const void *b)
{
    const candidate *left = a, *right = b;
    return compare_fragments(left->bytes, left->length, right->bytes, right->length);
}

static int compare_gains(const void *a, const void *b)
{
    const candidate *left = a, *right = b;
    if (left->gain != right->gain)
        return left->gain > right->gain ? -1 : 1;
    return compare_in_table(a, b);
}

/* Add up the gains of equal candidates. */
static void join_equal(ss_fragment_choice *choice)
{
    size_t kept = 0;
    qsort(choice->candidates, choice->count, sizeof *choice->candidates, compare_in_table);
    for (size_t i = 0; i < choice->count; i++) {
        candidate *last = kept > 0 ? &choice->candidates[kept - 1] : NULL;
        if (last != NULL && compare_in_table(last, &choice->candidates[i]) == 0)
            last->gain += choice->candidates[i].gain;
        else
            choice->candidates[kept++] = choice->candidates[i];
    }
    choice->count = kept;
}

static void take_best(ss_fragment_choice *choice, ss_fragments *fragments)
{
    qsort(choice->candidates, choice->count, sizeof *choice->candidates, compare_gains);
    *fragments = (ss_fragments){.count = (uint32_t)ss_min_u64(choice->count, SS_MAX_FRAGMENTS)};
    qsort(choice->candidates, fragments->count, sizeof *choice->candidates, compare_in_table);
    for (uint32_t i = 0; i < fragments->count; i++) {
        fragments->bytes[i] = choice->candidates[i].bytes;
        fragments->lengths[i] = choice->candidates[i].length;
    }
    complete(fragments);
}

void ss_fragments_choose(ss_fragments *fragments_out, const ss_fragment_sample *sample, ss_fragment_choice *choice)
{
    *fragments_out = (ss_fragments){.count = 0};
    complete(fragments_out);
    for (int round = 0; round < ROUNDS; round++) {
        count_tokens(choice, fragments_out, sample);
        collect_candidates(choice, fragments_out);
        join_equal(choice);
        take_best(choice, fragments_out);
    }
}
