/*
 * cmd_scan.c - sstore scan: find the fingerprints near given ones in files, without a store.
 */
#include <stdlib.h>
#include <string.h>

#include "commands/cmd.h"
#include "commands/ids_option.h"
#include "commands/similarity_option.h"
#include "input/input_measure.h"
#include "input/queue.h"
#include "output/records.h"
#include "sstore_stream.h"

/* Full slots take the least time per record. A slot that is not full is handed over if the scanning thread is idle. */
#define SLOT_WORDS ((size_t)1 << 20)
#define SLOTS 2u

typedef struct arguments {
    const char *queries;
    operands inputs;
    uint32_t distance, threads;
    similarity similarity;
    id_range ids;
    header_mode header;
    progress_mode progress;
    input_options format;
} arguments;

static const command_option options[] = {
    {"queries", 0, "BATCH", "read the queries from BATCH (required); - is standard input", OPTION_TEXT,
     OPTION_FIELD(arguments, queries), .common = true},
    {"distance", 'k', "D", "find records within D bits, up to a quarter of the bits (default 3)", OPTION_NUMBER,
     OPTION_FIELD(arguments, distance), .max = MAX_BUILD_DISTANCE,
     .given = offsetof(arguments, similarity.distance_given), .common = true},
    {"no-ids", 0, NULL, "ignore the ids in FILEs, and print - instead", OPTION_FLAG,
     OPTION_FIELD(arguments, format.lines.ignore_ids), .common = true},
    {"threads", 0, "N", "use N threads (default: all processors); 1: also read input on the same thread", OPTION_NUMBER,
     OPTION_FIELD(arguments, threads), .max = 1024},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .groups = (const option_group[]){HEADER_OPTION_GROUP(offsetof(arguments, header)),
                                     IDS_OPTION_GROUP(offsetof(arguments, ids)),
                                     SIMILARITY_OPTION_GROUP(offsetof(arguments, similarity)),
                                     PROGRESS_OPTION_GROUP(offsetof(arguments, progress)),
                                     INPUT_OPTION_GROUP(offsetof(arguments, format)),
                                     {0}},
    .operands = "--queries=BATCH [FILE...]",
    .doc = "Print every record of the FILEs within a distance of a query in BATCH, as lines of query, fingerprint, "
           "distance and id, in any order. Without FILE, or with -, read standard input.",
    .notes = "BATCH is held in memory; its format follows from its name. --radix, --skip-bad and --max-bad are for "
             "BATCH and FILEs, the other "
             "input options are for FILEs only.",
    .examples = (const command_example[]){{"find the new pages that are near old ones, sorted",
                                           "sstore scan --queries new.txt pages.txt | sstore collect"},
                                          {0}},
};

/* ----- recipes ----- */

/* The first recipe that an input states. */
typedef struct stated_recipe {
    char text[RECORDS_MAX_RECIPE + 1]; /* escaped; "" before there is one */
    const char *input;
} stated_recipe;

/* Fail if an input states another recipe than those before it: an input_recipe_fn. */
static int compare_recipe(void *context, input_doubt *doubt, const char *path, const char *recipe)
{
    (void)doubt;
    stated_recipe *first = context;
    char shown[sizeof first->text];
    (void)sstore_escape(recipe, strlen(recipe), false, shown, sizeof shown);
    if (first->text[0] == '\0') {
        memcpy(first->text, shown, sizeof shown);
        first->input = path;
    }
    if (strcmp(first->text, shown) == 0)
        return EXIT_DONE;
    return message_print("%s: the input was made by the recipe '%s', but %s by '%s'", path, shown, first->input,
                         first->text);
}

/* ----- the queries ----- */

static int open_scan(const arguments *args, input_shape *shape, sstore_stream_matcher **scan_out)
{
    uint64_t *queries;
    size_t count;
    input_options format = INPUT_OPTIONS_INIT;
    sstore_stream_options stream = SSTORE_STREAM_OPTIONS_INIT;
    sstore_error error;
    format.lines.radix = args->format.lines.radix;
    format.lines.radix_given = args->format.lines.radix_given;
    format.lines.pads = args->format.lines.pads;
    format.lines.bits = args->format.lines.bits;
    format.lines.may_lack_zeros = args->format.lines.may_lack_zeros;
    format.lines.fingerprint_key = args->format.lines.fingerprint_key;
    format.lines.ignore_ids = true;
    format.on_recipe = args->format.on_recipe;
    format.recipe_context = args->format.recipe_context;
    format.ahead = args->format.ahead;
    format.bad_rows = args->format.bad_rows;
    format.doubt = args->format.doubt;
    int code = input_read_all(args->queries, &format, shape, &queries, &count);
    const uint32_t words = shape->words > 0 ? shape->words : 1; /* without a query, any width will do */
    const stated_recipe *recipe = args->format.recipe_context;
    stream.distance = args->distance;
    stream.threads = args->threads;
    stream.fingerprint_bits = 64 * words;
    if (code == EXIT_DONE)
        code = similarity_of_recipe(&args->similarity, args->queries, recipe->text, 64 * words, &stream.distance);
    if (code == EXIT_DONE)
        code = check_build_distance(stream.distance, words);
    if (code == EXIT_DONE)
        code = message_status(sstore_stream_matcher_create(queries, count, &stream, scan_out, &error), &error);
    free(queries);
    return code;
}

/* ----- scanning ----- */

/* Records that are scanned together. */
typedef struct scan_slot {
    record_batch records; /* first, so that a queue can have the slot */
    double fraction;      /* of the inputs, read when the slot was filled */
} scan_slot;

/*
 * Records on their way from the inputs through a scan. They are gathered in one slot while another thread scans another
 * slot and prints the matches.
 */
typedef struct scan_stream {
    sstore_stream_matcher *matcher;
    scan_slot slots[SLOTS];
    uint64_t scanned;   /* number of records */
    scan_slot *filling; /* the slot being filled */
    slot_queues queues;
    bool has_thread; /* otherwise the thread that fills a slot also scans it */
    bool ignore_ids;
    const id_range *ids; /* of the records that are scanned; NULL: of all */
    const char *input;   /* that is being read */
    output_style style;  /* but for has_ids, which each slot says */
    int code;            /* of the scanning so far */
} scan_stream;

/* Scan and empty a slot. Flush its matches, so that a reader of stdout sees them at once. */
static int scan_records(scan_stream *stream, scan_slot *slot)
{
    record_batch *records = &slot->records;
    sstore_error error;
    output_style style = stream->style;
    style.has_ids = records->has_ids;
    sstore_status status = sstore_stream_matcher_feed(stream->matcher, records->fingerprints, record_batch_ids(records),
                                                      records->count, output_scan_match, &style, &error);
    stream->scanned += records->count;
    records->count = 0;
    progress_show("scanning", stream->scanned, 0, slot->fraction);
    if (status != SSTORE_OK)
        return message_status(status, &error);
    return output_flush() ? EXIT_DONE : EXIT_FAILED;
}

static void *scan_slots(void *context)
{
    scan_stream *stream = context;
    scan_slot *slot;
    while (stream->code == EXIT_DONE && (slot = queue_take(&stream->queues.full)) != NULL) {
        stream->code = scan_records(stream, slot);
        queue_put(&stream->queues.empty, slot);
    }
    if (stream->code != EXIT_DONE)
        queue_stop(&stream->queues.empty);
    return NULL;
}

/* Begin to scan, in a thread of its own if `ahead`. Returns an exit code. Close the stream in any case. */
static int open_stream(scan_stream *stream, sstore_stream_matcher *matcher, bool ahead)
{
    bool enough = true;
    *stream = (scan_stream){.matcher = matcher, .code = EXIT_DONE};
    for (size_t i = 0; i < SLOTS; i++)
        enough = record_batch_init(&stream->slots[i].records, SLOT_WORDS) && enough;
    if (!enough)
        return message_print("out of memory");
    stream->has_thread = ahead && slot_queues_start(&stream->queues, stream->slots, SLOTS, sizeof *stream->slots,
                                                    scan_slots, stream);
    stream->filling = stream->has_thread ? queue_take(&stream->queues.empty) : stream->slots;
    return EXIT_DONE;
}

/* Have the filled slot scanned, and begin to fill another one. */
static int hand_over(scan_stream *stream)
{
    stream->filling->fraction = input_measure_fraction();
    if (!stream->has_thread)
        return stream->code = scan_records(stream, stream->filling);
    queue_put(&stream->queues.full, stream->filling);
    stream->filling = queue_take(&stream->queues.empty);
    return stream->filling != NULL ? EXIT_DONE : EXIT_FAILED;
}

/* Append the records whose ids are in the range. */
static void append_in_range(scan_stream *stream, const record_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        record_batch one = *batch;
        one.count = 1;
        one.fingerprints += i * batch->words;
        one.ids += i;
        if (id_range_has(stream->ids, *one.ids))
            record_batch_append(&stream->filling->records, &one);
    }
}

/* Add records to the slot being filled: an input_batch_fn. */
static int add_records(void *context, const record_batch *batch)
{
    scan_stream *stream = context;
    const record_batch *filled = &stream->filling->records;
    record_batch records = *batch;
    int code = EXIT_DONE;
    if (stream->ignore_ids)
        records.has_ids = false;
    if (filled->count + records.count > record_batch_records(SLOT_WORDS, records.words) ||
        (filled->count > 0 && filled->has_ids != records.has_ids))
        code = hand_over(stream);
    if (code != EXIT_DONE)
        return code;
    if (stream->ids == NULL)
        record_batch_append(&stream->filling->records, &records);
    else if (records.count > 0 && !records.has_ids)
        return message_print("%s: the records have no ids, so --ids is not possible; leave it out", stream->input);
    else
        append_in_range(stream, &records);
    const bool is_idle = stream->has_thread && queue_count(&stream->queues.empty) == SLOTS - 1;
    return is_idle ? hand_over(stream) : EXIT_DONE;
}

/* Wait until all records are scanned. Returns an exit code. */
static int close_stream(scan_stream *stream)
{
    const bool has_records = stream->filling != NULL && stream->filling->records.count > 0;
    if (has_records && (stream->has_thread || stream->code == EXIT_DONE))
        (void)hand_over(stream);
    if (stream->has_thread) {
        queue_close(&stream->queues.full);
        slot_queues_join(&stream->queues);
    }
    for (size_t i = 0; i < SLOTS; i++)
        record_batch_free(&stream->slots[i].records);
    return stream->code;
}

/* All FILEs must have ids or none, so that the matches can be collected. */
static int scan_inputs(const arguments *args, input_shape shape, sstore_stream_matcher *scan)
{
    scan_stream stream;
    shape.ids = INPUT_IDS_UNKNOWN;
    shape.has_kind = false;
    shape.width_source = shape.width_source != NULL ? "the queries" : NULL;
    int code = open_stream(&stream, scan, args->threads != 1);
    input_measure_begin(args->inputs.items, args->inputs.count);
    stream.ignore_ids = args->format.lines.ignore_ids;
    stream.ids = args->ids.text != NULL ? &args->ids : NULL;
    stream.style = (output_style){.has_ids = !stream.ignore_ids, .words = shape.words};
    output_head(&stream.style, args->header, MATCH_COLUMNS);
    for (int i = 0; i < args->inputs.count && code == EXIT_DONE; i++) {
        stream.input = args->inputs.items[i];
        code = input_read(args->inputs.items[i], &args->format, &shape, add_records, &stream);
        if (stream.ignore_ids)
            shape.ids = INPUT_IDS_UNKNOWN; /* a format with ids may follow one without */
    }
    /* The records before a malformed one are scanned. */
    int close_code = close_stream(&stream);
    return code != EXIT_DONE ? code : close_code;
}

int cmd_scan(int argc, char **argv)
{
    arguments args = {.distance = SSTORE_DEFAULT_DISTANCE, .format = INPUT_OPTIONS_INIT};
    stated_recipe recipe = {.input = NULL};
    input_shape shape = INPUT_SHAPE_INIT;
    sstore_stream_matcher *scan = NULL;
    const operands given = command_line_parse(&syntax, argc, argv, &args);
    if (args.queries == NULL)
        message_usage_error("expected --queries BATCH");
    if (args.ids.text != NULL && args.format.lines.ignore_ids)
        message_usage_error("--ids cannot be combined with --no-ids");
    shape.words = words_option(&args.format);
    args.inputs = operands_as_inputs(given);
    for (int i = 0; i < args.inputs.count; i++)
        if (strcmp(args.queries, "-") == 0 && strcmp(args.inputs.items[i], "-") == 0)
            message_usage_error("--queries and the input cannot both be standard input");
    args.format.ahead = args.threads != 1;
    args.format.on_recipe = compare_recipe;
    args.format.recipe_context = &recipe;
    int code = input_check_all(args.inputs.items, args.inputs.count, &args.format);
    if (code == EXIT_DONE)
        code = bad_rows_open(&args.format.bad, args.inputs.items, args.inputs.count);
    progress_begin(args.progress);
    if (code == EXIT_DONE)
        code = open_scan(&args, &shape, &scan);
    if (code == EXIT_DONE)
        code = scan_inputs(&args, shape, scan);
    progress_end();
    code = end_inputs(&args.format, false, code);
    sstore_stream_matcher_free(scan);
    return code;
}
