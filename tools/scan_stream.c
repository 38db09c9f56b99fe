#include "scan_stream.h"

#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "input.h"
#include "output.h"

/* A full slot takes the scan the least time a record; one that is not full is handed over as well where the scan has
 * nothing to do. */
#define SLOT_RECORDS ((size_t)1 << 20)

/* ----- scanning ----- */

static int print_match(void *style, const sstore_scan_match *match)
{
    return !output_scan_match(style, match);
}

/* Scan a slot and empty it. What it matches is seen at once by whoever reads stdout. */
static int scan_records(scan_stream *stream, scan_slot *slot)
{
    sstore_error error;
    output_style style = {.has_ids = slot->has_ids};
    sstore_status status = sstore_scan_feed(stream->scan, slot->fingerprints, slot->has_ids ? slot->ids : NULL,
                                            slot->count, print_match, &style, &error);
    slot->count = 0;
    if (status == SSTORE_OK)
        return output_flush() ? EXIT_DONE : EXIT_FAILED;
    return status == SSTORE_STOPPED ? EXIT_FAILED : cmd_fail(&error);
}

static void *scan_slots(void *context)
{
    scan_stream *stream = context;
    size_t slot;
    while (stream->code == EXIT_DONE && handover_take_full(&stream->over, &slot)) {
        stream->code = scan_records(stream, &stream->slots[slot]);
        handover_give_free(&stream->over);
    }
    if (stream->code != EXIT_DONE)
        handover_stop(&stream->over);
    return NULL;
}

/* ----- filling ----- */

/* Begin to scan in a thread. Returns false if the system has none. */
static bool start_thread(scan_stream *stream)
{
    if (!handover_init(&stream->over, SCAN_STREAM_SLOTS))
        return false;
    if (handover_take_free(&stream->over, &stream->filling) &&
        pthread_create(&stream->thread, NULL, scan_slots, stream) == 0)
        return true;
    handover_destroy(&stream->over);
    return false;
}

int scan_stream_open(scan_stream *stream, sstore_scan *scan, bool ahead)
{
    bool enough = true;
    *stream = (scan_stream){.scan = scan, .code = EXIT_DONE};
    for (size_t i = 0; i < SCAN_STREAM_SLOTS; i++) {
        stream->slots[i].fingerprints = calloc(SLOT_RECORDS, sizeof *stream->slots[i].fingerprints);
        stream->slots[i].ids = calloc(SLOT_RECORDS, sizeof *stream->slots[i].ids);
        enough = enough && stream->slots[i].fingerprints != NULL && stream->slots[i].ids != NULL;
    }
    if (!enough) {
        cmd_complain("out of memory");
        return EXIT_FAILED;
    }
    stream->has_thread = ahead && start_thread(stream);
    return EXIT_DONE;
}

/* Have the slot that is being filled scanned, and fill another one. */
static int hand_over(scan_stream *stream)
{
    if (!stream->has_thread)
        return stream->code = scan_records(stream, &stream->slots[stream->filling]);
    handover_give_full(&stream->over);
    return handover_take_free(&stream->over, &stream->filling) ? EXIT_DONE : EXIT_FAILED;
}

int scan_stream_add(void *context, const uint64_t *fingerprints, const uint64_t *ids, size_t count)
{
    scan_stream *stream = context;
    scan_slot *slot = &stream->slots[stream->filling];
    int code = EXIT_DONE;
    if (slot->count + count > SLOT_RECORDS || (slot->count > 0 && slot->has_ids != (ids != NULL)))
        code = hand_over(stream);
    if (code != EXIT_DONE)
        return code;
    slot = &stream->slots[stream->filling];
    memcpy(slot->fingerprints + slot->count, fingerprints, count * sizeof *fingerprints);
    if (ids != NULL)
        memcpy(slot->ids + slot->count, ids, count * sizeof *ids);
    slot->has_ids = ids != NULL;
    slot->count += count;
    return stream->has_thread && handover_is_idle(&stream->over) ? hand_over(stream) : EXIT_DONE;
}

int scan_stream_close(scan_stream *stream)
{
    if (stream->has_thread) {
        if (stream->slots[stream->filling].count > 0)
            handover_give_full(&stream->over);
        handover_finish(&stream->over);
        pthread_join(stream->thread, NULL);
        handover_destroy(&stream->over);
    } else if (stream->code == EXIT_DONE && stream->slots[stream->filling].count > 0) {
        stream->code = scan_records(stream, &stream->slots[stream->filling]);
    }
    for (size_t i = 0; i < SCAN_STREAM_SLOTS; i++) {
        free(stream->slots[i].fingerprints);
        free(stream->slots[i].ids);
    }
    return stream->code;
}
