/*
 * suggest.c - the distance of words, and the choice of the most similar name.
 */
#include "commands/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_LETTERS 31u /* more than any name has */

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool equal(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t suggest_distance(const char *word, const char *other)
{
    /* rows[i % 3][j]: the distance of the first i letters of the word and the first j letters of the other one */
    size_t rows[3][MAX_LETTERS + 1];
    const size_t length = strlen(word), other_length = strlen(other);
    if (length > MAX_LETTERS || other_length > MAX_LETTERS)
        return SIZE_MAX;
    for (size_t i = 0; i <= length; i++) {
        size_t *now = rows[i % 3];
        const size_t *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= other_length; j++) {
            now[j] = i == 0 ? j : min(now[j - 1], before[j]) + 1;
            if (i > 0)
                now[j] = min(now[j], before[j - 1] + !equal(word[i - 1], other[j - 1]));
            if (i > 1 && j > 1 && equal(word[i - 1], other[j - 2]) && equal(word[i - 2], other[j - 1]))
                now[j] = min(now[j], two_before[j - 2] + 1);
        }
    }
    return rows[length % 3][other_length];
}

void suggestion_consider(suggestion *self, const char *name)
{
    const size_t length = strlen(self->word), name_length = strlen(name);
    const bool is_beginning = length >= 2 && length < name_length && strncasecmp(self->word, name, length) == 0;
    const size_t distance = is_beginning ? 1 : suggest_distance(self->word, name);
    const size_t allowed = (length > name_length ? length : name_length) / 3;
    if ((is_beginning || distance <= allowed) && (self->name == NULL || distance < self->distance)) {
        self->name = name;
        self->distance = distance;
    }
}

const char *suggestion_text(const suggestion *self, const char *before, char text[80])
{
    text[0] = '\0';
    if (self->name != NULL)
        snprintf(text, 80, "; did you mean '%s%s'?", before, self->name);
    return text;
}
