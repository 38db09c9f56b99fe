/* ids_option.h - --ids: the range of ids that the records of an answer have. */
#ifndef IDS_OPTION_H
#define IDS_OPTION_H

#include "commands/cmd.h"

typedef struct id_range {
    const char *text; /* option; NULL: all ids */
    sstore_id_filter filter;
} id_range;

/* The option, for the id_range at an offset in the arguments. */
extern const command_option ids_options[];
void check_ids_option(void *part);
#define IDS_OPTION_GROUP(offset)                                                                                       \
    {                                                                                                                  \
        ids_options, offset, NULL, check_ids_option                                                                    \
    }

/* Whether a record with this id may be in an answer. */
static inline bool id_range_has(const id_range *self, uint64_t id)
{
    return id >= self->filter.min_id && id <= self->filter.max_id;
}

#endif
