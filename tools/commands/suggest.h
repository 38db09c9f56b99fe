/*
 * suggest.h - finds the name that a mistyped word was probably meant to be.
 */
#ifndef SUGGEST_H
#define SUGGEST_H

#include <stddef.h>

/* The number of edits that turn one word into the other, without regard to case: letters to insert, remove or replace,
 * and neighbours to exchange (the Damerau-Levenshtein distance in which no part is edited twice). SIZE_MAX if one of
 * the words is longer than any name. */
size_t suggest_distance(const char *word, const char *other);

/* The name found so far for a word. */
typedef struct suggestion {
    const char *word, *name; /* name: NULL if none is similar */
    size_t distance;         /* of the two */
} suggestion;

/* Take `name` if it is similar to the word, and more similar than the names before: at most one edit for each three
 * letters, or if the word is its beginning. */
void suggestion_consider(suggestion *self, const char *name);

/* "; did you mean 'BEFORE NAME'?" in `text`, with `before` in front of the name; "" without a name. Returns `text`. */
const char *suggestion_text(const suggestion *self, const char *before, char text[80]);

#endif
