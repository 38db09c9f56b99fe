/*
 * progress_json.h - progress as a JSON object on stderr.
 */
#ifndef PROGRESS_JSON_H
#define PROGRESS_JSON_H

#include "sstore.h"

/* How far it is, and how fast. */
typedef struct progress_facts {
    const sstore_progress *now;
    double rate;         /* items a second, in this phase; 0: not known yet */
    double seconds_left; /* below 0: not known */
} progress_facts;

/* Without the jansson library it does nothing; --progress json is refused then. */
void progress_print_json(const progress_facts *facts);

#endif
