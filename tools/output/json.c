/*
 * json.c - JSON values by jansson; without it, functions that return NULL.
 */
#include "output/json.h"

#include <stddef.h>

#ifdef SSTORE_HAVE_JANSSON

#include <jansson.h>
#include <stdarg.h>

bool json_is_available(void)
{
    return true;
}

json_value *json_value_make(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    json_t *made = json_vpack_ex(NULL, 0, format, arguments);
    va_end(arguments);
    return made;
}

void json_value_append(json_value **list, json_value *item)
{
    if (json_array_append_new(*list, item) == 0)
        return;
    json_decref(*list);
    *list = NULL;
}

char *json_value_text(json_value *value)
{
    char *text = value == NULL ? NULL : json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(value);
    return text;
}

#else

bool json_is_available(void)
{
    return false;
}

json_value *json_value_make(const char *format, ...)
{
    (void)format;
    return NULL;
}

void json_value_append(json_value **list, json_value *item)
{
    (void)list, (void)item;
}

char *json_value_text(json_value *value)
{
    (void)value;
    return NULL;
}

#endif
