/*
 * decoder.h - what undoes one kind of compression, step by step: decoder_gzip.c and decoder_zstd.c.
 */
#ifndef DECODER_H
#define DECODER_H

#include <stddef.h>
#include <stdint.h>

#define DECODER_MOST_WINDOW_BITS 27

typedef enum decode_result {
    DECODE_GOES_ON,
    DECODE_ENDED, /* a part is complete: a gzip member, a zstd frame. A further step begins another one */
    DECODE_FAILED
} decode_result;

/* What a step may read and write. It moves on behind what it has read and written. */
typedef struct decode_step {
    const char *from;
    size_t from_bytes;
    char *to;
    size_t to_bytes;
} decode_step;

typedef struct decoder_kind {
    const char *library; /* which this is done by */
    /* The rest is NULL in an sstore that was built without it. create() returns NULL if there is no memory. */
    void *(*create)(uint32_t most_window_bits); /* of what it may keep in memory: 2^bits bytes, 10 to 27 */
    /* Go on; if there is room left behind what was written, then nothing more comes without more to read. After
     * DECODE_FAILED, of which *reason_out is the reason, there is no further step. */
    decode_result (*decode)(void *decoder, decode_step *step, const char **reason_out);
    void (*free)(void *decoder);
} decoder_kind;

extern const decoder_kind decoder_gzip, decoder_zstd;

#endif
