#include "output/numbers.h"

#include <stddef.h>
#include <stdio.h>

const char *const count_units[] = {"", "K", "M", "G", "T", NULL};
const char *const byte_units[] = {"B", "kB", "MB", "GB", "TB", "PB", NULL};
const char *const time_units[] = {"ns", "us", "ms", "s", NULL};

number_text number_scaled(double value, const char *const *units)
{
    number_text number;
    while (value >= 999.5 && units[1] != NULL) {
        value /= 1000;
        units++;
    }
    if (**units == '\0')
        snprintf(number.text, sizeof number.text, "%.0f", value);
    else
        snprintf(number.text, sizeof number.text, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, *units);
    return number;
}
