/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/study/bootstrap.h"

#include "lib/base/stats.h"
#include "lib/number/rand.h"

#include <math.h>

enum { RESAMPLES = 1000, TAIL = RESAMPLES / 40, SEED = 1 };

/* The ratio of means of the selected runs; all runs if `pick` is NULL. */
static double ratio(const struct bootstrap_run *runs, const size_t *pick, size_t count,
                    bool geometric)
{
    struct bootstrap_run all = { 0 };
    for (size_t i = 0; i < count; i++) {
        const struct bootstrap_run *r = &runs[pick ? pick[i] : i];
        all.top += r->top;
        all.bottom += r->bottom;
        all.tops += r->tops;
        all.bottoms += r->bottoms;
    }
    if (!all.tops || !all.bottoms) return NAN;
    const double x = all.top / (double)all.tops, y = all.bottom / (double)all.bottoms;
    if (geometric) return x == y && x < (double)INFINITY ? 1 : exp(x - y);
    return x == 0 && y == 0 ? 1 : x / y;
}

/* The ratios of resampled runs, ascending.  Returns how many of them are numbers. */
static size_t resample(double values[RESAMPLES], const struct bootstrap_run *runs,
                       size_t count, bool geometric)
{
    enum { RUNS_MAX = 64 };
    struct rng rng = rng_start(SEED, 0);
    size_t pick[RUNS_MAX], found = 0;
    if (count > RUNS_MAX) count = RUNS_MAX;
    for (int i = 0; i < RESAMPLES; i++) {
        for (size_t k = 0; k < count; k++)
            pick[k] = (size_t)rand_below(rng_bits(&rng), count);
        const double value = ratio(runs, pick, count, geometric);
        if (!isnan(value)) values[found++] = value;
    }
    doubles_sort(values, found);
    return found;
}

/* t(0.975, n - 1) / (1.960 sqrt((n - 1) / n)) for n runs; for more than 10 to within
   0.003. */
static double widening(size_t n)
{
    static const double of[] = { 1,     1,     9.168, 2.689, 1.875, 1.584,
                                 1.437, 1.349, 1.290, 1.248, 1.217 };
    return n < sizeof of / sizeof *of ? of[n] : 1 + 1.9 / (double)n;
}

struct bootstrap_ratio bootstrap_ratio_of(const struct bootstrap_run *runs, size_t count,
                                          bool geometric)
{
    const double value = ratio(runs, NULL, count, geometric), wide = widening(count);
    double values[RESAMPLES];
    if (count < 2 || !(value > 0) || isinf(value))
        return (struct bootstrap_ratio){ value, value, value };
    const size_t found = resample(values, runs, count, geometric);
    if (found < RESAMPLES / 2) return (struct bootstrap_ratio){ value, 0, INFINITY };
    const size_t tail = found * TAIL / RESAMPLES;
    return (struct bootstrap_ratio){ value, value * pow(values[tail] / value, wide),
                                     value *
                                         pow(values[found - 1 - tail] / value, wide) };
}
