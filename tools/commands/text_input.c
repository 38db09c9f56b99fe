#include "commands/text_input.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/input_hint.h"
#include "input/input_source.h"
#include "input/weight.h"

static const option_choice kinds[] = {{"words", SSTORE_FEATURE_KIND_WORDS}, {"chars", SSTORE_FEATURE_KIND_CHARS}, {0}};
static const option_choice markups[] = {{"none", SSTORE_MARKUP_NONE}, {"html", SSTORE_MARKUP_HTML}, {0}};
static const option_choice segmentations[] = {{"pairs", SSTORE_SEGMENTATION_PAIRS},
                                              {"icu", SSTORE_SEGMENTATION_ICU},
                                              {0}};
const command_option text_options[] = {
    {"features", 0, "KIND", "words (default), or chars: sequences of characters", OPTION_CHOICE,
     OPTION_FIELD(text_input, options.kind), .choices = kinds, .given = offsetof(text_input, text_given),
     .common = true},
    {"shingle", 0, "N", "a feature has N words (default 1; of a MinHash 2) or characters (4)", OPTION_NUMBER,
     OPTION_FIELD(text_input, options.shingle), .min = 1, .max = 64, .given = offsetof(text_input, text_given),
     .common = true},
    {"stop-words", 0, "FILE", "leave out the words of FILE, one in each line, before features are made", OPTION_TEXT,
     OPTION_FIELD(text_input, stop_words), .given = offsetof(text_input, text_given)},
    {"markup", 0, "KIND", "none (default); html: take away tags, comments and scripts, and decode references",
     OPTION_CHOICE, OPTION_FIELD(text_input, options.markup), .choices = markups,
     .given = offsetof(text_input, text_given)},
    {"segment", 0, "KIND", "how to cut scripts without spaces: pairs (default) of characters; icu: words, by ICU",
     OPTION_CHOICE, OPTION_FIELD(text_input, options.segmentation), .choices = segmentations,
     .given = offsetof(text_input, text_given)},
    {"lines", 0, NULL, "each line is a document; its id is its number", OPTION_FLAG, OPTION_FIELD(text_input, lines),
     .common = true},
    {"jsonl", 0, NULL, "each line is a JSON object with a document", OPTION_FLAG, OPTION_FIELD(text_input, jsonl),
     .common = true},
    {"csv", 0, NULL, "each row is a document; the first row names columns", OPTION_FLAG, OPTION_FIELD(text_input, csv),
     .common = true},
    {"tsv", 0, NULL, "the same for lines with tabs between the columns", OPTION_FLAG, OPTION_FIELD(text_input, tsv)},
    {"no-header", 0, NULL, "the first row of a table is a document: columns have numbers, from 1", OPTION_FLAG,
     OPTION_FIELD(text_input, form.no_header)},
    {"text-field", 0, "KEY", "JSON key or column of the text (default text)", OPTION_TEXT,
     OPTION_FIELD(text_input, form.text_key), .given = offsetof(text_input, field_given), .common = true},
    {"recursive", 0, NULL, "read all files in folders, but for those that are no text", OPTION_FLAG,
     OPTION_FIELD(text_input, recursive)},
    {"encoding", 0, "NAME", "the files are in this encoding, such as UTF-16 or GB18030 (default UTF-8)", OPTION_TEXT,
     OPTION_FIELD(text_input, form.encoding), .given = offsetof(text_input, form_given)},
    {"binary", 0, NULL, "also accept files with zero bytes, which are hardly text", OPTION_FLAG,
     OPTION_FIELD(text_input, form.binary), .given = offsetof(text_input, form_given)},
    {"threads", 0, "N", "use N threads (default: all processors)", OPTION_NUMBER, OPTION_FIELD(text_input, threads),
     .max = 1024},
    {0},
};

static const option_choice weightings[] = {{"sublinear", SSTORE_WEIGHTING_SUBLINEAR},
                                           {"frequency", SSTORE_WEIGHTING_FREQUENCY},
                                           {"presence", SSTORE_WEIGHTING_PRESENCE},
                                           {0}};
static const option_choice hashes[] = {{"xxh3", SSTORE_FEATURE_HASH_XXH3},
                                       {"java128", SSTORE_FEATURE_HASH_JAVA128},
                                       {"minhash", SSTORE_FEATURE_HASH_MINHASH},
                                       {0}};
const command_option simhash_options[] = {
    {"weights", 0, "KIND",
     "how a feature counts that occurs N times: sublinear (default of simhashes): 1 + log2(N); frequency: N; presence "
     "(default of MinHashes): 1",
     OPTION_CHOICE, OPTION_FIELD(text_input, options.weighting), .choices = weightings,
     .given = offsetof(text_input, text_given)},
    {"feature-weights", 0, "FILE", "multiply weights by those in FILE, lines of feature, tab and weight", OPTION_TEXT,
     OPTION_FIELD(text_input, feature_weights), .given = offsetof(text_input, text_given)},
    {"idf", 0, "FILE", "let rare features weigh more, by the table that 'sstore idf' made", OPTION_TEXT,
     OPTION_FIELD(text_input, idf), .given = offsetof(text_input, text_given)},
    {"levels", 0, "N", "with --idf, multiply by whole numbers from 1 to N only, such as 5", OPTION_NUMBER,
     OPTION_FIELD(text_input, levels), .min = 2, .max = 255, .given = offsetof(text_input, text_given)},
    {"bits", 0, "N",
     "the bits of a fingerprint: of a simhash 64 (default) or 128; of a MinHash 64 to 1024 (default 256)",
     OPTION_NUMBER, OPTION_FIELD(text_input, options.fingerprint_bits), .min = 64, .max = 64 * SSTORE_MAX_WORDS},
    {"hash", 0, "NAME",
     "xxh3: simhash; minhash: MinHash; java128: that of the Java program SimHash, of 128 bits (default xxh3; of dedup "
     "that of the store's recipe, or minhash, or with -k, weights or a store without a recipe xxh3)",
     OPTION_CHOICE, OPTION_FIELD(text_input, options.hash), .choices = hashes,
     .given = offsetof(text_input, hash_given)},
    {0},
};

/* Words are cut by ICU only if there is one. */
static void check_segmentation(const sstore_text_options *text)
{
    sstore_text_options with = *text, without;
    sstore_error error;
    uint64_t unused[SSTORE_MAX_WORDS];
    if (text->segmentation == SSTORE_SEGMENTATION_PAIRS)
        return;
    if (text->kind != SSTORE_FEATURE_KIND_WORDS)
        message_usage_error("--segment cuts texts into words: it cannot be combined with --features chars");
    without = with;
    without.segmentation = SSTORE_SEGMENTATION_PAIRS;
    if (sstore_fingerprint_text("", 0, &without, unused, NULL) == SSTORE_OK &&
        sstore_fingerprint_text("", 0, &with, unused, &error) != SSTORE_OK)
        message_usage_error("--segment icu: %s", error.message);
}

/* Documents may come from stdin, so lists do not. */
static void check_list(const char *option, const char *path)
{
    if (path != NULL && strcmp(path, "-") == 0)
        message_usage_error("%s: expected the name of a file, found '-'", option);
}

/* Set the unit of documents. */
static void check_unit(text_input *self)
{
    const struct {
        const char *option;
        bool is_given;
        document_unit unit;
    } units[] = {{"--lines", self->lines, DOCUMENT_LINES},
                 {"--jsonl", self->jsonl, DOCUMENT_JSONL},
                 {"--csv", self->csv, DOCUMENT_CSV},
                 {"--tsv", self->tsv, DOCUMENT_TSV}};
    const char *given = NULL;
    self->form.unit = DOCUMENT_FILES;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!units[i].is_given)
            continue;
        if (given != NULL)
            message_usage_error("%s cannot be combined with %s", given, units[i].option);
        given = units[i].option;
        self->form.unit = units[i].unit;
    }
    const bool is_table = document_form_is_table(&self->form);
    if (given == NULL && self->unit_is_open)
        return;
    if (self->field_given != NULL && self->form.unit != DOCUMENT_JSONL && !is_table)
        message_usage_error("%s needs --jsonl, --csv or --tsv", self->field_given);
    if (self->form.no_header && !is_table)
        message_usage_error("--no-header needs --csv or --tsv");
}

void check_text_options(void *part)
{
    text_input *self = part;
    check_unit(self);
    if (self->form.encoding != NULL && self->form.binary)
        message_usage_error("--encoding cannot be combined with --binary");
    if (self->form.encoding != NULL && !recode_knows(self->form.encoding))
        message_usage_error("--encoding: this system does not know '%s'; 'iconv -l' lists the encodings",
                            self->form.encoding);
    if (self->stop_words != NULL && self->options.kind != SSTORE_FEATURE_KIND_WORDS)
        message_usage_error("--stop-words needs --features words");
    check_list("--stop-words", self->stop_words);
    check_list("--feature-weights", self->feature_weights);
    check_list("--idf", self->idf);
    check_segmentation(&self->options);
}

/* Without --bits, the hash decides. */
static void check_bits(sstore_text_options *text)
{
    static const uint32_t defaults[] = {
        [SSTORE_FEATURE_HASH_XXH3] = 64, [SSTORE_FEATURE_HASH_JAVA128] = 128, [SSTORE_FEATURE_HASH_MINHASH] = 256};
    const uint32_t bits = text->fingerprint_bits;
    if (bits == 0)
        text->fingerprint_bits = defaults[text->hash];
    else if (text->hash == SSTORE_FEATURE_HASH_MINHASH && bits % 64 != 0)
        message_usage_error("--bits: of a MinHash, expected a multiple of 64 up to 1024, found %u", bits);
    else if (text->hash == SSTORE_FEATURE_HASH_JAVA128 && bits != 128)
        message_usage_error("--hash java128 makes fingerprints of 128 bits: leave out --bits %u", bits);
    else if (text->hash == SSTORE_FEATURE_HASH_XXH3 && bits != 64 && bits != 128)
        message_usage_error("--bits: expected 64 or 128, or --hash minhash, found %u", bits);
}

bool text_input_needs_simhash(const text_input *self)
{
    return self->options.weighting == SSTORE_WEIGHTING_SUBLINEAR || self->feature_weights != NULL || self->idf != NULL;
}

/* A MinHash is of a set. */
static void check_weights(const text_input *self)
{
    if (self->options.hash != SSTORE_FEATURE_HASH_MINHASH)
        return;
    if (self->options.weighting == SSTORE_WEIGHTING_SUBLINEAR)
        message_usage_error("--hash minhash takes --weights presence or frequency");
    if (self->feature_weights != NULL || self->idf != NULL)
        message_usage_error("--hash minhash has no weights: leave out %s",
                            self->idf != NULL ? "--idf" : "--feature-weights");
}

void check_simhash_options(void *part)
{
    text_input *self = part;
    check_bits(&self->options);
    check_weights(self);
    if (self->levels > 0 && self->idf == NULL)
        message_usage_error("--levels needs --idf");
}

/* ----- files ----- */

/* Refuse a folder. */
static int check_input(const char *path)
{
    const int folder = strcmp(path, "-") != 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int code = EXIT_DONE;
    if (folder >= 0 && input_hint_is_store(folder))
        code = message_print("%s: %s", path, input_hint_of_folder(folder));
    else if (folder >= 0)
        code = message_print("%s: it is a folder; --recursive reads the files in it", path);
    if (folder >= 0)
        (void)close(folder);
    return code;
}

void text_input_report_few(const text_input *self, uint64_t document_count)
{
    if (document_count > 0)
        message_print("%" PRIu64 " documents have fewer than %u features: their similarity has few steps%s",
                      document_count, TEXT_FEW_FEATURES,
                      self->options.kind == SSTORE_FEATURE_KIND_WORDS ? "; --features chars makes more" : "");
}

int text_input_check(const text_input *self, const operands *inputs)
{
    int code = EXIT_DONE;
    if (self->recursive)
        return code;
    for (int i = 0; i < inputs->count && code == EXIT_DONE; i++)
        code = check_input(inputs->items[i]);
    return code != EXIT_DONE ? code : input_check_all(inputs->items, inputs->count, NULL);
}

/* ----- lists ----- */

/* Takes a line. False: it is wrong, or memory is short. */
typedef bool (*line_taker)(sstore_lexicon *lexicon, const char *text, size_t length, sstore_error *error);

static bool take_stop_word(sstore_lexicon *lexicon, const char *text, size_t length, sstore_error *error)
{
    return sstore_lexicon_add_stop_word(lexicon, text, length, error) == SSTORE_OK;
}

static bool take_weight(sstore_lexicon *lexicon, const char *text, size_t length, sstore_error *error)
{
    double weight;
    const char *tab = memrchr(text, '\t', length);
    if (tab != NULL && weight_parse(tab + 1, length - (size_t)(tab + 1 - text), &weight))
        return sstore_lexicon_set_weight(lexicon, text, (size_t)(tab - text), weight, error) == SSTORE_OK;
    strcpy(error->message, "expected a feature, a tab and a decimal weight from -2^31 to 2^31");
    return false;
}

/* Read the lines of a list, but for those that are empty or comments. */
static int read_list(const char *path, line_taker take, sstore_lexicon *lexicon)
{
    input_source source;
    source_line line = {0};
    sstore_error error;
    int code = input_source_open(&source, path);
    if (code != EXIT_DONE)
        return code;
    code = input_source_unpack(&source, COMPRESSION_AUTO);
    while (code == EXIT_DONE && source_line_next(&source, &line, &code)) {
        const size_t length = source_line_length(&line);
        if (!source_line_is_blank(&line) && line.text[0] != '#' && !take(lexicon, line.text, length, &error))
            code = input_source_fail(&source, line.number, error.message);
    }
    input_source_report(&source);
    input_source_close(&source);
    return code;
}

static int read_table(text_input *self)
{
    input_source source;
    sstore_error error;
    int code = input_source_open(&source, self->idf);
    if (code != EXIT_DONE)
        return code;
    code = input_source_unpack(&source, COMPRESSION_AUTO);
    if (code == EXIT_DONE)
        code = input_source_need(&source, SIZE_MAX);
    input_source_report(&source);
    if (code == EXIT_DONE) {
        const size_t size = input_source_size(&source);
        self->idf_table = allocate_or_exit(size + 1, 1);
        memcpy(self->idf_table, input_source_text(&source), size);
        const sstore_status status = sstore_lexicon_use_frequencies(self->lexicon, self->idf_table, size, self->levels,
                                                                    &error);
        if (status != SSTORE_OK) {
            message_print("%s: %s; 'sstore idf' makes such tables", self->idf, error.message);
            code = status == SSTORE_ERROR_DAMAGED ? EXIT_DAMAGED : EXIT_FAILED;
        }
    }
    input_source_close(&source);
    return code;
}

int text_input_open(text_input *self)
{
    sstore_error error;
    if (sstore_lexicon_create(&self->options, &self->lexicon, &error) != SSTORE_OK)
        return message_error(&error);
    int code = EXIT_DONE;
    if (self->stop_words != NULL)
        code = read_list(self->stop_words, take_stop_word, self->lexicon);
    if (code == EXIT_DONE && self->feature_weights != NULL)
        code = read_list(self->feature_weights, take_weight, self->lexicon);
    if (code == EXIT_DONE && self->idf != NULL)
        code = read_table(self);
    self->options.lexicon = self->lexicon;
    return code;
}

void text_input_close(text_input *self)
{
    sstore_lexicon_free(self->lexicon);
    free(self->idf_table);
}
