/*
 * time_estimate.c - the rate of a task as a mean over its last half minute or so, and the time that follows from it.
 */
#include "output/time_estimate.h"

#include <math.h>

#define MEMORY_SECONDS 30.0
#define MIN_SECONDS 1.0
#define MIN_FRACTION 0.01
#define NOISE 1.1

void time_estimate_begin(time_estimate *self, double time)
{
    *self = (time_estimate){.begin = time, .time = time, .shown = -1};
}

double time_estimate_update(time_estimate *self, double time, double fraction)
{
    const double passed = time - self->time;
    if (passed > 0) {
        const double kept = exp(-passed / MEMORY_SECONDS);
        self->spent = self->spent * kept + passed;
        self->done = self->done * kept + (fraction - self->fraction);
        self->time = time;
        self->fraction = fraction;
    }
    if (fraction < MIN_FRACTION || time - self->begin < MIN_SECONDS || self->done <= 0)
        return self->shown;
    const double left = (1 - fraction) * self->spent / self->done;
    if (self->shown < 0 || left < self->shown || left > NOISE * self->shown)
        self->shown = left;
    return self->shown;
}
