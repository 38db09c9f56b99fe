/*
 * time_estimate.h - estimates how long a task still takes, from the shares of it that were done at some times.
 */
#ifndef TIME_ESTIMATE_H
#define TIME_ESTIMATE_H

/* Seconds since any fixed moment; fractions from 0 to 1, which never decrease. */
typedef struct time_estimate {
    double begin, time; /* of the first and the last update */
    double fraction;    /* at the last update */
    double spent, done; /* seconds and fraction so far; older ones count less */
    double shown;       /* seconds left, as they were told last; negative: unknown */
} time_estimate;

void time_estimate_begin(time_estimate *self, double time);

/*
 * Tell the fraction that is done, and return the seconds left, or a negative number while too little is done. At a
 * steady rate they decrease with the time. A slower rate counts only when it has made the estimate a tenth longer, so
 * that the estimate does not flicker.
 */
double time_estimate_update(time_estimate *self, double time, double fraction);

#endif
