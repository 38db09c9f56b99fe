#include "shim.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "documents/document_order.h"
#include "input/input_doubt.h"

#define REPORT_NS 100000000 /* between two reports */
#define MIN_CAPACITY 64u    /* matches of a query */
#define GROWTH 4u           /* of the room, if as many of the nearest are found and more are wanted */
#define FILL_ROWS 65536u    /* that are asked for together */
#define ADDED_ROWS 512u
#define MAX_COLUMNS 6u /* of an sspy_columns */

#define WORD_BYTES 8u

/* ----- progress ----- */

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int sspy_watch_progress(void *context, const sstore_progress *progress)
{
    sspy_watch *watch = context;
    const int64_t at = now_ns();
    if (at < watch->next)
        return 0;
    watch->next = at + REPORT_NS;
    return watch->report(watch->python, progress);
}

/* ----- one query ----- */

static void fail_memory(sstore_error *error)
{
    *error = (sstore_error){.status = SSTORE_ERROR_MEMORY, .offset = SSTORE_NO_OFFSET, .message = "out of memory"};
}

/* The bytes of a fingerprint, an id or a distance. */
static size_t width_of(const sspy_answer *answer, int column)
{
    return column == 0 ? answer->words * WORD_BYTES : column == 1 ? WORD_BYTES : sizeof(uint32_t);
}

static int reserve(sspy_answer *answer, uint64_t capacity)
{
    sspy_answer_free(answer);
    answer->bytes = malloc(capacity * (width_of(answer, 0) + width_of(answer, 1) + width_of(answer, 2)));
    bool done = answer->bytes != NULL;
    for (int i = 0; i < 3; i++) {
        answer->columns[i] = malloc(capacity * width_of(answer, i));
        done = done && answer->columns[i] != NULL;
    }
    if (done) {
        answer->capacity = capacity;
        return SSTORE_OK;
    }
    sspy_answer_free(answer);
    fail_memory(&answer->error);
    return SSTORE_ERROR_MEMORY;
}

/* Fill the columns with up to `capacity` matches, of which `max` are wanted. The count is that of all, or more than the
 * capacity if there may be more. */
static sstore_status ask(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance, bool nearest,
                         uint64_t capacity, uint64_t max, sspy_answer *answer)
{
    const sstore_columns columns = {.struct_size = sizeof columns,
                                    .fingerprint = (uint64_t *)(void *)answer->columns[0],
                                    .id = (uint64_t *)(void *)answer->columns[1],
                                    .distance = (uint32_t *)(void *)answer->columns[2]};
    if (!nearest)
        return sstore_query_columns(cursor, fingerprint, distance, &columns, capacity, &answer->count, &answer->error);
    const sstore_status status = sstore_query_nearest(cursor, fingerprint, distance, &columns, capacity, &answer->count,
                                                      &answer->error);
    if (status == SSTORE_OK && answer->count == capacity && capacity < max)
        answer->count = max / GROWTH < capacity ? max : GROWTH * capacity;
    return status;
}

int64_t sspy_query_words(sstore_cursor *cursor, const uint64_t *fingerprint, uint32_t distance, bool nearest,
                         uint64_t limit, sspy_answer *answer)
{
    const uint64_t max = limit > 0 ? limit : UINT64_MAX;
    uint64_t needed = MIN_CAPACITY;
    if (nearest && limit == 0) { /* all at the smallest distance */
        const sstore_columns columns = {.struct_size = sizeof columns, .distance = &distance};
        if (sstore_query_nearest(cursor, fingerprint, distance, &columns, 1, &answer->count, &answer->error) !=
            SSTORE_OK)
            return -1;
        if (answer->count == 0)
            return 0;
        nearest = false;
    }
    for (;;) {
        if (needed > answer->capacity) {
            if (reserve(answer, needed) != SSTORE_OK)
                return -1;
        }
        const uint64_t capacity = answer->capacity < max ? answer->capacity : max;
        if (ask(cursor, fingerprint, distance, nearest, capacity, max, answer) != SSTORE_OK)
            return -1;
        needed = answer->count < max ? answer->count : max;
        if (needed <= capacity)
            break;
    }
    char *to = answer->bytes;
    for (int i = 0; i < 3; i++) {
        memcpy(to, answer->columns[i], needed * width_of(answer, i));
        to += needed * width_of(answer, i);
    }
    return (int64_t)needed;
}

int64_t sspy_query(sstore_cursor *cursor, uint64_t fingerprint, uint32_t distance, bool nearest, uint64_t limit,
                   sspy_answer *answer)
{
    return sspy_query_words(cursor, &fingerprint, distance, nearest, limit, answer);
}

void sspy_answer_free(sspy_answer *answer)
{
    free(answer->bytes);
    for (int i = 0; i < 3; i++)
        free(answer->columns[i]);
    answer->bytes = answer->columns[0] = answer->columns[1] = answer->columns[2] = NULL;
    answer->capacity = 0;
}

/* ----- many results ----- */

/* Make room for `more` rows. */
static bool grow(sspy_columns *columns, uint64_t more)
{
    if (columns->capacity - columns->count >= more)
        return true;
    uint64_t capacity = columns->capacity + columns->capacity / 2;
    if (capacity < columns->count + more)
        capacity = columns->count + more;
    for (uint32_t i = 0; i < columns->column_count; i++) {
        void *column = realloc(columns->columns[i], capacity * columns->widths[i]);
        if (column == NULL)
            return false;
        columns->columns[i] = column;
    }
    columns->capacity = capacity;
    return true;
}

/* The place of the next row in column i. */
static void *next_place(const sspy_columns *columns, uint32_t i)
{
    return (char *)columns->columns[i] + columns->count * columns->widths[i];
}

/* Where the library's struct has the columns of results, in the order of sspy_kind. */
#define AT(column) offsetof(sstore_columns, column)
static const size_t columns_at[][MAX_COLUMNS] = {
    {AT(fingerprint), AT(id)},
    {AT(query_index), AT(fingerprint), AT(id), AT(distance)},
    {AT(fingerprint), AT(id), AT(other_fingerprint), AT(other_id), AT(distance)},
    {AT(cluster), AT(cluster_size), AT(fingerprint), AT(id), AT(distance), AT(is_representative)},
    {AT(id), AT(other_id), AT(distance)},
};
#undef AT

/* The places of the next rows. */
static sstore_columns next_rows(sspy_kind kind, const sspy_columns *to)
{
    sstore_columns columns = SSTORE_COLUMNS_INIT;
    for (uint32_t i = 0; i < to->column_count; i++) {
        void *const place = next_place(to, i);
        memcpy((char *)&columns + columns_at[kind][i], &place, sizeof place);
    }
    return columns;
}

int sspy_fill(sspy_kind kind, sstore_iterator *iterator, sspy_columns *columns, uint64_t max_count, sstore_error *error)
{
    const int64_t until = now_ns() + REPORT_NS;
    while (!columns->done && columns->count < max_count && now_ns() < until) {
        const uint64_t left = max_count - columns->count, wanted = left < FILL_ROWS ? left : FILL_ROWS;
        size_t count = 0;
        if (!grow(columns, wanted)) {
            fail_memory(error);
            return SSTORE_ERROR_MEMORY;
        }
        const sstore_columns rows = next_rows(kind, columns);
        const sstore_status status = sstore_iterator_next(iterator, &rows, (size_t)wanted, &count, error);
        columns->count += count;
        columns->done = count == 0;
        if (status != SSTORE_OK)
            return (int)status;
    }
    return SSTORE_OK;
}

/* Put a fingerprint into the next row of column i. */
static void put_fingerprint(const sspy_columns *columns, uint32_t i, const uint64_t *fingerprint)
{
    memcpy(next_place(columns, i), fingerprint, columns->widths[i]);
}

static int keep_match(void *context, const sstore_stream_match *match)
{
    sspy_columns *columns = context;
    if (!grow(columns, 1))
        return 1;
    put_fingerprint(columns, 0, match->query);
    put_fingerprint(columns, 1, match->fingerprint);
    *(uint64_t *)next_place(columns, 2) = match->id;
    *(uint32_t *)next_place(columns, 3) = match->distance;
    columns->count++;
    return 0;
}

int sspy_keep_absent(void *context, uint64_t id)
{
    sspy_columns *columns = context;
    if (!grow(columns, 1))
        return 1;
    *(uint64_t *)next_place(columns, 0) = id;
    columns->count++;
    return 0;
}

int sspy_keep_large_group(void *context, uint64_t kept_number, uint64_t record_count)
{
    sspy_columns *columns = context;
    if (!grow(columns, 1))
        return 1;
    *(uint64_t *)next_place(columns, 0) = kept_number;
    *(uint64_t *)next_place(columns, 1) = record_count;
    columns->count++;
    return 0;
}

/* Where the answers of a deduplication go. */
typedef struct dedup_target {
    uint64_t first_index;
    uint64_t *new_ids;
    sspy_columns *columns;
    bool is_out_of_memory;
} dedup_target;

static int keep_answer(void *context, const sstore_dedup_answer *answer)
{
    dedup_target *target = context;
    if (answer->is_new)
        target->new_ids[answer->index] = answer->id;
    for (size_t i = 0; i < answer->listed_count; i++) {
        const sstore_match *match = &answer->listed[i];
        sspy_columns *columns = target->columns;
        target->is_out_of_memory = !grow(columns, 1);
        if (target->is_out_of_memory)
            return 1;
        *(uint64_t *)next_place(columns, 0) = target->first_index + answer->index;
        put_fingerprint(columns, 1, match->fingerprint);
        *(uint64_t *)next_place(columns, 2) = match->id;
        *(uint32_t *)next_place(columns, 3) = match->distance;
        columns->count++;
    }
    return 0;
}

/* MEMORY if the callback ran out of memory, and so stopped the call; otherwise `status`. */
static int status_of(sstore_status status, bool is_out_of_memory, sstore_error *error)
{
    if (!is_out_of_memory)
        return (int)status;
    fail_memory(error);
    return SSTORE_ERROR_MEMORY;
}

int sspy_stream_feed(sstore_stream_matcher *matcher, const uint64_t *fingerprints, const uint64_t *ids, size_t count,
                     sspy_columns *columns, sstore_error *error)
{
    const sstore_status status = sstore_stream_matcher_feed(matcher, fingerprints, ids, count, keep_match, columns,
                                                            error);
    return status_of(status, status == SSTORE_STOPPED, error);
}

int sspy_dedup_insert(sstore_dedup *dedup, const uint64_t *fingerprints, const uint64_t *ids, const sstore_name *names,
                      size_t count, uint64_t first_index, bool *is_new, uint64_t *new_ids, sspy_columns *columns,
                      sstore_error *error)
{
    dedup_target target = {.first_index = first_index, .new_ids = new_ids, .columns = columns};
    const sstore_dedup_fn on_answer = columns != NULL ? keep_answer : NULL;
    const sstore_status status = names != NULL ? sstore_dedup_insert_named(dedup, fingerprints, ids, names, count,
                                                                           is_new, on_answer, &target, error)
                                               : sstore_dedup_insert(dedup, fingerprints, ids, count, is_new, on_answer,
                                                                     &target, error);
    return status_of(status, target.is_out_of_memory, error);
}

/* Where the pairs of a join go. */
typedef struct pair_target {
    sspy_columns *columns;
    uint64_t capacity;
    int (*flush)(void *context);
    void *context;
    bool is_out_of_memory;
} pair_target;

static int keep_pair(void *context, const sstore_pair *pair)
{
    pair_target *target = context;
    sspy_columns *columns = target->columns;
    target->is_out_of_memory = !grow(columns, 1);
    if (target->is_out_of_memory)
        return 1;
    *(uint64_t *)next_place(columns, 0) = *pair->fingerprint;
    *(uint64_t *)next_place(columns, 1) = pair->id;
    *(uint64_t *)next_place(columns, 2) = *pair->other_fingerprint;
    *(uint64_t *)next_place(columns, 3) = pair->other_id;
    *(uint32_t *)next_place(columns, 4) = pair->distance;
    columns->count++;
    return columns->count < target->capacity ? 0 : target->flush(target->context);
}

int sspy_join_records(const sstore_columns *left, size_t left_count, const sstore_columns *right, size_t right_count,
                      const sstore_record_join_options *options, sspy_columns *columns, uint64_t capacity,
                      int (*flush)(void *context), void *context, sstore_error *error)
{
    pair_target target = {.columns = columns, .capacity = capacity, .flush = flush, .context = context};
    const sstore_status status = sstore_join_records(left, left_count, right, right_count, options, keep_pair, &target,
                                                     error);
    if (status == SSTORE_OK && columns->count > 0 && flush(context) != 0)
        return SSTORE_STOPPED;
    return status_of(status, target.is_out_of_memory, error);
}

int sspy_components_next(sstore_components *components, sspy_columns *columns, uint64_t max_count, sstore_error *error)
{
    const uint64_t left = max_count - columns->count, wanted = left < FILL_ROWS ? left : FILL_ROWS;
    size_t count = 0;
    if (!grow(columns, wanted)) {
        fail_memory(error);
        return SSTORE_ERROR_MEMORY;
    }
    const sstore_status status = sstore_components_next(components, next_place(columns, 0), next_place(columns, 1),
                                                        (size_t)wanted, &count, error);
    columns->count += count;
    columns->done = count == 0;
    return (int)status;
}

int sspy_collection_report(sstore_collection *collection, sspy_columns *columns, sstore_error *error)
{
    const sstore_status status = sstore_collection_report(collection, keep_match, columns, error);
    return status_of(status, status == SSTORE_STOPPED, error);
}

static int keep_record(void *context, const sstore_match *record)
{
    sspy_columns *columns = context;
    if (!grow(columns, 1))
        return 1;
    *(uint64_t *)next_place(columns, 0) = record->query_index;
    put_fingerprint(columns, 1, record->fingerprint);
    *(uint64_t *)next_place(columns, 2) = record->id;
    columns->count++;
    return 0;
}

int sspy_get(sstore_cursor *cursor, const uint64_t *ids, size_t count, sspy_columns *columns, sstore_error *error)
{
    const sstore_status status = sstore_get(cursor, ids, count, keep_record, columns, error);
    return status_of(status, status == SSTORE_STOPPED, error);
}

int sspy_get_named(sstore_cursor *cursor, const sstore_name *names, size_t count, sspy_columns *columns,
                   sstore_error *error)
{
    const sstore_status status = sstore_get_named(cursor, names, count, keep_record, columns, error);
    return status_of(status, status == SSTORE_STOPPED, error);
}

int sspy_collection_add(sstore_collection *collection, const uint64_t *queries, const uint64_t *fingerprints,
                        uint32_t words, const uint64_t *ids, size_t count, sstore_error *error)
{
    sstore_stream_match batch[ADDED_ROWS];
    for (size_t begin = 0; begin < count; begin += ADDED_ROWS) {
        const size_t size = count - begin < ADDED_ROWS ? count - begin : ADDED_ROWS;
        for (size_t i = 0; i < size; i++) {
            const uint64_t *query = queries + (begin + i) * words, *fingerprint = fingerprints + (begin + i) * words;
            batch[i] = (sstore_stream_match){.query = query,
                                             .fingerprint = fingerprint,
                                             .id = ids != NULL ? ids[begin + i] : 0};
        }
        const sstore_status status = sstore_collection_add(collection, batch, size, error);
        if (status != SSTORE_OK)
            return (int)status;
    }
    return SSTORE_OK;
}

void sspy_columns_free(sspy_columns *columns)
{
    for (uint32_t i = 0; i < columns->column_count; i++)
        free(columns->columns[i]);
}

void sspy_free(void *memory)
{
    free(memory);
}

/* ----- texts ----- */

int sspy_fingerprint_texts(const char *data, const int64_t *begins, const int64_t *ends, size_t begin, size_t end,
                           const sstore_text_options *options, uint64_t *fingerprints, bool *has_features,
                           sstore_error *error)
{
    sstore_fingerprinter *fingerprinter;
    const size_t words = options->fingerprint_bits / 64;
    sstore_text_result result = SSTORE_TEXT_RESULT_INIT;
    sstore_status status = sstore_fingerprinter_create(options, &fingerprinter, error);
    for (size_t i = begin; i < end && status == SSTORE_OK; i++) {
        const size_t size = ends[i] > begins[i] ? (size_t)(ends[i] - begins[i]) : 0;
        status = sstore_fingerprinter_text(fingerprinter, data + begins[i], size, &result, NULL, error);
        if (status != SSTORE_OK)
            break;
        memcpy(fingerprints + words * i, result.fingerprint, words * sizeof *fingerprints);
        has_features[i] = result.feature_count > 0;
    }
    sstore_fingerprinter_free(fingerprinter);
    return (int)status;
}

/* The simhash of one feature is its hash. */
int sspy_hash_texts(const char *data, const int64_t *begins, const int64_t *ends, size_t count, uint64_t *hashes,
                    sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    for (size_t i = 0; status == SSTORE_OK && i < count; i++) {
        const sstore_feature text = {.data = data + begins[i],
                                     .size = ends[i] > begins[i] ? (size_t)(ends[i] - begins[i]) : 0,
                                     .weight = 1};
        status = sstore_simhash(&text, 1, SSTORE_FEATURE_HASH_XXH3, 64, &hashes[i], error);
    }
    return (int)status;
}

void sspy_copy_texts(const char *data, const int64_t *begins, const int64_t *ends, size_t count, char *to,
                     const int64_t *targets)
{
    for (size_t i = 0; i < count; i++) {
        if (ends[i] > begins[i])
            memcpy(to + targets[i], data + begins[i], (size_t)(ends[i] - begins[i]));
    }
}

/* Write a character as UTF-8. Returns its end; NULL if it is none. */
static char *encode(uint32_t c, char *to)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    if (c >= 0xdc80 && c <= 0xdcff) {
        *to++ = (char)(c - 0xdc00);
        return to;
    }
    if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
        return NULL;
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3; /* bytes after the first one */
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(lead[more] | c >> 6 * more);
    for (int i = more - 1; i >= 0; i--)
        *to++ = (char)(0x80 | (c >> 6 * i & 0x3f));
    return to;
}

size_t sspy_encode_texts(const uint32_t *characters, size_t width, size_t count, char *data, int64_t *ends)
{
    char *to = data;
    for (size_t i = 0; i < count; i++) {
        const uint32_t *const text = characters + i * width;
        size_t length = width;
        while (length > 0 && text[length - 1] == 0)
            length--;
        for (size_t j = 0; j < length; j++) {
            to = encode(text[j], to);
            if (to == NULL)
                return i;
        }
        ends[i] = to - data;
    }
    return count;
}

/* Read the character at `at`, which is in UTF-8. Returns its end. */
static const unsigned char *decode(const unsigned char *at, uint32_t *character)
{
    const unsigned char first = *at++;
    const int more = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    uint32_t c = more == 0 ? first : first & (0x3fu >> more);
    for (int i = 0; i < more; i++)
        c = c << 6 | (*at++ & 0x3f);
    *character = c;
    return at;
}

void sspy_decode_texts(const char *data, const int64_t *begins, const int64_t *ends, size_t count, size_t width,
                       uint32_t *characters)
{
    memset(characters, 0, count * width * sizeof *characters);
    for (size_t i = 0; i < count; i++) {
        const unsigned char *at = (const unsigned char *)data + begins[i];
        const unsigned char *const end = (const unsigned char *)data + ends[i];
        for (size_t j = 0; j < width && at < end; j++)
            at = decode(at, &characters[i * width + j]);
    }
}

/* Where names go. */
typedef struct name_target {
    int64_t *begins, *ends;
    sspy_bytes *bytes;
} name_target;

static int keep_name(void *context, size_t index, uint64_t id, const sstore_name *name)
{
    const name_target *target = context;
    sspy_bytes *bytes = target->bytes;
    (void)id;
    if (bytes->capacity - bytes->size < name->size) {
        const size_t capacity = bytes->capacity + bytes->capacity / 2 + name->size;
        char *data = realloc(bytes->data, capacity);
        if (data == NULL)
            return 1;
        bytes->data = data;
        bytes->capacity = capacity;
    }
    memcpy(bytes->data + bytes->size, name->bytes, name->size);
    target->begins[index] = (int64_t)bytes->size;
    bytes->size += name->size;
    target->ends[index] = (int64_t)bytes->size;
    return 0;
}

int sspy_names(sstore_cursor *cursor, const uint64_t *ids, size_t count, int64_t *begins, int64_t *ends,
               sspy_bytes *bytes, sstore_error *error)
{
    name_target target = {.begins = begins, .ends = ends, .bytes = bytes};
    const sstore_status status = sstore_names(cursor, ids, count, keep_name, &target, error);
    return status_of(status, status == SSTORE_STOPPED, error);
}

int sspy_dedup_names(sstore_dedup *dedup, const uint64_t *ids, size_t count, int64_t *begins, int64_t *ends,
                     sspy_bytes *bytes, sstore_error *error)
{
    name_target target = {.begins = begins, .ends = ends, .bytes = bytes};
    const sstore_status status = sstore_dedup_names(dedup, ids, count, keep_name, &target, error);
    return status_of(status, status == SSTORE_STOPPED, error);
}

size_t sspy_read_orders(const char *data, const int64_t *offsets, size_t count, bool is_descending, uint64_t *orders)
{
    size_t i = 0;
    while (i < count &&
           document_order_read(data + offsets[i], (size_t)(offsets[i + 1] - offsets[i]), is_descending, &orders[i]))
        i++;
    return i;
}

/* ----- doubts ----- */

/* Signs of digits in text (no letter, base64, short rows) have no name: arrays cannot show them. */
static const char *const signs[SIGN_COUNT + 1] = {
    [SIGN_BITS] = "bits",
    [SIGN_TWO_VALUES] = "two values",
    [SIGN_HALVES] = "halves",
    [SIGN_HEX_BYTES] = "hex bytes",
    [SIGN_TEXT] = "text",
    [SIGN_SWAPPED] = "swapped",
    [SIGN_NEAR_NUMBERS] = "near numbers",
    [SIGN_32_BITS] = "32 bits",
    [SIGN_ROUNDED] = "rounded",
    [SIGN_DOUBLES] = "doubles",
    [SIGN_ID_ORDER] = "id order",
    [SIGN_REPEATED_IDS] = "repeated ids",
};

const char *sspy_sign(const uint64_t *fingerprints, const uint64_t *ids, size_t count, uint32_t words,
                      uint32_t own_bits)
{
    input_doubt doubt = {.name = NULL};
    input_doubt_note(
        &doubt,
        &(doubt_rows){.fingerprints = fingerprints, .ids = ids, .count = count, .words = words, .bits = own_bits});
    return signs[input_doubt_sign(&doubt)];
}
