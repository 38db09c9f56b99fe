#include "join/row_queries.h"

#include "base/error.h"
#include "base/iterator.h"
#include "base/memory.h"
#include "base/words.h"
#include "join/record_reader.h"
#include "read/round.h"

#define MATCH_BYTES 256u     /* of a match until it is returned, */
#define MATCH_WORD_BYTES 32u /* and for each word of its fingerprint */
#define RECORD_BATCH 1024u

#define THREAD_BYTES ((uint64_t)8 << 20) /* of a thread that answers queries */
#define WAITING_QUERY_WORDS 3u           /* of a query that waits, */
#define QUERY_BYTES 64u                  /* and of one that is answered, each without its fingerprint */
#define MIN_QUERIES ((uint64_t)256)
#define MIN_MATCHES ((uint64_t)2048) /* for each thread, which take room for hits in portions */
#define FIRST_QUERIES ((size_t)2048) /* few, since nothing is known about the matches */
#define GROWTH 4u                    /* of rounds with few matches */
#define DIVISOR 8u                   /* of those with too many */

/* Left records that wait: of `count` fingerprints, those of number i have the ids ids[begins[i]] to
 * ids[begins[i + 1] - 1]. */
typedef struct left_records {
    ss_record_reader reader;
    uint64_t *fingerprints;
    size_t *begins;
    uint64_t *ids;
    size_t count, id_count, capacity, id_capacity;
    bool continues;   /* there is one fingerprint more, and not all of its ids were read */
    bool is_too_many; /* there is only one fingerprint, whose ids do not fit: each match reads them again */
    uint64_t skipped; /* of its ids */
} left_records;

struct ss_row_queries {
    ss_join_call *call;
    uint32_t words;
    ss_segment_plan *plans;  /* of the right store */
    ss_round round_template; /* without queries */
    size_t round_size;       /* of the next round */
    left_records left;
    size_t at, end; /* the left fingerprints of the round */
    ss_round_matches matches;
    size_t match_index; /* of the next one; of a scan: 0 before the first record */
    sstore_match match; /* the current one: pairs of it and each id of its query are returned */
    bool has_match;
    size_t id_index;          /* of the next of these ids; with too many: 0 before the first one */
    bool scans;               /* the round is one fingerprint, which is compared with all records */
    uint32_t reread_count;    /* of records that are read again: */
    ss_record_reader right;   /* if the round scans */
    ss_record_reader own_ids; /* if there are too many ids */
};

/* ----- left records ----- */

static sstore_status open_left(left_records *self, const ss_join_call *call, size_t capacity, sstore_error *error)
{
    const uint32_t words = call->left->manifest.words;
    self->capacity = capacity;
    self->id_capacity = 2 * capacity;
    self->fingerprints = ss_realloc(NULL, capacity, words * sizeof *self->fingerprints);
    self->begins = ss_realloc(NULL, capacity + 1, sizeof *self->begins);
    self->ids = ss_realloc(NULL, self->id_capacity, sizeof *self->ids);
    if (self->fingerprints == NULL || self->begins == NULL || self->ids == NULL)
        return ss_fail_memory(error, capacity * (words + WAITING_QUERY_WORDS) * sizeof(uint64_t));
    const sstore_status status = ss_record_reader_open(&self->reader, call->left, call->left->manifest.has_ids,
                                                       &call->excluded, error);
    return status == SSTORE_OK ? ss_record_reader_first(&self->reader, error) : status;
}

static void close_left(left_records *self)
{
    ss_record_reader_close(&self->reader);
    ss_free(self->fingerprints);
    ss_free(self->begins);
    ss_free(self->ids);
}

static uint64_t *left_fingerprint(const left_records *self, size_t index)
{
    return self->fingerprints + index * self->reader.words;
}

/* Move what was read of the fingerprint that continues to the front. */
static void begin_again(left_records *self)
{
    const size_t last = self->count, begin = self->begins[last];
    if (!self->continues) {
        self->count = self->id_count = 0;
        return;
    }
    ss_words_move(self->fingerprints, left_fingerprint(self, last), self->reader.words);
    memmove(self->ids, self->ids + begin, (self->id_count - begin) * sizeof *self->ids);
    self->begins[0] = 0;
    self->id_count -= begin;
    self->count = 1;
}

/* Read the ids of the last fingerprint, as many as fit. */
static sstore_status read_ids(left_records *self, bool *all_out, sstore_error *error)
{
    const uint64_t *fingerprint = left_fingerprint(self, self->count - 1);
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && self->id_count < self->id_capacity &&
           ss_record_reader_at(&self->reader, fingerprint)) {
        self->ids[self->id_count++] = self->reader.current.id;
        status = ss_record_reader_next(&self->reader, error);
    }
    *all_out = status != SSTORE_OK || !ss_record_reader_at(&self->reader, fingerprint);
    return status;
}

/* Pass the ids of the only fingerprint that do not fit. */
static sstore_status skip_ids(left_records *self, ss_progress *progress, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && ss_record_reader_at(&self->reader, self->fingerprints)) {
        status = ss_record_reader_next(&self->reader, error);
        if (status == SSTORE_OK && ++self->skipped % RECORD_BATCH == 0)
            status = ss_progress_add(progress, 0, 0);
    }
    return status;
}

/* Read the next fingerprints with their ids; the count is 0 if there are none left. */
static sstore_status read_left(left_records *self, ss_progress *progress, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    bool all = true;
    begin_again(self);
    self->skipped = 0;
    self->is_too_many = false;
    while (status == SSTORE_OK && (self->continues || (self->reader.more && self->count < self->capacity))) {
        if (!self->continues) {
            ss_words_copy(left_fingerprint(self, self->count), ss_record_reader_fingerprint(&self->reader),
                          self->reader.words);
            self->begins[self->count++] = self->id_count;
        }
        self->continues = false;
        status = read_ids(self, &all, error);
        if (!all)
            break;
    }
    self->begins[self->count] = self->id_count;
    if (all || status != SSTORE_OK)
        return status;
    self->is_too_many = self->count == 1;
    self->continues = self->count > 1;
    self->count -= self->continues;
    return self->is_too_many ? skip_ids(self, progress, error) : SSTORE_OK;
}

/* ----- records that are read again ----- */

/* Go to the first record of a fingerprint or above; NULL: to the first one of all. */
static sstore_status reread_from(ss_record_reader *reader, const sstore *store, const uint64_t *fingerprint,
                                 sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    if (reader->words == 0) /* it is not open */
        status = ss_record_reader_open(reader, store, store->manifest.has_ids, NULL, error);
    if (status != SSTORE_OK)
        return status;
    return fingerprint == NULL ? ss_record_reader_first(reader, error)
                               : ss_record_reader_seek(reader, fingerprint, error);
}

static sstore_status reread_next(ss_row_queries *self, ss_record_reader *reader, sstore_error *error)
{
    const sstore_status status = ss_record_reader_next(reader, error);
    return status == SSTORE_OK && ++self->reread_count % RECORD_BATCH == 0
               ? ss_progress_add(&self->call->progress, 0, 0)
               : status;
}

/* ----- rounds ----- */

/* Choose the size of the next round, after one with this many matches. */
static void resize_round(ss_row_queries *self, const ss_round *round, size_t match_count)
{
    const uint64_t max = (uint64_t)round->max_matches;
    if (match_count > max / 2)
        self->round_size = (size_t)ss_max_u64(round->count / 2, 1);
    else if (match_count <= max / 2 / GROWTH && round->count == self->round_size)
        self->round_size = (size_t)ss_min_u64(GROWTH * self->round_size, self->left.capacity);
}

/* Answer the next left fingerprints. If there is only one, and it has too many matches, it is compared with all
 * records. */
static sstore_status begin_round(ss_row_queries *self, sstore_error *error)
{
    const left_records *left = &self->left;
    self->match_index = 0;
    self->scans = false;
    for (;;) {
        ss_round round = self->round_template;
        round.fingerprints = left_fingerprint(left, self->at);
        round.count = (uint32_t)ss_min_u64(left->count - self->at, self->round_size);
        round.first_index = self->at;
        self->end = self->at + round.count;
        const sstore_status status = ss_round_answer(&round, &self->matches, error);
        if (status == SSTORE_OK)
            resize_round(self, &round, self->matches.count);
        if (status != SSTORE_STOPPED || atomic_load(&round.progress->stopped))
            return status; /* otherwise it has too many matches */
        if (round.count == 1)
            break;
        self->round_size = (size_t)ss_max_u64(round.count / DIVISOR, 1);
    }
    self->scans = true;
    return reread_from(&self->right, self->call->right, NULL, error);
}

/* The records of the round's fingerprints are done. */
static sstore_status end_round(ss_row_queries *self, sstore_error *error)
{
    left_records *left = &self->left;
    sstore_status status = ss_progress_add(&self->call->progress, 0,
                                           left->begins[self->end] - left->begins[self->at] + left->skipped);
    ss_round_matches_free(&self->matches);
    self->at = self->end;
    if (status == SSTORE_OK && self->at == left->count) {
        status = read_left(left, &self->call->progress, error);
        self->at = self->end = 0;
    }
    return status == SSTORE_OK && left->count > 0 ? begin_round(self, error) : status;
}

/* ----- matches ----- */

/* Find the next match of the only fingerprint of the round among all records. */
static sstore_status scan(ss_row_queries *self, sstore_error *error)
{
    const uint64_t *query = left_fingerprint(&self->left, self->at);
    const ss_record_reader *reader = &self->right;
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && !self->has_match) {
        if (self->match_index++ > 0)
            status = reread_next(self, &self->right, error);
        if (status != SSTORE_OK || !reader->more)
            break;
        const uint64_t *fingerprint = ss_record_reader_fingerprint(reader);
        const uint32_t distance = ss_words_distance(fingerprint, query, self->words);
        self->has_match = distance <= self->call->distance;
        self->match = (sstore_match){.query_index = self->at,
                                     .fingerprint = fingerprint,
                                     .id = reader->current.id,
                                     .distance = distance};
    }
    return status;
}

/* Go to the next match; has_match is false after the last one of all. */
static sstore_status next_match(ss_row_queries *self, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    self->has_match = false;
    self->id_index = 0;
    while (status == SSTORE_OK && !self->has_match && self->left.count > 0) {
        if (self->scans)
            status = scan(self, error);
        else if (self->match_index < self->matches.count) {
            self->match = self->matches.matches[self->match_index++];
            self->has_match = true;
        }
        if (status == SSTORE_OK && !self->has_match)
            status = end_round(self, error);
    }
    return status;
}

/* Get the next id of the current match's query. */
static sstore_status next_id(ss_row_queries *self, uint64_t *id_out, bool *more_out, sstore_error *error)
{
    const left_records *left = &self->left;
    const size_t query = (size_t)self->match.query_index;
    sstore_status status = SSTORE_OK;
    if (!left->is_too_many) {
        const size_t at = left->begins[query] + self->id_index;
        *more_out = at < left->begins[query + 1];
        *id_out = *more_out ? left->ids[at] : 0;
    } else {
        const uint64_t *fingerprint = left_fingerprint(left, query);
        ss_record_reader *reader = &self->own_ids;
        status = self->id_index == 0 ? reread_from(reader, self->call->left, fingerprint, error)
                                     : reread_next(self, reader, error);
        *more_out = status == SSTORE_OK && ss_record_reader_at(reader, fingerprint);
        *id_out = reader->current.id;
    }
    self->id_index++;
    return status;
}

sstore_status ss_row_queries_next(ss_row_queries *pairs, const sstore_columns *columns, size_t at, bool *more_out,
                                  sstore_error *error)
{
    sstore_status status = pairs->has_match ? SSTORE_OK : next_match(pairs, error);
    *more_out = false;
    while (status == SSTORE_OK && pairs->has_match) {
        const sstore_match *match = &pairs->match;
        const ss_exclusion *excluded = &pairs->call->excluded;
        uint64_t id;
        bool more;
        if (excluded->count > 0 && ss_exclusion_has(excluded, match->fingerprint)) {
            status = next_match(pairs, error);
            continue;
        }
        status = next_id(pairs, &id, &more, error);
        if (status != SSTORE_OK)
            return status;
        if (!more) {
            status = next_match(pairs, error);
            continue;
        }
        ss_set_fingerprint(columns->fingerprint, at, left_fingerprint(&pairs->left, (size_t)match->query_index),
                           pairs->words);
        ss_set_word(columns->id, at, id);
        ss_set_fingerprint(columns->other_fingerprint, at, match->fingerprint, pairs->words);
        ss_set_word(columns->other_id, at, match->id);
        ss_set_distance(columns->distance, at, match->distance);
        *more_out = true;
        return SSTORE_OK;
    }
    return status;
}

/* ----- begin and end ----- */

/* Choose the size of rounds, which take `bytes`: left records that wait take a quarter. *capacity_out is their
 * number. */
static sstore_status open_rounds(ss_row_queries *self, uint64_t bytes, size_t *capacity_out, sstore_error *error)
{
    ss_join_call *call = self->call;
    const sstore *store = call->right;
    const uint64_t query_bytes = (self->words + WAITING_QUERY_WORDS) * sizeof(uint64_t) + QUERY_BYTES;
    const uint64_t match_bytes = MATCH_BYTES + self->words * MATCH_WORD_BYTES;
    const uint64_t queries = ss_max_u64(bytes / 4 / query_bytes, MIN_QUERIES);
    const uint64_t threads = ss_max_u64(ss_min_u64(call->threads, bytes / 4 / THREAD_BYTES), 1);
    const uint64_t matches = ss_max_u64(bytes / 2 / match_bytes, MIN_MATCHES * threads);
    ss_steps planning = {.left = SS_CALL_STEPS};
    self->plans = ss_segment_plans_alloc(&store->manifest);
    if (self->plans == NULL)
        return ss_fail_memory(error, ss_segment_plans_bytes(&store->manifest));
    ss_segment_plans_choose(store, call->distance, &planning, self->plans);
    *capacity_out = (size_t)ss_min_u64(queries, 1u << SS_ROUND_QUERY_BITS);
    self->round_size = (size_t)ss_min_u64(*capacity_out, FIRST_QUERIES);
    self->round_template = (ss_round){.store = store,
                                      .plans = self->plans,
                                      .distance = call->distance,
                                      .threads = (uint32_t)threads,
                                      .max_matches = (long long)ss_min_u64(matches, SS_ROUND_MATCHES),
                                      .block_count = &call->block_count,
                                      .progress = &call->progress,
                                      .by_fingerprint = true};
    return SSTORE_OK;
}

static sstore_status open_pairs(ss_row_queries *self, sstore_error *error)
{
    ss_join_call *call = self->call;
    size_t capacity;
    sstore_status status = open_rounds(self, call->join_bytes + call->stage_bytes, &capacity, error);
    if (status == SSTORE_OK)
        status = open_left(&self->left, call, capacity, error);
    ss_progress_begin(&call->progress, "comparing", 0, ss_manifest_count(&call->left->manifest).record_count, 1);
    if (status == SSTORE_OK)
        status = read_left(&self->left, &call->progress, error);
    return status == SSTORE_OK && self->left.count > 0 ? begin_round(self, error) : status;
}

sstore_status ss_row_queries_create(ss_join_call *call, ss_row_queries **pairs_out, sstore_error *error)
{
    ss_row_queries *self = *pairs_out = ss_alloc(1, sizeof *self);
    if (self == NULL)
        return ss_fail_memory(error, sizeof *self);
    self->call = call;
    self->words = call->left->manifest.words;
    const sstore_status status = open_pairs(self, error);
    if (status != SSTORE_OK) {
        ss_row_queries_free(self);
        *pairs_out = NULL;
    }
    return status;
}

void ss_row_queries_free(ss_row_queries *pairs)
{
    if (pairs == NULL)
        return;
    close_left(&pairs->left);
    ss_round_matches_free(&pairs->matches);
    ss_free(pairs->plans);
    ss_record_reader_close(&pairs->right);
    ss_record_reader_close(&pairs->own_ids);
    ss_free(pairs);
}
