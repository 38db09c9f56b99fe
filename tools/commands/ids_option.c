#include "commands/ids_option.h"

#include "input/id_range.h"

const command_option ids_options[] = {
    {"ids", 0, "FROM-TO", "find only records with ids in this range; 100- and -199 are open ranges", OPTION_TEXT,
     OPTION_FIELD(id_range, text)},
    {0},
};

void check_ids_option(void *part)
{
    id_range *self = part;
    line_fault fault;
    self->filter = (sstore_id_filter)SSTORE_ID_FILTER_INIT;
    if (self->text != NULL && !id_range_read(self->text, &self->filter, &fault))
        message_usage_error("--ids: %s", fault.reason);
}
