/*
 * decoder_zstd.c - zstd by libzstd, which skips the frames that are to be skipped and checks the checksums that there
 * are.
 */
#include "decoder.h"

#ifdef SSTORE_HAVE_ZSTD

#include <stdbool.h>
#include <zstd.h>
#include <zstd_errors.h>

/*
 * The decoder keeps a frame's window in memory, and the frame says how large that is: up to 2 GiB of ours for a few
 * bytes. 128 MiB is the most that 'zstd' makes, or takes, unless it is told otherwise.
 */
#define WINDOW_TOO_LARGE                                                                                               \
    "its window is larger than an eighth of the memory, or than 128 MiB; give more --memory, or have "                 \
    "'zstd -dc --long=31 FILE' unpack it, into a pipe to stdin"

static void *create(uint32_t most_window_bits)
{
    ZSTD_DCtx *decoder = ZSTD_createDCtx();
    if (decoder != NULL && ZSTD_isError(ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, (int)most_window_bits))) {
        ZSTD_freeDCtx(decoder);
        return NULL;
    }
    return decoder;
}

static decode_result decode(void *self, decode_step *step, const char **reason_out)
{
    ZSTD_inBuffer in = {.src = step->from, .size = step->from_bytes};
    ZSTD_outBuffer out = {.dst = step->to, .size = step->to_bytes};
    size_t result = ZSTD_decompressStream(self, &out, &in);
    step->from += in.pos;
    step->from_bytes -= in.pos;
    step->to += out.pos;
    step->to_bytes -= out.pos;
    if (!ZSTD_isError(result))
        return result == 0 ? DECODE_ENDED : DECODE_GOES_ON;
    bool too_large = ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge;
    *reason_out = too_large ? WINDOW_TOO_LARGE : ZSTD_getErrorName(result);
    return DECODE_FAILED;
}

static void free_decoder(void *self)
{
    ZSTD_freeDCtx(self);
}

const decoder_kind decoder_zstd = {"libzstd", create, decode, free_decoder};

#else

const decoder_kind decoder_zstd = {.library = "libzstd"};

#endif
