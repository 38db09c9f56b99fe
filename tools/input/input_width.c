/*
 * input_width.c - each line has a vote for its width. The votes of lines that can have another width only count if
 * there are no others. It also has a vote for ids.
 */
#include "input/input_width.h"

#include <string.h>

#include "input/input_hint.h"
#include "output/records.h"

#define MAX_BITS (64u * SSTORE_MAX_WORDS)

typedef struct width_votes {
    uint32_t sure[MAX_BITS + 1], unsure[MAX_BITS + 1]; /* lines, by the bits of their fingerprints */
    uint32_t first_sure, first_unsure;                 /* which wins if two have as many */
    uint32_t by_id[2];                                 /* without, with one */
    bool first_has_id;
    uint32_t by_kind[128]; /* by the letter */
    char first_kind;
} width_votes;

bool input_take_columns(line_format *format, const char *line, size_t length, line_fault *fault)
{
    static const char comment[] = RECORDS_COLUMNS_COMMENT;
    char list[16 * LINE_MAX_COLUMNS];
    const size_t before = sizeof comment - 1;
    fault->reason[0] = '\0';
    if (length <= before || memcmp(line, comment, before) != 0)
        return false;
    if (length - before >= sizeof list)
        return line_fault_set(fault, "the list of columns is too long");
    memcpy(list, line + before, length - before);
    list[length - before] = '\0';
    return line_format_set_columns(format, list, fault);
}

static void vote(width_votes *votes, const line_record *record)
{
    uint32_t *first = record->decides ? &votes->first_sure : &votes->first_unsure;
    (record->decides ? votes->sure : votes->unsure)[record->bits]++;
    if (*first == 0)
        *first = record->bits;
    if (votes->by_id[0] + votes->by_id[1] == 0) {
        votes->first_has_id = record->has_id;
        votes->first_kind = record->kind;
    }
    votes->by_kind[record->kind & 127]++;
    votes->by_id[record->has_id]++;
}

static uint32_t winner(const uint32_t votes[MAX_BITS + 1], uint32_t first)
{
    uint32_t best = first;
    for (uint32_t bits = 1; bits <= MAX_BITS; bits++)
        best = votes[bits] > votes[best] ? bits : best;
    return best;
}

static char kind_of_most(const width_votes *votes)
{
    char best = votes->first_kind;
    for (int kind = 0; kind < 128; kind++)
        best = votes->by_kind[kind] > votes->by_kind[best & 127] ? (char)kind : best;
    return best;
}

input_width input_width_find(const line_format *format, line_parser parse, bool takes_columns, const char *text,
                             size_t size, bool at_end)
{
    width_votes votes = {.first_sure = 0};
    line_format current = *format;
    const char *at = text + input_hint_bom_bytes(text, size), *const end = text + size, *stop, *next;
    for (; at < end; at = next) {
        line_record record;
        line_fault fault;
        stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL && !at_end)
            break;
        next = stop != NULL ? stop + 1 : end;
        stop = stop != NULL ? stop : end;
        const size_t length = (size_t)(stop - at) - (stop > at && stop[-1] == '\r');
        if (parse(&current, at, length, &record, &fault))
            vote(&votes, &record);
        else if (takes_columns && length > 0 && *at == '#')
            (void)input_take_columns(&current, at, length, &fault);
    }
    const bool is_sure = votes.first_sure > 0;
    return (input_width){is_sure ? winner(votes.sure, votes.first_sure) : winner(votes.unsure, votes.first_unsure),
                         is_sure, votes.by_id[1] + votes.first_has_id > votes.by_id[0], kind_of_most(&votes)};
}
