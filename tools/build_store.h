/*
 * build_store.h - from inputs to a published store. Functions return exit codes; failures have been reported.
 */
#ifndef BUILD_STORE_H
#define BUILD_STORE_H

#include "build_arguments.h"
#include "input.h"

/* Build a store at `path` from all the inputs, and say what it is. On a failure or an interruption nothing of it is left. */
int build_store(const char *path, build_arguments *arguments, char **inputs, size_t input_count,
                input_options *format);

#endif
