#include "file/format.h"

#include <inttypes.h>
#include <stdio.h>

void ss_folder_name(char name[SS_NAME_CAPACITY], const char *prefix, uint64_t number)
{
    snprintf(name, SS_NAME_CAPACITY, "%s%016" PRIx64, prefix, number);
}

void ss_block_file_name(char name[SS_NAME_CAPACITY], uint32_t number)
{
    if (number == SS_IDS_NUMBER)
        snprintf(name, SS_NAME_CAPACITY, "%s", SS_IDS_NAME);
    else
        snprintf(name, SS_NAME_CAPACITY, "table-%02u.blk", number);
}
