/* status.c - every status by name, in one place. */
#include "base/common.h"

const char *sstore_status_name(sstore_status status)
{
    switch (status) {
    case SSTORE_OK: return "ok";
    case SSTORE_STOPPED: return "stopped";
    case SSTORE_ERROR_ARGUMENT: return "bad argument";
    case SSTORE_ERROR_MEMORY: return "out of memory";
    case SSTORE_ERROR_IO: return "input or output error";
    case SSTORE_ERROR_NOT_FOUND: return "not found";
    case SSTORE_ERROR_EXISTS: return "exists already";
    case SSTORE_ERROR_BUSY: return "busy";
    case SSTORE_ERROR_DAMAGED: return "damaged";
    case SSTORE_ERROR_UNSUPPORTED: return "unsupported";
    case SSTORE_ERROR_RECIPE: return "another recipe";
    }
    return "unknown status";
}

const char *sstore_version(void)
{
    return SSTORE_VERSION_STRING;
}
