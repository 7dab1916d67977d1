/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/guess.h"
#include "analysis/identify/short_sums.h"

#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- evidence --------------------------------------------------------------------- */

static void set_bias(struct residuals *e, const struct sum_bias *bias)
{
    const double by = value_of_float(e->b.q->alpha) * bias->sign;
    e->bias = bias;
    for (size_t at = 0; at < e->outputs; at++)
        e->cut[at] = by * e->rounding.directed[bias->way].mean[at];
}

/* The level of output `at`.  D was rounded at its own magnitude, which a fault may
   change. */
static double level_of(const struct residuals *e, size_t at)
{
    const double larger = fmax(fabs(e->exact[at]), fabs(value_of_float(e->b.d[at])));
    const double l = output_level(&e->b, larger, e->size[at], e->rounding.nearest);
    return e->stored ? hypot(l, number_spacing(e->stored, larger) / sqrt(12)) : l;
}

static void take_outputs(struct residuals *e)
{
    const struct block *const b = &e->b;
    const struct arithmetic *const a = e->arithmetics.at;
    part_values(e->exact, &a->sums, &a->x);
    part_finish(e->exact, &a->x, b, b->rows, b->cols);
    e->stored = short_sums_stored(b, e->exact);
    for (size_t at = 0; at < e->outputs; at++) {
        e->size[at] = output_magnitude(b, at / b->cols, at % b->cols);
        e->level[at] = level_of(e, at);
        if (!f32_is_finite(b->d[at]) || !isfinite(e->exact[at]) ||
            !isfinite(e->level[at]))
            e->level[at] = NAN;
        e->finite += !isnan(e->level[at]);
    }
}

enum bitcut_status residuals_make(struct residuals *e, struct block *b, uint64_t seed,
                                  struct fault *f)
{
    const struct problem *const q = b->q;
    const size_t outputs = b->rows * b->cols;
    *e = (struct residuals){ .b = *b, .outputs = outputs };
    *b = (struct block){ .q = q };
    e->s = explain_space_of(&e->b);
    double **const all[] = { &e->exact, &e->size, &e->level, &e->cut, &e->some };
    enum bitcut_status status = rounding_level_find(&e->rounding, &e->b, seed, f);
    if (status == BITCUT_OK) status = arithmetics_make(&e->arithmetics, &e->s, &e->b, f);
    for (size_t i = 0; i < sizeof all / sizeof *all && status == BITCUT_OK; i++)
        if (!(*all[i] = memory_allocate(outputs + 1, sizeof(double))))
            status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for residuals");
    if (status == BITCUT_OK) {
        set_bias(e, &sum_biases[BIAS_TOWARD_ZERO]);
        take_outputs(e);
    } else residuals_clear(e);
    return status;
}

void residuals_clear(struct residuals *e)
{
    arithmetics_clear(&e->arithmetics);
    part_matrices_clear(&e->all.m);
    part_matrices_clear(&e->few.m);
    part_matrices_clear(&e->base.m);
    rounding_level_clear(&e->rounding);
    block_clear(&e->b);
    free(e->exact);
    free(e->size);
    free(e->level);
    free(e->cut);
    free(e->some);
    e->exact = e->size = e->level = e->cut = e->some = NULL;
}

/* --- candidates ------------------------------------------------------------------- */

static bool has_parameters(const struct candidate *x)
{
    return x->k_at || x->places || x->spot[0] || x->spot[1] || x->respell || x->retell;
}

/* Whether a fault was added to x, which was `was`, without replacing another. */
static bool is_added(const struct candidate *x, const struct candidate *was)
{
    return !(has_parameters(was) && memcmp(x->by, was->by, sizeof x->by)) &&
           (!was->k_at || x->k_at == was->k_at) &&
           (!was->places || x->places == was->places) &&
           (!was->spot[0] || x->spot[0] == was->spot[0]) &&
           (!was->spot[1] || x->spot[1] == was->spot[1]) &&
           (!was->respell || x->respell == was->respell) &&
           (!was->retell || x->retell == was->retell) &&
           (!was->finish || x->finish == was->finish);
}

bool guess_candidate(struct candidate *x, const struct residuals *e,
                     const struct guess *g)
{
    *x = e->arithmetics.at[g->arithmetic].x;
    for (int i = 0; i < g->parts; i++) {
        const struct kernel_fault_choice c = g->part[i].fault;
        const struct candidate was = *x;
        if (!c.row) continue;
        if (!c.row->alter || !c.row->alter(x, &e->s, c.kind) || !is_added(x, &was))
            return false;
    }
    return (!x->slipped || x->faults.start) && !x->through &&
           x->store == &roundings[ROUND_RN] && !(e->b.own && candidate_takes_products(x));
}

bool guess_has_effect(const struct guess *g)
{
    bool any = false;
    for (int i = 0; i < g->parts; i++) any |= !g->part[i].fault.row;
    return any;
}

bool guess_is_quick(const struct residuals *e, const struct guess *g)
{
    struct candidate x;
    return !guess_has_effect(g) && guess_candidate(&x, e, g) &&
           part_sums_are_common(&x, &e->arithmetics.at[g->arithmetic].x);
}

/* --- values ----------------------------------------------------------------------- */

/* Add the effects of the guess to the sums of the outputs of m, the parts of x. */
static void add_effects(double *value, const struct guess *g, const struct candidate *x,
                        const struct part_matrices *m)
{
    for (int i = 0; i < g->parts; i++)
        if (!g->part[i].fault.row) k_effect_add(value, &g->part[i].effect, m, x);
}

/* D of the guess on the outputs of m, the parts of x.  False: no memory. */
static bool evaluate_parts(double *value, const struct residuals *e,
                           const struct guess *g, const struct candidate *x,
                           const struct part_matrices *m)
{
    struct part_sums sums;
    if (!part_sums_make(&sums, m, x, false)) return false;
    part_values(value, &sums, x);
    add_effects(value, g, x, m);
    part_sums_clear(&sums);
    part_finish(value, x, &e->b, m->rows, m->cols);
    return true;
}

/* Whether x reads its operands and makes its parts as y does. */
static bool has_same_parts(const struct candidate *x, const struct candidate *y)
{
    return x->k_at == y->k_at && x->places == y->places && x->spot[0] == y->spot[0] &&
           x->spot[1] == y->spot[1] && x->respell == y->respell &&
           x->flushed == y->flushed && x->lost.end == y->lost.end &&
           x->twice.end == y->twice.end && !memcmp(x->by, y->by, sizeof x->by) &&
           split_same(&x->plan.split_a, &y->plan.split_a) &&
           split_same(&x->plan.split_b, &y->plan.split_b);
}

/* Make the parts of x on some rows and columns, if they are not those that were made
 * last. */
static bool make_parts(struct made_parts *to, const struct block *b,
                       const struct candidate *x, size_t rows, size_t cols,
                       const struct part_matrices *base)
{
    if (to->m.b && has_same_parts(x, &to->of)) return true;
    part_matrices_clear(&to->m);
    to->of = *x;
    return part_matrices_make(&to->m, x, b, rows, cols, base);
}

const struct part_matrices *guess_parts(struct residuals *e, const struct candidate *x)
{
    return make_parts(&e->all, &e->b, x, e->b.rows, e->b.cols, NULL) ? &e->all.m : NULL;
}

/* The same on the first rows and columns, of a candidate with this arithmetic. */
static bool few_parts(struct residuals *e, const struct candidate *x,
                      const struct candidate *arithmetic, size_t few)
{
    struct candidate plain = *x;
    plain.respell = NULL;
    memcpy(plain.by, arithmetic->by, sizeof plain.by);
    if (!x->respell || !part_sums_are_common(&plain, arithmetic))
        return make_parts(&e->few, &e->b, x, few, few, NULL);
    return make_parts(&e->base, &e->b, arithmetic, few, few, NULL) &&
           make_parts(&e->few, &e->b, x, few, few, &e->base.m);
}

/* D of the guess on all outputs. */
static bool evaluate(double *value, struct residuals *e, const struct guess *g,
                     const struct candidate *x)
{
    const struct arithmetic *const a = &e->arithmetics.at[g->arithmetic];
    const bool common = part_sums_are_common(x, &a->x);
    const struct part_matrices *m = NULL;
    if ((guess_has_effect(g) || !common) && !(m = guess_parts(e, x))) return false;
    if (!common) return evaluate_parts(value, e, g, x, m);
    part_values(value, &a->sums, x);
    if (m) add_effects(value, g, x, m);
    part_finish(value, x, &e->b, e->b.rows, e->b.cols);
    return true;
}

static double cost(double rest, double level)
{
    const double t = rest / level;
    enum { WORST = 1 << 20 };
    return isfinite(t) && fabs(t) < WORST ? log1p(t * t) : log1p((double)WORST * WORST);
}

/* --- scores ----------------------------------------------------------------------- */

static double mean_cost(const struct residuals *e, const double *rest, double cut,
                        double by)
{
    double sum = 0;
    for (size_t at = 0; at < e->outputs; at++)
        if (!isnan(e->level[at]))
            sum += cost(rest[at] - cut * e->cut[at], by * e->level[at]);
    return sum / (double)e->finite;
}

/* The share of the bias in a residual, if it has one. */
static double cut_share(const struct residuals *e, const double *rest, double by)
{
    enum { ROUNDS = 8 };
    static const double nats = 12;
    double share = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double with = 0, square = 0;
        for (size_t at = 0; at < e->outputs; at++) {
            const double l = by * e->level[at], t = rest[at] - share * e->cut[at],
                         w = 1 / (l * l + t * t);
            if (isnan(l) || !isfinite(w)) continue;
            with += w * rest[at] * e->cut[at];
            square += w * e->cut[at] * e->cut[at];
        }
        if (!(square > 0)) return 0;
        share = with / square;
    }
    if (!(share > 0) || share > e->bias->most) return 0;
    const double gain = mean_cost(e, rest, 0, by) - mean_cost(e, rest, share, by);
    return gain * (double)e->finite > nats ? share : 0;
}

static void measure(struct guess *g, const struct residuals *e, double by)
{
    double *const some = e->some;
    size_t count = 0, outside = 0;
    g->cut = cut_share(e, g->rest, by);
    g->score = mean_cost(e, g->rest, g->cut, by) + g->grown;
    g->spread = INFINITY;
    for (size_t at = 0; at < e->outputs; at++) {
        const double t = fabs(g->rest[at] - g->cut * e->cut[at]) / e->level[at];
        if (isnan(e->level[at])) continue;
        some[count++] = isfinite(t) ? t : HUGE_VAL;
        outside += !(t < OUTSIDE);
    }
    g->outside = count ? (double)outside / (double)count : 0;
    if (count) g->spread = doubles_median(some, count) / 0.6745;
    g->inside = INFINITY;
    if (count > outside) {
        /* The distances below OUTSIDE first. */
        size_t near = 0;
        for (size_t i = 0; i < count; i++)
            if (some[i] < OUTSIDE) some[near++] = some[i];
        g->inside = doubles_median(some, near) / 0.6745;
    }
}

/* --- the bias of sums ------------------------------------------------------------- */

/* The least cost of a plain guess. */
static double least_cost(const struct residuals *e, const struct guesses *plain)
{
    double least = INFINITY;
    for (size_t i = 0; i < plain->count; i++) {
        const double *const rest = plain->at[i].rest;
        least = fmin(least, mean_cost(e, rest, cut_share(e, rest, 1), 1));
    }
    return least;
}

bool residuals_turn(struct residuals *e, const struct guesses *plain)
{
    static const double much = 0.3; /* about a seventh of the distance less */
    const struct sum_bias *best = e->bias;
    double least = least_cost(e, plain) - much;
    for (int i = 0; i < BIASES && e->finite; i++) {
        set_bias(e, &sum_biases[i]);
        const double now = least_cost(e, plain);
        if (now < least) least = now, best = e->bias;
    }
    set_bias(e, best);
    return best != sum_biases;
}

/* --- D in a shorter format -------------------------------------------------------- */

/* Whether the nearest guess or the exact result is; a guess of truncated operands may
   have a part of the bias. */
static bool are_truncated(const struct residuals *e, const struct guesses *plain)
{
    bool any = false;
    for (size_t i = 0; i < plain->count && !any; i++)
        any = (!i || !plain->at[i].arithmetic) &&
              short_sums_are_truncated(&e->b, e->stored, plain->at[i].rest);
    return any;
}

bool residuals_undo_truncation(struct residuals *e, const struct guesses *plain)
{
    if (!e->stored || !are_truncated(e, plain)) return false;
    const int places = formats[FORMAT_F32].fraction_bits - e->stored->fraction_bits;
    for (size_t at = 0; at < e->outputs; at++)
        if (e->b.d[at] << 1 && f32_is_finite(e->b.d[at]))
            e->b.d[at] += UINT32_C(1) << (places - 1);
    return e->truncated = true;
}

/* --- medians and outliers --------------------------------------------------------- */

double residuals_median(const struct residuals *e, const double *distance, double cut)
{
    size_t count = 0;
    for (size_t at = 0; at < e->outputs; at++)
        if (!isnan(e->level[at]) && e->size[at] > 0)
            e->some[count++] =
                ldexp(fabs(distance[at] - cut * e->cut[at]) / e->size[at], 24);
    return doubles_median(e->some, doubles_finite(e->some, count));
}

bool guess_is_beyond(const struct residuals *e, const struct guess *g, double levels)
{
    bool any = false;
    for (size_t at = 0; at < e->outputs && !any; at++)
        any = !isnan(e->level[at]) &&
              !(fabs(g->rest[at] - g->cut * e->cut[at]) <= levels * e->level[at]);
    return any;
}

bool guess_has_outlier(const struct residuals *e, const struct guess *g)
{
    static const double levels = 64, spreads = 24;
    return guess_is_beyond(
        e, g, g->cut > 0 ? levels : fmin(levels, fmax(spreads * g->spread, 1)));
}

/* --- lists ------------------------------------------------------------------------ */

static bool same_part(const struct guessed *x, const struct guessed *y)
{
    return x->fault.row == y->fault.row && x->fault.kind == y->fault.kind &&
           (x->fault.row ||
            (x->effect.row == y->effect.row && x->effect.term == y->effect.term &&
             x->effect.range.first == y->effect.range.first &&
             x->effect.range.end == y->effect.range.end));
}

/* Whether two guesses differ in nothing but the kind of a last fault that has very many
   kinds. */
static bool is_another_kind(const struct guess *x, const struct guess *y)
{
    const int last = x->parts - 1;
    bool same = x->parts == y->parts && x->parts && x->arithmetic == y->arithmetic;
    for (int i = 0; i < last && same; i++) same = same_part(&x->part[i], &y->part[i]);
    return same && x->part[last].fault.row && x->part[last].fault.row->of_residual &&
           x->part[last].fault.row == y->part[last].fault.row;
}

/* Remove the worse one of g and a guess that is another kind of it.  Returns false if
   that is g. */
static bool replace_kind(struct guesses *to, const struct guess *g)
{
    for (size_t i = 0; i < to->count; i++) {
        if (!is_another_kind(&to->at[i], g)) continue;
        if (to->at[i].score <= g->score) return false;
        free(to->at[i].rest);
        to->count--;
        memmove(&to->at[i], &to->at[i + 1], (to->count - i) * sizeof *to->at);
        return true;
    }
    return true;
}

/* Whether two guesses have the same faults, in any order. */
static bool is_known(const struct guesses *to, const struct guess *g)
{
    for (size_t i = 0; i < to->count; i++) {
        const struct guess *const x = &to->at[i];
        int found = 0;
        for (int a = 0; a < g->parts; a++)
            for (int b = 0; b < x->parts; b++)
                found += same_part(&g->part[a], &x->part[b]);
        if (x->arithmetic == g->arithmetic && x->parts == g->parts && found >= g->parts)
            return true;
    }
    return false;
}

void guesses_keep(struct guesses *to, const struct guess *g)
{
    const bool kept = !is_known(to, g) && replace_kind(to, g);
    size_t at = to->count;
    while (at && g->score < to->at[at - 1].score) at--;
    if (at == GUESSES_MAX || !kept) {
        free(g->rest);
        return;
    }
    if (to->count == GUESSES_MAX) free(to->at[--to->count].rest);
    memmove(&to->at[at + 1], &to->at[at], (to->count - at) * sizeof *to->at);
    to->at[at] = *g;
    to->count++;
}

/* The score from every STEP-th output, without a bias. */
static double rough_score(const struct residuals *e, const double *rest)
{
    enum { STEP = 13 };
    double sum = 0;
    size_t count = 0;
    for (size_t at = 0; at<e->outputs; at += e->outputs> 4 * STEP ? STEP : 1)
        if (!isnan(e->level[at])) {
            sum += cost(rest[at], e->level[at]);
            count++;
        }
    return count ? sum / (double)count : 0;
}

/* Divide the distances from x by the growth of their levels, which follow the slope of D:
   factors that are ignored may be small or large. */
static void divide_by_growth(struct guess *g, const struct residuals *e,
                             const struct candidate *x)
{
    const struct candidate *const plain = &e->arithmetics.at[g->arithmetic].x;
    for (size_t at = 0; at < e->outputs; at++) {
        const double slope = fabs(guess_slope(e, x, at) / guess_slope(e, plain, at)),
                     stored = output_level(&e->b, value_of_float(e->b.d[at]), 0, 0),
                     by = fmax(slope, stored / e->level[at]);
        if (isnan(e->level[at]) || !isfinite(by)) continue;
        g->rest[at] /= by;
        g->grown += log(by) / (double)e->finite;
    }
}

bool guess_try(struct guesses *to, struct residuals *e, struct guess g)
{
    static const double much = 3; /* about 4.5 times the distance */
    struct candidate x;
    if (!guess_candidate(&x, e, &g)) return true;
    g.rest = memory_allocate(e->outputs + 1, sizeof *g.rest);
    if (!g.rest || !evaluate(g.rest, e, &g, &x)) {
        free(g.rest);
        return false;
    }
    for (size_t at = 0; at < e->outputs; at++)
        g.rest[at] = value_of_float(e->b.d[at]) - g.rest[at];
    if (x.retell) divide_by_growth(&g, e, &x);
    if (to->count && rough_score(e, g.rest) + g.grown > to->at[0].score + much) {
        free(g.rest);
        return true;
    }
    measure(&g, e, 1);
    guesses_keep(to, &g);
    return true;
}

bool guess_try_few(struct guess *g, struct residuals *e, size_t few)
{
    struct candidate x;
    double *value = NULL;
    g->score = INFINITY;
    if (!guess_candidate(&x, e, g)) return true;
    if (!few_parts(e, &x, &e->arithmetics.at[g->arithmetic].x, few)) return false;
    const size_t rows = e->few.m.rows, cols = e->few.m.cols;
    value = memory_allocate(rows * cols + 1, sizeof *value);
    if (!value || !evaluate_parts(value, e, g, &x, &e->few.m)) {
        free(value);
        return false;
    }
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < rows * cols; i++) {
        const size_t at = i / cols * e->b.cols + i % cols;
        if (isnan(e->level[at])) continue;
        sum += cost(value_of_float(e->b.d[at]) - value[i], e->level[at]);
        count++;
    }
    if (count) g->score = sum / (double)count;
    free(value);
    return true;
}

bool guesses_have_same_faults(const struct guess *x, const struct guess *y)
{
    bool same = x->parts == y->parts;
    for (int i = 0; i < x->parts && same; i++) same = same_part(&x->part[i], &y->part[i]);
    return same;
}

void guesses_rescore(struct guesses *x, const struct residuals *e, double by)
{
    for (size_t i = 0; i < x->count; i++) {
        struct guess *const g = &x->at[i];
        g->cut = cut_share(e, g->rest, by);
        g->score = mean_cost(e, g->rest, g->cut, by) + g->grown;
    }
}

void guesses_measure(struct guesses *x, const struct residuals *e)
{
    for (size_t i = 0; i < x->count; i++) measure(&x->at[i], e, 1);
}

void residuals_widen(struct residuals *e, double by)
{
    for (size_t at = 0; at < e->outputs; at++) e->level[at] *= by;
}

bool guesses_are_same(const struct residuals *e, const struct guess *x,
                      const struct guess *y)
{
    double square = 0;
    for (size_t at = 0; at < e->outputs; at++)
        if (!isnan(e->level[at])) {
            const double t = (x->rest[at] - y->rest[at]) / e->level[at];
            square += t * t / (double)e->finite;
        }
    return square < 0.01;
}

void guesses_clear(struct guesses *x)
{
    for (size_t i = 0; i < x->count; i++) free(x->at[i].rest);
    x->count = 0;
}
