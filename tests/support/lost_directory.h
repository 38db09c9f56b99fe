/*
 * lost_directory.h - the ways in which a test damages, replaces or removes a segment's directory.mdb.
 */
#ifndef SUPPORT_LOST_DIRECTORY_H
#define SUPPORT_LOST_DIRECTORY_H

#include "support/random.h"

typedef enum directory_loss {
    LOSS_GONE,
    LOSS_BIT, /* one is flipped */
    LOSS_CUT, /* its end is missing */
    LOSS_EMPTY,
    LOSS_LONGER,
    LOSS_OTHER,  /* other bytes, as many */
    LOSS_LINK,   /* a symbolic link to the file, elsewhere */
    LOSS_FOLDER, /* in its place */
    LOSS_COUNT
} directory_loss;

const char *directory_loss_name(directory_loss how);

/* Do so to the file at `path`. It is replaced, not written to. */
void directory_lose(const char *path, directory_loss how, rng *random);

#endif
