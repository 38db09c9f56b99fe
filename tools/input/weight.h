/*
 * weight.h - reads the weight of a feature from decimal text (format-spec/fingerprint.md, "Weighted features").
 */
#ifndef WEIGHT_H
#define WEIGHT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Read a decimal number of any length, such as "-12", ".5" or "3.25e-2". *weight_out is the multiple of 2^-20 nearest
 * to its exact value, or the even one of two that are equally near; a double holds it exactly. False: the text is no
 * such number, or its magnitude exceeds 2^31.
 */
bool weight_parse(const char *text, size_t length, double *weight_out);

#endif
