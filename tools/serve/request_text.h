/*
 * request_text.h - makes the fingerprints of the texts of a request, as the recipe of the service's stores says.
 */
#ifndef REQUEST_TEXT_H
#define REQUEST_TEXT_H

#include <sstore_text.h>

#include "input/line_fault.h"
#include "output/json_read.h"

/* How the texts of all requests become fingerprints. Begin with zeros. */
typedef struct text_rules {
    bool has_store, are_known;
    char recipe[512]; /* of the first store */
    sstore_text_options options;
    sstore_error error; /* why they are not known */
} text_rules;

/* Follow the recipe of a store with fingerprints of so many bits, "" if it has none. All stores must have the same
 * recipe, and the bits that it tells: a store can have any text as its recipe. */
void text_rules_add(text_rules *self, const char *recipe, uint32_t bits);

/* Makes fingerprints of one request. Begin with its rules alone. */
typedef struct text_reader {
    const text_rules *rules;
    sstore_fingerprinter *fingerprinter; /* made for the first text */
} text_reader;

/* Make the fingerprint of a text. `name` is that of its place in the request. */
bool text_reader_take(text_reader *self, const char *name, const char *text, size_t size, uint64_t *to,
                      line_fault *fault);

/* The same for a string of JSON. */
bool text_reader_take_json(text_reader *self, const char *name, json_view value, uint64_t *to, line_fault *fault);

void text_reader_free(text_reader *self);

#endif
