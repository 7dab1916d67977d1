/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/budget_watch.h"

#include "emu/engine.h"
#include "emu/sum.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>

/* --- drifts ----------------------------------------------------------------------- */

/* The last place of a number. */
static double place_of(const struct bitcut_format *f, uint64_t encoding)
{
    const struct number x = format_decode(f, encoding);
    return ldexp(1, x.kind == NUMBER_ZERO ? format_least_exponent(f)
                                          : x.exponent - f->fraction_bits);
}

/* Add an event that drops bits below `place` from a number of that size. */
static void drift_round(struct drift *d, double place)
{
    d->most += place / 2;
    d->squares += place * place / 4;
}

/* The same for a rule with the mean 0 and errors of less than `place`. */
static void drift_random(struct drift *d, double place)
{
    d->most += place;
    d->squares += place * place / 4;
}

static void drift_cut(struct drift *d, double place, double size, bool downward)
{
    d->most += fmin(place, size);
    d->mean += downward ? -place / 2 : place / 2;
    d->squares += place * place / 4;
}

void drift_shift(struct drift *d, int by)
{
    d->most = ldexp(d->most, by);
    d->mean = ldexp(d->mean, by);
    d->squares = ldexp(d->squares, 2 * by);
}

void drift_f32(struct drift *d, uint32_t result)
{
    drift_round(d, place_of(&formats[FORMAT_F32], result));
}

static bool is_zero(const struct bitcut_format *f, uint64_t encoding)
{
    return format_decode(f, encoding).kind == NUMBER_ZERO;
}

static bool is_zero_f32(uint64_t encoding) { return encoding << 33 == 0; }

/* --- entries of sums -------------------------------------------------------------- */

static void budget_sums_init(struct budget_sums *x)
{
    for (int i = 0; i < BUDGET_SUM_ENTRIES; i++) mpz_init(x->entry[i]);
    x->drift = (struct drift){ 0 };
}

static void budget_sums_clear(struct budget_sums *x)
{
    for (int i = 0; i < BUDGET_SUM_ENTRIES; i++) mpz_clear(x->entry[i]);
}

static void budget_sums_zero(struct budget_sums *x)
{
    for (int i = 0; i < BUDGET_SUM_ENTRIES; i++) mpz_set_ui(x->entry[i], 0);
    x->drift = (struct drift){ 0 };
}

static void budget_sums_add(struct budget_sums *to, const struct budget_sums *x)
{
    for (int i = 0; i < BUDGET_SUM_ENTRIES; i++)
        mpz_add(to->entry[i], to->entry[i], x->entry[i]);
    to->drift.most += x->drift.most;
    to->drift.mean += x->drift.mean;
    to->drift.squares += x->drift.squares;
}

static void budget_sums_shift(struct budget_sums *x, long by)
{
    for (int i = 0; i < BUDGET_SUM_ENTRIES; i++)
        if (mpz_sgn(x->entry[i])) dyadic_shift(x->entry[i], by);
    drift_shift(&x->drift, (int)by);
}

/* The sum is `value`: the difference from its entries belongs to this entry. */
static void budget_sums_close(struct budget_sums *x, int entry, const mpz_t value)
{
    mpz_t lack;
    mpz_init_set(lack, value);
    for (int i = 0; i < BUDGET_SUM_ENTRIES; i++) mpz_sub(lack, lack, x->entry[i]);
    mpz_add(x->entry[entry], x->entry[entry], lack);
    mpz_clear(lack);
}

static void budget_sums_close_f32(struct budget_sums *x, int entry, uint32_t value)
{
    mpz_t y;
    mpz_init(y);
    dyadic_set_f32(y, value);
    budget_sums_close(x, entry, y);
    mpz_clear(y);
}

/* --- watching --------------------------------------------------------------------- */

/* Products of FP32 values, and the bits that units cut from them. */
static void running_start(struct running *x)
{
    wide_clear(&x->products, -600, 400);
    wide_clear(&x->cut, -600, 400);
    x->used = false;
}

struct watcher *watcher_new(const struct gemm_plan *plan)
{
    struct watcher *const w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->plan = plan;
    for (int i = 0; i < RECIPE_ACCUMULATORS_MAX; i++) {
        budget_sums_init(&w->accumulator[i].sums);
        mpz_init(w->accumulator[i].now);
        running_start(&w->accumulator[i]);
    }
    budget_sums_init(&w->promoted);
    for (int i = 0; i <= K_PARTS_KEPT_MAX; i++) budget_sums_init(&w->sum[i]);
    return w;
}

void watcher_free(struct watcher *w)
{
    for (int i = 0; i < RECIPE_ACCUMULATORS_MAX; i++) {
        budget_sums_clear(&w->accumulator[i].sums);
        mpz_clear(w->accumulator[i].now);
    }
    budget_sums_clear(&w->promoted);
    for (int i = 0; i <= K_PARTS_KEPT_MAX; i++) budget_sums_clear(&w->sum[i]);
    free(w);
}

static void add_integer(struct wide *to, int128 x, int exponent)
{
    wide_add_term(to, integer_term(x, exponent), false);
}

/* The bits cut in a sum of a step: from aligned terms, and from the sum before others
   joined it. */
static void add_cut(struct running *x, const struct unit_trace *t,
                    const struct trace_sum *s)
{
    for (int i = s->first; i < s->first + s->terms && s->aligned; i++) {
        add_integer(&x->cut, t->term[i].aligned, s->value.exponent);
        wide_add_term(&x->cut, t->term[i].value, true);
    }
    if (s->cut && !s->rounded) {
        wide_add_term(&x->cut, s->kept, false);
        wide_add_term(&x->cut, s->value, true);
    }
}

/* --- roundings of a step ---------------------------------------------------------- */

static double size_of_term(struct term x)
{
    return ldexp((double)x.significand, x.exponent);
}

/* x cut to `to` integers of 2^unit. */
struct shortening {
    bool loses, away; /* any bit is cut; the cut is away from zero */
};

static struct shortening shortening_of(struct term x, bitcut_uint128 to, int unit)
{
    const int by = unit - x.exponent;
    const bitcut_uint128 whole = by <= 0    ? x.significand << smaller_int(-by, 127)
                                 : by < 128 ? x.significand >> by
                                            : 0;
    const bool rest =
        by > 0 && x.significand && (by >= 128 || whole << by != x.significand);
    return (struct shortening){ rest || to != whole, to > whole };
}

static bitcut_uint128 size_of_integer(int128 x)
{
    return x < 0 ? -(bitcut_uint128)x : (bitcut_uint128)x;
}

/* Terms that were aligned; c has `fraction` bits, whatever the unit of the sum is. */
static void drift_terms(struct drift *d, const struct bitcut_unit *u,
                        const struct unit_trace *t, const struct trace_sum *s)
{
    for (int i = s->first; i < s->first + s->terms && s->aligned; i++) {
        const struct trace_term *const x = &t->term[i];
        const struct shortening cut =
            shortening_of(x->value, size_of_integer(x->aligned), s->value.exponent);
        const int place = x->source == TRACE_C && s->at_exponent
                              ? s->exponent - u->fraction
                              : s->value.exponent;
        if (cut.loses)
            drift_cut(d, ldexp(1, place),
                      cut.away ? ldexp(1, place) : size_of_term(x->value),
                      cut.away ? x->value.negative : !x->value.negative);
    }
}

/* A sum that was cut, and a sum that was rounded. */
static void drift_sum(struct drift *d, const struct bitcut_unit *u,
                      const struct trace_sum *s)
{
    const struct term last = s->cut ? s->kept : s->value;
    const struct shortening cut =
        shortening_of(s->value, s->kept.significand, s->kept.exponent);
    if (s->cut && (cut.loses || s->inexact))
        drift_cut(d, ldexp(1, s->kept.exponent), ldexp(1, s->kept.exponent),
                  cut.away ? s->value.negative : !s->value.negative);
    if (!s->rounded) return;
    const double place = place_of(u->result, s->d), size = size_of_term(last);
    const struct term to = number_term(u->result, format_decode(u->result, s->d));
    const bool loses = s->inexact || (last.significand && !to.significand) ||
                       shortening_of(last, to.significand, to.exponent).loses;
    if (!loses) return;
    if (!to.significand && u->rounding.flush)
        drift_cut(d, 2 * size, size, !last.negative);
    else if (round_is_nearest(&u->rounding)) drift_round(d, place);
    else if (u->rounding.direction == STOCHASTIC) drift_random(d, place);
    else drift_cut(d, place, place, !last.negative);
}

static bool all_finite(const struct number *x, int count)
{
    bool all = true;
    for (int i = 0; i < count; i++)
        all &= x[i].kind == NUMBER_FINITE || x[i].kind == NUMBER_ZERO;
    return all;
}

void watcher_end(struct watcher *w, const char *what, int term)
{
    if (!w->event.what) w->event = (struct budget_event){ what, term, w->instructions };
}

/* Product i of an instruction, times its block scales. */
static struct term scaled_product(const struct bitcut_unit *u,
                                  const struct watch_event *e, int i)
{
    struct term x = product_term(u, e->a[i], e->b[i]);
    if (!e->scale_a) return x;
    const struct number *const scale[] = { &e->scale_a[i / u->scale_block],
                                           &e->scale_b[i / u->scale_block] };
    for (int side = 0; side < 2; side++) {
        x.significand *= scale[side]->significand;
        x.exponent += scale[side]->exponent - u->scale->fraction_bits;
    }
    return x;
}

static bool scales_finite(const struct bitcut_unit *u, const struct number *scale)
{
    return !scale || all_finite(scale, u->k / u->scale_block);
}

static void see_instruction(struct watcher *w, const struct watch_event *e)
{
    const struct bitcut_unit *u = e->unit;
    struct running *const x = &w->accumulator[e->accumulator];
    if (!all_finite(e->a, u->k) || !all_finite(e->b, u->k) ||
        !scales_finite(u, e->scale_a) || !scales_finite(u, e->scale_b))
        watcher_end(w, "a part is infinite or NaN", e->term);
    else if (!format_is_finite(u->c, e->after))
        watcher_end(w, "an accumulator overflows", e->term);
    w->instructions++;
    if (w->event.what) return;
    unit_trace(&w->trace, u, (struct lane){ e->a, e->scale_a },
               (struct lane){ e->b, e->scale_b }, e->before);
    for (int i = 0; i < u->k; i++)
        wide_add_term(&x->products, scaled_product(u, e, i), false);
    for (int i = 0; i < w->trace.sums; i++) {
        add_cut(x, &w->trace, &w->trace.sum[i]);
        drift_terms(&x->sums.drift, u, &w->trace, &w->trace.sum[i]);
        drift_sum(&x->sums.drift, u, &w->trace.sum[i]);
    }
    if (u->c_last && !is_zero(u->c, e->before))
        drift_round(&x->sums.drift, place_of(u->c, e->after));
    dyadic_set(x->now, u->c, e->after);
    x->used = true;
}

/* The sums of an accumulator, brought up to date. */
static struct budget_sums *settled(struct watcher *w, int accumulator)
{
    struct running *const x = &w->accumulator[accumulator];
    mpz_t y;
    if (!x->used) return &x->sums;
    mpz_init(y);
    dyadic_set_wide(y, &x->products);
    mpz_add(x->sums.entry[BUDGET_SUM_PRODUCTS], x->sums.entry[BUDGET_SUM_PRODUCTS], y);
    dyadic_set_wide(y, &x->cut);
    mpz_add(x->sums.entry[BUDGET_SUM_ALIGNED], x->sums.entry[BUDGET_SUM_ALIGNED], y);
    mpz_clear(y);
    budget_sums_close(&x->sums, BUDGET_SUM_ACCUMULATED, x->now);
    running_start(x);
    return &x->sums;
}

static void accumulator_zero(struct watcher *w, int accumulator)
{
    budget_sums_zero(&w->accumulator[accumulator].sums);
    running_start(&w->accumulator[accumulator]);
}

static void budget_sums_multiply(struct budget_sums *x, uint32_t a, uint32_t b)
{
    for (int i = 0; i < BUDGET_SUM_ENTRIES; i++) {
        dyadic_multiply(x->entry[i], a);
        dyadic_multiply(x->entry[i], b);
    }
}

static void see_begin(struct watcher *w, const struct watch_event *e)
{
    dyadic_set_f32(w->accumulator[0].sums.entry[BUDGET_SUM_START], (uint32_t)e->after);
}

/* The retained sum continues in accumulator 0. */
static void see_resume(struct watcher *w, const struct watch_event *e)
{
    const struct bitcut_format *const c = w->plan->unit[0]->c, *const f32 =
                                                                   &formats[FORMAT_F32];
    struct budget_sums *const x = &w->accumulator[0].sums;
    budget_sums_add(x, &w->sum[--w->kept]);
    budget_sums_close_f32(x, BUDGET_SUM_SLICED, (uint32_t)e->after);
    if (c != f32)
        drift_round(&x->drift, place_of(c, bitcut_format_convert(c, &roundings[ROUND_RN],
                                                                 f32, e->after)));
}

/* What is added is factor * value exactly, in place of the sum times its two factors. */
static void take_factors(struct budget_sums *sum, const struct watch_event *e)
{
    mpz_t addend;
    mpz_init(addend);
    budget_sums_multiply(sum, e->factor_a, e->factor_b);
    dyadic_set_f32(addend, e->value);
    dyadic_multiply(addend, e->factor);
    budget_sums_close(sum, BUDGET_SUM_FACTORS, addend);
    mpz_clear(addend);
}

static void see_promotion(struct watcher *w, const struct watch_event *e)
{
    struct budget_sums *const sum = settled(w, 0);
    if (!format_is_finite(&formats[FORMAT_F32], e->factor) ||
        !format_is_finite(&formats[FORMAT_F32], e->value)) {
        watcher_end(w, "a factor overflows", -1);
        return;
    }
    if (w->plan->scaling >= BITCUT_SCALING_PROMOTED) take_factors(sum, e);
    budget_sums_add(&w->promoted, sum);
    budget_sums_close_f32(&w->promoted, BUDGET_SUM_PROMOTED, (uint32_t)e->after);
    if (!is_zero_f32(e->before)) drift_f32(&w->promoted.drift, (uint32_t)e->after);
    accumulator_zero(w, 0);
}

static void see_scaling(struct watcher *w, const struct watch_event *e)
{
    struct budget_sums *const x = settled(w, e->accumulator);
    budget_sums_shift(x, -w->plan->scale);
    budget_sums_close_f32(x, BUDGET_SUM_PROMOTED, (uint32_t)e->after);
    dyadic_set_f32(w->accumulator[e->accumulator].now, (uint32_t)e->after);
    const double left = fabs(ldexp(value_of_float((uint32_t)e->before), -w->plan->scale) -
                             value_of_float((uint32_t)e->after));
    drift_round(&x->drift, 2 * left);
}

/* What an accumulator adds to the sum of its lane. */
static const struct budget_sums *part_of_lane(struct watcher *w, int accumulator)
{
    const bool promotes = w->plan->promote || w->plan->tile_k;
    return accumulator == 0 && promotes ? &w->promoted : settled(w, accumulator);
}

static void see_start(struct watcher *w, const struct watch_event *e)
{
    struct budget_sums *const sum = &w->sum[w->kept];
    budget_sums_zero(sum);
    budget_sums_add(sum, part_of_lane(w, e->accumulator));
}

static void see_fold(struct watcher *w, const struct watch_event *e)
{
    struct budget_sums *const sum = &w->sum[w->kept];
    budget_sums_shift(sum, -w->plan->scale);
    budget_sums_add(sum, part_of_lane(w, e->accumulator));
    budget_sums_close_f32(sum, BUDGET_SUM_PROMOTED, (uint32_t)e->after);
    if (!is_zero_f32(e->before)) drift_f32(&sum->drift, (uint32_t)e->after);
}

/* A sum of lanes or slices, rounded to their format. */
static void drift_kept(struct watcher *w, struct drift *d, uint32_t sum)
{
    const struct bitcut_format *const f = w->plan->order.partial_format;
    if (!f) return;
    drift_round(d, place_of(f, bitcut_format_convert(f, &roundings[ROUND_RN],
                                                     &formats[FORMAT_F32], sum)));
}

void watcher_empty(struct watcher *w)
{
    dyadic_set_f32(w->sum[0].entry[BUDGET_SUM_START], w->total);
}

static void see_join(struct watcher *w, const struct watch_event *e)
{
    budget_sums_close_f32(&w->sum[w->kept], BUDGET_SUM_START, (uint32_t)e->after);
}

static void see_sum(struct watcher *w, const struct watch_event *e)
{
    drift_kept(w, &w->sum[w->kept].drift, (uint32_t)e->after);
    budget_sums_close_f32(&w->sum[w->kept++], BUDGET_SUM_SLICED, (uint32_t)e->after);
    for (int i = 0; i < w->plan->accumulators; i++) accumulator_zero(w, i);
    budget_sums_zero(&w->promoted);
}

static void see_addition(struct watcher *w, const struct watch_event *e)
{
    w->kept--;
    budget_sums_add(&w->sum[w->kept - 1], &w->sum[w->kept]);
    budget_sums_close_f32(&w->sum[w->kept - 1], BUDGET_SUM_SLICED, (uint32_t)e->after);
    drift_f32(&w->sum[w->kept - 1].drift, (uint32_t)e->after);
    drift_kept(w, &w->sum[w->kept - 1].drift, (uint32_t)e->after);
}

void watcher_see(void *context, const struct watch_event *e)
{
    static void (*const how[])(struct watcher *, const struct watch_event *) = {
        [WATCH_INSTRUCTION] = see_instruction,
        [WATCH_BEGIN] = see_begin,
        [WATCH_RESUME] = see_resume,
        [WATCH_PROMOTION] = see_promotion,
        [WATCH_SCALING] = see_scaling,
        [WATCH_START] = see_start,
        [WATCH_FOLD] = see_fold,
        [WATCH_JOIN] = see_join,
        [WATCH_SUM] = see_sum,
        [WATCH_ADDITION] = see_addition,
        [WATCH_END] = NULL
    };
    struct watcher *const w = context;
    if (e->kind == WATCH_ZEROING) watcher_end(w, "an accumulator is set to zero", -1);
    else if (e->kind != WATCH_INSTRUCTION &&
             !format_is_finite(&formats[FORMAT_F32], e->after))
        watcher_end(w, "a sum overflows", -1);
    if (e->kind == WATCH_END) w->total = (uint32_t)e->before, w->d = (uint32_t)e->after;
    else if (!w->event.what || e->kind == WATCH_INSTRUCTION) how[e->kind](w, e);
}
