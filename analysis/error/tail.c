/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/error/tail.h"

#include "lib/elementary.h"
#include "lib/hostfp.h"
#include "lib/size.h"
#include "lib/stats.h"

#include <math.h>

/* Standard deviation / mean of the excess. */
static double variation_of(const struct tail *t)
{
    double squares = 0;
    for (size_t i = t->count - t->above; i < t->count; i++) {
        const double off = t->x[i] - t->threshold - t->excess;
        squares += off * off;
    }
    return t->excess > 0 ? sqrt(squares / (double)t->above) / t->excess : 0;
}

void tail_fit(struct tail *t, double *x, size_t count)
{
    const size_t above = count / 2;
    struct hostfp mode;
    hostfp_enter(&mode);
    doubles_sort(x, count);
    *t = (struct tail){ .x = x, .count = count, .above = above, .threshold = -INFINITY };
    if (above) t->threshold = x[count - 1 - above];
    for (size_t i = count - above; i < count; i++) t->excess += x[i] - t->threshold;
    if (above) t->excess /= (double)above;
    t->variation = variation_of(t);
    hostfp_leave(&mode);
}

/* The logarithm of how many times fewer numbers are to be above than the upper half. */
static double log_fewer(const struct tail *t, double p)
{
    return elementary_log((double)(t->above + 1) / ((double)(t->count + 1) * p));
}

static double level(const struct tail *t, double times)
{
    if (!t->above || !isfinite(t->excess)) return INFINITY;
    return t->threshold + t->excess * larger_double(0, times);
}

double tail_limit(const struct tail *t, double p)
{
    struct hostfp mode;
    if (!t->above) return INFINITY;
    hostfp_enter(&mode);
    const double r = (double)t->above,
                 x = level(t, r * (elementary_exp(log_fewer(t, p) / r) - 1));
    hostfp_leave(&mode);
    return x;
}

bool tail_is_light(const struct tail *t)
{
    return !t->above || t->variation <= 1 + 1.75 / sqrt((double)t->above);
}

double tail_guess(const struct tail *t, double p)
{
    struct hostfp mode;
    double x = INFINITY;
    if (!t->above) return x;
    hostfp_enter(&mode);
    const double over = (double)t->count * p;
    if (over >= (double)t->above)
        x = t->x[t->count - 1 - smaller((size_t)over, t->count - 1)];
    else x = level(t, log_fewer(t, p));
    hostfp_leave(&mode);
    return x;
}
