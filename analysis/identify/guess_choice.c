/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/guess_choice.h"

#include "analysis/identify/diagnosis_place.h"

#include <math.h>

/* Many faults are near by chance: by how much a guess with so many faults must be nearer,
   or what share of the outputs must no longer be far. */
static const double clearly[] = { 1, 1.25, 4, 4 }, some = 0.02;
_Static_assert(sizeof clearly / sizeof *clearly == GUESS_FAULTS_MAX + 1, "counts");

const struct guess *choice_cheapest(const struct choice *x, const struct guesses *of)
{
    const struct guess *best = of->at;
    for (size_t i = 1; i < of->count; i++)
        if (guess_total(&x->e, &of->at[i]) < guess_total(&x->e, best)) best = &of->at[i];
    return of->count ? best : NULL;
}

bool choice_is_at_level(const struct choice *x, const struct guess *g)
{
    static const double spread = 1.8, outside = 0.01;
    const struct rounding_level *const l = &x->e.rounding;
    const struct sum_bias *const b = x->e.bias;
    const double more =
        g->cut > 0 && l->nearest > 0
            ? fmax(b->spread * g->cut, b->least) * l->directed[b->way].spread / l->nearest
            : 0;
    return g->spread <= spread * hypot(1, more) && (g->outside <= outside || more > 1) &&
           !guess_has_outlier(&x->e, g);
}

bool choice_is_of_rounding(const struct choice *x, const struct guess *g)
{
    static const double spread = 6, most = 24;
    return g->spread <= spread && !guess_is_beyond(&x->e, g, most);
}

/* The spread of sums that are truncated, in levels. */
static double truncated_spread(const struct choice *x)
{
    static const double spread = 1.8;
    const struct rounding_level *const l = &x->e.rounding;
    return l->nearest > 0
               ? spread * hypot(1, l->directed[SUM_TOWARD_ZERO].spread / l->nearest)
               : 0;
}

bool choice_is_nearly_all(const struct choice *x, const struct guess *g)
{
    static const double times = 50, outside = 0.1;
    const struct guess *const plain = choice_cheapest(x, &x->plain);
    return g->parts && plain && plain->spread > times * g->spread &&
           g->spread <= truncated_spread(x) && g->outside <= outside;
}

/* The guess that D is the exact result, or NULL. */
static const struct guess *exact_of(const struct choice *x)
{
    for (size_t i = 0; i < x->plain.count; i++)
        if (!x->plain.at[i].arithmetic) return &x->plain.at[i];
    return NULL;
}

static bool is_right(const struct choice *x)
{
    const struct guess *const exact = exact_of(x);
    return exact && choice_is_at_level(x, exact);
}

const struct guess *choice_best(const struct choice *x)
{
    /* Where the exact result is right: a drift of sums is like a fault of all outputs. */
    static const double of_range = 2.5, of_all = 4;
    const struct guess *const plain = choice_cheapest(x, &x->plain);
    const struct guess *const fault = choice_cheapest(x, &x->best);
    if (!fault || (plain && guess_total(&x->e, plain) <= guess_total(&x->e, fault)))
        return plain;
    const double by = !is_right(x)              ? clearly[1]
                      : guess_has_effect(fault) ? of_range
                                                : of_all;
    const bool near =
        plain && choice_is_at_level(x, plain) && plain->spread < fault->spread * by;
    return near ? plain : fault;
}

const struct guess *choice_decide(struct choice *x)
{
    static const double least = 0.02, most = 1.2;
    const double spread = choice_best(x)->spread, by = spread > least ? spread : least;
    if (spread < most) {
        guesses_rescore(&x->plain, &x->e, by);
        guesses_rescore(&x->best, &x->e, by);
    }
    return choice_best(x);
}

double choice_level(const struct residuals *e)
{
    return 0.6745 * residuals_median(e, e->level, 0);
}

/* Whether hardly any outputs are between those that are near a guess and those that are
   very far from it. */
static bool is_apart(const struct residuals *e, const struct guess *g)
{
    static const double very = 64 * OUTSIDE, hardly = 0.03;
    size_t between = 0;
    for (size_t at = 0; at < e->outputs; at++)
        between += diagnosis_place_is_outside(e, g, at) &&
                   fabs(g->rest[at] - g->cut * e->cut[at]) < very * e->level[at];
    return (double)between <= hardly * (double)e->finite;
}

const struct guess *choice_of_most(const struct choice *x)
{
    static const double most = 0.7, spread = 1.8;
    const struct guess *const g[] = { choice_cheapest(x, &x->plain),
                                      choice_cheapest(x, &x->best) };
    for (int i = 0; i < 2; i++)
        if (g[i] && g[i]->inside <= spread && g[i]->outside <= most) return g[i];
    return NULL;
}

const struct guess *choice_of_most_truncated(struct choice *x)
{
    static const double times = 50;
    const struct guess *const near = choice_cheapest(x, &x->plain);
    if (!near || near->inside > truncated_spread(x)) return NULL;
    residuals_widen(&x->e, near->inside);
    guesses_measure(&x->plain, &x->e);
    guesses_measure(&x->best, &x->e);
    const struct guess *const g = choice_of_most(x);
    if (!g || !is_apart(&x->e, g)) return NULL;
    return !g->parts || near->spread > times * g->spread ? g : NULL;
}

/* Whether D is about as near to the exact result, as if only rounding differed. */
static bool is_rounding(const struct choice *x, const struct guess *g)
{
    const struct guess *const exact = exact_of(x);
    return exact && choice_is_of_rounding(x, exact) &&
           exact->spread < clearly[g->parts] * g->spread &&
           exact->outside <= g->outside + some;
}

bool choice_is_nearer(const struct choice *x, const struct guess *g)
{
    static const double nearly = 1.1, much = 20;
    const struct guess *const plain = choice_cheapest(x, &x->plain);
    if (g->parts && is_rounding(x, g)) return false;
    if (!g->parts || !plain || plain->spread >= clearly[g->parts] * g->spread)
        return true;
    return g->spread < nearly * plain->spread &&
           (plain->outside > g->outside + some ||
            (choice_is_at_level(x, g) && !choice_is_at_level(x, plain) &&
             guess_total(&x->e, plain) > guess_total(&x->e, g) + much));
}

bool choice_is_as_near(const struct choice *x, const struct guess *exact,
                       const struct guess *g)
{
    static const double much = 20;
    return !g->parts && choice_is_at_level(x, g) &&
           exact->spread < clearly[1] * g->spread &&
           guess_total(&x->e, exact) < guess_total(&x->e, g) + much;
}
