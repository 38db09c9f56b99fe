/*
 * numbers.h - numbers for people, with units.
 */
#ifndef NUMBERS_H
#define NUMBERS_H

/* Units that are each a thousand times the one before; NULL ends the list. */
extern const char *const count_units[]; /* the first one is "": a whole number */
extern const char *const byte_units[];
extern const char *const time_units[]; /* from nanoseconds on, in ASCII */

/* Text that a call returns: used within the same expression, as in printf("%s", number_scaled(...).text). */
typedef struct number_text {
    char text[48];
} number_text;

/* A number of three digits with its unit: "1.23 GB". A larger number than the last unit has more digits. */
number_text number_scaled(double value, const char *const *units);

#endif
