/*
 * disk.h - a simulated disk that may lose what was not synced. It records what a program writes below a folder, and
 * then reconstructs the states that a power cut could leave.
 *
 * Only what fsync() promises is kept: a file's bytes and size are safe once the file was synced, its name once its
 * folder was synced. Of everything else any part may survive: any writes, in any order, complete or cut; any names,
 * where a rename is retained or lost as a unit. After Pillai et al., "All File Systems Are Not Created Equal" (OSDI
 * 2014).
 */
#ifndef FAULTS_DISK_H
#define FAULTS_DISK_H

#include "support/random.h"

typedef struct disk disk;

/* Begin to record the folder `name` in the folder `parent`; it need not exist. Its current contents count as synced. */
disk *disk_watch(const char *parent, const char *name);
/* The bytes of the current files count as not synced, but their names do: a power cut may lose the bytes. */
void disk_doubt_files(disk *self);
/* The `at`-th sync from now on, counted from 1, fails and makes nothing safe. */
void disk_refuse_sync(disk *self, uint64_t at);
/* Stop recording. */
void disk_rest(disk *self);
void disk_free(disk *self);

/* The number of syncs that were requested. */
uint64_t disk_syncs(const disk *self);

/* The number of recorded steps. A power cut comes before, between or after them. */
size_t disk_steps(const disk *self);

/* The unsynced data that survives a power cut. */
typedef enum disk_luck {
    DISK_KEEPS_ALL,
    DISK_LOSES_ALL,
    DISK_LOSES_FILES,
    DISK_LOSES_NAMES,
    DISK_LOSES_SOME,
    DISK_LUCKS
} disk_luck;

/* Write to `path`, which must not exist, the folder as a power cut after `steps` steps leaves it; nothing if the folder
 * does not exist then. */
void disk_cut(const disk *self, size_t steps, disk_luck luck, rng *random, const char *path);

#endif
