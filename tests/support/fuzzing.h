/*
 * fuzzing.h - the parts that fuzz targets share: the prototype of the entry, a check that every build keeps, and an
 * input that is read number by number. An input that is used up gives zeros.
 */
#ifndef SUPPORT_FUZZING_H
#define SUPPORT_FUZZING_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* End the program unless the condition holds: to a fuzzer that is a finding. */
#define FUZZ_CHECK(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                              \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Allocated memory as it is; without any, the program ends. */
static inline void *fuzz_memory(void *got)
{
    FUZZ_CHECK(got != NULL);
    return got;
}

typedef struct fuzz_input {
    const uint8_t *at;
    size_t left;
} fuzz_input;

/* A number of `width` bytes, little-endian. */
static inline uint64_t fuzz_take(fuzz_input *input, size_t width)
{
    uint64_t number = 0;
    for (size_t i = 0; i < width && input->left > 0; i++, input->left--)
        number |= (uint64_t)*input->at++ << (8 * i);
    return number;
}

/* What is left, in memory of exactly `size` bytes: cut, or with zeros behind. Freed with free(). */
static inline uint8_t *fuzz_take_rest(fuzz_input *input, size_t size)
{
    uint8_t *rest = calloc(1, size > 0 ? size : 1);
    if (rest == NULL)
        abort();
    size_t taken = input->left < size ? input->left : size;
    if (taken > 0)
        memcpy(rest, input->at, taken);
    input->at += taken;
    input->left -= taken;
    return rest;
}

#endif
