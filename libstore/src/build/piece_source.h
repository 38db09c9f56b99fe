/*
 * piece_source.h - where a build gets its items from: sorted pieces, in order, that can be loaded again and again and
 * by several threads at once.
 */
#ifndef SS_PIECE_SOURCE_H
#define SS_PIECE_SOURCE_H

#include "base/common.h"

typedef struct ss_piece_source {
    void *context;
    size_t piece_count;
    uint64_t item_count; /* of all pieces, with repeats if there are any: for telling how far one is */
    size_t most_items;    /* in a piece */
    size_t progress_each; /* how many of item_count a piece stands for, where that is not what it holds; else 0 */
    /* Get a piece into `items`, uint64_t or, in a build with ids, sstore_record: ascending, each once, all above those of
     * the piece before. `scratch` has room for as many. */
    sstore_status (*load)(void *context, size_t piece, void *items, void *scratch, size_t *count_out,
                          sstore_error *error);
} ss_piece_source;

#endif
