/*
 * commit.h - a store's folder while a writer works in it: claimed with a lock, a new segment written aside in a
 * folder of its own, then published at once by renaming it and replacing the manifest. Whenever the writer dies, the
 * store is the old one or the new one; what it left lying is cleared away by the next that comes to a good end, and no
 * segment before that. Source: format-spec/sstore-format.md, "Publication".
 */
#ifndef SS_COMMIT_H
#define SS_COMMIT_H

#include "store/manifest.h"

/* What a writer wants with the folder. */
typedef enum ss_write_mode {
    SS_WRITE_NEW,     /* make a store where there is none */
    SS_WRITE_REPLACE, /* the same, and a store that is there goes once the new one is published */
    SS_WRITE_EXTEND   /* publish new states of a store that is there, with segments that it has already */
} ss_write_mode;

/* An unfinished segment. */
typedef struct ss_staged_segment {
    ss_dir dir;
    char name[SS_NAME_CAPACITY];
} ss_staged_segment;

typedef struct ss_transaction {
    char *path;       /* of the store */
    bool made_folder; /* so it goes again if nothing is published */
    bool had_manifest;
    bool has_unpublished; /* no manifest, but the segment of a first build that was killed before it published it */
    bool wrote_manifest;  /* which is not published yet */
    ss_dir store;     /* locked */
    ss_manifest manifest; /* the newest published one, but for its own size and sum; zeroed as long as none was published
                             in a new store */
    uint32_t staged_total; /* segments so far: a name is not used again, since its folder may be there if removing it failed */
    size_t staged_count, staged_capacity;
    ss_staged_segment **staged; /* each stays where it is, so that its folder may be borrowed */
} ss_transaction;

/*
 * Claim the folder at `path`, making it if need be and allowed. EXISTS where there is a store already and a new one is
 * to be made; NOT_FOUND where there is none and one is to be extended, DAMAGED and UNSUPPORTED where its manifest is;
 * BUSY where another writer is at work. Clears away what killed writers have not finished.
 */
sstore_status ss_transaction_open(ss_transaction *transaction, const char *path, ss_write_mode mode, sstore_error *error);

/* Begin a segment, in a folder that readers do not see: place->works[place->staged_count - 1]. */
sstore_status ss_transaction_stage(ss_transaction *transaction, sstore_error *error);

/* Remove the segment that was begun last, or all of them: they are not wanted. */
void ss_transaction_discard_last(ss_transaction *transaction);
void ss_transaction_discard_all(ss_transaction *transaction);

/*
 * Publish a manifest, a copy of which becomes place->manifest at the moment of publication: also where this fails after
 * that, since the folder cannot be synced. The finished works, all that were begun, in their order, are its segments
 * `fresh[0]`, `fresh[1]` and so on; it gets their folders' names here. The others must be segments that the store has.
 * What the store had before and the manifest does not name is removed.
 */
sstore_status ss_transaction_commit(ss_transaction *transaction, ss_manifest *manifest, const uint32_t *fresh,
                                   sstore_error *error);

/* Remove what the newest published manifest does not name, as publishing does: what a writer is to do has been done, without
 * anything to publish. No work is begun. */
void ss_transaction_clean_up(const ss_transaction *transaction);

/* Leave. What was not published is removed, and the folder too if it was made for it. Also of a zeroed place whose folder is
 * SS_DIR_NONE. */
void ss_transaction_close(ss_transaction *transaction);

#endif
