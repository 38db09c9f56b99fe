#include "bytes_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "handover.h"

/* Large enough for the hand-over to cost nothing, and few enough to stay in the cache. */
#define PIECE_BYTES ((size_t)1 << 17)
#define PIECES 4

struct bytes_ahead {
    byte_stream from;
    pthread_t thread;
    handover pieces;
    struct {
        size_t size;
        char bytes[PIECE_BYTES];
    } slots[PIECES];
    /* How `from` ended. Set before the last piece is handed over. */
    int code;
    line_fault fault;
    /* The piece that is being taken, and how far it has been. */
    bool has_piece;
    size_t piece, taken;
};

static void *read_ahead(void *context)
{
    bytes_ahead *self = context;
    size_t slot, got = 1;
    while (self->code == EXIT_DONE && got > 0 && handover_take_free(&self->pieces, &slot)) {
        got = 0;
        self->code = self->from.read(self->from.self, self->slots[slot].bytes, PIECE_BYTES, &got, &self->fault);
        self->slots[slot].size = got;
        if (got > 0)
            handover_give_full(&self->pieces);
    }
    handover_finish(&self->pieces);
    return NULL;
}

bytes_ahead *bytes_ahead_create(byte_stream from)
{
    bytes_ahead *made = malloc(sizeof *made);
    if (made == NULL)
        return NULL;
    made->from = from;
    made->code = EXIT_DONE;
    made->has_piece = false;
    if (!handover_init(&made->pieces, PIECES)) {
        free(made);
        return NULL;
    }
    if (pthread_create(&made->thread, NULL, read_ahead, made) == 0)
        return made;
    handover_destroy(&made->pieces);
    free(made);
    return NULL;
}

/* Wait for a piece. Returns how the stream ended if there are no more. */
static int take_piece(bytes_ahead *self, line_fault *fault)
{
    self->taken = 0;
    self->has_piece = handover_take_full(&self->pieces, &self->piece);
    if (!self->has_piece && self->code == EXIT_FAILED)
        *fault = self->fault;
    return self->has_piece ? EXIT_DONE : self->code;
}

static int take_bytes(void *context, char *to, size_t room, size_t *got_out, line_fault *fault)
{
    bytes_ahead *self = context;
    int code = self->has_piece ? EXIT_DONE : take_piece(self, fault);
    *got_out = 0;
    if (!self->has_piece)
        return code;
    size_t left = self->slots[self->piece].size - self->taken;
    *got_out = left < room ? left : room;
    memcpy(to, self->slots[self->piece].bytes + self->taken, *got_out);
    self->taken += *got_out;
    self->has_piece = *got_out < left;
    if (!self->has_piece)
        handover_give_free(&self->pieces);
    return EXIT_DONE;
}

byte_stream bytes_ahead_bytes(bytes_ahead *self)
{
    return (byte_stream){take_bytes, self};
}

void bytes_ahead_free(bytes_ahead *self)
{
    if (self == NULL)
        return;
    handover_stop(&self->pieces);
    pthread_join(self->thread, NULL);
    handover_destroy(&self->pieces);
    free(self);
}
