#include "serve/service.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/messages.h"
#include "output/store_report.h"

#define WRITES_WAITING 10000u

/* ----- opening and closing ----- */

/* The last part of a path, without slashes behind it, to be freed. As UTF-8, since answers quote it. */
static char *name_of(const char *path)
{
    size_t size;
    const char *last = store_name(path, &size);
    const size_t length = sstore_escape(last, size, false, NULL, 0);
    char *name = malloc(length + 1);
    if (name != NULL)
        sstore_escape(last, size, false, name, length + 1);
    return name;
}

static bool allocate(service *self, uint32_t count)
{
    self->names = (store_names){.items = calloc(count, sizeof *self->names.items), .count = count};
    self->stores = calloc(count, sizeof *self->stores);
    self->writers = self->options.allows_writes ? calloc(count, sizeof *self->writers) : NULL;
    self->failures = calloc(count, sizeof *self->failures);
    return self->failures != NULL && self->names.items != NULL && self->stores != NULL &&
           (self->writers != NULL || !self->options.allows_writes);
}

static int take_recipe(service *self, uint32_t index)
{
    sstore_error error;
    store_use use;
    if (served_store_acquire(self->stores[index], false, &use, &error) != SSTORE_OK)
        return message_error(&error);
    const sstore_statistics *statistics = store_use_statistics(&use);
    text_rules_add(&self->texts, statistics->recipe, statistics->fingerprint_bits);
    served_store_release(self->stores[index], &use);
    return EXIT_DONE;
}

static int open_store(service *self, uint32_t index, const char *path)
{
    sstore_error error;
    char **names = self->names.items;
    if (served_store_open(path, &self->options.open, &self->stores[index], &error) != SSTORE_OK)
        return message_error(&error);
    const uint32_t bits = served_store_bits(self->stores[index]);
    if (index > 0 && bits != self->bits)
        return message_print("%s: its fingerprints have %" PRIu32 " bits, those of the stores before it %" PRIu32
                             "; a service's stores have the same width",
                             path, bits, self->bits);
    self->bits = bits;
    if ((names[index] = name_of(path)) == NULL)
        return message_print("out of memory");
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(names[i], names[index]) == 0)
            return message_print("%s: another store has the same name '%s'; requests choose stores by their names",
                                 path, names[index]);
    if (self->writers == NULL)
        return EXIT_DONE;
    const store_writer_options options = {.memory_bytes = self->options.memory_bytes,
                                          .threads = self->options.threads,
                                          .max_matches = self->options.max_matches,
                                          .max_waiting = WRITES_WAITING,
                                          .metrics = &self->metrics};
    self->writers[index] = store_writer_start(self->stores[index], &options);
    return self->writers[index] != NULL ? EXIT_DONE : message_print("%s: cannot start a thread that writes", path);
}

int service_open(service *self, char *const *paths, uint32_t count, const service_options *options)
{
    *self = (service){.options = *options};
    int code = allocate(self, count) ? EXIT_DONE : message_print("out of memory");
    for (uint32_t i = 0; i < count && code == EXIT_DONE; i++)
        if ((code = open_store(self, i, paths[i])) == EXIT_DONE)
            code = take_recipe(self, i);
    return code;
}

void service_close(service *self)
{
    for (uint32_t i = 0; i < self->names.count; i++) {
        if (self->writers != NULL)
            store_writer_stop(self->writers[i]);
        if (self->stores != NULL)
            served_store_close(self->stores[i]);
        if (self->names.items != NULL)
            free(self->names.items[i]);
    }
    free(self->names.items);
    free(self->failures);
    free(self->stores);
    free(self->writers);
}

void service_refuse_offers(service *self)
{
    for (uint32_t i = 0; self->writers != NULL && i < self->names.count; i++)
        store_writer_refuse_offers(self->writers[i]);
}

void service_refresh(service *self)
{
    for (uint32_t i = 0; i < self->names.count; i++) {
        sstore_error error = {.status = SSTORE_OK}, *last = &self->failures[i];
        if (served_store_refresh(self->stores[i], &error) != SSTORE_OK) {
            metrics_add(&self->metrics.refresh_failures, 1);
            if (strcmp(error.message, last->message) != 0)
                message_problem(&error);
        }
        *last = error;
    }
}
