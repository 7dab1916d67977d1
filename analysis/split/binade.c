/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/split/binade.h"

#include "lib/base/size.h"
#include "lib/number/bits.h"

#include <math.h>

enum {
    VALUE_MAX = (1 << 24) - 1,
    EXACT_MAX = 24, /* x - 2^24, or less than 2^24, is exact in FP32 */
    FAR = 26,       /* x - 2^26 is nearer to -2^26 than to 0 even in FP32, for all x */
    LARGE = 30      /* no part reaches 2^30 */
};

static int clamp(int x, int low, int high)
{
    return smaller_int(larger_int(x, low), high);
}

/* 2^exponent, but at least 1 and at most 2^LARGE. */
static int32_t power(int exponent) { return (int32_t)1 << clamp(exponent, 0, LARGE); }

static bool cuts_or_nearest(const struct bitcut_rounding *r)
{
    return round_is_nearest(r) || r->direction == TO_ZERO;
}

/* Whether a too large value becomes infinite, or NaN. */
static bool overflow_is_infinite(const struct split_part *w, bool negative)
{
    const struct unrounded large = { .significand = 1,
                                     .exponent = 4096,
                                     .negative = negative };
    return !format_is_finite(w->format, round_pack(w->format, w->rounding, large));
}

/* The largest finite part in ulps of 2^ulp, rounded down.  Returns false if rounding was
   needed. */
static bool most_of(int32_t *most, const struct split_part *w, int ulp)
{
    const struct bitcut_format *f = w->format;
    const struct number x = format_decode(f, format_largest(f, false));
    const int at = x.exponent - f->fraction_bits - ulp;
    const int64_t significand = (int64_t)x.significand;
    *most = 1 << LARGE;
    if (at > LARGE || (at >= 0 && significand << at >= 1 << LARGE)) return true;
    if (at >= 0) *most = (int32_t)(significand << at);
    else *most = (int32_t)(at < -62 ? 0 : significand >> -at);
    return at >= 0 || (at >= -62 && (int64_t)*most << -at == significand);
}

/* The row for parts in ulps of 2^ulp; ulp belongs to the value that is split. */
static struct fast_part part_of(const struct split_part *w, bool flush, int ulp)
{
    const struct bitcut_format *f = w->format;
    const int32_t normal = power(format_emin(f) - ulp);
    struct fast_part to = {
        .direction = w->rounding->direction,
        .bit = w->rounding->bit,
        .bit_least = clamp(format_emin(&formats[FORMAT_F32]) - ulp, 0, LARGE),
        .fraction_bits = f->fraction_bits,
        .least_drop = clamp(format_least_exponent(f) - ulp, 0, FAR),
        .least_normal = normal,
        .least_kept = w->rounding->flush ? normal : 0,
        .least_taken = w->rounding->flush == FLUSH_BEFORE ? normal : 0,
        .least_read = flush ? normal : 0,
        .infinite = overflow_is_infinite(w, false),
        .copy = w->copy,
    };
    most_of(&to.most, w, ulp);
    return to;
}

/* Whether the kernel is exact for the parts of integers up to `bound`; their residuals
   are at most *left. */
static bool part_fits(int32_t *left, const struct split_part *w,
                      const struct fast_part *to, int32_t bound, int ulp)
{
    const int top = bound ? highest_bit((uint64_t)bound) : 0;
    const int drop = larger_int(top - to->fraction_bits, to->least_drop);
    const int32_t unit = power(drop),
                  error = round_is_nearest(w->rounding) ? unit / 2 : unit;
    const bool overflows = bound > to->most - unit;
    int32_t most;
    *left = cuts_or_nearest(w->rounding) ? smaller_int(error, bound) : unit;
    if (!to->infinite && overflows) *left = larger_int(*left, bound - to->most);
    if (top + ulp >= 128) return false; /* too large for FP32 */
    if (!cuts_or_nearest(w->rounding) &&
        format_least_exponent(w->format) - ulp > EXACT_MAX)
        return false;
    return !overflows || (overflow_is_infinite(w, true) == to->infinite &&
                          (to->infinite || most_of(&most, w, ulp)));
}

/* The second part gives back what a high part far above x takes away by a rule that
   rounds up: rounded to nearest, and in steps of the same size, it is -2^26 if the high
   part is 2^26, and 0 if the high part is 0. */
static bool parts_cancel(const struct bitcut_split *s, int ulp)
{
    const struct split_part *w = s->part;
    return s->parts == 2 && !w[1].copy && round_is_nearest(w[1].rounding) &&
           !w[1].rounding->flush && format_least_exponent(w[0].format) - ulp >= FAR &&
           format_least_exponent(w[1].format) - s->scale * w[1].level ==
               format_least_exponent(w[0].format);
}

/* Whether the high part of every value is infinite, for both signs. */
static bool all_overflow(const struct split_part *w, const struct fast_part *first)
{
    return first->infinite && overflow_is_infinite(w, true) && first->most < power(23);
}

static bool format_fits(const struct bitcut_format *f)
{
    return f->has_sign && f->fraction_bits <= 23 && f->special != SPECIAL_E8M0 &&
           !format_is_integer(f);
}

bool binade_make(struct binade *b, const struct bitcut_split *s, bool flush, int e)
{
    int32_t bound = VALUE_MAX;
    *b = (struct binade){ .parts = s->parts, .low_times = 1 };
    if (split_is_stochastic(s)) return false; /* parts depend on more than x */
    for (int i = 0; i < s->parts; i++) {
        const struct split_part *w = &s->part[i];
        const int ulp = e - 23 + s->scale * w->level;
        int32_t left;
        if (!format_fits(w->format)) return false;
        b->part[i] = part_of(w, flush, ulp);
        if (i == 0 && all_overflow(w, &b->part[0])) {
            b->parts = 1;
            return true;
        }
        if (i == 0 && !cuts_or_nearest(w->rounding) && parts_cancel(s, ulp)) {
            b->low_times = ldexp(1, format_least_exponent(w->format) - ulp - FAR);
            b->part[1] =
                part_of(&s->part[1], flush, e - 23 + s->scale * s->part[1].level);
            return true;
        }
        if (!part_fits(&left, w, &b->part[i], w->copy ? VALUE_MAX : bound, ulp))
            return false;
        if (!w->copy) bound = left;
    }
    return !s->part[0].copy;
}
