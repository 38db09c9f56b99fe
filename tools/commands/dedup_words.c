/* dedup_words.c - the words in which two texts differ. */
#include <stdlib.h>
#include <string.h>

#include "commands/dedup.h"

#define MAX_WORDS 100000u
#define SHOWN_WORDS 12u

typedef struct word {
    const char *text;
    size_t length, place;
    bool is_common;
} word;

static bool is_blank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static size_t cut_words(const char *text, size_t length, word *words)
{
    size_t count = 0;
    for (size_t at = 0; at < length && count < MAX_WORDS;) {
        while (at < length && is_blank(text[at]))
            at++;
        const size_t begin = at;
        while (at < length && !is_blank(text[at]))
            at++;
        if (at > begin) {
            words[count] = (word){text + begin, at - begin, count, false};
            count++;
        }
    }
    return count;
}

static int compare_texts(const word *a, const word *b)
{
    const int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : a->length < b->length ? -1 : a->length > b->length;
}

static int by_text(const void *left, const void *right)
{
    const word *a = left, *b = right;
    const int order = compare_texts(a, b);
    return order != 0 ? order : a->place < b->place ? -1 : a->place > b->place;
}

static int by_place(const void *left, const void *right)
{
    const word *a = left, *b = right;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* Mark the words that both have, as often as both have them. */
static void mark_common(word *left, size_t left_count, word *right, size_t right_count)
{
    for (size_t i = 0, j = 0; i < left_count && j < right_count;) {
        const int order = compare_texts(&left[i], &right[j]);
        if (order == 0)
            left[i].is_common = right[j].is_common = true;
        i += order <= 0;
        j += order >= 0;
    }
}

static void print_words(const char *head, word *words, size_t count)
{
    size_t shown = 0;
    qsort(words, count, sizeof *words, by_place);
    for (size_t i = 0; i < count; i++) {
        if (words[i].is_common)
            continue;
        if (++shown > SHOWN_WORDS)
            break;
        (void)output_text("%s", shown == 1 ? head : " ");
        (void)output_escaped(words[i].text, words[i].length, false);
    }
    if (shown > 0)
        (void)output_text("%s\n", shown > SHOWN_WORDS ? " ..." : "");
}

void dedup_print_words(const char *dropped, size_t dropped_length, const char *kept, size_t kept_length)
{
    word *left = calloc(MAX_WORDS, sizeof *left), *right = calloc(MAX_WORDS, sizeof *right);
    if (left != NULL && right != NULL) {
        const size_t left_count = cut_words(dropped, dropped_length, left);
        const size_t right_count = cut_words(kept, kept_length, right);
        qsort(left, left_count, sizeof *left, by_text);
        qsort(right, right_count, sizeof *right, by_text);
        mark_common(left, left_count, right, right_count);
        print_words("  only in the dropped one: ", left, left_count);
        print_words("  only in the kept one:    ", right, right_count);
    }
    free(left);
    free(right);
}
