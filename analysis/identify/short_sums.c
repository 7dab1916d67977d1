/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/short_sums.h"

#include "analysis/identify/rounding_level.h"
#include "lib/base/size.h"
#include "lib/base/stats.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const int shorter[] = { FORMAT_BF16, FORMAT_F16, FORMAT_TF32 };

enum { SHORTER = sizeof shorter / sizeof *shorter, FEWEST = 48 };

/* --- D in a shorter format -------------------------------------------------------- */

static bool has_all(const struct bitcut_format *f, const struct block *b)
{
    size_t count = 0, integers = 0;
    for (size_t at = 0; at < b->rows * b->cols; at++) {
        const uint32_t d = b->d[at];
        if (!f32_is_finite(d) || value_of_float(d) == 0) continue;
        if (f32_through(f, &roundings[ROUND_RN], d) != d) return false;
        integers += fmod(value_of_float(d), 1) == 0;
        count++;
    }
    return count >= FEWEST && integers < count / 2;
}

/* Whether exact results are numbers of the format, too. */
static bool are_in(const struct bitcut_format *f, const double *exact, size_t count)
{
    size_t fits = 0;
    for (size_t at = 0; at < count; at++) {
        const uint32_t x = bits_of_float((float)exact[at]);
        fits += f32_through(f, &roundings[ROUND_RN], x) == x;
    }
    return fits > count / 2;
}

const struct bitcut_format *short_sums_stored(const struct block *b, const double *exact)
{
    for (size_t i = 0; i < SHORTER; i++) {
        const struct bitcut_format *const f = &formats[shorter[i]];
        if (f->fraction_bits < b->q->format->fraction_bits && has_all(f, b))
            return are_in(f, exact, b->rows * b->cols) ? NULL : f;
    }
    return NULL;
}

bool short_sums_are_truncated(const struct block *b, const struct bitcut_format *f,
                              const double *rest)
{
    static const double by = -0.35;
    double sum = 0;
    size_t count = 0;
    for (size_t at = 0; at < b->rows * b->cols; at++) {
        const double d = value_of_float(b->d[at]),
                     t = rest[at] / copysign(number_spacing(f, d), d);
        if (d == 0 || !isfinite(t) || fabs(t) > 2) continue;
        sum += t;
        count++;
    }
    return count >= FEWEST && sum < by * (double)count;
}

/* --- sums in a shorter format ----------------------------------------------------- */

/* D of an output, or the value of a guess, without alpha and C; and the distance of its
   neighbours. */
static double before_epilogue(double *apart, const struct residuals *e, double d,
                              size_t at)
{
    const struct bitcut_format *const f = &formats[FORMAT_F32];
    const double alpha = value_of_float(e->b.q->alpha),
                 c = e->b.c ? value_of_float(e->b.q->beta) * value_of_float(e->b.c[at])
                            : 0;
    *apart = fmax(number_spacing(f, d), number_spacing(f, c)) / fabs(alpha);
    return (d - c) / alpha;
}

/* The sums of an arithmetic that are not in its first accumulator: only the latter may
   have few bits.  False: there are none, or no memory. */
static bool corrections_of(double *to, const struct residuals *e, size_t arithmetic)
{
    struct candidate x = e->arithmetics.at[arithmetic].x;
    int kept = 0;
    for (int t = 0; t < x.plan.terms; t++)
        if (x.plan.term[t].accumulator) x.plan.term[kept++] = x.plan.term[t];
    x.plan.terms = kept;
    if (kept) part_values(to, &e->arithmetics.at[arithmetic].sums, &x);
    return kept;
}

/* D of an output as it is stored. */
static double stored_at(const struct residuals *e, size_t at)
{
    const int places =
        e->truncated ? formats[FORMAT_F32].fraction_bits - e->stored->fraction_bits : 0;
    return value_of_float(e->b.d[at] >> places << places);
}

struct share {
    double of_d, of_guess, by_chance; /* of the outputs */
};

/* The outputs whose sums, less corrections if there are any, have so many bits at most.
   Corrections were rounded, too. */
static struct share with_bits(const struct residuals *e, const struct guess *g,
                              const double *corrections, const struct bitcut_format *f,
                              int bits)
{
    static const double within = 1.5, rounded = 0x1p-9;
    struct share s = { 0 };
    double count = 0;
    for (size_t at = 0; at < e->outputs; at++) {
        const double d = stored_at(e, at), of[] = { d, d - g->rest[at] };
        bool fits[2] = { false };
        double chance = 1;
        if (isnan(e->level[at]) || d == 0) continue;
        for (int i = 0; i < 2; i++) {
            double apart;
            const double less = corrections ? corrections[at] : 0,
                         v = before_epilogue(&apart, e, of[i], at) - less,
                         q = ldexp(number_spacing(f, v), f->fraction_bits + 1 - bits),
                         t = v / q, near = within * apart + rounded * fabs(less);
            fits[i] = isfinite(t) && fabs(t - rint(t)) * q <= near;
            if (!i) chance = fmin(1, 2 * near / q);
        }
        s.of_d += fits[0];
        s.of_guess += fits[1];
        s.by_chance += chance;
        count++;
    }
    if (count < FEWEST) return (struct share){ 0, 1, 1 };
    return (struct share){ s.of_d / count, s.of_guess / count, s.by_chance / count };
}

/* Whether D has them by no chance, and the guess has not. */
static bool is_shown(struct share s, double least)
{
    static const double most = 0.25;
    return s.by_chance < most && s.of_d > least + s.by_chance &&
           s.of_guess < most + s.by_chance;
}

/* The median error of a guess, before alpha, in last places of a format. */
static double error_in(const struct residuals *e, const struct guess *g,
                       const struct bitcut_format *f)
{
    const double alpha = fabs(value_of_float(e->b.q->alpha));
    size_t count = 0;
    for (size_t at = 0; at < e->outputs; at++) {
        double apart;
        const double v = before_epilogue(&apart, e, stored_at(e, at), at);
        if (!isnan(e->level[at]) && v != 0)
            e->some[count++] = fabs(g->rest[at]) / (alpha * number_spacing(f, v));
    }
    return count ? doubles_median(e->some, count) : 0;
}

/* A shorter format of sums, or of partial sums. */
struct shown {
    const struct bitcut_format *f; /* NULL: none */
    bool of_parts;
    size_t arithmetic; /* with these corrections */
};

/* The format that the bits of D show, with these corrections. */
static struct shown find_shown(const struct residuals *e, const struct guess *g,
                               const double *corrections)
{
    /* Bits of sums of a few numbers of f16 or bf16, and of more of them. */
    static const int few_bits[] = { 16, 18 };
    static const double all = 0.9, few = 0.35, of_bf16 = 2;
    const struct bitcut_format *const f16 = &formats[FORMAT_F16];
    for (size_t i = 0; i < SHORTER; i++) {
        const struct bitcut_format *const one = &formats[shorter[i]];
        if (is_shown(with_bits(e, g, corrections, one, one->fraction_bits + 1), all))
            return (struct shown){ one, false, g->arithmetic };
    }
    for (size_t i = 0; i < sizeof few_bits / sizeof *few_bits; i++)
        if (is_shown(with_bits(e, g, corrections, f16, few_bits[i]), few))
            return (struct shown){ error_in(e, g, f16) > of_bf16 ? &formats[FORMAT_BF16]
                                                                 : f16,
                                   true, g->arithmetic };
    return (struct shown){ .f = NULL };
}

/* The same without corrections, or with the corrections of a recipe. */
static struct shown find_any(const struct residuals *e, const struct guess *g)
{
    struct shown s = find_shown(e, g, NULL);
    double *const corrections = memory_allocate(e->outputs + 1, sizeof *corrections);
    for (size_t i = 0; i < e->arithmetics.count && corrections && !s.f; i++)
        if (e->arithmetics.at[i].kind == ARITHMETIC_SPLIT &&
            corrections_of(corrections, e, i)) {
            s = find_shown(e, g, corrections);
            s.arithmetic = i;
        }
    free(corrections);
    return s;
}

bool short_sums_name(struct diagnosis *to, const struct residuals *e,
                     const struct guess *g)
{
    /* Errors of one rounding, and of so many that D would show nothing. */
    static const double least = 0.1, most = 40;
    if (e->b.own || e->b.q->format != &formats[FORMAT_F32]) return false;
    const struct shown s = find_any(e, g);
    if (!s.f || error_in(e, g, s.f) < least || error_in(e, g, s.f) > most) return false;
    to->level = DIAGNOSIS_FAULT;
    to->faults = 1;
    to->fault[0].name = s.of_parts ? "partial sums short" : "accumulator short";
    arithmetic_describe(to->operands, sizeof to->operands,
                        &e->arithmetics.at[s.arithmetic]);
    snprintf(to->fault[0].what, sizeof to->fault[0].what,
             s.of_parts
                 ? "partial sums are rounded to %s before they are added, so that "
                   "results have few bits"
                 : "sums are rounded to %s, which has all results without alpha and C",
             s.f->name);
    return true;
}

void short_sums_add_store(struct diagnosis *to, const struct residuals *e)
{
    if (!e->stored || to->faults == DIAGNOSED_FAULTS_MAX) return;
    struct diagnosed_fault *const one = &to->fault[to->faults++];
    to->level = DIAGNOSIS_FAULT;
    one->name = e->truncated ? "store truncated" : "store short";
    snprintf(one->what, sizeof one->what,
             "the result is rounded to %s (%s) before it is stored", e->stored->name,
             roundings[e->truncated ? ROUND_RZ : ROUND_RN].name);
}
