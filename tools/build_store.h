/*
 * build_store.h - from inputs to a published store. Functions return exit codes; failures have been reported.
 */
#ifndef BUILD_STORE_H
#define BUILD_STORE_H

#include "input.h"
#include "sstore.h"

/* Build a store at `path` from all the inputs. On a failure or an interruption nothing of it is left. */
int build_store(const char *path, const sstore_build_options *build, char **inputs, size_t input_count,
                const input_options *format);

/* Print to stderr, in a line, what the new store at `path` is. */
int build_summary(const char *path);

#endif
