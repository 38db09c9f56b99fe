#include "sort/spill_file.h"

#include <stdlib.h>

sstore_status ss_spill_dir_open(const char *path, const ss_dir *usual, ss_dir *dir_out, sstore_error *error)
{
    const char *named = path != NULL ? path : secure_getenv("TMPDIR");
    if (named != NULL && (path != NULL || named[0] != '\0'))
        return ss_dir_open(named, dir_out, error);
    return usual != NULL ? ss_dir_copy(usual, dir_out, error) : ss_dir_open(".", dir_out, error);
}

void ss_spill_file_open(ss_spill_file *spill, const ss_dir *dir)
{
    *spill = (ss_spill_file){.dir = dir, .file = SS_FILE_NONE};
    pthread_mutex_init(&spill->lock, NULL);
}

sstore_status ss_spill_file_reserve(ss_spill_file *spill, uint64_t bytes, uint64_t *offset_out, sstore_error *error)
{
    sstore_status status = SSTORE_OK;
    pthread_mutex_lock(&spill->lock);
    if (spill->file.fd < 0)
        status = ss_file_create_nameless(spill->dir, &spill->file, error);
    *offset_out = spill->bytes;
    if (status == SSTORE_OK)
        spill->bytes += bytes;
    pthread_mutex_unlock(&spill->lock);
    return status;
}

void ss_spill_file_drop(const ss_spill_file *spill, uint64_t offset, uint64_t bytes)
{
    ss_file_punch(&spill->file, offset, bytes);
}

void ss_spill_file_close(ss_spill_file *spill)
{
    if (spill->dir == NULL)
        return;
    ss_file_close(&spill->file);
    pthread_mutex_destroy(&spill->lock);
    spill->dir = NULL;
}
