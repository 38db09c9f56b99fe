/*
 * commit.h - the write transaction: it locks the store's folder, stages new segments in folders that readers ignore,
 * and publishes them together by renaming them and replacing the manifest. If a writer dies at any moment, the store is
 * the old one or the new one, and the next successful writer removes the leftovers. Source:
 * format-spec/sstore-format.md, "Publication".
 */
#ifndef SS_COMMIT_H
#define SS_COMMIT_H

#include "store/manifest.h"

typedef enum ss_write_mode {
    SS_WRITE_NEW,     /* create a store; there must be none */
    SS_WRITE_REPLACE, /* create a store; an existing one is removed once the new one is published */
    SS_WRITE_EXTEND   /* publish changes of an existing store */
} ss_write_mode;

/* A segment that is not published yet. */
typedef struct ss_staged_segment {
    ss_dir dir;
    char name[SS_NAME_CAPACITY];
} ss_staged_segment;

typedef struct ss_transaction {
    char *path;       /* of the store */
    bool made_folder; /* the transaction made it, and removes it unless something is published */
    bool had_manifest;
    bool has_unpublished;       /* no manifest, but the segment of a first build that was killed before publication */
    bool wrote_manifest;        /* MANIFEST.new, which is not published yet */
    uint32_t publication_count; /* by this transaction */
    ss_dir store;               /* locked */
    ss_manifest manifest;       /* the newest published one; zeroed in a new store */
    uint32_t staged_total;      /* so far. Names are not reused, because the removal of a folder may have failed */
    size_t staged_count, staged_capacity;
    ss_staged_segment **staged; /* the pointers stay valid, so that a segment's folder may be borrowed */
} ss_transaction;

/* How long to wait for another writer, and whom to ask meanwhile whether to stop. */
typedef struct ss_writer_wait {
    uint64_t ms;                    /* UINT64_MAX: until it ends */
    sstore_progress_fn on_progress; /* NULL: no reports */
    void *context;
} ss_writer_wait;

/* Lock the folder at `path`, which is created unless the mode is EXTEND, and remove unfinished segments of killed
 * writers. `wait` may be NULL: do not wait. EXISTS: a new store would replace something; NOT_FOUND: there is no store
 * to extend; DAMAGED, UNSUPPORTED: its manifest; BUSY: another writer has the lock; STOPPED. */
sstore_status ss_transaction_open(ss_transaction *transaction, const char *path, ss_write_mode mode,
                                  const ss_writer_wait *wait, sstore_error *error);

/* Stage a segment in a folder that readers ignore: staged[staged_count - 1]. */
sstore_status ss_transaction_stage(ss_transaction *transaction, sstore_error *error);

/* Remove staged[number], or all staged segments. */
void ss_transaction_discard(ss_transaction *transaction, size_t number);
void ss_transaction_discard_all(ss_transaction *transaction);

/* Publish a manifest, and remove files of the store that it does not name. The staged segments, in their order, are its
 * segments fresh[0], fresh[1] and so on, whose folder numbers are set here; the others must be segments of the store.
 * Once it is published, transaction->manifest is a copy of it, even if syncing the folder then fails. */
sstore_status ss_transaction_commit(ss_transaction *transaction, ss_manifest *manifest, const uint32_t *fresh,
                                    sstore_error *error);

/* Remove files that the published manifest does not name, as publication does. No segment may be staged. */
void ss_transaction_clean_up(const ss_transaction *transaction);

/* End the transaction. Removes everything that was not published, also the folder if the transaction created it. A
 * zeroed transaction is allowed if its folder is SS_DIR_NONE. */
void ss_transaction_close(ss_transaction *transaction);

/* Remove the store at `path`, or what there is of one, with its folder, as far as possible. Nobody writes to it. */
void ss_store_remove(const char *path);

#endif
