#include "analysis/fit_rounding.h"

#include "lib/fma.h"

/* The fields that only the end of a step reads, but for `keep` and `keep_min`. */
enum { RESULT, DIRECTION, OVERFLOW, FLUSH, ZERO, CHOSEN };

static const int chosen[CHOSEN] = { FIELD_RESULT, FIELD_ROUNDING, FIELD_OVERFLOW,
                                    FIELD_FLUSH, FIELD_ZERO };

/* A value of each, by position in the space. */
struct choice {
    int at[CHOSEN];
    int keep;
};

/* A range of positions of `keep`. */
struct range {
    int from, to;
};

/* Values of each: those of each set with each of the others. */
struct choices {
    uint64_t set[CHOSEN];
    struct range keep;
};

/* How far a sum may be off: not at all, or by up to 2^bits units to one side. */
enum { EXACT = -1 };

/* value + side * 2^slack, for side -1 or 1; *good is false if that would reach half of it
   or does not fit. */
static struct term moved(bool *good, const struct term *value, int side, int slack)
{
    struct term x = *value;
    if (slack == EXACT) return x;
    const bitcut_uint128 by = slack < 64 ? (bitcut_uint128)1 << slack : 0;
    *good &= by && by <= x.significand / 2 && (x.significand + by) >> 64 == 0;
    if (!*good) return x;
    const bool away = x.negative == (side < 0);
    x.significand = away ? x.significand + by : x.significand - by;
    return x;
}

static int larger(int x, int y) { return x > y ? x : y; }

/* The exponent of the leading one. */
static int top_of(const struct term *x)
{
    return 63 - __builtin_clzll((uint64_t)x->significand) + x->exponent;
}

/* x floored to a multiple of 2^last. */
static struct unrounded floored(const struct term *x, int last)
{
    const uint64_t significand = (uint64_t)x->significand;
    const int drop = larger(last - x->exponent, 0);
    if (drop > 63)
        return (struct unrounded){ .significand = x->negative,
                                   .exponent = last,
                                   .negative = x->negative };
    const uint64_t kept = significand >> drop;
    return (struct unrounded){
        .significand = kept + (x->negative && kept << drop != significand),
        .exponent = x->exponent + drop,
        .negative = x->negative,
    };
}

/* What comes out of value `v` by that choice. */
static uint64_t come_out(const struct ending *x, const struct term *v,
                         struct choice choice)
{
    const struct space *s = x->space;
    const struct bitcut_unit *u = x->row;
    const struct bitcut_format *result =
        &formats[s->value[FIELD_RESULT][choice.at[RESULT]]];
    const struct bitcut_rounding rounding = {
        .direction = (enum direction)s->value[FIELD_ROUNDING][choice.at[DIRECTION]],
        .overflow = (enum overflow)s->value[FIELD_OVERFLOW][choice.at[OVERFLOW]],
        .flush = s->value[FIELD_FLUSH][choice.at[FLUSH]],
    };
    const bool positive = s->value[FIELD_ZERO][choice.at[ZERO]] == ZERO_POSITIVE;
    const int keep = x->kept ? (int)s->value[FIELD_KEEP][choice.keep] : 64;
    const int least = x->kept ? u->keep_min : top_of(v);
    struct unrounded sum = floored(v, larger(top_of(v), least) - keep);
    sum.sticky = x->inexact;
    uint64_t d = round_pack(result, &rounding, sum);
    if (positive && !x->keeps_sign && d == format_zero(result, true)) d = 0;
    if (!x->adds_c) return d;
    const uint64_t one =
        round_pack(u->c, &roundings[ROUND_RN], (struct unrounded){ .significand = 1 });
    return fma_round(u->c, &roundings[ROUND_RN], u->nan, d, one, x->c);
}

/* Encodings of a format as integers in the order of their values; -0 below +0. */
static int64_t ordered(const struct bitcut_format *f, uint64_t d)
{
    const uint64_t sign = UINT64_C(1) << (f->bits - 1);
    return d & sign ? -(int64_t)(d ^ sign) - 1 : (int64_t)d;
}

/* Whether some value of keep in the range brings out `wanted`: they ascend. */
static bool is_met(const struct ending *x, struct choice choice, struct range keep)
{
    const int64_t wanted = ordered(x->row->c, x->wanted);
    while (keep.from <= keep.to) {
        choice.keep = (keep.from + keep.to) / 2;
        const int64_t got = ordered(x->row->c, come_out(x, &x->value, choice));
        if (got == wanted) return true;
        if (got < wanted) keep.from = choice.keep + 1;
        else keep.to = choice.keep - 1;
    }
    return false;
}

/* Whether all sums within 2^slack, with all values of keep in the range, do as they
   should.  Flooring to more bits gives no smaller value, and rounding and adding keep the
   order of values, so that the least and the largest of what comes out tell. */
static bool does(const struct ending *x, struct choice choice, struct range keep,
                 int slack)
{
    bool good = true;
    const struct term low = moved(&good, &x->value, -1, slack);
    const struct term high = moved(&good, &x->value, 1, slack);
    if (!good) return false;
    choice.keep = keep.from;
    const uint64_t least = come_out(x, &low, choice);
    if (!x->wrong && least != x->wanted) return false;
    choice.keep = keep.to;
    const bool one = slack == EXACT && keep.from == keep.to;
    const uint64_t most = one ? least : come_out(x, &high, choice);
    if (!x->wrong) return most == x->wanted;
    const struct bitcut_format *f = x->row->c;
    const int64_t wanted = ordered(f, x->wanted);
    if (ordered(f, least) > wanted || ordered(f, most) < wanted) return true;
    return slack == EXACT && !is_met(x, choice, keep);
}

/* Move to the next choice of the sets; false at the end. */
static bool next_choice(struct choice *choice, const struct choices *c)
{
    for (int i = 0; i < CHOSEN; i++) {
        const uint64_t above = c->set[i] >> choice->at[i] & ~UINT64_C(1);
        choice->at[i] =
            above ? choice->at[i] + __builtin_ctzll(above) : __builtin_ctzll(c->set[i]);
        if (above) return true;
    }
    return false;
}

static bool all_do(const struct ending *x, const struct choices *c, int slack)
{
    struct choice choice = { .keep = c->keep.from };
    for (int i = 0; i < CHOSEN; i++) choice.at[i] = __builtin_ctzll(c->set[i]);
    do
        if (!does(x, choice, c->keep, slack)) return false;
    while (next_choice(&choice, c));
    return true;
}

/* The position farthest from the choice's, towards `to`, such that all up to it do as
   they should. */
static int last_that_does(const struct ending *x, struct choice choice, int to)
{
    int good = choice.keep;
    while (good != to) {
        const int middle = to > good ? (good + to + 1) / 2 : (good + to) / 2;
        const bool up = middle > choice.keep;
        const struct range range = { up ? choice.keep : middle,
                                     up ? middle : choice.keep };
        if (does(x, choice, range, EXACT)) good = middle;
        else to = up ? middle - 1 : middle + 1;
    }
    return good;
}

/* The widest range of keep about that of the choice. */
static struct range keep_range(const struct ending *x, struct choice choice,
                               uint64_t keeps)
{
    if (!x->kept) return (struct range){ 0, 0 };
    const struct range all = { __builtin_ctzll(keeps), 63 - __builtin_clzll(keeps) };
    if (does(x, choice, all, EXACT)) return all;
    return (struct range){ last_that_does(x, choice, all.from),
                           last_that_does(x, choice, all.to) };
}

static uint64_t range_set(struct range range)
{
    const int n = range.to - range.from + 1;
    return (n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << range.from;
}

/* Add to one set of the choices what else of `from` does with all of the others. */
static void widen(struct choices *c, int i, const struct ending *x, uint64_t from)
{
    uint64_t all = c->set[i];
    for (from &= ~all; from; from &= from - 1) {
        c->set[i] = from & -from;
        if (all_do(x, c, EXACT)) all |= from & -from;
    }
    c->set[i] = all;
}

/* The largest slack with which all choices still do. */
static int most_slack(const struct ending *x, const struct choices *c)
{
    int good = EXACT, bad = x->inexact ? 0 : 64;
    while (bad - good > 1) {
        const int middle = (good + bad) / 2;
        if (all_do(x, c, middle)) good = middle;
        else bad = middle;
    }
    return good;
}

/* Whether the sum is so large or small that overflow, or flushing and zeros, may matter.
 */
static void near_ends(bool *high, bool *low, const struct ending *x)
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

/* Whether no value of keep and keep_min in the box cuts a sum below 2^(top + 1) whose
   last bit is that of 2^last. */
static bool keeps_all(const struct box *box, const struct space *s, int top, int last)
{
    const int64_t keep = s->value[FIELD_KEEP][__builtin_ctzll(box->set[FIELD_KEEP])];
    const int64_t least =
        s->value[FIELD_KEEP_MIN][63 - __builtin_clzll(box->set[FIELD_KEEP_MIN])];
    return (least > top ? least : top) - keep <= last;
}

/* Whether no result format of the box has to round the sum, nor is it cut before. */
static bool fits_all(const struct box *box, const struct ending *x)
{
    const struct space *s = x->space;
    const int top = top_of(&x->value);
    const int below =
        top - x->value.exponent - __builtin_ctzll((uint64_t)x->value.significand);
    if (x->inexact) return false;
    if (x->kept && !keeps_all(box, s, top, top - below)) return false;
    for (uint64_t r = box->set[FIELD_RESULT]; r; r &= r - 1) {
        const struct bitcut_format *f =
            &formats[s->value[FIELD_RESULT][__builtin_ctzll(r)]];
        if (below > f->fraction_bits || top < format_emin(f) || top > format_emax(f))
            return false;
    }
    return true;
}

/* Whether some direction of the box is not to nearest. */
static bool any_directed(const struct box *box, const struct space *s)
{
    const uint64_t even = UINT64_C(1) << space_find(s, FIELD_ROUNDING, TO_NEAREST_EVEN);
    const uint64_t away = UINT64_C(1) << space_find(s, FIELD_ROUNDING, TO_NEAREST_AWAY);
    return box->set[FIELD_ROUNDING] & ~(even | away);
}

/* The row's own choice. */
static struct choice own_choice(const struct ending *x)
{
    struct choice own;
    for (int i = 0; i < CHOSEN; i++)
        own.at[i] =
            space_find(x->space, chosen[i], field_get(&fields[chosen[i]], x->row));
    own.keep = x->kept ? space_find(x->space, FIELD_KEEP, x->row->keep) : 0;
    return own;
}

/* Values of keep_min below the leading one of the sum all do the same, for sums near it
   too: those have theirs no lower than one place below. */
static void cut_keep_min(struct box *box, const struct ending *x)
{
    const int most = top_of(&x->value) - 1, own = x->row->keep_min;
    if (own <= most) box_at_most(box, x->space, FIELD_KEEP_MIN, most);
    else box_only(box, x->space, FIELD_KEEP_MIN, own);
}

int ending_cut(struct box *box, const struct ending *x, bool slack)
{
    /* A sum that needs no rounding: any other would be rounded by some direction. */
    if (!x->wrong && fits_all(box, x) && (!slack || any_directed(box, x->space)))
        return EXACT;
    bool high, low;
    near_ends(&high, &low, x);
    const bool matters[CHOSEN] = { true, true, high, low, low };
    const struct choice own = own_choice(x);
    struct choices c = { .keep = keep_range(x, own, box->set[FIELD_KEEP]) };
    for (int i = 0; i < CHOSEN; i++) c.set[i] = UINT64_C(1) << own.at[i];
    for (int i = CHOSEN - 1; i >= 0; i--) {
        if (!matters[i]) continue;
        widen(&c, i, x, box->set[chosen[i]]);
        box->set[chosen[i]] &= c.set[i];
    }
    if (x->kept) {
        box->set[FIELD_KEEP] &= range_set(c.keep);
        cut_keep_min(box, x);
    }
    return slack ? most_slack(x, &c) : EXACT;
}
