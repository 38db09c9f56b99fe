/*
 * record_reader.h - the records of a store, in ascending order: all, or from given fingerprints on. The number of a
 * fingerprint is how many distinct ones of the store are below it. It has 64 bits, so that the code that connects
 * fingerprints of several words (components.h) knows only these.
 */
#ifndef SS_RECORD_READER_H
#define SS_RECORD_READER_H

#include "base/words.h"
#include "join/exclusion.h"
#include "store/record_iterator.h"

typedef struct ss_record_reader {
    uint32_t words;
    const ss_exclusion *excluded; /* fingerprints that are passed over, or NULL; borrowed */
    ss_merge_iterator records;
    ss_record current; /* its fingerprint is ss_record_reader_fingerprint() */
    bool more;         /* there is a current record */
    uint64_t number;   /* of its fingerprint, if it was reached from the first one by ss_record_reader_next_number() */
} ss_record_reader;

/* There is no current record yet. Without ids, each fingerprint comes once, also one whose records are all removed.
 * Close it also after a failure; a zeroed one is allowed. MEMORY. */
sstore_status ss_record_reader_open(ss_record_reader *reader, const sstore *store, bool has_ids,
                                    const ss_exclusion *excluded, sstore_error *error);
void ss_record_reader_close(ss_record_reader *reader);

/* Go to the first record. Errors, here and below: IO, DAMAGED, MEMORY. */
sstore_status ss_record_reader_first(ss_record_reader *reader, sstore_error *error);
/* Go to the first record with at least this fingerprint, forward or back. */
sstore_status ss_record_reader_seek(ss_record_reader *reader, const uint64_t *fingerprint, sstore_error *error);
/* For one word: go forward to the first record with at least this fingerprint; not back. */
sstore_status ss_record_reader_skip(ss_record_reader *reader, uint64_t fingerprint, sstore_error *error);
/* Go to the first record with another fingerprint than the current one, of which `fingerprint` is a copy. */
sstore_status ss_record_reader_pass(ss_record_reader *reader, const uint64_t *fingerprint, sstore_error *error);

static inline const uint64_t *ss_record_reader_fingerprint(const ss_record_reader *reader)
{
    return ss_merge_iterator_fingerprint(&reader->records, &reader->current);
}

/* Whether the current record has this fingerprint. */
static inline bool ss_record_reader_at(const ss_record_reader *reader, const uint64_t *fingerprint)
{
    if (reader->words == 1)
        return reader->more && reader->current.fingerprint == *fingerprint;
    return reader->more && ss_words_equal(reader->records.last, fingerprint, reader->words);
}

/* Go to the next record. */
sstore_status ss_record_reader_next_of_all(ss_record_reader *reader, sstore_error *error);
static inline sstore_status ss_record_reader_next(ss_record_reader *reader, sstore_error *error)
{
    return reader->excluded == NULL ? ss_merge_iterator_next(&reader->records, &reader->current, &reader->more, error)
                                    : ss_record_reader_next_of_all(reader, error);
}

/* Go to the next record, and count fingerprints. `fingerprint` is a copy of the current one. */
static inline sstore_status ss_record_reader_next_number(ss_record_reader *reader, const uint64_t *fingerprint,
                                                         sstore_error *error)
{
    const sstore_status status = ss_record_reader_next(reader, error);
    reader->number += !ss_record_reader_at(reader, fingerprint);
    return status;
}

#endif
