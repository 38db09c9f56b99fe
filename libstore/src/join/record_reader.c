#include "join/record_reader.h"

sstore_status ss_record_reader_open(ss_record_reader *reader, const sstore *store, bool has_ids,
                                    const ss_exclusion *excluded, sstore_error *error)
{
    *reader = (ss_record_reader){.words = store->manifest.words,
                                 .excluded = excluded != NULL && excluded->count > 0 ? excluded : NULL};
    ss_merge_iterator_init(&reader->records, reader->words, has_ids);
    return ss_merge_iterator_add(&reader->records, store, 0, store->manifest.segment_count, error);
}

void ss_record_reader_close(ss_record_reader *reader)
{
    ss_merge_iterator_close(&reader->records);
}

/* Go to the next record that is not left out. */
sstore_status ss_record_reader_next_of_all(ss_record_reader *reader, sstore_error *error)
{
    sstore_status status;
    do
        status = ss_merge_iterator_next(&reader->records, &reader->current, &reader->more, error);
    while (status == SSTORE_OK && reader->more &&
           ss_exclusion_has(reader->excluded, ss_record_reader_fingerprint(reader)));
    return status;
}

sstore_status ss_record_reader_first(ss_record_reader *reader, sstore_error *error)
{
    const sstore_status status = ss_merge_iterator_rewind(&reader->records, error);
    return status == SSTORE_OK ? ss_record_reader_next(reader, error) : status;
}

sstore_status ss_record_reader_seek(ss_record_reader *reader, const uint64_t *fingerprint, sstore_error *error)
{
    const sstore_status status = ss_merge_iterator_seek(&reader->records, fingerprint, error);
    return status == SSTORE_OK ? ss_record_reader_next(reader, error) : status;
}

sstore_status ss_record_reader_skip(ss_record_reader *reader, uint64_t fingerprint, sstore_error *error)
{
    if (!reader->more || reader->current.fingerprint >= fingerprint)
        return SSTORE_OK;
    const sstore_status status = ss_merge_iterator_skip(&reader->records, fingerprint, error);
    return status == SSTORE_OK ? ss_record_reader_next(reader, error) : status;
}

sstore_status ss_record_reader_pass(ss_record_reader *reader, const uint64_t *fingerprint, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    while (status == SSTORE_OK && ss_record_reader_at(reader, fingerprint))
        status = ss_record_reader_next(reader, error);
    return status;
}
