/* text_input.h - the options of the commands that read texts: where the documents are, and how their features are
 * found. */
#ifndef TEXT_INPUT_H
#define TEXT_INPUT_H

#include <sstore_text.h>

#include "commands/cmd.h"
#include "documents/document_form.h"

typedef struct text_input {
    sstore_text_options options;
    document_form form;
    bool lines, jsonl, csv, tsv, recursive;
    bool unit_is_open; /* without these options, the command chooses the unit of documents */
    uint32_t threads;
    const char *stop_words;            /* the path of a list, or NULL */
    const char *feature_weights, *idf; /* the same, of weights and of a table; of simhash_options */
    uint32_t levels;
    const char *text_given, *hash_given, *field_given, *form_given; /* an option of that kind, if one is given */
    sstore_lexicon *lexicon;
    char *idf_table;
} text_input;

#define TEXT_INPUT_INIT                                                                                                \
    {                                                                                                                  \
        .options = SSTORE_TEXT_OPTIONS_INIT, .form = {.text_key = "text" }                                             \
    }

extern const command_option text_options[];
void check_text_options(void *part);
#define TEXT_OPTION_GROUP(offset)                                                                                      \
    {                                                                                                                  \
        text_options, offset, NULL, check_text_options                                                                 \
    }

/* The options of simhashes: weights, bits and the hash of features. A command that chooses the hash checks them
 * itself. */
extern const command_option simhash_options[];
void check_simhash_options(void *part);
bool text_input_needs_simhash(const text_input *self); /* by another option than --hash */
#define SIMHASH_OPTION_GROUP(offset)                                                                                   \
    {                                                                                                                  \
        simhash_options, offset, NULL, check_simhash_options                                                           \
    }

/* Tell how many documents have features, but fewer than this: MinHashes tell their similarity in few steps. */
#define TEXT_FEW_FEATURES 10u
void text_input_report_few(const text_input *self, uint64_t document_count);

/* Check cheaply that the inputs can be read. Returns an exit code. */
int text_input_check(const text_input *self, const operands *inputs);

/* Read the lists that the options name, and let the options have them. Fails at once if the library was built without
 * support for text. Returns an exit code; close it in any case. */
int text_input_open(text_input *self);

void text_input_close(text_input *self);

#endif
