/*
 * publish.h - a store's folder while a writer works in it: claimed with a lock, a new segment written aside in a
 * folder of its own, then published at once by renaming it and replacing the manifest. Whenever the writer dies, the
 * store is the old one or the new one; what it left lying is cleared away by the next. Source:
 * format-spec/sstore-format.md, "Publication".
 */
#ifndef SS_PUBLISH_H
#define SS_PUBLISH_H

#include "file/manifest.h"

typedef struct ss_workplace {
    char *path;       /* of the store */
    bool made_folder; /* so it goes again if nothing is published */
    bool had_manifest;
    ss_dir store;     /* locked */
    ss_dir work;      /* the unfinished segment */
    char work_name[SS_NAME_CAPACITY];
} ss_workplace;

/*
 * Claim the folder at `path`, making it if need be. EXISTS where there is a store already and `replace` is false, or
 * something that is no store; BUSY where another writer is at work. Clears away what killed writers left.
 */
sstore_status ss_workplace_open(ss_workplace *place, const char *path, bool replace, sstore_error *error);

/* Make the finished work the store's only segment: chooses its folder's name, sets segment->folder_number, and removes
 * what the store had before. manifest->segments[0] is that segment. */
sstore_status ss_workplace_publish(ss_workplace *place, ss_manifest *manifest, sstore_error *error);

/* Leave. What was not published is removed, and the folder too if it was made for it. */
void ss_workplace_close(ss_workplace *place);

#endif
