/*
 * input_ahead.c - reading in a thread of its own, ahead of whoever takes the records. The source belongs to that thread
 * until it has ended; whoever takes the records only stops it.
 */
#include <pthread.h>

#include "handover.h"
#include "input_formats.h"

/* One to be filled, one to be taken, and some for when one side is slower now and then. */
#define BATCHES 4

typedef struct read_ahead {
    input_reader *reader;
    handover batches;
    input_batch slots[BATCHES];
    int code; /* how the reading ended */
} read_ahead;

static bool take_free(read_ahead *ahead, input_batch **batch)
{
    size_t slot;
    bool wanted = handover_take_free(&ahead->batches, &slot);
    *batch = &ahead->slots[slot];
    return wanted;
}

static int hand_over(void *context, input_batch **batch)
{
    read_ahead *ahead = context;
    handover_give_full(&ahead->batches);
    return take_free(ahead, batch) ? EXIT_DONE : EXIT_FAILED;
}

static void *read_source(void *context)
{
    read_ahead *ahead = context;
    if (take_free(ahead, &ahead->reader->batch))
        ahead->code = input_read_source(ahead->reader);
    handover_finish(&ahead->batches);
    return NULL;
}

static int consume_all(read_ahead *ahead, input_consumer *consumer)
{
    size_t slot;
    int code = EXIT_DONE;
    while (code == EXIT_DONE && handover_take_full(&ahead->batches, &slot)) {
        code = input_consume(consumer, &ahead->slots[slot]);
        handover_give_free(&ahead->batches);
    }
    if (code != EXIT_DONE) {
        input_file_stop(&ahead->reader->source.file);
        handover_stop(&ahead->batches);
    }
    return code;
}

/* With all slots allocated. */
static bool run(read_ahead *ahead, input_consumer *consumer, int *code_out)
{
    pthread_t thread;
    if (!handover_init(&ahead->batches, BATCHES))
        return false;
    bool started = input_file_allow_stop(&ahead->reader->source.file) &&
                   pthread_create(&thread, NULL, read_source, ahead) == 0;
    if (started) {
        int code = consume_all(ahead, consumer);
        pthread_join(thread, NULL);
        *code_out = code != EXIT_DONE ? code : ahead->code;
    }
    handover_destroy(&ahead->batches);
    return started;
}

bool input_read_ahead(input_reader *reader, input_consumer *consumer, int *code_out)
{
    read_ahead ahead = {.reader = reader};
    bool enough = true;
    reader->hand_on = hand_over;
    reader->context = &ahead;
    for (size_t i = 0; i < BATCHES; i++)
        enough = input_batch_init(&ahead.slots[i], reader->options->batch_records) && enough;
    bool done = enough && run(&ahead, consumer, code_out);
    for (size_t i = 0; i < BATCHES; i++)
        input_batch_free(&ahead.slots[i]);
    return done;
}
