#include "cmd.h"

#ifdef SSTORE_HAVE_JANSSON

#include <stdlib.h>

#include "output.h"
#include "print_json.h"

int print_json(json_t *value)
{
    char *text = value == NULL ? NULL : json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(value);
    if (text == NULL) {
        cmd_complain("cannot make a JSON object: out of memory");
        return EXIT_FAILED;
    }
    output_text("%s\n", text);
    free(text);
    return EXIT_DONE;
}

#endif
