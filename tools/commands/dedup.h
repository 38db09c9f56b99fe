/*
 * dedup.h - the steps of 'sstore dedup': read all documents and find which ones to drop; then read them again, and
 * write the others.
 */
#ifndef DEDUP_H
#define DEDUP_H

#include <sstore_join.h>
#include <stdatomic.h>
#include <string.h>

#include "commands/exclude_option.h"
#include "commands/similarity_option.h"
#include "commands/text_input.h"
#include "documents/document_features.h"
#include "documents/document_names.h"
#include "documents/reread.h"
#include "input/input_doubt.h"
#include "input/input_line.h"
#include "input/line_format.h"
#include "output/json_read.h"
#include "output/stored_names.h"

#define DEDUP_GROUPING_PART 0.85 /* of the command, when groups were found: the rest is reading again */

typedef struct dedup_arguments {
    text_input text;
    bad_rows bad;
    task_arguments task; /* memory, tmp_dir, progress, quiet */
    bool files, strict, dry_run, ends_with_zeros;
    uint32_t distance;
    similarity similarity;
    uint64_t max_group;
    exclusion excluded;
    radix_form radix;                                                  /* of fingerprints that are given */
    const char *fingerprint_field, *keep, *removed, *against, *update; /* or NULL */
    const char *radix_given;                                           /* --radix, or NULL */
} dedup_arguments;

/* What is decided while documents are read the first time, in ascending order of numbers. */
typedef struct store_drop {
    uint64_t number, id; /* of a record of the store */
    uint32_t distance;
} store_drop;

typedef struct left_out {
    uint64_t first, end; /* numbers of rows that are no documents: they cannot be read */
} left_out;

typedef struct dedup_job {
    dedup_arguments *args;
    const operands *inputs;
    work_folder folder;
    reread inputs_twice;
    char recipe[RECORDS_MAX_RECIPE + 1];
    const char *recipe_of; /* what says it: the path of the store, or options */
    document_work work;
    _Atomic uint32_t words; /* of a fingerprint; 0: unknown */
    line_format line;       /* of fingerprints that are given */
    input_doubt doubt;      /* of these */
    bool has_numbers;       /* some are numbers of JSON */
    bool has_text_ids;      /* some names are no whole numbers */
    bool keeps_last;
    bool has_order;                   /* some document has the key of --keep */
    char first_keys[JSON_KEYS_BYTES]; /* of the first document, if that lacks it */
    bool confirms;                    /* documents are near if their features say so */
    bool are_multisets;               /* a feature counts as often as it occurs */
    feature_file features;            /* with `confirms` */

    sstore *against; /* or NULL */
    sstore_statistics against_metadata;
    bool makes_store, adds_names;
    stored_names against_names, *against_named;   /* of its records; named: NULL, or these names */
    uint32_t distance;                            /* known if there is a store, or one was given */
    sstore_keeper *keeper;                        /* NULL: there was no document */
    document_names names;                         /* if they are wanted */
    FILE *store_drops, *left_outs, *fingerprints; /* items; fingerprints: a number and words each, to be added */
    uint64_t next_number;                         /* of the documents that were read */

    sstore_iterator *dropped; /* after the first reading */
    uint64_t few_count;       /* documents with features, but fewer than TEXT_FEW_FEATURES */
    uint64_t document_count, empty_count, excluded_count, no_text_count, kept_count, near_count, stored_count;
    uint64_t grouped_count; /* of documents that are dropped or have a record in the store of --update */
} dedup_job;

/* Are names of documents wanted? */
static inline bool dedup_wants_names(const dedup_arguments *args)
{
    return args->removed != NULL || args->dry_run || args->text.form.unit == DOCUMENT_FILES || args->max_group > 0;
}

/* Read the name of a document, if it has one, as the id of a record. False: it is no whole number. */
static inline bool dedup_read_id(const document *doc, uint64_t *id_out)
{
    line_fault ignored;
    return doc->name == NULL || line_parse_id(doc->name, strlen(doc->name), id_out, &ignored);
}

/* Read all documents, and find which ones to drop. Returns an exit code. */
int dedup_find(dedup_job *job);

/* Read them again, and write what is kept, with the list of what is not; or only show examples. Returns an exit
 * code. */
int dedup_write(dedup_job *job);

/* Print the words that only one of two texts has, up to a few of each, in lines. */
void dedup_print_words(const char *dropped, size_t dropped_length, const char *kept, size_t kept_length);

#endif
