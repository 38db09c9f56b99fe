/*
 * disk.h - a disk that may lose what was not synced: it watches what a program writes below a folder, and afterwards
 * lays out what a power cut at any moment might have left.
 *
 * What fsync() promises and nothing else: a file's bytes and size are there once the file was synced, its name once the
 * folder was. Of what was not synced, any part may be there: of writes any, in any order, each of them whole or cut; of
 * names any, a rename as a whole. After Pillai et al., "All File Systems Are Not Created Equal" (OSDI 2014).
 */
#ifndef FAULTS_DISK_H
#define FAULTS_DISK_H

#include "support/random.h"

typedef struct disk disk;

/* Begin to watch the folder `name` in the folder `parent`; it need not be there. What is there is taken for safe. */
disk *disk_watch(const char *parent, const char *name);
/* Of the files that are there, nobody has waited for the bytes: a power cut may take them, though not the names. */
void disk_doubt_files(disk *self);
/* From now on the `at`-th sync, counted from 1, fails, and keeps nothing. */
void disk_refuse_sync(disk *self, uint64_t at);
/* Watch no more. */
void disk_rest(disk *self);
void disk_free(disk *self);

/* How many syncs were asked for. */
uint64_t disk_syncs(const disk *self);

/* How many steps were seen; a power cut comes before, between or behind them. */
size_t disk_steps(const disk *self);

/* What becomes of what was not synced. */
typedef enum disk_luck {
    DISK_KEEPS_ALL,
    DISK_LOSES_ALL,
    DISK_LOSES_FILES,
    DISK_LOSES_NAMES,
    DISK_LOSES_SOME,
    DISK_LUCKS
} disk_luck;

/* Lay out in `path`, which must not be there, what a power cut after so many steps leaves of the folder; nothing, if
 * it is not there. */
void disk_cut(const disk *self, size_t steps, disk_luck luck, rng *random, const char *path);

#endif
