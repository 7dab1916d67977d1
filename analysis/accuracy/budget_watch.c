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
    return double_scaled(1, x.kind == NUMBER_ZERO ? format_least_exponent(f)
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

static void budget_sums_zero(struct budget_sums *x)
{
    for (int i = 0; i < BUDGET_SUM_ENTRIES; i++) dyadic_sum_zero(&x->entry[i]);
    x->drift = (struct drift){ 0 };
}

static void budget_sums_add(const struct watcher *w, struct budget_sums *to,
                            const struct budget_sums *x)
{
    for (int i = 0; i < BUDGET_SUM_ENTRIES; i++)
        dyadic_sum_add_sum(&to->entry[i], w->unit, &x->entry[i], false);
    to->drift.most += x->drift.most;
    to->drift.mean += x->drift.mean;
    to->drift.squares += x->drift.squares;
}

static void budget_sums_shift(const struct watcher *w, struct budget_sums *x, int by)
{
    for (int i = 0; i < BUDGET_SUM_ENTRIES; i++)
        dyadic_sum_shift(&x->entry[i], w->unit, by);
    drift_shift(&x->drift, by);
}

/* The sum is `value`: the difference from its entries belongs to this entry. */
static void budget_sums_close(const struct watcher *w, struct budget_sums *x, int entry,
                              const struct dyadic_sum *value)
{
    struct dyadic_sum lack = *value;
    for (int i = 0; i < BUDGET_SUM_ENTRIES; i++)
        dyadic_sum_add_sum(&lack, w->unit, &x->entry[i], true);
    dyadic_sum_add_sum(&x->entry[entry], w->unit, &lack, false);
}

/* The sum of nothing but a finite encoding of a format. */
static void set_value(const struct watcher *w, struct dyadic_sum *to,
                      const struct bitcut_format *f, uint64_t encoding)
{
    const struct number x = format_decode(f, encoding);
    dyadic_sum_zero(to);
    if (x.kind == NUMBER_FINITE) dyadic_sum_add(to, w->unit, number_term(f, x), false);
}

static void budget_sums_close_at(const struct watcher *w, struct budget_sums *x,
                                 int entry, const struct bitcut_format *f, uint64_t value)
{
    struct dyadic_sum y;
    set_value(w, &y, f, value);
    budget_sums_close(w, x, entry, &y);
}

static void budget_sums_close_f32(const struct watcher *w, struct budget_sums *x,
                                  int entry, uint32_t value)
{
    budget_sums_close_at(w, x, entry, &formats[FORMAT_F32], value);
}

/* --- watching --------------------------------------------------------------------- */

struct watcher *watcher_new(const struct gemm_plan *plan, int unit)
{
    struct watcher *const w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->plan = plan;
    w->unit = unit;
    return w;
}

void watcher_free(struct watcher *w) { free(w); }

/* Add the bits cut in a sum of a step from the sum before others joined it. */
static void add_cut(const struct watcher *w, struct dyadic_sum *cut,
                    const struct trace_sum *s)
{
    if (!s->cut || s->rounded) return;
    dyadic_sum_add(cut, w->unit, s->kept, false);
    dyadic_sum_add(cut, w->unit, s->value, true);
}

/* --- roundings of a step ---------------------------------------------------------- */

static double size_of_term(struct term x)
{
    return double_scaled((double)x.significand, x.exponent);
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

/* Whether `to` integers of 2^unit are x, if this is found with 64 bits; false tells
   nothing. */
static inline bool is_whole(struct term x, bitcut_uint128 to, int unit)
{
    const int by = unit - x.exponent;
    const uint64_t size = (uint64_t)to, own = (uint64_t)x.significand;
    if ((to | x.significand) >> 64) return false;
    return by >= 0 ? by < 64 && size << by == own && size << by >> by == size
                   : by > -64 && own << -by == size && own << -by >> -by == own;
}

/* A term that was aligned: the bits that were cut.  c has `fraction` bits, whatever the
   unit of the sum is. */
static void see_aligned(const struct watcher *w, struct budget_sums *to,
                        const struct bitcut_unit *u, const struct trace_term *x,
                        const struct trace_sum *s)
{
    const bitcut_uint128 size = size_of_integer(x->aligned);
    if (is_whole(x->value, size, s->value.exponent)) return;
    struct dyadic_sum *const lost = &to->entry[BUDGET_SUM_ALIGNED];
    dyadic_sum_add(lost, w->unit, integer_term(x->aligned, s->value.exponent), false);
    dyadic_sum_add(lost, w->unit, x->value, true);
    const struct shortening cut = shortening_of(x->value, size, s->value.exponent);
    const double place = double_scaled(1, x->source == TRACE_C && s->at_exponent
                                              ? s->exponent - u->fraction
                                              : s->value.exponent);
    if (cut.loses)
        drift_cut(&to->drift, place, cut.away ? place : size_of_term(x->value),
                  cut.away ? x->value.negative : !x->value.negative);
}

/* A sum that was cut, and a sum that was rounded. */
static void drift_sum(struct drift *d, const struct bitcut_unit *u,
                      const struct trace_sum *s)
{
    const struct term last = s->cut ? s->kept : s->value;
    if (s->cut) {
        const double place = double_scaled(1, s->kept.exponent);
        const struct shortening cut =
            shortening_of(s->value, s->kept.significand, s->kept.exponent);
        if (cut.loses || s->inexact)
            drift_cut(d, place, place, cut.away ? s->value.negative : !s->value.negative);
    }
    if (!s->rounded) return;
    const struct number result = format_decode(u->result, s->d);
    const struct term to = number_term(u->result, result);
    if (!s->inexact && is_whole(last, to.significand, to.exponent)) return;
    const bool loses = s->inexact || (last.significand && !to.significand) ||
                       shortening_of(last, to.significand, to.exponent).loses;
    if (!loses) return;
    const double place = place_of(u->result, s->d), size = size_of_term(last);
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

static void add_products(const struct watcher *w, struct dyadic_sum *to,
                         const struct bitcut_unit *u, const struct watch_event *e)
{
    dyadic_near near, sum = 0; /* of at most UNIT_K_MAX terms */
    for (int i = 0; i < u->k; i++) {
        const struct term x = scaled_product(u, e, i);
        if (dyadic_sum_fits(&near, w->unit, x)) sum += near;
        else dyadic_sum_add(to, w->unit, x, false);
    }
    dyadic_sum_add_near(to, w->unit, sum);
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
    add_products(w, &x->sums.entry[BUDGET_SUM_PRODUCTS], u, e);
    for (int i = 0; i < e->trace->sums; i++) {
        const struct trace_sum *const sum = &e->trace->sum[i];
        add_cut(w, &x->sums.entry[BUDGET_SUM_ALIGNED], sum);
        for (int t = sum->first; t < sum->first + sum->terms && sum->aligned; t++)
            see_aligned(w, &x->sums, u, &e->trace->term[t], sum);
        drift_sum(&x->sums.drift, u, sum);
    }
    if (u->c_last && !is_zero(u->c, e->before))
        drift_round(&x->sums.drift, place_of(u->c, e->after));
    x->format = u->c;
    x->now = e->after;
    x->used = true;
}

/* The sums of an accumulator, brought up to date. */
static struct budget_sums *settled(struct watcher *w, int accumulator)
{
    struct running *const x = &w->accumulator[accumulator];
    if (!x->used) return &x->sums;
    budget_sums_close_at(w, &x->sums, BUDGET_SUM_ACCUMULATED, x->format, x->now);
    x->used = false;
    return &x->sums;
}

static void accumulator_zero(struct watcher *w, int accumulator)
{
    budget_sums_zero(&w->accumulator[accumulator].sums);
    w->accumulator[accumulator].used = false;
}

static void budget_sums_multiply(const struct watcher *w, struct budget_sums *x,
                                 uint32_t a, uint32_t b)
{
    for (int i = 0; i < BUDGET_SUM_ENTRIES; i++) {
        dyadic_sum_multiply(&x->entry[i], w->unit, a);
        dyadic_sum_multiply(&x->entry[i], w->unit, b);
    }
}

static void see_begin(struct watcher *w, const struct watch_event *e)
{
    set_value(w, &w->accumulator[0].sums.entry[BUDGET_SUM_START], &formats[FORMAT_F32],
              e->after);
}

/* The retained sum continues in accumulator 0. */
static void see_resume(struct watcher *w, const struct watch_event *e)
{
    const struct bitcut_format *const c = w->plan->unit[0]->c, *const f32 =
                                                                   &formats[FORMAT_F32];
    struct budget_sums *const x = &w->accumulator[0].sums;
    budget_sums_add(w, x, &w->sum[--w->kept]);
    budget_sums_close_f32(w, x, BUDGET_SUM_SLICED, (uint32_t)e->after);
    if (c != f32)
        drift_round(&x->drift, place_of(c, bitcut_format_convert(c, &roundings[ROUND_RN],
                                                                 f32, e->after)));
}

/* What is added is factor * value exactly, in place of the sum times its two factors. */
static void take_factors(const struct watcher *w, struct budget_sums *sum,
                         const struct watch_event *e)
{
    struct dyadic_sum addend;
    budget_sums_multiply(w, sum, e->factor_a, e->factor_b);
    set_value(w, &addend, &formats[FORMAT_F32], e->value);
    dyadic_sum_multiply(&addend, w->unit, e->factor);
    budget_sums_close(w, sum, BUDGET_SUM_FACTORS, &addend);
}

static void see_promotion(struct watcher *w, const struct watch_event *e)
{
    struct budget_sums *const sum = settled(w, 0);
    if (!format_is_finite(&formats[FORMAT_F32], e->factor) ||
        !format_is_finite(&formats[FORMAT_F32], e->value)) {
        watcher_end(w, "a factor overflows", -1);
        return;
    }
    if (w->plan->scaling >= BITCUT_SCALING_PROMOTED) take_factors(w, sum, e);
    budget_sums_add(w, &w->promoted, sum);
    budget_sums_close_f32(w, &w->promoted, BUDGET_SUM_PROMOTED, (uint32_t)e->after);
    if (!is_zero_f32(e->before)) drift_f32(&w->promoted.drift, (uint32_t)e->after);
    accumulator_zero(w, 0);
}

static void see_scaling(struct watcher *w, const struct watch_event *e)
{
    struct budget_sums *const x = settled(w, e->accumulator);
    budget_sums_shift(w, x, -w->plan->scale);
    budget_sums_close_f32(w, x, BUDGET_SUM_PROMOTED, (uint32_t)e->after);
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
    budget_sums_add(w, sum, part_of_lane(w, e->accumulator));
}

static void see_fold(struct watcher *w, const struct watch_event *e)
{
    struct budget_sums *const sum = &w->sum[w->kept];
    budget_sums_shift(w, sum, -w->plan->scale);
    budget_sums_add(w, sum, part_of_lane(w, e->accumulator));
    budget_sums_close_f32(w, sum, BUDGET_SUM_PROMOTED, (uint32_t)e->after);
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
    set_value(w, &w->sum[0].entry[BUDGET_SUM_START], &formats[FORMAT_F32], w->total);
}

static void see_join(struct watcher *w, const struct watch_event *e)
{
    budget_sums_close_f32(w, &w->sum[w->kept], BUDGET_SUM_START, (uint32_t)e->after);
}

static void see_sum(struct watcher *w, const struct watch_event *e)
{
    drift_kept(w, &w->sum[w->kept].drift, (uint32_t)e->after);
    budget_sums_close_f32(w, &w->sum[w->kept++], BUDGET_SUM_SLICED, (uint32_t)e->after);
    for (int i = 0; i < w->plan->accumulators; i++) accumulator_zero(w, i);
    budget_sums_zero(&w->promoted);
}

static void see_addition(struct watcher *w, const struct watch_event *e)
{
    w->kept--;
    budget_sums_add(w, &w->sum[w->kept - 1], &w->sum[w->kept]);
    budget_sums_close_f32(w, &w->sum[w->kept - 1], BUDGET_SUM_SLICED, (uint32_t)e->after);
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
