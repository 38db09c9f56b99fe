/*
 * weight.h - the weight of a feature, from its decimal text (format-spec/fingerprint.md, "Weighted features").
 */
#ifndef WEIGHT_H
#define WEIGHT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Read a decimal number, such as "-12", ".5" or "3.25e-2", of any length. *weight_out is the whole number of units of
 * 2^-20 nearest to its exact value, and of two that are equally near the even one: a double has it exactly. False
 * where the text is no such number, or beyond 2^31 in magnitude.
 */
bool weight_parse(const char *text, size_t length, double *weight_out);

#endif
