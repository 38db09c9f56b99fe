/*
 * padding.h - fingerprints whose bits are no multiple of 64: zeros behind them fill their last word. The recipe of a
 * store of such ones says how many bits they have. Whatever reads records for it refuses other bits there, or they
 * would differ where they have no bits.
 */
#ifndef PADDING_H
#define PADDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PADDED_RECIPE " bits, padded" /* behind the number; then perhaps "; " and how the fingerprints are made */

/* The bits that a recipe says, or 0. *rest_out: the recipe without them. */
uint32_t padding_of_recipe(const char *recipe, const char **rest_out);

/* The bits of the fingerprints of a store with this recipe, of which each has `words` words. */
uint32_t padding_own_bits(const char *recipe, uint32_t words);

/* Do bytes of this many bits hold a fingerprint of `own_bits`, perhaps with the zeros behind it? */
bool padding_fits(size_t bits, uint32_t own_bits);

/* Are the bits behind the first `own_bits` ones zeros? */
bool padding_is_zero(const uint64_t *fingerprint, uint32_t own_bits);

#define PADDING_EXPECTED "zeros behind the %" PRIu32 " bits of a fingerprint"

#endif
