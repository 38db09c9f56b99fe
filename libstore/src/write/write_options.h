/*
 * write_options.h - the options of the calls that write a store, and which call uses which of them.
 */
#ifndef SS_WRITE_OPTIONS_H
#define SS_WRITE_OPTIONS_H

#include "base/common.h"

/* The calls, as bits of a set. */
typedef enum ss_write_call {
    SS_WRITE_CALL_BUILD = 1,
    SS_WRITE_CALL_ADD = 2,
    SS_WRITE_CALL_REMOVE = 4,
    SS_WRITE_CALL_MERGE = 8,
    SS_WRITE_CALL_COMPACT = 16,
    SS_WRITE_CALL_DEDUP = 32
} ss_write_call;

/* Take the options of a call. The fields threads and memory_bytes get their defaults. ARGUMENT, also if a field is set
 * that the call does not use. */
sstore_status ss_write_options_take(sstore_write_options *to, const sstore_write_options *options, ss_write_call call,
                                    sstore_error *error);

#endif
