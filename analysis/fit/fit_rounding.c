/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fit/fit_rounding.h"

#include "lib/number/fma.h"

/* The fields that only the end of a step reads, except `keep` and `keep_min`. */
static const int chosen[] = { FIELD_RESULT, FIELD_ROUNDING, FIELD_OVERFLOW, FIELD_FLUSH,
                              FIELD_ZERO };

enum { CHOSEN = sizeof chosen / sizeof chosen[0] };

/* The tolerance for other sums: none, or up to 2^bits units to either side. */
enum { EXACT = -1 };

/* --- one row ---------------------------------------------------------------------- */

/* value + side * 2^slack, for side -1 or 1.  *good is false if this would reach half of
   the value, or does not fit. */
static struct term moved(bool *good, const struct term *value, int side, int slack)
{
    struct term x = *value;
    if (slack == EXACT) return x;
    const bitcut_uint128 by = slack < 64 ? (bitcut_uint128)1 << slack : 0;
    *good &= by && by <= x.significand / 2 && (x.significand + by) >> 64 == 0;
    const bool away = x.negative == (side < 0);
    x.significand = away ? x.significand + by : x.significand - by;
    return x;
}

/* The exponent of the leading one. */
static int top_of(const struct term *x)
{
    return 63 - __builtin_clzll((uint64_t)x->significand) + x->exponent;
}

/* x floored to a multiple of 2^last. */
static struct unrounded floored(const struct term *x, int last)
{
    const uint64_t significand = (uint64_t)x->significand;
    const int drop = last > x->exponent ? last - x->exponent : 0;
    const uint64_t kept = drop > 63 ? 0 : significand >> drop;
    const bool lost = drop > 63 || kept << drop != significand;
    return (struct unrounded){ .significand = kept + (x->negative && lost),
                               .exponent = x->exponent + drop,
                               .negative = x->negative };
}

/* The result of row u for the value v. */
static uint64_t result_of(const struct rounded_sum *x, const struct term *v,
                          const struct bitcut_unit *u)
{
    const int top = top_of(v), least = x->kept && u->keep_min > top ? u->keep_min : top;
    struct unrounded sum = floored(v, least - (x->kept ? u->keep : 64));
    sum.sticky = x->inexact;
    uint64_t d = round_pack(u->result, &u->rounding, sum);
    const bool positive = u->zero == ZERO_POSITIVE && !x->keeps_sign;
    if (positive && d == format_zero(u->result, true)) d = 0;
    if (!x->c) return d;
    const uint64_t one =
        round_pack(u->c, &roundings[ROUND_RN], (struct unrounded){ .significand = 1 });
    return fma_round(u->c, &roundings[ROUND_RN], u->nan, d, one, *x->c);
}

/* --- rows of a box ---------------------------------------------------------------- */

static void set_value(struct bitcut_unit *row, const struct space *s, int field, int at)
{
    field_set(&fields[field], row, s->value[field][at]);
}

/* Encodings of a format as integers in the order of their values; -0 is below +0. */
static int64_t ordered(const struct bitcut_format *f, uint64_t d)
{
    const uint64_t sign = UINT64_C(1) << (f->bits - 1);
    return d & sign ? -(int64_t)(d ^ sign) - 1 : (int64_t)d;
}

static bool is_one(uint64_t set) { return !(set & (set - 1)); }

/* Whether all sums within 2^slack have the required result in the row with all values of
   `keep` in the box.  Flooring to more bits gives no smaller value, and rounding and
   adding preserve the order of values, so the smallest and the largest results decide. */
static bool does(const struct rounded_sum *x, const struct box *box,
                 struct bitcut_unit *row, int slack)
{
    bool good = true;
    const struct bitcut_format *f = row->c;
    const struct term low = moved(&good, &x->value, -1, slack);
    const struct term high = moved(&good, &x->value, 1, slack);
    if (!good) return false;
    if (x->kept) set_value(row, x->space, FIELD_KEEP, box_lowest(box, FIELD_KEEP));
    const uint64_t least = result_of(x, &low, row);
    if (!x->wrong && least != x->d) return false;
    const bool one = slack == EXACT && is_one(box->set[FIELD_KEEP]);
    if (x->kept) set_value(row, x->space, FIELD_KEEP, box_highest(box, FIELD_KEEP));
    const uint64_t most = one ? least : result_of(x, &high, row);
    if (!x->wrong) return most == x->d;
    return ordered(f, least) > ordered(f, x->d) || ordered(f, most) < ordered(f, x->d);
}

/* Whether this holds for all rows of the box that equal the row except in chosen[at] and
   the fields after it. */
static bool all_do_from(int at, const struct rounded_sum *x, const struct box *box,
                        struct bitcut_unit *row, int slack)
{
    if (at == CHOSEN) return does(x, box, row, slack);
    for (uint64_t set = box->set[chosen[at]]; set; set &= set - 1) {
        set_value(row, x->space, chosen[at], __builtin_ctzll(set));
        if (!all_do_from(at + 1, x, box, row, slack)) return false;
    }
    return true;
}

static bool all_do(const struct rounded_sum *x, const struct box *box, int slack)
{
    struct bitcut_unit row = *x->row;
    return all_do_from(0, x, box, &row, slack);
}

/* Add `more` to the box's values of a field if it holds for them with all values of the
   other fields. */
static bool grow(struct box *box, int field, uint64_t more, const struct rounded_sum *x)
{
    const uint64_t before = box->set[field];
    box->set[field] = more & ~before;
    const bool good = box->set[field] && all_do(x, box, EXACT);
    box->set[field] = good ? before | more : before;
    return good;
}

/* Add to the box's values of a field those of `from` for which it holds with all values
   of the other fields. */
static void widen(struct box *box, int field, const struct rounded_sum *x, uint64_t from)
{
    for (; from; from &= from - 1) grow(box, field, from & -from, x);
}

/* The same for `keep`: all of `from`, or the values next to its own. */
static void widen_keep(struct box *box, const struct rounded_sum *x, uint64_t from)
{
    const uint64_t *set = &box->set[FIELD_KEEP];
    if (grow(box, FIELD_KEEP, from, x)) return;
    while (grow(box, FIELD_KEEP, *set << 1 & from, x)) continue;
    while (grow(box, FIELD_KEEP, *set >> 1 & from, x)) continue;
}

/* The largest slack for which it holds in all rows of the box. */
static int most_slack(const struct rounded_sum *x, const struct box *box)
{
    int good = EXACT, bad = x->inexact ? 0 : 64;
    while (bad - good > 1) {
        const int middle = (good + bad) / 2;
        if (all_do(x, box, middle)) good = middle;
        else bad = middle;
    }
    return good;
}

/* Whether the sum is so large or small that overflow, flushing or zeros may matter. */
static void near_ends(bool *high, bool *low, const struct rounded_sum *x)
{
    const struct space *s = x->space;
    const int top = top_of(&x->value);
    *high = *low = false;
    for (int i = 0; i < s->count[FIELD_RESULT]; i++) {
        const struct bitcut_format *f = &formats[s->value[FIELD_RESULT][i]];
        *high |= top >= format_emax(f) - 1;
        *low |= top <= format_emin(f) + 1;
    }
}

/* Whether no value of keep and keep_min in the box cuts a sum whose leading one and last
   bit have these exponents. */
static bool keeps_all(const struct space *s, const struct box *box, int top, int last)
{
    const int64_t keep = s->value[FIELD_KEEP][box_lowest(box, FIELD_KEEP)];
    const int64_t least = s->value[FIELD_KEEP_MIN][box_highest(box, FIELD_KEEP_MIN)];
    return (least > top ? least : top) - keep <= last;
}

/* Whether no row of the box cuts or rounds the sum at all. */
static bool is_exact(const struct rounded_sum *x, const struct box *box)
{
    const uint64_t significand = (uint64_t)x->value.significand;
    const int top = top_of(&x->value);
    const int below = top - x->value.exponent - __builtin_ctzll(significand);
    if (x->inexact || x->wrong) return false;
    if (x->kept && !keeps_all(x->space, box, top, top - below)) return false;
    for (uint64_t set = box->set[FIELD_RESULT]; set; set &= set - 1) {
        const struct bitcut_format *f =
            &formats[x->space->value[FIELD_RESULT][__builtin_ctzll(set)]];
        if (below > f->fraction_bits || top < format_emin(f) || top > format_emax(f))
            return false;
    }
    return true;
}

/* Values of keep_min below the leading one of the sum have the same effect, also for sums
   near it: their leading one is at most one place lower. */
static void cut_keep_min(struct box *box, const struct rounded_sum *x)
{
    const int most = top_of(&x->value) - 1, own = x->row->keep_min;
    if (own <= most) box_at_most(box, x->space, FIELD_KEEP_MIN, most);
    else box_only(box, x->space, FIELD_KEEP_MIN, own);
}

int rounding_cut(struct box *box, const struct rounded_sum *x, bool slack)
{
    bool high, low;
    if (is_exact(x, box)) return EXACT; /* but another sum might be inexact */
    near_ends(&high, &low, x);
    const bool matters[CHOSEN] = { true, true, high, low, low };
    struct box same = *x->one;
    if (x->kept) {
        widen_keep(&same, x, box->set[FIELD_KEEP]);
        box->set[FIELD_KEEP] &= same.set[FIELD_KEEP];
        cut_keep_min(box, x);
    }
    for (int i = CHOSEN - 1; i >= 0; i--) {
        if (!matters[i]) continue;
        widen(&same, chosen[i], x, box->set[chosen[i]]);
        box->set[chosen[i]] = same.set[chosen[i]];
    }
    return slack ? most_slack(x, &same) : EXACT;
}
