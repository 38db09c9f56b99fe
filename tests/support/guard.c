#include "support/guard.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/testing.h"

guarded guard_make(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), inner = (size + page - 1) / page * page;
    guarded memory = {.size = size, .map_bytes = inner + 2 * page};
    memory.map = mmap(NULL, memory.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory.map == MAP_FAILED)
        fail_msg("no %zu bytes to guard", size);
    memory.low = (uint8_t *)memory.map + page;
    memory.high = memory.low + inner - size;
    if (mprotect(memory.low, inner, PROT_READ | PROT_WRITE) != 0)
        fail_msg("no %zu bytes to guard", size);
    return memory;
}

void guard_free(guarded *memory)
{
    (void)munmap(memory->map, memory->map_bytes);
    *memory = (guarded){0};
}

const uint8_t *guard_before_end(guarded *memory, const void *from)
{
    return memcpy(memory->high, from, memory->size);
}

const uint8_t *guard_after_begin(guarded *memory, const void *from)
{
    return memcpy(memory->low, from, memory->size);
}
