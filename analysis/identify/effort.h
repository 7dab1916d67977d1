/* SPDX-License-Identifier: BSD-3-Clause */
/* How much a search may do.  Work is counted, so that an answer is the same on every
   machine and under any load; a time limit only cuts off. */
#ifndef BITCUT_ANALYSIS_IDENTIFY_EFFORT_H
#define BITCUT_ANALYSIS_IDENTIFY_EFFORT_H

#include "lib/base/clock.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* The work of a search, of the search for a region of D, and of comparing all of D, in
   products of parts; each is multiplied by the effort that the caller asks for. */
#define WORK_SEARCH  0x1p33
#define WORK_REGION  0x1p30
#define WORK_COMPARE 0x1p36

struct effort {
    double work, spent; /* in products of parts; INFINITY: no limit */
    double end;         /* end of the time, by seconds_now(); INFINITY: no limit */
};

/* `seconds` 0: no time limit. */
static inline struct effort effort_of(double work, double seconds)
{
    return (struct effort){ work, 0, seconds > 0 ? seconds_now() + seconds : INFINITY };
}

/* Whether the time is over; whether the time or the work is. */
static inline bool effort_is_late(const struct effort *e)
{
    return e->end < INFINITY && seconds_now() >= e->end;
}

static inline bool effort_is_spent(const struct effort *e)
{
    return e->spent >= e->work || effort_is_late(e);
}

#endif
