/*
 * cmd_dedup.c - sstore dedup: print documents without their near-duplicates. The documents are read twice: to find what
 * to drop (dedup_find.c), and to print the rest as it is (dedup_write.c).
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/dedup.h"
#include "input/input_hint.h"
#include "input/interrupt.h"

#define DEFAULT_SIMILARITY "0.8"

static const command_option options[] = {
    {"distance", 'k', "D", "near means within D bits (of simhashes default 3)", OPTION_NUMBER,
     OPTION_FIELD(dedup_arguments, distance), .max = MAX_BUILD_DISTANCE,
     .given = offsetof(dedup_arguments, similarity.distance_given), .common = true},
    {"files", 0, NULL, "each FILE is a document, also those in folders; print the paths of those that stay",
     OPTION_FLAG, OPTION_FIELD(dedup_arguments, files)},
    {"id-field", 0, "KEY", "the JSON key or column of the name or number, for --removed and --update", OPTION_TEXT,
     OPTION_FIELD(dedup_arguments, text.form.id_key), .given = offsetof(dedup_arguments, text.field_given)},
    {"fingerprint-field", 0, "KEY", "take the fingerprints in this field, instead of those of the text", OPTION_TEXT,
     OPTION_FIELD(dedup_arguments, fingerprint_field), .given = offsetof(dedup_arguments, text.field_given)},
    {"radix", 0, "RADIX",
     "fingerprints of --fingerprint-field are hex (default), dec, signed, base64, base32, bin or signed32",
     OPTION_CHOICE, OPTION_FIELD(dedup_arguments, radix), .choices = radix_choices,
     .given = offsetof(dedup_arguments, radix_given)},
    {"keep", 0, "WHICH", "keep first (default), last, max:KEY or min:KEY", OPTION_TEXT,
     OPTION_FIELD(dedup_arguments, keep), .common = true},
    {"strict", 0, NULL, "drop only documents that are near the kept one", OPTION_FLAG,
     OPTION_FIELD(dedup_arguments, strict), .common = true},
    {"max-group", 0, "N", "drop nothing of groups of more than N documents, but report them (default: no limit)",
     OPTION_NUMBER, OPTION_FIELD(dedup_arguments, max_group), .min = 1, .max = UINT64_MAX},
    {"removed", 0, "FILE", "list what is dropped, and what is kept instead", OPTION_TEXT,
     OPTION_FIELD(dedup_arguments, removed), .common = true},
    {"against", 0, "STORE", "also drop what is near a record of STORE", OPTION_TEXT,
     OPTION_FIELD(dedup_arguments, against), .common = true},
    {"update", 0, "STORE", "as --against, and add what is kept; STORE may be new", OPTION_TEXT,
     OPTION_FIELD(dedup_arguments, update), .common = true},
    {"dry-run", 0, NULL, "only count, and show ten that would be dropped", OPTION_FLAG,
     OPTION_FIELD(dedup_arguments, dry_run), .common = true},
    {"null", '0', NULL, "end paths with zero bytes instead of newlines, as for 'xargs -0'", OPTION_FLAG,
     OPTION_FIELD(dedup_arguments, ends_with_zeros)},
    {"memory", 0, "SIZE", "memory limit of the search for groups (default 1G; enforced from 64M up)", OPTION_SIZE,
     OPTION_FIELD(dedup_arguments, task.options.memory_bytes)},
    {"tmp-dir", 0, "DIR", "folder for temporary files (default: TMPDIR if it is set, otherwise /tmp)", OPTION_TEXT,
     OPTION_FIELD(dedup_arguments, task.options.tmp_dir)},
    {0},
};
static const command_syntax syntax = {
    .options = options,
    .groups = (const option_group[]){TEXT_OPTION_GROUP(offsetof(dedup_arguments, text)),
                                     {simhash_options, offsetof(dedup_arguments, text), NULL, NULL},
                                     {similarity_options, offsetof(dedup_arguments, similarity), NULL, NULL},
                                     EXCLUSION_OPTION_GROUP(offsetof(dedup_arguments, excluded)),
                                     BAD_ROW_OPTION_GROUP(offsetof(dedup_arguments, bad)),
                                     RUN_OPTION_GROUPS(offsetof(dedup_arguments, task)),
                                     {0}},
    .operands = "[FILE...]",
    .doc = "Print the documents of all FILEs, or of standard input, without near-duplicates (of a Jaccard similarity "
           "of 0.8 "
           "or more), as they are and in their order: lines, or by the suffix JSON Lines, CSV or TSV. FILE may be "
           "compressed.",
    .examples = (const command_example[]){{"keep the newest of each group of near-duplicate pages",
                                           "sstore dedup --keep max:date pages.jsonl > unique.jsonl"},
                                          {0}},
};

/* ----- the form of the inputs ----- */

static bool has_suffix(const char *path, size_t length, const char *const *suffixes)
{
    for (; *suffixes != NULL; suffixes++)
        if (name_has_suffix(path, length, *suffixes))
            return true;
    return false;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The unit of documents by an input's name; *is_sure_out: the name tells. */
static document_unit unit_of_name(const char *path, bool *is_sure_out)
{
    static const char *const jsonl[] = {".jsonl", ".ndjson", ".json", NULL}, *const csv[] = {".csv", NULL},
                             *const tsv[] = {".tsv", ".tab", NULL};
    size_t length = strlen(path);
    (void)compression_of_name(path, &length);
    *is_sure_out = true;
    if (is_folder(path))
        return DOCUMENT_FILES;
    if (has_suffix(path, length, jsonl))
        return DOCUMENT_JSONL;
    if (has_suffix(path, length, csv))
        return DOCUMENT_CSV;
    if (has_suffix(path, length, tsv))
        return DOCUMENT_TSV;
    *is_sure_out = false;
    return DOCUMENT_LINES;
}

/* Does an input begin with a JSON object in its first line? */
static bool begins_with_object(const char *path)
{
    char bytes[65536];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd >= 0 ? read(fd, bytes, sizeof bytes) : 0;
    if (fd >= 0)
        (void)close(fd);
    const char *end = got > 0 ? memchr(bytes, '\n', (size_t)got) : NULL;
    return end != NULL && document_form_is_object(bytes, (size_t)(end - bytes));
}

/* Choose the unit of documents, unless an option says it: by the names that tell. */
static int choose_unit(dedup_arguments *args, const operands *inputs, const reread *twice)
{
    document_form *form = &args->text.form;
    const char *sure = NULL;
    int file_count = 0;
    if (form->unit != DOCUMENT_FILES || args->files)
        return EXIT_DONE;
    form->unit = DOCUMENT_LINES;
    for (int i = 0; i < inputs->count; i++) {
        bool is_sure;
        const document_unit unit = unit_of_name(inputs->items[i], &is_sure);
        file_count += !twice->inputs[i].is_copy;
        if (is_sure && sure != NULL && unit != form->unit)
            return message_print("%s: the name says another form than that of %s; --lines, --jsonl, --csv, --tsv or "
                                 "--files says what a document is",
                                 inputs->items[i], sure);
        sure = is_sure ? inputs->items[i] : sure;
        form->unit = is_sure ? unit : form->unit;
    }
    if (sure == NULL && file_count > 1)
        return message_print("%s: is each line a document, or each file? --lines or --files says it", inputs->items[0]);
    if (sure == NULL && begins_with_object(twice->paths[0]))
        form->unit = DOCUMENT_JSONL;
    return EXIT_DONE;
}

/* Set the keys of the form, now that its unit is known. */
static int set_fields(dedup_arguments *args)
{
    document_form *form = &args->text.form;
    const bool has_fields = form->unit == DOCUMENT_JSONL || document_form_is_table(form);
    const char *of_fields = args->text.field_given != NULL ? args->text.field_given
                            : form->order_key != NULL      ? "--keep"
                            : form->no_header              ? "--no-header"
                                                           : NULL;
    args->text.recursive = args->text.recursive || form->unit == DOCUMENT_FILES;
    if (args->fingerprint_field != NULL) {
        form->text_key = args->fingerprint_field;
        form->takes_fingerprints = true;
    }
    if (of_fields != NULL && !has_fields)
        return message_print("%s needs fields: --jsonl, --csv or --tsv", of_fields);
    return EXIT_DONE;
}

/* ----- options ----- */

static void check_keep(dedup_job *job, dedup_arguments *args)
{
    const char *keep = args->keep;
    if (keep == NULL || strcmp(keep, "first") == 0)
        return;
    job->keeps_last = strcmp(keep, "last") == 0;
    if (job->keeps_last)
        return;
    args->text.form.is_descending = strncmp(keep, "max:", 4) == 0;
    if ((!args->text.form.is_descending && strncmp(keep, "min:", 4) != 0) || keep[4] == '\0')
        message_usage_error("--keep: expected first, last, max:KEY or min:KEY, found '%s'", keep);
    args->text.form.order_key = keep + 4;
}

static void check_arguments(dedup_job *job, dedup_arguments *args)
{
    check_keep(job, args);
    if (args->files && args->text.form.unit != DOCUMENT_FILES)
        message_usage_error("--files cannot be combined with --lines, --jsonl, --csv or --tsv");
    if (args->against != NULL && args->update != NULL)
        message_usage_error("--update cannot be combined with --against: it also drops what is near its STORE");
    if (args->removed != NULL && strcmp(args->removed, "-") == 0)
        message_usage_error("--removed: expected the name of a file, found '-'");
    if (args->fingerprint_field != NULL && args->text.text_given != NULL)
        message_usage_error("%s cannot be combined with --fingerprint-field", args->text.text_given);
    if (args->fingerprint_field != NULL && args->similarity.text != NULL)
        message_usage_error("--similarity compares texts: with --fingerprint-field, -k says how near is near");
    if (args->update != NULL)
        args->against = args->update;
    args->text.form.may_take_fingerprints = true;
    args->text.form.ids_are_names = true;
}

/* ----- stores ----- */

/* The hash and the bits that a recipe tells, whatever else it says. False: it is none of texts. */
static bool read_hash(const char *recipe, sstore_text_options *options_out)
{
    const char *simhash = strstr(recipe, " hash=xxh3-"), *minhash = strstr(recipe, " hash=minhash-");
    const char *found = minhash != NULL ? minhash : simhash;
    if (found == NULL && strstr(recipe, " hash=java128") == NULL)
        return false;
    options_out->hash = minhash != NULL   ? SSTORE_FEATURE_HASH_MINHASH
                        : simhash != NULL ? SSTORE_FEATURE_HASH_XXH3
                                          : SSTORE_FEATURE_HASH_JAVA128;
    options_out->fingerprint_bits = found != NULL ? (uint32_t)strtoul(strchr(found, '-') + 1, NULL, 10) : 128;
    return true;
}

/* Take what no option says of texts from the recipe of the store. False: it tells nothing of them. */
static bool take_recipe(const dedup_arguments *args, const char *recipe, sstore_text_options *own)
{
    const bool is_open = args->text.text_given == NULL;
    const uint32_t bits = own->fingerprint_bits;
    sstore_text_options stored = SSTORE_TEXT_OPTIONS_INIT;
    if (!read_hash(recipe, &stored))
        return false;
    if (stored.hash == SSTORE_FEATURE_HASH_MINHASH && text_input_needs_simhash(&args->text))
        message_usage_error("%s: its fingerprints are MinHashes, which take --weights presence or frequency, and no "
                            "--idf or --feature-weights",
                            args->against);
    own->hash = stored.hash;
    own->fingerprint_bits = stored.fingerprint_bits;
    if (is_open && sstore_text_options_of_recipe(recipe, NULL, &stored, NULL) == SSTORE_OK)
        *own = stored;
    own->fingerprint_bits = bits != 0 ? bits : own->fingerprint_bits;
    return true;
}

/* Choose how texts are compared, where no option says it: as the recipe of the store says, if there is one, otherwise
 * by MinHashes, unless something is of simhashes. Simhashes are compared by distance, MinHashes by similarity. */
static void choose_nearness(dedup_job *job, dedup_arguments *args)
{
    text_input *text = &args->text;
    const char *by_distance = args->similarity.distance_given;
    const bool is_open = args->fingerprint_field == NULL && text->hash_given == NULL;
    job->recipe_of = "the options of texts";
    if (is_open && job->against != NULL && take_recipe(args, sstore_recipe(job->against), &text->options))
        job->recipe_of = args->against;
    else if (is_open && job->against == NULL && by_distance == NULL && !text_input_needs_simhash(text))
        text->options.hash = SSTORE_FEATURE_HASH_MINHASH;
    check_simhash_options(text);
    if (args->fingerprint_field == NULL && text->options.hash == SSTORE_FEATURE_HASH_MINHASH && by_distance == NULL &&
        args->similarity.text == NULL)
        args->similarity.text = DEFAULT_SIMILARITY;
    check_similarity_options(&args->similarity);
}

/* Do the documents have names? */
static bool have_names(const dedup_job *job)
{
    const document_form *form = &job->args->text.form;
    return form->unit == DOCUMENT_FILES || form->id_key != NULL;
}

/* What is added to a store with names has one. */
static int want_names(dedup_job *job)
{
    job->adds_names = true;
    if (have_names(job))
        return EXIT_DONE;
    return message_print("%s: the store has names: --id-field says which field has those of the documents",
                         job->args->update);
}

/* Open the store of --against or --update, if there is one. */
static int open_store(dedup_job *job)
{
    const dedup_arguments *args = job->args;
    job->makes_store = args->update != NULL && access(args->update, F_OK) != 0;
    if (args->against == NULL || job->makes_store)
        return EXIT_DONE;
    return store_open(args->against, NULL, &job->against, &job->against_metadata);
}

/* Check that the documents can be compared with the records of the store, and added to it. */
static int check_store(dedup_job *job)
{
    const dedup_arguments *args = job->args;
    const sstore_statistics *metadata = &job->against_metadata;
    input_doubt doubt = {.strict = false};
    job->distance = args->distance;
    job->adds_names = job->makes_store && have_names(job);
    if (job->against == NULL)
        return EXIT_DONE;
    int code = stored_names_open(&job->against_names, job->against, args->against, false, &job->against_named);
    if (code == EXIT_DONE && args->update != NULL && metadata->has_names)
        code = want_names(job);
    if (code != EXIT_DONE)
        return code;
    const uint32_t words = metadata->fingerprint_bits / 64;
    if (args->fingerprint_field == NULL && words != job->words)
        return message_print("%s: the store has fingerprints of %" PRIu32 " bits, and texts get %" PRIu32
                             " here; --hash and --bits say others",
                             args->against, metadata->fingerprint_bits, 64 * job->words);
    if (args->fingerprint_field == NULL)
        code = store_check_recipe(args->against, &doubt, "the options of texts", job->recipe);
    job->words = words;
    job->distance = args->distance == SSTORE_OWN_DISTANCE ? metadata->distance : args->distance;
    return code;
}

/* ----- the command ----- */

/* Say what would be written without --dry-run. */
static void report_dry_run(const dedup_job *job)
{
    const dedup_arguments *args = job->args;
    if (args->removed != NULL)
        message_print("%s: would list %" PRIu64 " documents", args->removed, job->near_count + job->stored_count);
    if (args->update != NULL && job->words > 0)
        message_print("%s: would %s %" PRIu64 " records", args->update, job->makes_store ? "be made, with" : "get",
                      job->grouped_count - job->near_count);
}

static void report(const dedup_job *job)
{
    if (job->args->task.quiet || !output_flush())
        return;
    message_print("documents %" PRIu64 ", kept %" PRIu64 ", dropped %" PRIu64 "%s", job->document_count,
                  job->kept_count, job->near_count + job->stored_count,
                  job->args->dry_run ? "; nothing was written" : "");
    if (job->stored_count > 0)
        message_print("of these, %" PRIu64 " are near a record of %s", job->stored_count, job->args->against);
    if (job->empty_count > 0)
        message_print("%" PRIu64 " documents have no features: they are kept", job->empty_count);
    if (2 * job->few_count > job->document_count)
        text_input_report_few(&job->args->text, job->few_count);
    if (job->excluded_count > 0)
        message_print("%" PRIu64 " documents are excluded from groups: they are kept", job->excluded_count);
    if (job->no_text_count > 0)
        message_print("left out files that are no text: %" PRIu64, job->no_text_count);
    if (job->args->dry_run)
        report_dry_run(job);
}

static void close_job(dedup_job *job)
{
    sstore_keeper_free(job->keeper);
    sstore_iterator_free(job->dropped);
    stored_names_close(&job->against_names);
    sstore_close(job->against);
    document_names_close(&job->names);
    feature_file_close(&job->features);
    FILE *const files[] = {job->store_drops, job->left_outs, job->fingerprints};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] != NULL)
            (void)fclose(files[i]);
    exclusion_free(&job->args->excluded);
    reread_close(&job->inputs_twice);
    work_folder_close(&job->folder);
}

/* Does stdout go to this file? */
static bool is_output(const char *path)
{
    struct stat input, output;
    return strcmp(path, "-") != 0 && stat(path, &input) == 0 && fstat(STDOUT_FILENO, &output) == 0 &&
           S_ISREG(output.st_mode) && input.st_dev == output.st_dev && input.st_ino == output.st_ino;
}

/* A folder holds documents, unless it is a store. */
static int check_folder(const char *path)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_store = folder >= 0 && input_hint_is_store(folder);
    if (folder >= 0)
        (void)close(folder);
    return !is_store ? EXIT_DONE
                     : message_print("%s: it is a store, which has no documents; 'sstore clusters' finds the groups of "
                                     "near-duplicates in it, 'sstore pairs' the pairs, and --against compares "
                                     "documents with it",
                                     path);
}

static int check_inputs(const dedup_arguments *args, const operands *inputs)
{
    int code = EXIT_DONE;
    for (int i = 0; i < inputs->count && code == EXIT_DONE; i++)
        code = is_folder(inputs->items[i]) ? check_folder(inputs->items[i])
                                           : input_check_all(&inputs->items[i], 1, NULL);
    for (int i = 0; i < inputs->count && code == EXIT_DONE; i++)
        if (is_output(inputs->items[i]))
            code = message_print("%s: it is also the output; write to another file", inputs->items[i]);
    if (code == EXIT_DONE && args->removed != NULL && input_file_is_among(args->removed, inputs->items, inputs->count))
        return message_print("%s: it is an input; write to another file", args->removed);
    if (code == EXIT_DONE && args->removed != NULL && is_output(args->removed))
        return message_print("%s: it is also the output; write to another file", args->removed);
    return code;
}

static int run(dedup_job *job, dedup_arguments *args, const operands *inputs)
{
    int code = work_folder_open(&job->folder, args->task.options.tmp_dir);
    if (code != EXIT_DONE)
        return code;
    task_begin_reading(&args->task); /* if SIGPIPE ends it, the watcher removes the folder */
    code = reread_open(&job->inputs_twice, inputs->items, inputs->count, &job->folder);
    if (code == EXIT_DONE)
        code = choose_unit(args, inputs, &job->inputs_twice);
    if (code == EXIT_DONE)
        code = set_fields(args);
    if (code == EXIT_DONE)
        code = text_input_open(&args->text);
    if (code != EXIT_DONE)
        return code;
    job->words = args->fingerprint_field == NULL ? args->text.options.fingerprint_bits / 64 : 0;
    (void)sstore_text_recipe(&args->text.options, job->recipe, sizeof job->recipe);
    if (args->similarity.text != NULL)
        code = similarity_of_recipe(&args->similarity, job->recipe_of, job->recipe, 64 * job->words, &args->distance);
    job->confirms = args->similarity.text != NULL;
    job->are_multisets = args->text.options.weighting == SSTORE_WEIGHTING_FREQUENCY;
    if (code == EXIT_DONE)
        code = check_store(job);
    if (code == EXIT_DONE)
        code = dedup_find(job);
    if (code == EXIT_DONE)
        code = dedup_write(job);
    return code;
}

int cmd_dedup(int argc, char **argv)
{
    dedup_arguments args = {.text = TEXT_INPUT_INIT,
                            .bad = BAD_ROWS_INIT,
                            .task = TASK_ARGUMENTS_INIT,
                            .distance = SSTORE_OWN_DISTANCE};
    const operands given = (args.text.unit_is_open = true, command_line_parse(&syntax, argc, argv, &args));
    dedup_job job = {.args = &args, .line = LINE_FORMAT_INIT};
    check_arguments(&job, &args);
    const operands inputs = operands_as_inputs(given);
    job.inputs = &inputs;
    job.line.radix = args.radix;
    job.line.is_field = true;
    int code = open_store(&job);
    if (code == EXIT_DONE) {
        choose_nearness(&job, &args);
        code = check_inputs(&args, &inputs);
    }
    if (code == EXIT_DONE)
        code = run(&job, &args, &inputs);
    progress_end();
    close_job(&job);
    text_input_close(&args.text);
    if (code == EXIT_DONE)
        report(&job);
    else if (interrupted() && message_is_taken())
        message_print("interrupted; the output is not complete");
    return code;
}
