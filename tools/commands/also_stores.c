#include "commands/also_stores.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *make_label(const char *path)
{
    const size_t size = sstore_escape(path, strlen(path), true, NULL, 0) + 1;
    char *label = allocate_or_exit(size, 1);
    (void)sstore_escape(path, strlen(path), true, label, size);
    return label;
}

static int check_alike(const char *path, const sstore_statistics *found, const char *own_path,
                       const sstore_statistics *own)
{
    if (found->fingerprint_bits != own->fingerprint_bits)
        return message_print("%s: its fingerprints have %" PRIu32 " bits, those of %s have %" PRIu32, path,
                             found->fingerprint_bits, own_path, own->fingerprint_bits);
    if (found->recipe[0] != '\0' && own->recipe[0] != '\0' && strcmp(found->recipe, own->recipe) != 0)
        return message_print("%s: its recipe is '%s', that of %s is '%s'", path, found->recipe, own_path, own->recipe);
    return EXIT_DONE;
}

int also_stores_open(also_stores *self, const text_list *paths, const sstore_open_options *options,
                     const char *own_path, const sstore_statistics *own, bool json)
{
    int code = EXIT_DONE;
    if (paths->count > 0)
        self->labels[0] = make_label(own_path);
    for (uint32_t i = 0; i < paths->count && code == EXIT_DONE; i++) {
        const char *path = paths->items[i];
        sstore_statistics found;
        self->labels[++self->count] = make_label(path);
        code = store_open(path, options, &self->stores[i], &found);
        if (code == EXIT_DONE)
            code = check_alike(path, &found, own_path, own);
        if (code == EXIT_DONE)
            code = stored_names_open(&self->names[i], self->stores[i], path, json, &self->named[i]);
        self->has_ids[i] = code == EXIT_DONE && found.has_ids;
    }
    return code;
}

int also_stores_exit_code(const also_stores *self, int code)
{
    for (uint32_t i = 0; i < self->count; i++)
        code = stored_names_exit_code(&self->names[i], code);
    return code;
}

void also_stores_close(also_stores *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        stored_names_close(&self->names[i]);
        sstore_close(self->stores[i]);
    }
    for (uint32_t i = 0; i <= self->count; i++)
        free(self->labels[i]);
}
