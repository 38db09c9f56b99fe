#include "support/io_mode.h"

#include <string.h>

#include "support/must.h"

static const char *const names[BENCH_IO_MODES] = {
    [SSTORE_IO_AUTO] = "auto", [SSTORE_IO_PREAD] = "pread", [SSTORE_IO_MMAP] = "mmap", [SSTORE_IO_MEMORY] = "memory"};

const char *bench_io_name(sstore_io io)
{
    return names[io];
}

sstore_io bench_io_mode(const char *name)
{
    for (int io = 0; io < BENCH_IO_MODES; io++)
        if (strcmp(name, names[io]) == 0)
            return (sstore_io)io;
    bench_fail("there is no way of reading called '%s': auto, pread, mmap or memory", name);
}
