/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/chance_agreement.h"

#include "analysis/identify/rounding_level.h"

#include <math.h>

/* A bound of the probability that `same` of `outputs` outputs or more agree, each with
   probability p (Chernoff, 1952). */
static double chance_of(size_t same, size_t outputs, double p)
{
    const double n = (double)outputs, share = (double)same / n;
    if (!(share > p)) return 1;
    return share < 1 ? exp(-n * (share * log(share / p) +
                                 (1 - share) * log((1 - share) / (1 - p))))
                     : pow(p, n);
}

enum bitcut_status explain_count_chance(struct explanation *e, const struct block *all,
                                        uint64_t seed, struct fault *f)
{
    enum { OUTPUTS_MAX = 256 };
    static const double every = 0.99; /* every order gives such data */
    const struct bitcut_explanation *const a = &e->answer;
    const size_t outputs = all->rows * all->cols;
    struct rounding_level level;
    if (outputs > OUTPUTS_MAX || a->compared != outputs || problem_is_short(&e->q))
        return BITCUT_OK;
    const enum bitcut_status status = rounding_level_find(&level, all, seed, f);
    if (status != BITCUT_OK) return status;
    /* Of few outputs the share is a poor estimate: the mean of its posterior (Laplace). */
    e->agreeing = (level.agreeing * (double)outputs + 1) / ((double)outputs + 2);
    if (level.agreeing < every)
        e->answer.by_chance = (double)a->tried *
                              chance_of(a->compared - a->differ, outputs, e->agreeing);
    rounding_level_clear(&level);
    return BITCUT_OK;
}
