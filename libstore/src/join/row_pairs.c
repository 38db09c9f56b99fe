#include "join/row_pairs.h"

#include "base/error.h"
#include "base/iterator.h"
#include "base/memory.h"
#include "base/words.h"
#include "join/record_reader.h"
#include "join/row_join.h"

/* Fractions of a call's work, measured with a million fingerprints of 256 bits, k = 12 to 43. */
#define FOUND_FRACTION 0.88
#define IDENTIFIED_FRACTION 0.98

#define NUMBERS_WORDS 2u    /* of an item (second number, first number) */
#define ITEM_HEAD 3u        /* words of an item before the fingerprint: first number, second number, id of the second */
#define WAITING_WORDS 4096u /* of items that are added to the sorter together */
#define FIRST_IDS ((size_t)64)
#define PROGRESS_STEP 1024u

/* The ids of the current first fingerprint. */
typedef struct first_ids {
    uint64_t number; /* of the fingerprint; UINT64_MAX: there is none yet */
    uint64_t fingerprint[SSTORE_MAX_WORDS];
    uint64_t *ids;
    size_t count, capacity;
    bool is_too_many;       /* the ids do not fit: they are read again for each item */
    ss_record_reader again; /* reads them */
} first_ids;

struct ss_row_pairs {
    ss_join_call *call;
    uint32_t words;
    ss_sort_stage numbers; /* items (second number, first number) */
    ss_sort_stage items;   /* items of ITEM_HEAD words and the second fingerprint */
    size_t waiting_count;  /* of items that wait to be added */
    uint64_t waiting[WAITING_WORDS];
    ss_piece_room *rooms; /* one a thread */
    ss_loaded_pieces pieces;
    size_t at;               /* the current item in its piece */
    ss_record_reader reader; /* at the first record above the current first fingerprint */
    first_ids first;
    size_t id_index; /* of the next of its ids */
};

/* ----- pairs of numbers ----- */

static sstore_status add_numbers(void *context, uint32_t worker, const ss_fingerprint_pair *pairs, size_t count,
                                 sstore_error *error)
{
    const ss_row_pairs *self = context;
    ss_record items[SS_GROUP_PAIRS];
    for (size_t i = 0; i < count; i++)
        items[i] = (ss_record){pairs[i].second, pairs[i].first};
    return ss_sorter_add_items(self->numbers.sorter, worker, items, count, error);
}

static sstore_status find_numbers(ss_row_pairs *self, sstore_error *error)
{
    ss_join_call *call = self->call;
    sstore_status status = ss_sort_stage_open(&self->numbers, NUMBERS_WORDS, call, error);
    if (status == SSTORE_OK)
        status = ss_row_join(call, SS_JOIN_SELF, call->join_bytes, FOUND_FRACTION, add_numbers, self, error);
    return status == SSTORE_OK ? ss_sorter_finish(self->numbers.sorter, &call->progress, error) : status;
}

/* ----- second ids ----- */

static sstore_status flush_items(ss_row_pairs *self, sstore_error *error)
{
    const size_t count = self->waiting_count;
    self->waiting_count = 0;
    return ss_sorter_add_items(self->items.sorter, 0, self->waiting, count, error);
}

static sstore_status add_item(ss_row_pairs *self, uint64_t first, uint64_t second, uint64_t id,
                              const uint64_t *fingerprint, sstore_error *error)
{
    const uint32_t item_words = self->items.item_words;
    uint64_t *item = self->waiting + self->waiting_count++ * item_words;
    item[0] = first;
    item[1] = second;
    item[2] = id;
    ss_words_copy(item + ITEM_HEAD, fingerprint, self->words);
    return (self->waiting_count + 1) * item_words > WAITING_WORDS ? flush_items(self, error) : SSTORE_OK;
}

/* The sorted pairs of numbers, piece by piece. */
typedef struct number_pieces {
    ss_sorter *sorter;
    ss_piece_room *room;
    size_t next_piece, at;
} number_pieces;

/* The current pair, (second number, first number); NULL: there are no more. */
static sstore_status current_pair(number_pieces *self, const ss_record **pair_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && self->at == self->room->count &&
           self->next_piece < ss_sorter_piece_count(self->sorter)) {
        status = ss_piece_room_load(self->room, self->sorter, self->next_piece++, error);
        self->at = 0;
    }
    *pair_out = status == SSTORE_OK && self->at < self->room->count ? (const ss_record *)self->room->items + self->at
                                                                    : NULL;
    return status;
}

/* Add all `count` pairs with each id of the reader's fingerprint, and pass its records. With `adds_own`, also pair it
 * with itself if it has several ids. */
static sstore_status add_records(ss_row_pairs *self, ss_record_reader *reader, const ss_record *pairs, size_t count,
                                 bool adds_own, sstore_error *error)
{
    const uint64_t number = reader->number, first_id = reader->current.id;
    uint64_t fingerprint[SSTORE_MAX_WORDS];
    sstore_status status = SSTORE_OK;
    ss_words_copy(fingerprint, ss_record_reader_fingerprint(reader), self->words);
    for (uint64_t n = 0; status == SSTORE_OK && reader->more && reader->number == number; n++) {
        const uint64_t id = reader->current.id;
        for (size_t i = 0; status == SSTORE_OK && i < count; i++)
            status = add_item(self, pairs[i].id, number, id, fingerprint, error);
        if (status == SSTORE_OK && adds_own && n == 1)
            status = add_item(self, number, number, first_id, fingerprint, error);
        if (status == SSTORE_OK && adds_own && n > 0)
            status = add_item(self, number, number, id, fingerprint, error);
        if (status == SSTORE_OK)
            status = ss_record_reader_next_number(reader, fingerprint, error);
    }
    return status;
}

/* Add the records of the reader's fingerprint, and those of its pairs, which may be in several pieces. */
static sstore_status add_fingerprint(ss_row_pairs *self, ss_record_reader *reader, number_pieces *numbers,
                                     sstore_error *error)
{
    const uint64_t number = reader->number;
    uint64_t fingerprint[SSTORE_MAX_WORDS];
    const ss_record *pair;
    ss_words_copy(fingerprint, ss_record_reader_fingerprint(reader), self->words);
    sstore_status status = current_pair(numbers, &pair, error);
    for (bool again = false; status == SSTORE_OK; again = true) {
        size_t count = 0;
        while (pair != NULL && numbers->at + count < numbers->room->count && pair[count].fingerprint == number)
            count++;
        if (again && count == 0)
            break;
        if (again)
            status = ss_record_reader_seek(reader, fingerprint, error);
        reader->number = number;
        if (status == SSTORE_OK)
            status = add_records(self, reader, pair, count, !again, error);
        numbers->at += count;
        if (status == SSTORE_OK)
            status = current_pair(numbers, &pair, error);
    }
    return status;
}

static sstore_status identify(ss_row_pairs *self, sstore_error *error)
{
    ss_join_call *call = self->call;
    const sstore *store = call->left;
    number_pieces numbers = {.sorter = self->numbers.sorter, .room = &self->rooms[0]};
    ss_record_reader reader;
    uint64_t done = 0;
    ss_progress_begin(&call->progress, "identifying", 0, ss_manifest_count(&store->manifest).record_count,
                      IDENTIFIED_FRACTION);
    sstore_status status = ss_record_reader_open(&reader, store, store->manifest.has_ids, &call->excluded, error);
    if (status == SSTORE_OK)
        status = ss_record_reader_first(&reader, error);
    while (status == SSTORE_OK && reader.more) {
        status = add_fingerprint(self, &reader, &numbers, error);
        if (status == SSTORE_OK && ++done % PROGRESS_STEP == 0)
            status = ss_progress_add(&call->progress, 0, PROGRESS_STEP);
    }
    ss_record_reader_close(&reader);
    return status == SSTORE_OK ? flush_items(self, error) : status;
}

/* ----- first ids ----- */

/* Go forward to the records of a number, and keep its ids. */
static sstore_status read_first(ss_row_pairs *self, uint64_t number, sstore_error *error)
{
    first_ids *first = &self->first;
    ss_record_reader *reader = &self->reader;
    sstore_status status = SSTORE_OK;
    first->count = 0;
    first->is_too_many = false;
    while (status == SSTORE_OK && reader->more && reader->number <= number) {
        if (reader->number == number && !first->is_too_many) {
            uint64_t *ids = ss_grow(first->ids, first->count, &first->capacity, FIRST_IDS, sizeof *ids);
            if (ids == NULL)
                return ss_fail_memory(error, 2 * first->capacity * sizeof *ids);
            first->ids = ids;
            ids[first->count++] = reader->current.id;
            first->is_too_many = first->count > self->call->piece_capacity;
        }
        ss_words_copy(first->fingerprint, ss_record_reader_fingerprint(reader), self->words);
        first->number = reader->number;
        status = ss_record_reader_next_number(reader, first->fingerprint, error);
    }
    return status;
}

/* Get the next id of the first fingerprint for the current item; *more_out is false if there are no more. */
static sstore_status next_id(ss_row_pairs *self, uint64_t *id_out, bool *more_out, sstore_error *error)
{
    first_ids *first = &self->first;
    ss_record_reader *again = &first->again;
    const size_t at = self->id_index++;
    sstore_status status = SSTORE_OK;
    if (!first->is_too_many) {
        *more_out = at < first->count;
        *id_out = *more_out ? first->ids[at] : 0;
        return SSTORE_OK;
    }
    if (again->words == 0) /* it is not open */
        status = ss_record_reader_open(again, self->call->left, true, NULL, error);
    if (status == SSTORE_OK)
        status = at == 0 ? ss_record_reader_seek(again, first->fingerprint, error)
                         : ss_record_reader_next(again, error);
    if (status == SSTORE_OK && at % PROGRESS_STEP == 0)
        status = ss_progress_add(&self->call->progress, 0, 0);
    *more_out = status == SSTORE_OK && ss_record_reader_at(again, first->fingerprint);
    *id_out = again->current.id;
    return status;
}

/* ----- returning the pairs ----- */

static sstore_status load_items(void *context, uint64_t task, uint32_t worker, sstore_error *error)
{
    const ss_row_pairs *self = context;
    (void)worker;
    return ss_piece_room_load(&self->rooms[task], self->items.sorter, self->pieces.first + (size_t)task, error);
}

/* The current item; NULL: there are no more. Its first fingerprint is read. */
static sstore_status current_item(ss_row_pairs *self, const uint64_t **item_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    *item_out = NULL;
    while (status == SSTORE_OK && self->pieces.count > 0 && self->at == self->rooms[self->pieces.index].count) {
        status = ss_loaded_pieces_next(&self->pieces, self->at, error);
        self->at = 0;
    }
    if (status != SSTORE_OK || self->pieces.count == 0)
        return status;
    *item_out = (const uint64_t *)self->rooms[self->pieces.index].items + self->at * self->items.item_words;
    return **item_out != self->first.number ? read_first(self, **item_out, error) : SSTORE_OK;
}

sstore_status ss_row_pairs_next(ss_row_pairs *pairs, const sstore_columns *columns, size_t at, bool *more_out,
                                sstore_error *error)
{
    const first_ids *first = &pairs->first;
    const uint64_t *item;
    sstore_status status = current_item(pairs, &item, error);
    *more_out = false;
    while (status == SSTORE_OK && item != NULL) {
        uint64_t id;
        bool more;
        status = next_id(pairs, &id, &more, error);
        if (status != SSTORE_OK)
            return status;
        /* Of one fingerprint the lower id comes first. Ids ascend. */
        if (!more || (item[0] == item[1] && id >= item[2])) {
            pairs->at++;
            pairs->id_index = 0;
            status = current_item(pairs, &item, error);
            continue;
        }
        ss_set_fingerprint(columns->fingerprint, at, first->fingerprint, pairs->words);
        ss_set_word(columns->id, at, id);
        ss_set_fingerprint(columns->other_fingerprint, at, item + ITEM_HEAD, pairs->words);
        ss_set_word(columns->other_id, at, item[2]);
        ss_set_distance(columns->distance, at, ss_words_distance(first->fingerprint, item + ITEM_HEAD, pairs->words));
        *more_out = true;
        return SSTORE_OK;
    }
    return status;
}

/* ----- begin and end ----- */

static sstore_status open_rooms(ss_row_pairs *self, sstore_error *error)
{
    const ss_join_call *call = self->call;
    sstore_status status = SSTORE_OK;
    self->rooms = ss_alloc(call->threads, sizeof *self->rooms);
    if (self->rooms == NULL)
        return ss_fail_memory(error, call->threads * sizeof *self->rooms);
    for (uint32_t i = 0; status == SSTORE_OK && i < call->threads; i++)
        status = ss_piece_room_open(&self->rooms[i], self->items.item_words, call->piece_capacity, error);
    return status;
}

static sstore_status find_pairs(ss_row_pairs *self, sstore_error *error)
{
    ss_join_call *call = self->call;
    const sstore *store = call->left;
    sstore_status status = find_numbers(self, error);
    if (status == SSTORE_OK)
        status = ss_sort_stage_open(&self->items, ITEM_HEAD + self->words, call, error);
    if (status == SSTORE_OK)
        status = open_rooms(self, error);
    if (status == SSTORE_OK)
        status = identify(self, error);
    ss_sort_stage_close(&self->numbers); /* the last step uses its memory */
    if (status == SSTORE_OK)
        status = ss_sorter_finish(self->items.sorter, &call->progress, error);
    if (status == SSTORE_OK)
        status = ss_record_reader_open(&self->reader, store, store->manifest.has_ids, &call->excluded, error);
    if (status == SSTORE_OK)
        status = ss_record_reader_first(&self->reader, error);
    if (status != SSTORE_OK)
        return status;
    ss_progress_begin(&call->progress, "reporting", 0, ss_sorter_count(self->items.sorter), 1);
    self->pieces = (ss_loaded_pieces){call, self->items.sorter, load_items, self, 0, 0, 0};
    return ss_loaded_pieces_next(&self->pieces, 0, error);
}

sstore_status ss_row_pairs_create(ss_join_call *call, ss_row_pairs **pairs_out, sstore_error *error)
{
    ss_row_pairs *self = *pairs_out = ss_alloc(1, sizeof *self);
    if (self == NULL)
        return ss_fail_memory(error, sizeof *self);
    assert(call->left == call->right);
    self->call = call;
    self->words = call->left->manifest.words;
    self->first.number = UINT64_MAX;
    const sstore_status status = find_pairs(self, error);
    if (status != SSTORE_OK) {
        ss_row_pairs_free(self);
        *pairs_out = NULL;
    }
    return status;
}

void ss_row_pairs_free(ss_row_pairs *pairs)
{
    if (pairs == NULL)
        return;
    for (uint32_t i = 0; pairs->rooms != NULL && i < pairs->call->threads; i++)
        ss_free(pairs->rooms[i].items);
    ss_free(pairs->rooms);
    ss_free(pairs->first.ids);
    ss_record_reader_close(&pairs->reader);
    ss_record_reader_close(&pairs->first.again);
    ss_sort_stage_close(&pairs->numbers);
    ss_sort_stage_close(&pairs->items);
    ss_free(pairs);
}
