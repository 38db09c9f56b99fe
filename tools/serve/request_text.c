#include "serve/request_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_rules_add(text_rules *self, const char *recipe, uint32_t bits)
{
    if (!self->has_store) {
        self->has_store = true;
        (void)snprintf(self->recipe, sizeof self->recipe, "%s", recipe);
        self->are_known = sstore_text_options_of_recipe(recipe, NULL, &self->options, &self->error) == SSTORE_OK;
    } else if (strcmp(recipe, self->recipe) != 0) {
        self->are_known = false;
        (void)snprintf(self->error.message, sizeof self->error.message, "its stores have different recipes");
    }
    if (self->are_known && self->options.fingerprint_bits != bits) {
        self->are_known = false;
        (void)snprintf(self->error.message, sizeof self->error.message,
                       "a recipe is of %" PRIu32 " bits, and the fingerprints of that store have %" PRIu32,
                       self->options.fingerprint_bits, bits);
    }
}

bool text_reader_take(text_reader *self, const char *name, const char *text, size_t size, uint64_t *to,
                      line_fault *fault)
{
    sstore_text_result found = SSTORE_TEXT_RESULT_INIT;
    sstore_error error;
    if (!self->rules->are_known)
        return line_fault_set(fault, "%s: this service makes no fingerprints of texts: %s", name,
                              self->rules->error.message);
    sstore_status status = SSTORE_OK;
    if (self->fingerprinter == NULL)
        status = sstore_fingerprinter_create(&self->rules->options, &self->fingerprinter, &error);
    if (status == SSTORE_OK)
        status = sstore_fingerprinter_text(self->fingerprinter, text, size, &found, NULL, &error);
    if (status != SSTORE_OK)
        return line_fault_set(fault, "%s: %s", name, error.message);
    if (found.feature_count == 0)
        return line_fault_set(fault, "%s: the text has no features, so it is like no other", name);
    memcpy(to, found.fingerprint, self->rules->options.fingerprint_bits / 8);
    return true;
}

bool text_reader_take_json(text_reader *self, const char *name, json_view value, uint64_t *to, line_fault *fault)
{
    if (json_view_kind(value) != JSON_VIEW_STRING)
        return line_fault_set(fault, "%s: expected a string, a text", name);
    char *text = malloc(value.length + 1); /* decoded, it is not longer */
    if (text == NULL)
        return line_fault_set(fault, "%s: out of memory", name);
    const size_t size = json_view_text(value, text, value.length + 1);
    const bool is_taken = text_reader_take(self, name, text, size, to, fault);
    free(text);
    return is_taken;
}

void text_reader_free(text_reader *self)
{
    sstore_fingerprinter_free(self->fingerprinter);
    self->fingerprinter = NULL;
}
