/* text_options.h - the options by which features are found and weighed, and the recipe that names them. */
#ifndef SS_TEXT_OPTIONS_H
#define SS_TEXT_OPTIONS_H

#include "text/features.h"

/* Check the options (NULL: the defaults), also that this library can follow them, and replace a shingle of 0. ARGUMENT,
 * UNSUPPORTED. */
sstore_status ss_text_options_take(const sstore_text_options *options, sstore_text_options *taken_out,
                                   sstore_error *error);

/* How features of checked options are found. */
ss_text_rules ss_text_rules_of(const sstore_text_options *options);

#define SS_MAX_RECIPE 511u /* bytes of any recipe of texts, without the closing 0 */

/* Write the recipe of checked options, or the part of it that says how features are found: they are known by their
 * 64-bit hashes then. As sstore_text_recipe(). */
size_t ss_text_recipe_write(const sstore_text_options *options, bool only_features, char *buffer, size_t size);

#endif
