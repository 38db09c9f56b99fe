/*
 * input_value.h - the grammar of one fingerprint: digits or a number, in the forms that programs write.
 */
#ifndef INPUT_VALUE_H
#define INPUT_VALUE_H

#include "input/line_fault.h"
#include "input/line_format.h"

/* Read all of the text as a fingerprint. Sets what the record says about it. False: it is something else. */
bool value_read(const line_format *format, const char *text, size_t length, line_record *record);

/* Read all of the text as a fingerprint, as value_read(). On false, *fault says what was expected and found, with a
 * hint if a known form is recognised. */
bool value_parse(const line_format *format, const char *text, size_t length, line_record *record, line_fault *fault);

/* The same of a number of JSON: it is decimal in any radix. */
bool value_parse_number(const line_format *format, const char *text, size_t length, line_record *record,
                        line_fault *fault);

/* Is it a decimal number of 64 bits, perhaps negative, that is longer than one in hex? */
bool value_is_wide_decimal(const char *text, size_t length);

/* The recipe of fingerprints of a kind. Returns `to`. */
#define VALUE_RECIPE_BYTES 16
const char *value_recipe(char kind, char to[VALUE_RECIPE_BYTES]);

/* Is it such a recipe? */
bool value_is_recipe(const char *recipe);

/* A fingerprint of several columns: each is a number, with an equal part of the bits, the highest first. */
#define VALUE_MAX_PARTS 32u

typedef struct value_part {
    uint64_t magnitude;
    bool negative; /* of two's complement in the bits of the part */
    bool is_wide;  /* the number, or its digits, have more than 32 bits */
} value_part;

/* Read one part. The functions return as value_parse(). */
bool value_parse_part(const line_format *format, const char *text, size_t length, value_part *part_out,
                      line_fault *fault);

/* Join all parts. */
bool value_join(const line_format *format, const value_part *parts, size_t count, line_record *record,
                line_fault *fault);

/* Can the columns of one fingerprint be in this form? */
bool value_has_parts(radix_form form);

#endif
