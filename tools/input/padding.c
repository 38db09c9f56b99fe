/*
 * padding.c - the bits of fingerprints that are filled up.
 */
#include "input/padding.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sstore.h"

uint32_t padding_of_recipe(const char *recipe, const char **rest_out)
{
    char *end;
    const unsigned long bits = strtoul(recipe, &end, 10);
    *rest_out = recipe;
    if (!isdigit((unsigned char)recipe[0]) || strncmp(end, PADDED_RECIPE, strlen(PADDED_RECIPE)) != 0 || bits == 0 ||
        bits > 64 * SSTORE_MAX_WORDS)
        return 0;
    *rest_out = end + strlen(PADDED_RECIPE);
    *rest_out += strncmp(*rest_out, "; ", 2) == 0 ? 2 : 0;
    return (uint32_t)bits;
}

uint32_t padding_own_bits(const char *recipe, uint32_t words)
{
    const char *ignored;
    const uint32_t bits = padding_of_recipe(recipe, &ignored);
    return (bits + 63) / 64 == words ? bits : 64 * words;
}

bool padding_fits(size_t bits, uint32_t own_bits)
{
    return bits == own_bits || bits == (own_bits + 7) / 8 * 8 || bits == (own_bits + 63) / 64 * 64;
}

/* If digits do not show where the bits end, any of the last byte may be set: FPS begins with the lowest one. */
bool padding_is_zero(const uint64_t *fingerprint, uint32_t own_bits)
{
    const uint32_t end = own_bits % 4 == 0 ? own_bits : (own_bits + 7) / 8 * 8;
    return end % 64 == 0 || fingerprint[end / 64] << end % 64 == 0;
}
