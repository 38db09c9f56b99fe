/*
 * arguments.h - turning the text of an option into its value. A text that is no value is a usage error, which ends the
 * process; `option` is the option's name as the message shows it.
 */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdint.h>

/* A decimal number from `least` to `most`. */
uint64_t argument_number(const char *option, const char *text, uint64_t least,
                         uint64_t most);

/* A size of at least one byte: a decimal number, then nothing, or K, M, G or T, or KiB, MiB, GiB or TiB. */
uint64_t argument_size(const char *option, const char *text);

/* The same where a size is a block's; what does not fit the type is left to the library to refuse. */
uint32_t argument_block_size(const char *option, const char *text);

/* A count: a decimal number, then nothing, or K, M, G or T, powers of 1000. */
uint64_t argument_count(const char *option, const char *text);

/* The index of `text` in `names`, which a NULL ends. `expected` lists them in the message. */
int argument_choice(const char *option, const char *text, const char *const *names,
                    const char *expected);

#endif
