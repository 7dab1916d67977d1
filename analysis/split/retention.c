/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/split/retention.h"

#include "analysis/split/binade.h"
#include "emu/fast/simd.h"
#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/number/bits.h"
#include "lib/number/hostfp.h"
#include "lib/number/rand.h"
#include "lib/number/wide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values are counted in runs of this length, one thread each. */
enum { RUN = 1 << 14 };

/* The sums over a run of values. */
struct tally {
    uint64_t count, exact, bits, subnormal, zero, flushed, overflow;
    double ulps, max_ulp, max_relative, max_low;
};

/* --- one value -------------------------------------------------------------------- */

struct outcome {
    double value, ulps, relative; /* x, and the error in ulps of x and relative to x */
    double low;                   /* |2^-s w1| */
    int bits;
    bool overflow, subnormal, zero, flushed;
};

/* Part `at` of the split as an exact term of x minus their sum. */
static struct term part_term(const struct bitcut_split *s, struct number w, int at)
{
    const int down = s->part[at].format->fraction_bits + s->scale * s->part[at].level;
    return (struct term){ w.significand, w.exponent - down, !w.negative };
}

/* 2^exponent and the exponent of x > 0, normal numbers. */
static double two_to(int exponent)
{
    return double_of_bits((uint64_t)(1023 + exponent) << 52);
}

/* |x| in units of 2^exponent; its top 64 bits decide. */
static double size_in(struct unrounded x, int exponent)
{
    return ldexp((double)x.significand, x.exponent - exponent);
}

/* `floor` is that of the error's binary logarithm, which `ulps` may be rounded above. */
static void set_error(struct outcome *o, double ulps, int floor, int last)
{
    o->ulps = ulps;
    o->relative = ulps * two_to(last) / o->value;
    o->bits = ulps == 0 ? SIGNIFICAND_BITS : larger_int(SIGNIFICAND_BITS - 1 - floor, 0);
}

static struct outcome judge(const struct bitcut_split *s, bool flush, uint32_t x,
                            uint64_t position)
{
    uint64_t part[SPLIT_PARTS_MAX];
    struct term terms[SPLIT_PARTS_MAX + 1], read[SPLIT_PARTS_MAX + 1];
    int count = 1;
    const struct number value = format_decode(&formats[FORMAT_F32], x);
    const int last = larger_int(value.exponent, -126) - 23; /* an ulp of x is 2^last */
    struct outcome o = { .value = fabs(format_to_double(&formats[FORMAT_F32], x)) };
    split_apply_at(part, s, x, position);
    read[0] = terms[0] = (struct term){ value.significand, last, value.negative };
    for (int i = 0; i < s->parts; i++) {
        const struct bitcut_format *f = s->part[i].format;
        const struct number w = format_decode(f, part[i]);
        const bool small = w.significand >> f->fraction_bits == 0;
        if (w.kind >= NUMBER_INF) return (struct outcome){ .overflow = true };
        if (s->part[i].copy) continue;
        if (i == 1 && wide_sum(terms, 2).significand != 0) {
            o.zero = w.kind == NUMBER_ZERO;
            o.subnormal = small;
        }
        read[count] = terms[count] = part_term(s, w, i);
        if (i == 1) o.low = size_in(wide_sum(&terms[count], 1), 0);
        o.flushed |= flush && small && w.kind != NUMBER_ZERO;
        if (flush && small) read[count].significand = 0;
        count++;
    }
    const struct unrounded error = wide_sum(read, count);
    set_error(&o, size_in(error, last),
              error.significand ? highest_bit(error.significand) + error.exponent - last
                                : 0,
              last);
    return o;
}

bool retention_entered(int *bits, double *ulps, const struct bitcut_split *split,
                       uint32_t x)
{
    const struct outcome o = judge(split, false, x, 0);
    *bits = o.bits;
    *ulps = o.ulps;
    return !o.overflow;
}

bool retention_of(int *bits, double *ulps, const struct bitcut_split *split, uint32_t x)
{
    struct hostfp mode;
    hostfp_enter(&mode);
    const bool finite = retention_entered(bits, ulps, split, x);
    hostfp_leave(&mode);
    return finite;
}

/* --- values with equal parts ------------------------------------------------------ */

/* A binade whose values all have the same parts, such as values far above the largest
   part with a rule that never gives infinity. */
struct same_parts {
    bool are;
    struct outcome
        any; /* the outcome of one value, with everything that all values share */
    bitcut_uint128 sum; /* of the parts in units of 2^(last - up); last: an ulp of x */
    int up, last;
};

/* A rounding that does not depend on single bits is monotone, and so is the residual of x
   minus a constant: if the parts of the smallest and the largest value are equal, those
   of all values are. */
static bool same_at_ends(uint64_t part[SPLIT_PARTS_MAX], const struct bitcut_split *s,
                         int e)
{
    uint64_t last[SPLIT_PARTS_MAX];
    bool same = !split_is_stochastic(s);
    split_apply(part, s, (uint32_t)(e + 127) << 23);
    split_apply(last, s, ((uint32_t)(e + 128) << 23) - 1);
    for (int i = 0; i < s->parts; i++)
        same &= part[i] == last[i] && !s->part[i].copy &&
                s->part[i].rounding->direction != BY_BIT;
    return same && format_to_double(s->part[0].format, part[0]) < two_to(e);
}

static struct same_parts same_make(const struct bitcut_split *s, bool flush, int e)
{
    struct same_parts same = { .last = e - 23 };
    uint64_t part[SPLIT_PARTS_MAX];
    struct term terms[SPLIT_PARTS_MAX];
    if (!same_at_ends(part, s, e)) return same;
    same.any = judge(s, flush, (uint32_t)(e + 127) << 23, 0);
    same.are = same.any.overflow;
    if (same.are || same.any.flushed) return same;
    for (int i = 0; i < s->parts; i++)
        terms[i] = part_term(s, format_decode(s->part[i].format, part[i]), i);
    const struct unrounded sum = wide_sum(terms, s->parts);
    if (!sum.significand || !sum.negative || sum.sticky) return same;
    const int zeros = __builtin_ctzll(sum.significand);
    same.sum = sum.significand >> zeros;
    same.up = same.last - (sum.exponent + zeros);
    same.are = same.up >= 0 && same.up < 128 - 24;
    return same;
}

/* The result of judge() for x. */
static struct outcome same_judge(const struct same_parts *same, uint32_t x)
{
    struct outcome o = same->any;
    if (o.overflow) return o;
    const bitcut_uint128 value = (bitcut_uint128)((x & (SIGNIFICANDS - 1)) | SIGNIFICANDS)
                                 << same->up;
    const bitcut_uint128 left = value > same->sum ? value - same->sum : same->sum - value;
    const uint64_t above = (uint64_t)(left >> 64), below = (uint64_t)left;
    const int bits = above ? 64 + highest_bit(above) + 1 : 64,
              floor = above   ? bits - 1
                      : below ? highest_bit(below)
                              : 0;
    const double top = (double)(uint64_t)(left >> (bits - 64));
    o.value = fabs(value_of_float(x));
    set_error(&o, top * two_to(bits - 64 - same->up), floor - same->up, same->last);
    return o;
}

/* --- many values ------------------------------------------------------------------ */

static void tally_add(struct tally *t, struct outcome o)
{
    t->count++;
    t->overflow += o.overflow;
    if (o.overflow) return;
    t->exact += o.ulps == 0;
    t->bits += (uint64_t)o.bits;
    t->ulps += o.ulps;
    t->subnormal += o.subnormal;
    t->zero += o.zero;
    t->flushed += o.flushed;
    t->max_ulp = larger_double(t->max_ulp, o.ulps);
    t->max_relative = larger_double(t->max_relative, o.relative);
    t->max_low = larger_double(t->max_low, o.low / o.value);
}

static void tally_merge(struct tally *t, const struct tally *from)
{
    t->count += from->count;
    t->exact += from->exact;
    t->bits += from->bits;
    t->ulps += from->ulps;
    t->subnormal += from->subnormal;
    t->zero += from->zero;
    t->flushed += from->flushed;
    t->overflow += from->overflow;
    t->max_ulp = larger_double(t->max_ulp, from->max_ulp);
    t->max_relative = larger_double(t->max_relative, from->max_relative);
    t->max_low = larger_double(t->max_low, from->max_low);
}

/* Options for counting values. */
struct counting {
    const struct bitcut_split *split;
    bool flush;
    const struct retention_values *values;
    struct binade binade;
    const struct fast_kernels *kernels; /* NULL: `binade` is not set */
    struct same_parts same;             /* set in that case, if possible */
};

/* Values from the first on: given values, random fractions from the seed, or the values
   of the binade. */
static void values_at(uint32_t *x, const struct retention_values *v, size_t first,
                      size_t count)
{
    const uint32_t binade = (uint32_t)(v->e + 127) << 23;
    if (v->at) {
        memcpy(x, v->at + first, count * sizeof *x);
        return;
    }
    if (v->count) rand_fill(x, count, v->seed, 0, first);
    for (size_t i = 0; i < count; i++)
        x[i] = binade | (v->count ? x[i] & (SIGNIFICANDS - 1) : (uint32_t)(first + i));
}

/* --- many values at a time -------------------------------------------------------- */

/* The larger one of `over` / `under` and of some other quotients; `most` is the largest
   numerator of these, `least` at most their smallest denominator.  Exact: all are below
   2^26, and products of two are exact in binary64. */
struct ratio {
    double over, under;
};

static void ratio_raise(struct ratio *best, const int32_t *over, const int32_t *under,
                        size_t count, int32_t most, int32_t least)
{
    if (most * best->under <= best->over * least) return;
    for (size_t i = 0; i < count; i++)
        if (over[i] * best->under > best->over * under[i])
            *best = (struct ratio){ over[i], under[i] };
}

struct ratios {
    struct ratio relative, low;
};

/* Some values from the first on, in ulps: signed, and as magnitudes. */
static void block_fill(int32_t *x, int32_t *size, const struct retention_values *v,
                       size_t first, size_t count)
{
    const int32_t one = v->e < -126 ? 0 : SIGNIFICANDS;
    uint32_t values[FAST_BLOCK];
    for (int32_t i = 0; !v->count && i < FAST_BLOCK; i++)
        x[i] = size[i] = one + (int32_t)first + i;
    if (v->count) values_at(values, v, first, count);
    for (size_t i = 0; v->count && i < count; i++) {
        size[i] = (int32_t)(values[i] & (SIGNIFICANDS - 1)) + one;
        x[i] = values[i] >> 31 ? -size[i] : size[i];
    }
}

static void block_add(struct tally *t, struct ratios *r, const struct counting *c,
                      size_t first, size_t count)
{
    _Alignas(64) int32_t x[FAST_BLOCK], rest[FAST_BLOCK], low[FAST_BLOCK];
    int32_t size[FAST_BLOCK];
    struct fast_kept k;
    block_fill(x, size, c->values, first, count);
    c->kernels->keep(&k, rest, low, x, count, c->binade.part, c->binade.parts);
    const int32_t least = c->values->e < -126 ? 0
                          : c->values->count  ? SIGNIFICANDS
                                              : size[0];
    ratio_raise(&r->relative, rest, size, count, k.most, least);
    ratio_raise(&r->low, low, size, count, k.most_low, least);
    t->count += count;
    t->exact += k.exact;
    t->bits += k.bits;
    t->subnormal += k.subnormal;
    t->zero += k.zero;
    t->flushed += k.flushed;
    t->overflow += k.overflow;
    t->ulps += (double)k.ulps;
    t->max_ulp = larger_double(t->max_ulp, k.most);
}

/* The part of [from, to) that fills vectors.  Returns its end. */
static size_t blocks_add(struct tally *t, const struct counting *c, size_t from,
                         size_t to)
{
    struct ratios r = { { 0, 1 }, { 0, 1 } };
    for (size_t count; to - from >= FAST_LANES; from += count) {
        count = smaller(FAST_BLOCK, (to - from) / FAST_LANES * FAST_LANES);
        block_add(t, &r, c, from, count);
    }
    t->max_relative = r.relative.over / r.relative.under;
    t->max_low = r.low.over / r.low.under * c->binade.low_times;
    return from;
}

static struct tally run_tally(const struct counting *c, size_t from, size_t to)
{
    struct tally t = { 0 };
    struct hostfp mode;
    hostfp_enter(&mode);
    if (c->kernels) from = blocks_add(&t, c, from, to);
    for (size_t count; from < to; from += count) {
        uint32_t x[FAST_BLOCK];
        count = smaller(FAST_BLOCK, to - from);
        values_at(x, c->values, from, count);
        for (size_t i = 0; i < count; i++)
            tally_add(&t, c->same.are ? same_judge(&c->same, x[i])
                                      : judge(c->split, c->flush, x[i], from + i));
    }
    hostfp_leave(&mode);
    return t;
}

static struct retention summary(const struct tally *t)
{
    const double count = (double)t->count, finite = (double)(t->count - t->overflow),
                 none = finite > 0 ? 0 : (double)NAN; /* NaN: every value overflows */
    return (struct retention){
        .count = t->count,
        .exact = (double)t->exact / count,
        .bits = (double)t->bits / count,
        .max_ulp = t->max_ulp + none,
        .mean_ulp = finite > 0 ? t->ulps / finite : none,
        .max_relative = t->max_relative + none,
        .max_low = t->max_low + none,
        .p_subnormal = (double)t->subnormal / count,
        .p_zero = (double)t->zero / count,
        .p_overflow = (double)t->overflow / count,
        .p_flushed = (double)t->flushed / count,
    };
}

/* All runs, each with its own tally. */
static void count_runs(struct tally *tallies, size_t runs, size_t count,
                       const struct counting *c, int threads,
                       const struct progress *progress)
{
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads_for(threads, runs))
    for (size_t i = 0; i < runs; i++) {
        if (progress_stopped(progress)) continue;
        const size_t to = (i + 1) * RUN < count ? (i + 1) * RUN : count;
        tallies[i] = run_tally(c, i * RUN, to);
    }
}

enum bitcut_status retention_measure(struct retention *r, const struct bitcut_split *s,
                                     bool flush, const struct retention_values *v,
                                     int threads, const struct progress *progress,
                                     struct fault *f)
{
    const size_t count = v->count ? v->count : SIGNIFICANDS;
    const size_t runs = count / RUN + (count % RUN != 0);
    struct counting c = { .split = s, .flush = flush, .values = v };
    struct tally *tallies = memory_allocate(runs, sizeof *tallies);
    struct tally total = { 0 };
    struct hostfp mode;
    if (!tallies)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the counts");
    if (binade_make(&c.binade, s, flush, larger_int(v->e, -126)))
        c.kernels = simd_best()->kernels;
    else if (!v->at) c.same = same_make(s, flush, v->e);
    count_runs(tallies, runs, count, &c, threads, progress);
    const bool stopped = progress_stopped(progress);
    hostfp_enter(&mode);
    for (size_t i = 0; !stopped && i < runs; i++) tally_merge(&total, &tallies[i]);
    if (!stopped) *r = summary(&total);
    hostfp_leave(&mode);
    free(tallies);
    return stopped ? fault_set(f, BITCUT_UNSUPPORTED, "stopped") : BITCUT_OK;
}

enum bitcut_status retention_count(struct retention *r, const struct bitcut_split *s,
                                   int e, size_t samples, uint64_t seed, int threads,
                                   const struct progress *progress, struct fault *f)
{
    const struct retention_values v = { .e = e, .count = samples, .seed = seed };
    return retention_measure(r, s, false, &v, threads, progress, f);
}

/* The weighted mean of two means with their numbers of values; NaN for no values. */
static double mean(double x, double of_x, double y, double of_y)
{
    if (!(of_x > 0)) return y;
    return of_y > 0 ? (x * of_x + y * of_y) / (of_x + of_y) : x;
}

/* The larger of two errors.  NaN means that there was no value. */
static double larger_error(double x, double y)
{
    return isnan(x) ? y : larger_double(x, y);
}

/* The number of values that did not overflow, for which errors are defined. */
static double finite_values(const struct retention *r)
{
    return (double)r->count * (1 - r->p_overflow);
}

void retention_add(struct retention *all, const struct retention *more)
{
    const struct retention x = *all, y = *more;
    const double of_x = (double)x.count, of_y = (double)y.count;
    if (!y.count) return;
    if (!x.count) {
        *all = y;
        return;
    }
    *all = (struct retention){
        .count = x.count + y.count,
        .exact = mean(x.exact, of_x, y.exact, of_y),
        .bits = mean(x.bits, of_x, y.bits, of_y),
        .max_ulp = larger_error(x.max_ulp, y.max_ulp),
        .mean_ulp = mean(x.mean_ulp, finite_values(&x), y.mean_ulp, finite_values(&y)),
        .max_relative = larger_error(x.max_relative, y.max_relative),
        .max_low = larger_error(x.max_low, y.max_low),
        .p_subnormal = mean(x.p_subnormal, of_x, y.p_subnormal, of_y),
        .p_zero = mean(x.p_zero, of_x, y.p_zero, of_y),
        .p_overflow = mean(x.p_overflow, of_x, y.p_overflow, of_y),
        .p_flushed = mean(x.p_flushed, of_x, y.p_flushed, of_y),
    };
}

/* --- closed forms ----------------------------------------------------------------- */

/* The part of the residual's range that lies below 2^exponent 2^-s. */
static double part_below(const struct bitcut_split *s, int e, int exponent)
{
    const struct split_part *high = &s->part[0];
    const int range = e - high->format->fraction_bits - round_is_nearest(high->rounding);
    const int power = exponent - s->scale - range;
    return power >= 0 ? 1 : ldexp(1, power);
}

double retention_p_subnormal(const struct bitcut_split *s, int e)
{
    return s->parts < 2 ? 0 : part_below(s, e, format_emin(s->part[1].format));
}

double retention_p_zero(const struct bitcut_split *s, int e)
{
    const struct split_part *low = &s->part[1];
    if (s->parts < 2) return 0;
    return part_below(
        s, e, format_least_exponent(low->format) - round_is_nearest(low->rounding));
}

static bool cuts_or_nearest(const struct split_part *w)
{
    return round_is_nearest(w->rounding) || w->rounding->direction == TO_ZERO;
}

/* Whether the high part is normal for all values, its residual is distributed as in the
   forms, and the low part is an independent number with the whole residual. */
bool retention_has_theory(const struct bitcut_split *s, int e)
{
    const struct split_part *const high = &s->part[0], *const low = &s->part[1];
    const bool nearest = round_is_nearest(high->rounding);
    if (s->parts < 2) return false;
    return !split_is_fixed(s) && cuts_or_nearest(high) &&
           e >= format_emin(high->format) && e <= format_emax(high->format) &&
           !low->copy && low->level == high->level + 1 && cuts_or_nearest(low) &&
           low->rounding->flush == FLUSH_NONE &&
           e - high->format->fraction_bits - nearest + s->scale <=
               format_emax(low->format);
}

/* --- expected bits ---------------------------------------------------------------- */

/* Bits of an error in [2^i, 2^(i+1)) ulps. */
static int bits_below(int i) { return larger_int(SIGNIFICAND_BITS - 1 - i, 0); }

/* The sum of the bits of the errors 1 to 2^t - 1. */
static double bits_of_errors(int t)
{
    double sum = 0;
    for (int i = 0; i < t; i++) sum += ldexp(bits_below(i), i);
    return sum;
}

/* The mean of an integer rounded to multiples of 2^t, all remainders alike. */
static double bits_of_step(int t, bool nearest)
{
    if (t <= 0) return SIGNIFICAND_BITS;
    const double sum =
        nearest ? 2 * bits_of_errors(t - 1) + bits_below(t - 1) : bits_of_errors(t);
    return ldexp(SIGNIFICAND_BITS + sum, -t);
}

/* The mean of integers in [2^top, 2^(top+1)) rounded to multiples of 2^t. */
static double bits_of_top(int top, int t, bool nearest)
{
    if (t <= top) return bits_of_step(t, nearest);
    if (t > top + 1 || !nearest) return bits_below(top); /* they are rounded to 0 */
    return ldexp(bits_of_errors(top) + bits_below(top), -top);
}

static bool has_bits_theory(const struct bitcut_split *s, bool flush, int e)
{
    const struct split_part *const high = &s->part[0];
    if (split_is_fixed(s) || !cuts_or_nearest(high) || e < format_emin(high->format) ||
        e + round_is_nearest(high->rounding) > format_emax(high->format))
        return false;
    return s->parts == 1 || (s->parts == 2 && !flush && retention_has_theory(s, e));
}

double retention_bits(const struct bitcut_split *s, bool flush, int e)
{
    const struct split_part *const high = &s->part[0], *const low = &s->part[1];
    if (!has_bits_theory(s, flush, e)) return (double)NAN;
    const int dropped = SIGNIFICAND_BITS - 1 - high->format->fraction_bits,
              range = dropped - round_is_nearest(high->rounding);
    if (s->parts == 1 || range <= 0)
        return bits_of_step(dropped, round_is_nearest(high->rounding));
    const int least = format_least_exponent(low->format) - s->scale - (e - 23);
    double sum = ldexp(SIGNIFICAND_BITS, -range); /* a residual of 0 */
    for (int top = 0; top < range; top++)
        sum += ldexp(bits_of_top(top, larger_int(top - low->format->fraction_bits, least),
                                 round_is_nearest(low->rounding)),
                     top - range);
    return sum;
}
