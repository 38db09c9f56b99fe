/* id_table_fault.h - what is wrong with an id table. */
#ifndef ID_TABLE_FAULT_H
#define ID_TABLE_FAULT_H

#include "sstore.h"

/* Fill the error with "PATH: at byte OFFSET: REASON", with what errno says if the status is SSTORE_ERROR_IO, and with
 * the remedy if it is SSTORE_ERROR_DAMAGED. Without a place, the offset is SSTORE_NO_OFFSET. Returns the status. */
sstore_status id_table_fail(sstore_error *error, sstore_status status, const char *path, uint64_t offset,
                            const char *reason);

#endif
