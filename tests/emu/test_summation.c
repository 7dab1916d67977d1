/* SPDX-License-Identifier: BSD-3-Clause */
/* Every row of the table of summations is correct: all of its functions exist, a unit
   uses it, and tests/emu/spec.c defines it; the fields that it reads are those that
   change bits; it refuses values out of their ranges; and its error is within its stated
   bound. */
#include "analysis/evidence/field.h"
#include "analysis/evidence/order_equivalence.h"
#include "analysis/evidence/sample.h"
#include "emu/fast/fast.h"
#include "lib/number/bits.h"
#include "tests/emu/spec.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EACH(s)                                                                          \
    const struct summation *const *s = summations;                                       \
    *s;                                                                                  \
    s++

/* Units with behaviours of their own, of one summation. */
static const struct bitcut_unit *next_unit(const struct bitcut_unit *u,
                                           const struct summation *s)
{
    for (u = u ? u + 1 : units; u->name; u++)
        if (u->summation == s && !field_repeats(u)) return u;
    return NULL;
}

static const struct field *field_of(unsigned reads)
{
    for (const struct field *f = fields; f->name; f++)
        if (f->reads > 0 && (unsigned)f->reads == reads) return f;
    return NULL;
}

START_TEST(rows_are_complete)
{
    for (EACH(s)) {
        const struct summation *x = *s;
        ck_assert_msg(x->name && *x->name && x->what && *x->what,
                      "row %d has no name, or "
                      "does not say what it is",
                      (int)(s - summations));
        for (const struct summation *const *t = summations; t < s; t++)
            ck_assert_msg(strcmp((*t)->name, x->name) != 0, "%s: two rows", x->name);
        ck_assert_msg(x->sound && x->step && x->step_traced && x->error,
                      "%s: sound, step, step_traced or error is missing", x->name);
        ck_assert_msg(next_unit(NULL, x) != NULL, "%s: no unit adds by it", x->name);
        ck_assert_msg(spec_adds(x->name), "%s: tests/emu/spec.c does not state it",
                      x->name);
        ck_assert_msg(!(x->reads_exact & ~x->reads),
                      "%s: reads_exact is no part of reads", x->name);
        for (unsigned left = x->reads; left; left &= left - 1)
            ck_assert_msg(field_of(left & -left) != NULL, "%s: no field is %#x", x->name,
                          left & -left);
    }
}
END_TEST

/* --- the fields that it reads ----------------------------------------------------- */

/* Whether a sample tells u from `changed`; with a few of each class. */
static bool is_noticed(const struct bitcut_unit *u, const struct bitcut_unit *changed,
                       int samples, struct rng *rng)
{
    for (const struct sample_class *class = sample_classes; class->name; class ++)
        for (int i = 0; i < samples && (u->scale || !class->scaled); i++) {
            struct sample s;
            class->fill(&s, u, rng);
            if (sample_dot(u, &s) != sample_dot(changed, &s)) return true;
        }
    return false;
}

/* Whether some value of the field makes some unit another. */
static bool matters(const struct summation *s, const struct field *f, bool exact,
                    struct rng *rng)
{
    for (int samples = 1; samples <= 1 << 12; samples *= 4)
        for (const struct bitcut_unit *u = NULL; (u = next_unit(u, s));) {
            int64_t values[FIELD_VALUES_MAX];
            const bool skip =
                (s->reads & READS_FRACTION) && exact != (u->fraction == FRACTION_EXACT);
            const int n = skip ? 0 : field_steps(values, f, u);
            for (int i = 0; i < n; i++) {
                struct bitcut_unit changed = *u;
                field_set(f, &changed, values[i]);
                if (is_noticed(u, &changed, samples, rng)) return true;
            }
        }
    return false;
}

START_TEST(fields_read_matter)
{
    struct rng rng = rng_start(test_seed(), 0);
    for (EACH(s))
        for (const struct field *f = fields; f->name; f++)
            for (int exact = 0; exact < 2; exact++) {
                const unsigned reads = exact ? (*s)->reads_exact : (*s)->reads;
                if (f->reads <= 0 || !(reads & (unsigned)f->reads)) continue;
                ck_assert_msg(matters(*s, f, exact, &rng),
                              "%s reads %s%s: no bit changes", (*s)->name, f->name,
                              exact ? " of exact sums" : "");
            }
}
END_TEST

/* Whether the fast paths see the rows alike. */
static bool same_rule(const struct bitcut_unit *u, const struct bitcut_unit *v)
{
    struct fast_rule r, s;
    const bool taken = fast_rule_make(&r, u);
    if (taken != fast_rule_make(&s, v)) return false;
    return !taken || (r.method == s.method && r.block == s.block && r.first == s.first &&
                      r.fraction == s.fraction && r.sum_fraction == s.sum_fraction &&
                      r.least == s.least && r.last == s.last && r.mask == s.mask &&
                      r.dropped == s.dropped);
}

static bool same_error(struct step_error x, struct step_error y)
{
    return x.products == y.products && x.sum == y.sum && x.cut == y.cut &&
           x.roundings == y.roundings;
}

static void check_unread(const struct bitcut_unit *u, const struct field *f,
                         struct rng *rng)
{
    int64_t values[FIELD_VALUES_MAX];
    const int n = field_candidates(values, f, u);
    for (int i = 0; i < n; i += 1 + n / 4) {
        struct bitcut_unit changed = *u;
        field_set(f, &changed, values[i]);
        ck_assert_msg(
            unit_sound(&changed) && same_rule(u, &changed) && order_same(u, &changed) &&
                same_error(u->summation->error(u), u->summation->error(&changed)) &&
                !is_noticed(u, &changed, 2, rng),
            "%s: %s reads %s and does not say so", u->name, u->summation->name, f->name);
    }
}

START_TEST(other_fields_do_not)
{
    struct rng rng = rng_start(test_seed(), 1);
    for (const struct bitcut_unit *u = units; u->name; u++)
        for (const struct field *f = fields; f->name; f++)
            if (f->reads > 0 && !field_used(f, u) && !field_repeats(u))
                check_unread(u, f, &rng);
}
END_TEST

/* --- what makes it sound ---------------------------------------------------------- */

/* Numbers that no summation can work with. */
static const struct {
    unsigned reads;
    int64_t value;
} unsound[] = {
    { READS_GROUP, 0 },         { READS_GROUP, -1 },
    { READS_GROUP, 1 << 14 },   { READS_FRACTION, -1 },
    { READS_FRACTION, 64 },     { READS_KEEP, 0 },
    { READS_KEEP, 64 },         { READS_SUM_FRACTION, -1 },
    { READS_SUM_FRACTION, 64 }, { READS_CARRIER, FORMAT_F16 },
};

START_TEST(values_are_in_range)
{
    for (const struct bitcut_unit *u = units; u->name; u++) {
        struct bitcut_unit changed = *u;
        ck_assert_msg(unit_sound(u), "%s", u->name);
        for (size_t i = 0; i < sizeof unsound / sizeof unsound[0]; i++) {
            const struct field *f = field_of(unsound[i].reads);
            if (!field_used(f, u)) continue;
            field_set(f, &changed, unsound[i].value);
            ck_assert_msg(!unit_sound(&changed), "%s: sound with %s %d", u->name, f->name,
                          (int)unsound[i].value);
            changed = *u;
        }
        changed.fraction = FRACTION_EXACT;
        if ((u->summation->reads & READS_FRACTION) && !u->summation->reads_exact)
            ck_assert_msg(!unit_sound(&changed), "%s: sound without a fraction", u->name);
    }
}
END_TEST

/* --- errors ----------------------------------------------------------------------- */

/* An operand of a moderate size, never 0. */
static uint64_t moderate(const struct bitcut_format *f, struct rng *rng)
{
    const uint64_t bits = rng_bits(rng);
    const double x = ldexp(1 + (double)(bits >> 12) * 0x1p-52, (int)(bits & 3) - 2);
    return bitcut_format_convert(f, &roundings[ROUND_RN], &formats[FORMAT_F64],
                                 bits_of_double(bits & 4 ? -x : x));
}

/* A sample of such operands, with scales of 1, and an accumulator that a step could give;
   the exact sum, and the magnitudes of c and of the products. */
static void fill_moderate(struct sample *s, long double *sum, long double size[2],
                          const struct bitcut_unit *u, struct rng *rng)
{
    s->c = bitcut_format_convert(u->c, &roundings[ROUND_RZ], u->result,
                                 moderate(u->result, rng));
    *sum = format_to_double(u->c, s->c);
    size[0] = fabsl(*sum);
    size[1] = 0;
    for (int i = 0; i < sample_scales(u); i++)
        s->scale_a[i] = s->scale_b[i] = (uint64_t)u->scale->bias
                                        << u->scale->fraction_bits;
    for (int i = 0; i < u->k; i++) {
        s->a[i] = moderate(u->a, rng);
        s->b[i] = moderate(u->b, rng);
        const long double p = (long double)format_to_double(u->a, s->a[i]) *
                              format_to_double(u->b, s->b[i]);
        *sum += p;
        size[1] += fabsl(p);
    }
}

/* How far an output can be from its sum: each step errs beside all of it and beside its
   own products. */
static long double error_most(const struct bitcut_unit *u, const long double size[2])
{
    const struct step_error e = u->summation->error(u);
    const double last = u->c_last ? round_error(u->c, TO_NEAREST_EVEN) : 0;
    const double sums =
        u->k / u->block * (round_error(u->result, u->rounding.direction) + e.sum) + last;
    const double most = sums + e.products;
    ck_assert_msg(sums > 0 && most < 1, "%s: an error of %g", u->name, most);
    return sums / (1 - most) * size[0] + most / (1 - most) * size[1];
}

START_TEST(errors_are_bounded)
{
    struct rng rng = rng_start(test_seed(), 2);
    for (const struct bitcut_unit *u = units; u->name; u++)
        for (int i = 0; i < test_cases(200, 20000); i++) {
            struct sample s;
            long double sum, size[2];
            fill_moderate(&s, &sum, size, u, &rng);
            const long double most = error_most(u, size),
                              error =
                                  fabsl(format_to_double(u->c, sample_dot(u, &s)) - sum);
            ck_assert_msg(error <= most, "%s: an error of %g, not %g", u->name,
                          (double)error, (double)most);
        }
}
END_TEST

TEST_MAIN("summation", rows_are_complete, fields_read_matter, other_fields_do_not,
          values_are_in_range, errors_are_bounded)
