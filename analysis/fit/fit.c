/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/fit/fit.h"

#include <stdlib.h>
#include <string.h>

/* --- the candidates for the NaN --------------------------------------------------- */

static bool is_nan(const struct bitcut_format *f, uint64_t x)
{
    return format_decode(f, x).kind == NUMBER_NAN;
}

static bool has_nan(const struct bitcut_unit *u, const struct sample *s)
{
    bool nan = is_nan(u->c, s->c);
    for (int k = 0; k < u->k; k++) nan |= is_nan(u->a, s->a[k]) || is_nan(u->b, s->b[k]);
    return nan;
}

/* The NaNs among the outputs, first those that no operand can have passed on. */
static void add_nans(struct space *s, const struct recorded *outputs, size_t count)
{
    for (int handed_on = 0; handed_on < 2; handed_on++)
        for (size_t i = 0; i < count; i++)
            if (is_nan(s->base.c, outputs[i].d) &&
                has_nan(&s->base, &outputs[i].sample) == handed_on)
                space_add_nan(s, outputs[i].d);
}

/* --- the order in which outputs are tested ---------------------------------------- */

/* The exponents of the nonzero terms of an output. */
struct span {
    int low, high, terms;
    bool special,
        subnormal; /* there is an infinity or a NaN; there is a subnormal operand */
};

static bool is_subnormal(const struct bitcut_format *f, struct number x)
{
    return x.kind == NUMBER_FINITE && x.significand >> f->fraction_bits == 0;
}

static void span_add(struct span *s, struct number x, struct number y)
{
    const int exponent = x.exponent + y.exponent;
    s->special |= x.kind >= NUMBER_INF || y.kind >= NUMBER_INF;
    if (x.kind != NUMBER_FINITE || y.kind != NUMBER_FINITE) return;
    if (!s->terms || exponent < s->low) s->low = exponent;
    if (!s->terms || exponent > s->high) s->high = exponent;
    s->terms++;
}

/* The products and c of an output. */
static struct span span_of(const struct bitcut_unit *u, const struct observed *o)
{
    static const struct number one = { .kind = NUMBER_FINITE };
    struct span span = { .subnormal = o->c_subnormal };
    for (int k = 0; k < u->k; k++) {
        span_add(&span, o->a[0][k], o->b[0][k]);
        span.subnormal |=
            is_subnormal(u->a, o->a[0][k]) || is_subnormal(u->b, o->b[0][k]);
    }
    span_add(&span, format_decode(u->c, o->c), one);
    return span;
}

/* A low rank means that an output decides many rows at once: it has several terms, not
   far apart, so that few rows differ in the bits that they cut; and nothing is near the
   ends of the range, where many fields matter together. */
static int rank_of(const struct bitcut_unit *u, const struct observed *o)
{
    enum { END = 1 << 12, ALONE = 1 << 14, SPECIAL = 1 << 15, ALIGN_MIN = 12 };
    const struct number d = format_decode(u->c, o->d);
    const struct span span = span_of(u, o);
    if (span.special || d.kind >= NUMBER_INF) return SPECIAL;
    if (span.terms < 2) return ALONE;
    int rank = span.high - span.low;
    if (span.subnormal) rank += END;
    if (is_subnormal(u->c, d) || span.high <= format_emin(u->c) + ALIGN_MIN) rank += END;
    if (span.high >= format_emax(u->c) - 1) rank += END;
    return rank;
}

static int compare_rank(const void *left, const void *right)
{
    const struct observed *x = left, *y = right;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The first output with each NaN comes before all other outputs.  If there are several
   NaNs, two outputs decide all rows that give one NaN only, whatever their other fields
   are. */
static void rank_nans(struct fit *fit)
{
    enum { FIRST = -1 };
    for (size_t i = 0; i < fit->count; i++) {
        struct observed *const o = &fit->outputs[i];
        size_t before = 0;
        while (before < i &&
               !(fit->outputs[before].nan && fit->outputs[before].d == o->d))
            before++;
        if (o->nan && before == i) o->rank = FIRST;
    }
}

/* --- what is to be explained ------------------------------------------------------ */

enum bitcut_status fit_check(const struct bitcut_unit *u, size_t count, struct fault *f)
{
    if (u->k > UNIT_K_MAX)
        return fault_set(f, BITCUT_BAD_ARGUMENT, "k is %d; a unit has at most %d", u->k,
                         UNIT_K_MAX);
    if (count == 0) return fault_set(f, BITCUT_BAD_ARGUMENT, "the set has no outputs");
    return BITCUT_OK;
}

enum bitcut_status fit_init(struct fit *fit, const struct bitcut_unit *u,
                            const struct recorded *outputs, size_t count, struct fault *f)
{
    const enum bitcut_status status = fit_check(u, count, f);
    if (status != BITCUT_OK) return status;
    struct fit x = { .outputs = calloc(count, sizeof *x.outputs) };
    space_init(&x.space, u);
    add_nans(&x.space, outputs, count);
    while (x.outputs && x.count < count) {
        struct observed *o = &x.outputs[x.count];
        if (!observed_init(o, &x.space, &outputs[x.count].sample, outputs[x.count].d))
            break;
        o->rank = rank_of(u, o);
        o->index = x.count++;
    }
    if (x.count < count) {
        fit_clear(&x);
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    }
    rank_nans(&x);
    qsort(x.outputs, count, sizeof *x.outputs, compare_rank);
    *fit = x;
    return BITCUT_OK;
}

void fit_clear(struct fit *fit)
{
    for (size_t i = 0; i < fit->count; i++) observed_clear(&fit->outputs[i]);
    free(fit->outputs);
    fit->outputs = NULL;
    fit->count = 0;
}

/* --- outputs of a batch ----------------------------------------------------------- */

void fit_take(struct recorded *to, const struct bitcut_unit *u, const struct fragments *x,
              const struct array *d, struct fragment_shape s, size_t at)
{
    const size_t m = s.m, n = s.n, k = s.k;
    const size_t fragment = at / (m * n), i = at / n % m, j = at % n;
    const size_t scales = (size_t)sample_scales(u);
    struct sample *sample = &to->sample;
    memset(to, 0, sizeof *to);
    for (size_t p = 0; p < k; p++) {
        sample->a[p] = array_get(x->a, (fragment * m + i) * k + p);
        sample->b[p] = array_get(x->b, (fragment * k + p) * n + j);
    }
    for (size_t p = 0; p < scales; p++) {
        sample->scale_a[p] = array_get(x->scale_a, (fragment * m + i) * scales + p);
        sample->scale_b[p] = array_get(x->scale_b, (fragment * scales + p) * n + j);
    }
    sample->c = array_get(x->c, at);
    to->d = array_get(d, at);
}

size_t fit_place(size_t i, size_t used, size_t count)
{
    return (size_t)(((double)i + 0.5) / (double)used * (double)count);
}

/* --- rows ------------------------------------------------------------------------- */

bool fit_same_instruction(const struct bitcut_unit *x, const struct bitcut_unit *y)
{
    return x->k == y->k && x->a == y->a && x->b == y->b && x->c == y->c &&
           x->scale == y->scale && (!x->scale || x->scale_block == y->scale_block);
}

bool fit_is_for(const struct fit *fit, const struct bitcut_unit *row)
{
    return fit_same_instruction(row, &fit->space.base) &&
           space_find(&fit->space, FIELD_VIA, field_get(&fields[FIELD_VIA], row)) >= 0;
}

size_t fit_explains(const struct fit *fit, const struct bitcut_unit *row)
{
    size_t i = 0;
    while (i < fit->count &&
           observed_dot(&fit->outputs[i], &fit->space, row) == fit->outputs[i].d)
        i++;
    return i;
}

size_t fit_misses(const struct fit *fit, const struct bitcut_unit *row)
{
    size_t misses = 0;
    for (size_t i = 0; i < fit->count; i++)
        misses += observed_dot(&fit->outputs[i], &fit->space, row) != fit->outputs[i].d;
    return misses;
}
