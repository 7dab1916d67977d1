/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels whose order of k is drawn, so that no model has their bits, with a fault or
   without: the diagnosis names the fault, and its range of k, or says that only rounding
   differs.  The kernels and their conversions are written here, in binary64, and share no
   code with the library. */
#include "analysis/identify/diagnosis.h"
#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- conversions ------------------------------------------------------------------ */

struct short_format {
    const char *name;
    int bits, least, largest; /* of the significand; exponents of normal numbers */
};

enum { F16, BF16, TF32, E4M3, E5M2, SHORT_FORMATS };

static const struct short_format shorts[] = {
    [F16] = { "f16", 11, -14, 15 },   [BF16] = { "bf16", 8, -126, 127 },
    [TF32] = { "tf32", 11, -126, 127 }, [E4M3] = { "e4m3", 4, -6, 8 },
    [E5M2] = { "e5m2", 3, -14, 15 },
};

enum { NEAREST, TOWARD_ZERO, AWAY }; /* AWAY: to nearest, ties away from zero */

static double convert(double x, const struct short_format *f, int rule)
{
    if (x == 0) return x;
    const int e = ilogb(x) < f->least ? f->least : ilogb(x);
    const double step = ldexp(1, e - f->bits + 1);
    const double steps = x / step;
    return (rule == NEAREST ? rint(steps) : rule == AWAY ? round(steps) : trunc(steps)) * step;
}

/* --- kernels ---------------------------------------------------------------------- */

/* Parts of operands: whole, rounded, or high and low parts with a scale. */
struct scheme {
    const char *name;
    int format, scale; /* format -1: FP32; scale -1: no low part */
};

static const struct scheme schemes[] = {
    { "fp32", -1, -1 },  { "f16", F16, -1 },    { "bf16", BF16, -1 },
    { "tf32", TF32, -1 }, { "f16x3", F16, 11 },  { "f16x3 unscaled", F16, 0 },
    { "tf32x3", TF32, 0 }, { "bf16x3", BF16, 0 },
};

enum { SCHEMES = sizeof schemes / sizeof *schemes, HH, HL, LH, TERMS };

enum { LANES_MAX = 13, LONG = 2000 };

struct kernel {
    size_t m, n, k;
    const struct scheme *scheme;
    int lanes, family, rule; /* rule: rounding of sums */
    double alpha, beta;
    uint32_t *a, *b, *c, *d;
    size_t *order;
    /* the fault: */
    const struct planted *fault;
    int term, power, format, by, operands; /* operands: 1 A, 2 B, 3 both */
    size_t first, end;
};

/* A fault: what it changes, and the names that are right. */
struct planted {
    const char *name, *right[6]; /* names of faults */
    bool operands;               /* right: the operands are described */
    bool needs_parts, needs_range, needs_c, needs_alpha, needs_whole, tiny, tile;
    const char *same; /* words of another fault with the same effect, or NULL */
};

enum {
    CORRECT, CORRECT_RZ, LOST, LOST_TERM, TWICE, TWICE_TERM, STALE, STALE_A, STALE_B,
    MISSING, TERM_TWICE, SCALED, LOW_SCALED, NEGATED, ROUNDED, ROUNDED_ONE, FLUSHED,
    FLUSHED_LOW, LOW_ZERO, ALPHA_IGNORED, ALPHA_TWICE, BETA_IGNORED, C_IGNORED, C_TWICE,
    C_COLUMNS, COLUMNS, ROWS_SWAPPED, K_SHIFTED, RESIDUAL_SHORT, TWO, STALE_TILE,
    NOT_WRITTEN, LOST_IN_TILE, FAULTS
};

static const struct planted faults[] = {
    [CORRECT] = { "correct", { NULL } },
    [CORRECT_RZ] = { "correct, sums toward zero", { NULL } },
    [LOST] = { "k lost", { "k lost" }, .needs_range = true },
    [LOST_TERM] = { "k of a term lost", { "k lost" }, .needs_range = true, .needs_parts = true },
    [TWICE] = { "k twice", { "k twice" }, .needs_range = true },
    [TWICE_TERM] = { "k of a term twice", { "k twice" }, .needs_range = true, .needs_parts = true },
    [STALE] = { "k of the neighbour", { "k stale" }, .needs_range = true },
    [STALE_A] = { "k of the neighbour, A", { "k of A stale" }, .needs_range = true },
    [STALE_B] = { "k of the neighbour, B", { "k of B stale" }, .needs_range = true },
    [MISSING] = { "term missing", { "term missing", "low parts zero" }, .needs_parts = true },
    [TERM_TWICE] = { "term twice", { "term twice", "term scaled" }, .needs_parts = true },
    [SCALED] = { "term scaled", { "term scaled", "term twice" }, .needs_parts = true },
    [LOW_SCALED] = { "corrections scaled",
                     { "term scaled", "epilogue scale wrong", "epilogue scale missing",
                       "epilogue scale twice", "low parts not scaled" },
                     .needs_parts = true },
    [NEGATED] = { "residual negated", { "residual negated" }, .needs_parts = true },
    [ROUNDED] = { "operands rounded", { NULL }, .operands = true, .needs_whole = true },
    [ROUNDED_ONE] = { "one operand rounded", { "term missing", "low parts zero" },
                      .operands = true, .needs_whole = true },
    [FLUSHED] = { "subnormal operands flushed", { "subnormal inputs flushed" },
                  .needs_whole = true, .tiny = true },
    [FLUSHED_LOW] = { "subnormal parts flushed",
                      { "subnormal parts flushed", "small inputs flushed",
                        "subnormal high parts lost" },
                      .needs_parts = true },
    [LOW_ZERO] = { "low parts zero", { "low parts zero", "term missing" }, .needs_parts = true },
    [ALPHA_IGNORED] = { "alpha ignored", { "alpha ignored" }, .needs_alpha = true },
    [ALPHA_TWICE] = { "alpha twice", { "alpha twice" }, .needs_alpha = true },
    [BETA_IGNORED] = { "beta ignored", { "beta ignored" }, .needs_c = true },
    [C_IGNORED] = { "C ignored", { "C ignored" }, .needs_c = true },
    [C_TWICE] = { "C twice", { "C twice" }, .needs_c = true },
    [C_COLUMNS] = { "C column-major", { "C column-major" }, .needs_c = true },
    [COLUMNS] = { "column-major operand", { "column-major" } },
    [ROWS_SWAPPED] = { "rows swapped", { "wrong rows or columns", "moved" } },
    [K_SHIFTED] = { "k of one operand swapped", { "wrong k" } },
    [RESIDUAL_SHORT] = { "residual of another rounding", { "residual of another part" },
                         .needs_parts = true },
    [TWO] = { "k lost and a term twice", { "term twice", "term scaled" }, .needs_parts = true,
              .needs_range = true, .same = "is added twice" },
    [STALE_TILE] = { "a tile of another place", { "moved" }, .tile = true },
    [NOT_WRITTEN] = { "a tile not written", { "not written" }, .tile = true },
    [LOST_IN_TILE] = { "k lost in a tile", { "k lost" }, .tile = true, .needs_range = true },
};

static double element(const struct kernel *q, bool is_b, size_t line, size_t p)
{
    const struct planted *const f = q->fault;
    if (f == &faults[COLUMNS] && (q->operands == 2) == is_b) {
        const size_t at = is_b ? line * q->k + p : p * q->m + line;
        return value_of_float((is_b ? q->b : q->a)[at]);
    }
    if (f == &faults[ROWS_SWAPPED] && (q->operands == 2) == is_b) {
        const size_t other = line ^ (size_t)q->by;
        if (other < (is_b ? q->n : q->m)) line = other;
    }
    if (f == &faults[K_SHIFTED] && (q->operands == 2) == is_b) {
        p ^= (size_t)q->by;
        if (p >= q->k) return 0;
    }
    const bool stale = p >= q->first && p < q->end &&
                       (f == &faults[STALE] || f == &faults[is_b ? STALE_B : STALE_A]);
    if (stale) p = q->power < 0 ? p - (q->end - q->first) : p + (q->end - q->first);
    double x = value_of_float(is_b ? q->b[p * q->n + line] : q->a[line * q->k + p]);
    if ((f == &faults[ROUNDED] || f == &faults[ROUNDED_ONE]) &&
        q->operands & (is_b ? 2 : 1))
        x = convert(x, &shorts[q->format], q->by);
    if (f == &faults[FLUSHED] && fabs(x) < 0x1p-126) x = 0;
    return x;
}

static void split(double part[2], const struct kernel *q, double x, bool is_b)
{
    const struct scheme *const s = q->scheme;
    const struct planted *const f = q->fault;
    part[0] = x;
    part[1] = 0;
    if (s->format < 0) return;
    const struct short_format *const to = &shorts[s->format];
    const int rule = s->format == TF32 ? AWAY : NEAREST; /* as conversions to them do */
    part[0] = convert(x, to, rule);
    if (s->scale < 0) return;
    const double high = f == &faults[RESIDUAL_SHORT] ? convert(x, to, TOWARD_ZERO) : part[0];
    part[1] = convert((double)(float)(x - high) * ldexp(1, s->scale), to, rule);
    if (f == &faults[NEGATED]) part[1] = -part[1];
    if (f == &faults[FLUSHED_LOW] && fabs(part[1]) < ldexp(1, to->least)) part[1] = 0;
    if (f == &faults[LOW_ZERO] && q->operands & (is_b ? 2 : 1)) part[1] = 0;
    if (f == &faults[LOW_SCALED]) part[1] = ldexp(part[1], q->power);
}

static float rounded(double x, int rule)
{
    const float near = (float)x;
    if (rule == NEAREST || fabs((double)near) <= fabs(x)) return near;
    return nextafterf(near, 0);
}

/* How often the product of a term at p is added. */
static int times(const struct kernel *q, int term, size_t p)
{
    const struct planted *const f = q->fault;
    const bool inside = p >= q->first && p < q->end;
    if (f == &faults[LOST] || f == &faults[TWO] || f == &faults[LOST_IN_TILE])
        if (inside) return 0;
    if (f == &faults[TWICE] && inside) return 2;
    if (f == &faults[LOST_TERM] && inside && term == q->term) return 0;
    if (f == &faults[TWICE_TERM] && inside && term == q->term) return 2;
    if (f == &faults[MISSING] && term == q->term) return 0;
    return (f == &faults[TERM_TWICE] || f == &faults[TWO]) && term == q->term ? 2 : 1;
}

struct parts {
    double *of[2][2];
};

static double product(const struct kernel *q, const struct parts *x, size_t i, size_t j)
{
    float main[LANES_MAX] = { 0 }, low[LANES_MAX] = { 0 };
    const int scale = q->scheme->scale < 0 ? 0 : q->scheme->scale;
    for (size_t at = 0; at < q->k; at++) {
        const size_t p = q->order[at], l = at % (size_t)q->lanes;
        for (int t = 0; t < (q->scheme->scale < 0 ? 1 : 3); t++) {
            const int term = HH + t;
            const double one = x->of[0][term == LH][i * q->k + p] *
                               x->of[1][term == HL][j * q->k + p];
            const int up = q->fault == &faults[SCALED] && term == q->term ? q->power : 0;
            for (int c = 0; c < times(q, term, p); c++) {
                float *const to = term == HH ? &main[l] : &low[l];
                *to = rounded((double)*to + ldexp(one, up), q->rule);
            }
        }
    }
    for (int l = 1; l < q->lanes; l++) {
        main[0] = rounded((double)main[0] + (double)main[l], q->rule);
        low[0] = rounded((double)low[0] + (double)low[l], q->rule);
    }
    return (double)rounded((double)main[0] + ldexp((double)low[0], -scale), NEAREST);
}

static double finish(const struct kernel *q, double v, size_t i, size_t j)
{
    const struct planted *const f = q->fault;
    double alpha = q->alpha, beta = q->beta;
    size_t at = i * q->n + j;
    if (!q->c)
        return f == &faults[ALPHA_IGNORED]
                   ? v
                   : (double)(float)(alpha * v) * (f == &faults[ALPHA_TWICE] ? alpha : 1);
    if (f == &faults[C_COLUMNS]) at = j * q->m + i;
    if (f == &faults[ALPHA_IGNORED]) alpha = 1;
    if (f == &faults[ALPHA_TWICE]) alpha *= alpha;
    if (f == &faults[BETA_IGNORED]) beta = 1;
    if (f == &faults[C_IGNORED]) beta = 0;
    if (f == &faults[C_TWICE]) beta *= 2;
    return alpha * v + beta * value_of_float(q->c[at]);
}

static double *numbers(size_t count)
{
    double *const x = calloc(count + 1, sizeof *x);
    ck_assert_ptr_nonnull(x);
    return x;
}

static void run(uint32_t *d, const struct kernel *q)
{
    struct parts x;
    for (int is_b = 0; is_b < 2; is_b++) {
        const size_t lines = is_b ? q->n : q->m;
        for (int j = 0; j < 2; j++) x.of[is_b][j] = numbers(lines * q->k);
        for (size_t i = 0; i < lines; i++)
            for (size_t p = 0; p < q->k; p++) {
                double part[2];
                split(part, q, element(q, is_b, i, p), is_b);
                for (int j = 0; j < 2; j++) x.of[is_b][j][i * q->k + p] = part[j];
            }
    }
    for (size_t i = 0; i < q->m; i++)
        for (size_t j = 0; j < q->n; j++)
            d[i * q->n + j] =
                bits_of_float((float)finish(q, product(q, &x, i, j), i, j));
    for (int i = 0; i < 4; i++) free(x.of[i / 2][i % 2]);
}

/* Rows and columns 8 to 23 are a tile; they have the results of another tile, zeros, or
   those of a kernel with a fault. */
enum { TILE_FIRST = 8, TILE_END = 24 };

static void run_tile(struct kernel *q)
{
    struct kernel right = *q;
    uint32_t *const d = calloc(q->m * q->n, sizeof *d);
    right.fault = &faults[CORRECT];
    run(d, &right);
    if (q->fault == &faults[LOST_IN_TILE]) run(q->d, q);
    for (size_t i = 0; i < q->m; i++)
        for (size_t j = 0; j < q->n; j++) {
            const size_t at = i * q->n + j;
            const bool inside = i >= TILE_FIRST && i < TILE_END && j >= TILE_FIRST &&
                                j < TILE_END;
            if (!inside) q->d[at] = d[at];
            else if (q->fault == &faults[STALE_TILE]) q->d[at] = d[at + 16 * q->n + 16];
            else if (q->fault == &faults[NOT_WRITTEN]) q->d[at] = 0;
        }
    free(d);
}

/* --- drawing ---------------------------------------------------------------------- */

static double uniform(uint64_t *rng) { return ldexp((double)(test_bits(rng) >> 11), -53); }

enum { SIGNED, POSITIVE, WIDE, SMALL, NORMAL, FAMILIES };

static double value(uint64_t *rng, int family)
{
    const double u = uniform(rng), sign = test_bits(rng) & 1 ? 1 : -1;
    switch (family) {
    case SIGNED: return sign * u;
    case POSITIVE: return u;
    case SMALL: return ldexp(sign * u, -8);
    case WIDE: return sign * (u + 0.5) * ldexp(1, test_between(rng, -5, 5));
    default: return sqrt(-2 * log(uniform(rng) + 0x1p-60)) * cos(6.283185307179586 * u);
    }
}

static uint32_t *matrix(uint64_t *rng, size_t count, int family, bool tiny)
{
    uint32_t *const x = calloc(count + 1, sizeof *x);
    ck_assert_ptr_nonnull(x);
    for (size_t i = 0; i < count; i++) {
        double v = value(rng, family);
        if (tiny) v = ldexp(v, test_between(rng, 0, 1) ? -127 : -124);
        x[i] = bits_of_float((float)v);
    }
    return x;
}

static void draw_range(struct kernel *q, uint64_t *rng)
{
    const size_t least = q->k / 64 + 1;
    do {
        q->first = (size_t)test_between(rng, 0, (int)q->k - 1);
        q->end = q->k;
        if (test_between(rng, 0, 3))
            q->end = q->first + least + (size_t)test_between(rng, 0, (int)q->k / 4);
    } while (q->end > q->k || q->end - q->first < least || q->end - q->first > q->k / 2);
    if (q->fault != &faults[STALE] && q->fault != &faults[STALE_A] &&
        q->fault != &faults[STALE_B])
        return;
    const size_t wide = (size_t)4 << test_between(rng, 0, q->k < 128 ? 1 : 3);
    const int blocks = (int)(q->k / wide);
    const int at = test_between(rng, q->power < 0, blocks - 1 - (q->power > 0));
    q->first = (size_t)at * wide;
    q->end = q->first + wide;
}

static const struct scheme *draw_scheme(const struct planted *f, uint64_t *rng)
{
    if (f->needs_whole) return &schemes[0];
    return &schemes[f->needs_parts ? test_between(rng, 4, SCHEMES - 1)
                                   : test_between(rng, 0, SCHEMES - 1)];
}

/* Few k, or up to half of all k, of a long sum. */
static void draw_long_range(struct kernel *q, uint64_t *rng)
{
    const int wide = test_between(rng, 0, 1) ? test_between(rng, 2, 16)
                                             : test_between(rng, (int)q->k / 4, (int)q->k / 2);
    q->first = (size_t)test_between(rng, 0, (int)q->k - wide);
    q->end = q->first + (size_t)wide;
}

/* The first k, or the last ones. */
static void draw_end(struct kernel *q, uint64_t *rng)
{
    const size_t wide = (size_t)test_between(rng, 4, 64);
    q->first = test_between(rng, 0, 1) ? q->k - wide : 0;
    q->end = q->first + wide;
}

static void draw(struct kernel *q, const struct planted *f, uint64_t *rng, int k_max,
                 bool one_row)
{
    *q = (struct kernel){ .m = (size_t)test_between(rng, 9, 40),
                          .n = (size_t)test_between(rng, 9, 40),
                          .k = (size_t)test_between(rng, 32, k_max),
                          .scheme = draw_scheme(f, rng),
                          .lanes = test_between(rng, 1, LANES_MAX),
                          .family = test_between(rng, 0, FAMILIES - 1),
                          .rule = f == &faults[CORRECT_RZ] ? TOWARD_ZERO : NEAREST,
                          .alpha = f->needs_alpha || test_between(rng, 0, 1) ? 1.5 : 1,
                          .beta = 0,
                          .fault = f,
                          .term = test_between(rng, HL, LH),
                          .format = test_between(rng, 0, SHORT_FORMATS - 1),
                          .by = 1 << test_between(rng, 0, 3),
                          .operands = test_between(rng, 1, 2) };
    q->power = test_between(rng, 0, 1) ? test_between(rng, 1, 6) : -test_between(rng, 1, 6);
    /* Otherwise all elements, or all low parts, are subnormal. */
    if (q->family == SMALL && (f->tiny || f == &faults[FLUSHED_LOW])) q->family = SIGNED;
    if (f->tile) q->m += 40, q->n += 40;
    if (f == &faults[ROUNDED]) q->operands = 3;
    if (f == &faults[ROUNDED] || f == &faults[ROUNDED_ONE]) q->by = test_between(rng, 0, 1);
    if (k_max > LONG) q->k = (size_t)test_between(rng, LONG, k_max);
    if (one_row) q->m = 1;
    if (one_row) draw_end(q, rng);
    else if (f->needs_range && k_max > LONG) draw_long_range(q, rng);
    else if (f->needs_range) draw_range(q, rng);
    q->a = matrix(rng, q->m * q->k, q->family, f->tiny);
    q->b = matrix(rng, q->k * q->n, q->family, false);
    if (f->needs_c || test_between(rng, 0, 2) == 0) {
        q->c = matrix(rng, q->m * q->n, q->family, false);
        q->beta = -0.75;
        if (f->tiny) q->beta = 0x1p-127;
    }
    q->order = calloc(q->k, sizeof *q->order);
    for (size_t p = 0; p < q->k; p++) {
        const size_t at = (size_t)test_between(rng, 0, (int)p);
        q->order[p] = q->order[at];
        q->order[at] = p;
    }
    q->d = calloc(q->m * q->n, sizeof *q->d);
}

static void clear(struct kernel *q)
{
    free(q->a);
    free(q->b);
    free(q->c);
    free(q->d);
    free(q->order);
}

/* --- judging ---------------------------------------------------------------------- */

/* The median change of D by the fault, in u |A||B|, by the kernel itself. */
static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double change(const struct kernel *q)
{
    struct kernel right = *q;
    const size_t count = q->m * q->n;
    double *const by = numbers(count);
    uint32_t *const d = calloc(count, sizeof *d);
    right.fault = &faults[CORRECT];
    run(d, &right);
    for (size_t at = 0; at < count; at++) {
        double size = q->c ? fabs(q->beta * value_of_float(q->c[at])) : 0;
        for (size_t p = 0; p < q->k; p++)
            size += fabs(q->alpha * value_of_float(q->a[at / q->n * q->k + p]) *
                         value_of_float(q->b[p * q->n + at % q->n]));
        const double apart = fabs(value_of_float(d[at]) - value_of_float(q->d[at]));
        by[at] = size > 0 ? ldexp(apart / size, 24) : 0;
    }
    qsort(by, count, sizeof *by, ascending);
    const double median = by[count / 2];
    free(by);
    free(d);
    return median;
}

enum verdict { RIGHT, WRONG, NONE, NO_EFFECT, VERDICTS };

static bool is_named(const struct diagnosis *g, const struct planted *f)
{
    for (size_t i = 0; i < g->faults; i++)
        for (int r = 0; r < 6 && f->right[r]; r++)
            if (!strcmp(g->fault[i].name, f->right[r])) return true;
    for (size_t i = 0; i < g->sames && f->same; i++)
        if (strstr(g->same[i], f->same)) return true;
    return false;
}

/* The range of k; of low parts the ends may differ by a few k, whose products are small. */
static bool has_range(const struct diagnosis *g, const struct kernel *q)
{
    const size_t off = q->fault->needs_parts ? smaller(q->k / 32 + 2, 12) : 1;
    for (size_t i = 0; i < g->faults; i++) {
        const size_t first = g->fault[i].k_first, end = g->fault[i].k_end;
        if (end && first + off >= q->first && first <= q->first + off &&
            end + off >= q->end && end <= q->end + off)
            return true;
    }
    return false;
}

/* The power of two of a scaled product. */
static bool has_power(const struct diagnosis *g, const struct kernel *q)
{
    char power[20];
    snprintf(power, sizeof power, "2^%d", q->power);
    return strstr(g->fault[0].what, power) || (q->power == 1 && strstr(g->fault[0].what, "twice"));
}

static enum verdict judge(const struct diagnosis *g, const struct kernel *q)
{
    const struct planted *const f = q->fault;
    if (g->level == DIAGNOSIS_UNEXPLAINED || g->level == DIAGNOSIS_NONE) return NONE;
    if (f == &faults[CORRECT] || f == &faults[CORRECT_RZ])
        return g->level != DIAGNOSIS_FAULT ? RIGHT : WRONG;
    if (f->tile && (!g->outside || !strstr(g->place, "rows"))) return WRONG;
    if (f->operands && g->level == DIAGNOSIS_OPERANDS)
        return strstr(g->operands, shorts[q->format].name) ||
                       (q->format == TF32 && strstr(g->operands, "f16")) ||
                       (q->format == F16 && strstr(g->operands, "tf32"))
                   ? RIGHT
                   : WRONG;
    if (g->level != DIAGNOSIS_FAULT || !is_named(g, f)) return WRONG;
    if (f == &faults[SCALED] && !has_power(g, q)) return WRONG;
    return !f->needs_range || has_range(g, q) ? RIGHT : WRONG;
}

static void tell(const struct kernel *q, const struct diagnosis *g, enum verdict v,
                 int number)
{
    char text[1500] = "";
    diagnosis_describe(text, sizeof text, g);
    printf("# %s %d: %s of %s, %zu x %zu x %zu, %d lanes, family %d, alpha %g, beta %g, "
           "term %d, power %d, format %s, by %d, operands %d, k %zu to %zu: %s\n",
           v == WRONG ? "WRONG" : "none", number, q->fault->name, q->scheme->name, q->m, q->n,
           q->k, q->lanes, q->family, q->alpha, q->beta, q->term, q->power,
           shorts[q->format].name, q->by, q->operands,
           q->first, q->end, text);
}

static enum verdict diagnose(const struct planted *f, uint64_t *rng, int k_max, bool one_row,
                             int number)
{
    static const double visible = 2.5;
    struct kernel q;
    struct diagnosis g;
    draw(&q, f, rng, k_max, one_row);
    if (f->tile) run_tile(&q);
    else run(q.d, &q);
    const bool correct = f == &faults[CORRECT] || f == &faults[CORRECT_RZ];
    enum verdict v = NO_EFFECT;
    if (correct || f->tile || change(&q) > visible) {
        const struct problem p = { .a = { .rows = q.m, .cols = q.k, .at = q.a },
                                   .b = { .rows = q.k, .cols = q.n, .at = q.b },
                                   .c = { .rows = q.m, .cols = q.n, .at = q.c },
                                   .d = { .rows = q.m, .cols = q.n, .at = q.d },
                                   .format = &formats[FORMAT_F32],
                                   .alpha = bits_of_float((float)q.alpha),
                                   .beta = bits_of_float((float)q.beta) };
        ck_assert_int_eq(diagnosis_find(&g, &p, 0, NULL, NULL), BITCUT_OK);
        v = judge(&g, &q);
        if (v == WRONG || v == NONE) tell(&q, &g, v, number);
    }
    clear(&q);
    return v;
}

START_TEST(faults_are_named)
{
    const int cases = test_cases(8, 40);
    const char *const only = getenv("BITCUT_FAULT");
    int all[VERDICTS] = { 0 };
    for (int i = 0; i < FAULTS; i += test_step(3)) {
        int count[VERDICTS] = { 0 };
        if (only && atoi(only) != i) continue;
        for (int c = 0; c < cases; c++) {
            if (!test_in_turn(i, c) && cases > 1) continue;
            uint64_t rng = test_seed() * 1000003 + (uint64_t)(i * 1009 + c);
            count[diagnose(&faults[i], &rng, 300, false, c)]++;
        }
        printf("# %2d %-32s right %3d, wrong %2d, none %2d, no effect %2d\n", i, faults[i].name,
               count[RIGHT], count[WRONG], count[NONE], count[NO_EFFECT]);
        ck_assert_msg(count[RIGHT] || !count[NONE], "%s: never named", faults[i].name);
        for (int v = 0; v < VERDICTS; v++) all[v] += count[v];
    }
    printf("# all: right %d, wrong %d, none %d, no effect %d\n", all[RIGHT], all[WRONG],
           all[NONE], all[NO_EFFECT]);
    ck_assert_int_eq(all[WRONG], 0);
    ck_assert_int_le(all[NONE] * 100, (all[RIGHT] + all[NONE]) * 3);
}
END_TEST

/* The verdicts on kernels with ranges of k, of faults in turn. */
static void ranges_are_named(const char *what, const int *which, int faulty, int cases,
                             bool one_row, int stream)
{
    int count[VERDICTS] = { 0 };
    if (getenv("BITCUT_FAULT")) return;
    for (int c = 0; c < cases; c += test_whole() ? 1 : 3) {
        uint64_t rng = test_seed() * 1000003 + (uint64_t)(stream + c);
        count[diagnose(&faults[which[c % faulty]], &rng, 4096, one_row, c)]++;
    }
    printf("# %s: right %d, wrong %d, none %d, no effect %d\n", what, count[RIGHT],
           count[WRONG], count[NONE], count[NO_EFFECT]);
    ck_assert_int_eq(count[WRONG], 0);
    ck_assert_int_le(count[NONE] * 100, (count[RIGHT] + count[NONE]) * 3);
}

/* Ranges of few k and of many k in long sums. */
START_TEST(ranges_of_long_sums)
{
    static const int which[] = { LOST, LOST_TERM, TWICE, TWICE_TERM };
    ranges_are_named("long sums", which, 4, test_cases(16, 64), false, 77777);
}
END_TEST

/* The ends of k in results of one row, as those of gemv kernels and of few tokens. */
START_TEST(ends_of_one_row)
{
    static const int which[] = { LOST, TWICE };
    ranges_are_named("one row", which, 2, test_cases(16, 200), true, 99999);
}
END_TEST
TEST_MAIN("diagnosis", faults_are_named, ranges_of_long_sums, ends_of_one_row)
