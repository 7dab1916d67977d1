/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the parts: scales, subnormals, residuals. */
#include "analysis/identify/fault.h"

#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <stdio.h>

/* --- scales ----------------------------------------------------------------------- */

static bool fold_missing(struct candidate *x, const struct space *s, int kind)
{
    (void)s, (void)kind;
    if (!x->plan.scale) return false;
    x->plan.scale = 0;
    return true;
}

static bool fold_twice(struct candidate *x, const struct space *s, int kind)
{
    (void)s, (void)kind;
    if (!x->plan.scale) return false;
    x->plan.scale *= 2;
    return true;
}

/* Of both operands, of A, of B. */
static size_t three(const struct space *s)
{
    (void)s;
    return 3;
}

static bool parts_unscaled(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    if (!x->plan.scale) return false;
    if (kind != 2) x->plan.split_a.scale = 0;
    if (kind != 1) x->plan.split_b.scale = 0;
    return true;
}

static const char *const whose[] = { "A and B", "A", "B" };

static void describe_unscaled(char *text, size_t size, const struct candidate *x,
                              const struct space *s, int kind)
{
    (void)s;
    snprintf(text, size, "the low parts of %s are not multiplied by 2^%d", whose[kind],
             x->plan.scale);
}

/* The epilogue has another scale than the parts. */
enum { SCALE_STEPS = 4 };

static size_t scale_steps(const struct space *s)
{
    (void)s;
    return 2 * SCALE_STEPS;
}

static int scale_step(int kind)
{
    return kind < SCALE_STEPS ? kind + 1 : SCALE_STEPS - 1 - kind;
}

static bool fold_other(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    if (!x->plan.scale || x->plan.scale + scale_step(kind) <= 0) return false;
    x->plan.scale += scale_step(kind);
    return true;
}

static void describe_fold_other(char *text, size_t size, const struct candidate *x,
                                const struct space *s, int kind)
{
    (void)s;
    snprintf(text, size, "corrections are scaled by 2^-%d, but the parts by 2^%d",
             x->plan.scale, x->plan.scale - scale_step(kind));
}

/* --- subnormals ------------------------------------------------------------------- */

static const struct bitcut_rounding *flushing(const struct bitcut_rounding *r)
{
    static const struct bitcut_rounding rows[] = {
        { .name = "rn, flushed", .direction = TO_NEAREST_EVEN, .flush = true },
        { .name = "rna, flushed", .direction = TO_NEAREST_AWAY, .flush = true },
        { .name = "rz, flushed", .direction = TO_ZERO, .flush = true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].direction == r->direction) return &rows[i];
    return r;
}

/* Of all parts, of the high parts, of the low parts. */
static bool parts_flushed(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    struct bitcut_split *const split[] = { &x->plan.split_a, &x->plan.split_b };
    bool any = false;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < split[i]->parts; j++) {
            const struct bitcut_rounding **const rounding = &split[i]->part[j].rounding;
            const struct bitcut_rounding *const was = *rounding;
            if (kind != (j ? 1 : 2)) *rounding = flushing(was);
            any |= *rounding != was;
        }
    return any && (x->plan.split_a.parts > 1 || kind == 0);
}

static void describe_flushed(char *text, size_t size, const struct candidate *x,
                             const struct space *s, int kind)
{
    static const char *const which[] = { "parts", "high parts", "low parts" };
    (void)x, (void)s;
    snprintf(text, size, "subnormal %s are flushed to zero", which[kind]);
}

static bool inputs_flushed(struct candidate *x, const struct space *s, int kind)
{
    (void)s, (void)kind;
    x->flushed = true;
    return true;
}

/* --- parts of one element --------------------------------------------------------- */

/* A high part and a low part, as kernels compute them. */
static bool is_pair(const struct candidate *x)
{
    const struct bitcut_split *const a = &x->plan.split_a, *const b = &x->plan.split_b;
    return a->parts == 2 && b->parts == 2 && !a->part[1].copy && !b->part[1].copy;
}

static uint32_t negated(uint32_t x) { return x ^ 0x80000000u; }

static uint32_t rounded(const struct split_part *w, uint32_t x)
{
    return f32_through(w->format, w->rounding, x);
}

/* The low part of a residual. */
static uint32_t low_of(const struct bitcut_split *split, uint32_t residual)
{
    const struct split_part *const low = &split->part[1];
    return rounded(low,
                   f32_multiply(residual, f32_power_of_two(low->level * split->scale)));
}

static uint32_t residual_of(uint32_t x, uint32_t high)
{
    return f32_add(x, negated(high));
}

static void low_negated(const struct spelling *s) { s->part[1] = negated(s->part[1]); }

static void low_is_high(const struct spelling *s)
{
    s->part[1] =
        f32_through(s->split->part[1].format, &roundings[ROUND_RN], s->part[0]);
}

/* x->by[0]: the rounding rule of the high part whose residual is taken. */
static void low_of_another(const struct spelling *s)
{
    const uint32_t high =
        f32_through(s->split->part[0].format, &roundings[s->x->by[0]], s->element);
    s->part[1] = low_of(s->split, residual_of(s->element, high));
}

/* x->by[0]: the intermediate format. */
static void high_through(const struct spelling *s)
{
    const uint32_t x =
        f32_through(&formats[s->x->by[0]], &roundings[ROUND_RN], s->element);
    s->part[0] = rounded(&s->split->part[0], x);
    if (s->split->parts > 1)
        s->part[1] = low_of(s->split, residual_of(s->element, s->part[0]));
}

static void low_through(const struct spelling *s)
{
    const uint32_t r = residual_of(s->element, s->part[0]);
    s->part[1] =
        low_of(s->split, f32_through(&formats[s->x->by[0]], &roundings[ROUND_RN], r));
}

/* The residual is rounded to the format of the parts before it is scaled. */
static void low_before_scale(const struct spelling *s)
{
    const uint32_t r = residual_of(s->element, s->part[0]);
    s->part[1] = low_of(
        s->split, f32_through(s->split->part[1].format, &roundings[ROUND_RN], r));
}

static bool below_normal(const struct bitcut_format *format, uint32_t x)
{
    static const struct bitcut_rounding flushed = { .name = "rz, flushed",
                                                    .direction = TO_ZERO,
                                                    .flush = true };
    return f32_is_zero(f32_through(format, &flushed, x));
}

static void high_flushed_late(const struct spelling *s)
{
    if (below_normal(s->split->part[0].format, s->part[0])) s->part[0] &= 0x80000000u;
}

static void element_flushed(const struct spelling *s)
{
    if (!below_normal(s->split->part[0].format, s->element)) return;
    for (int j = 0; j < s->split->parts; j++) s->part[j] = 0;
}

static void low_not_finite(const struct spelling *s)
{
    if (!f32_is_finite(s->part[1])) s->part[1] = 0;
}

/* x->by[0]: the part; by[1]: the operand that has the other operand's part. */
static void part_of_other(const struct spelling *s)
{
    uint64_t part[SPLIT_PARTS_MAX];
    const int j = s->x->by[0];
    if ((int)s->operand != s->x->by[1] || !s->has_other) return;
    split_apply(part, s->other_split, s->other);
    s->part[j] =
        (uint32_t)bitcut_format_convert(&formats[FORMAT_F32], &roundings[ROUND_RN],
                                        s->other_split->part[j].format, part[j]);
}

/* x->by[0]: the operand; 2: both. */
static void low_zero(const struct spelling *s)
{
    if (s->x->by[0] == 2 || s->x->by[0] == (int)s->operand) s->part[1] = 0;
}

/* --- which element ---------------------------------------------------------------- */

#define RESPELL(name)                                                                    \
    static bool parts_##name(struct candidate *x, const struct space *s, int kind)       \
    {                                                                                    \
        (void)s, (void)kind;                                                             \
        x->respell = name;                                                               \
        return is_pair(x) && !x->plan.equilibrate;                                       \
    }

RESPELL(low_negated)
RESPELL(low_is_high)
RESPELL(low_not_finite)

static const int other_rules[] = { ROUND_RN, ROUND_RNA, ROUND_RZ };

static bool parts_low_of_another(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    x->respell = low_of_another;
    x->by[0] = other_rules[kind];
    return is_pair(x) && !x->plan.equilibrate &&
           roundings[x->by[0]].direction != x->plan.split_a.part[0].rounding->direction;
}

static void describe_low_of_another(char *text, size_t size, const struct candidate *x,
                                    const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size,
             "residuals are taken from high parts rounded by %s, not from the actual "
             "high parts",
             roundings[x->by[0]].name);
}

static const int ways[] = { FORMAT_BF16, FORMAT_F16, FORMAT_TF32 };

static bool parts_high_through(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    x->respell = high_through;
    x->by[0] = ways[kind];
    return (is_pair(x) || x->plan.split_a.parts == 1) && !x->plan.equilibrate &&
           &formats[x->by[0]] != x->plan.split_a.part[0].format &&
           x->unit.a != &formats[FORMAT_F32];
}

static bool parts_low_through(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    x->respell = low_through;
    x->by[0] = ways[kind];
    return is_pair(x) && !x->plan.equilibrate &&
           &formats[x->by[0]] != x->plan.split_a.part[1].format;
}

static void describe_high_through(char *text, size_t size, const struct candidate *x,
                                  const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "elements are rounded to %s before the high parts are taken",
             formats[x->by[0]].name);
}

static void describe_low_through(char *text, size_t size, const struct candidate *x,
                                 const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "residuals are rounded to %s before the low parts are taken",
             formats[x->by[0]].name);
}

static bool parts_low_before_scale(struct candidate *x, const struct space *s, int kind)
{
    (void)s, (void)kind;
    x->respell = low_before_scale;
    return is_pair(x) && !x->plan.equilibrate && x->plan.scale;
}

static bool has_subnormals(const struct candidate *x)
{
    const struct bitcut_format *f = x->plan.split_a.part[0].format;
    return !x->plan.equilibrate && f->exponent_bits < formats[FORMAT_F32].exponent_bits;
}

static bool parts_high_flushed_late(struct candidate *x, const struct space *s, int kind)
{
    (void)s, (void)kind;
    x->respell = high_flushed_late;
    return is_pair(x) && has_subnormals(x);
}

static bool parts_element_flushed(struct candidate *x, const struct space *s, int kind)
{
    (void)s, (void)kind;
    x->respell = element_flushed;
    return has_subnormals(x);
}

static size_t four(const struct space *s)
{
    (void)s;
    return 4;
}

static bool parts_of_other(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    x->respell = part_of_other;
    x->by[0] = kind / 2;
    x->by[1] = kind % 2 ? BITCUT_B : BITCUT_A;
    return !x->plan.equilibrate && x->by[0] < x->plan.split_a.parts &&
           x->by[0] < x->plan.split_b.parts;
}

static void describe_of_other(char *text, size_t size, const struct candidate *x,
                              const struct space *s, int kind)
{
    (void)s, (void)kind;
    const bool b = x->by[1] == BITCUT_B;
    snprintf(text, size, "the %s parts of %s are used in place of the parts of %s",
             x->by[0] ? "low" : "high", b ? "A" : "B", b ? "B" : "A");
}

static bool parts_low_zero(struct candidate *x, const struct space *s, int kind)
{
    (void)s;
    x->respell = low_zero;
    x->by[0] = kind;
    return is_pair(x);
}

static void describe_low_zero(char *text, size_t size, const struct candidate *x,
                              const struct space *s, int kind)
{
    static const char *const of[] = { "A", "B", "A and B" };
    (void)x, (void)s;
    snprintf(text, size, "the low parts of %s are zero", of[kind]);
}

/* --- the table -------------------------------------------------------------------- */

const struct kernel_fault kernel_faults_parts[] = {
    { .name = "epilogue scale missing",
      .what = "corrections are not multiplied by the inverse scale before they are added",
      .alter = fold_missing },
    { .name = "low parts not scaled",
      .what = "low parts are not multiplied by their scale",
      .kinds = three,
      .alter = parts_unscaled,
      .describe = describe_unscaled },
    { .name = "epilogue scale twice",
      .what = "corrections are multiplied by the inverse scale twice",
      .alter = fold_twice },
    { .name = "epilogue scale wrong",
      .what = "corrections are multiplied by a wrong inverse scale",
      .kinds = scale_steps,
      .alter = fold_other,
      .describe = describe_fold_other },
    { .name = "subnormal parts flushed",
      .what = "subnormal parts become zeros",
      .kinds = three,
      .alter = parts_flushed,
      .describe = describe_flushed },
    { .name = "subnormal inputs flushed",
      .what = "subnormal elements of A and B are read as zeros",
      .alter = inputs_flushed },
    { .name = "small inputs flushed",
      .of_parts = true,
      .what = "elements that are subnormal as high parts are read as zeros",
      .alter = parts_element_flushed },
    { .name = "subnormal high parts lost",
      .of_parts = true,
      .what = "subnormal high parts become zeros after the residuals were taken",
      .alter = parts_high_flushed_late },
    { .name = "residual negated",
      .of_parts = true,
      .what = "the low part has the wrong sign",
      .alter = parts_low_negated },
    { .name = "residual short",
      .of_parts = true,
      .what = "residuals are rounded to the format of the parts before they are scaled",
      .alter = parts_low_before_scale },
    { .name = "residual of another part",
      .of_parts = true,
      .what = "residuals are taken from a high part with another rounding",
      .kinds = three,
      .alter = parts_low_of_another,
      .describe = describe_low_of_another },
    { .name = "high parts through another format",
      .of_parts = true,
      .what = "elements are rounded to another format before the high parts are taken",
      .kinds = three,
      .alter = parts_high_through,
      .describe = describe_high_through },
    { .name = "low parts through another format",
      .of_parts = true,
      .what = "residuals are rounded to another format before the low parts are taken",
      .kinds = three,
      .alter = parts_low_through,
      .describe = describe_low_through },
    { .name = "low parts not finite zeroed",
      .of_parts = true,
      .what = "low parts that are NaN or infinite become zeros",
      .alter = parts_low_not_finite },
    { .name = "low parts are high parts",
      .of_parts = true,
      .what = "the high part is used in place of the low part",
      .alter = parts_low_is_high },
    { .name = "parts of the other operand",
      .of_parts = true,
      .what = "parts of B are used in place of parts of A, or the reverse",
      .kinds = four,
      .alter = parts_of_other,
      .describe = describe_of_other },
    { .name = "low parts zero",
      .of_parts = true,
      .what = "low parts are not computed",
      .kinds = three,
      .alter = parts_low_zero,
      .describe = describe_low_zero },
    { 0 }
};
