/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults between the product and D. */
#include "analysis/identify/fault.h"

#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <stdio.h>

/* --- roundings of D --------------------------------------------------------------- */

static bool stored_truncated(struct candidate *x, const struct space *s, int kind)
{
    (void)kind;
    x->store = &roundings[ROUND_RZ];
    return s->format != &formats[FORMAT_F32];
}

/* FP32 sums that were rounded to a shorter format before they were stored. */
static const int shorter[] = { FORMAT_F16, FORMAT_BF16, FORMAT_TF32 };

static const int shorter_by[] = { ROUND_RN, ROUND_RNA, ROUND_RZ };

enum {
    SHORTER = sizeof shorter / sizeof *shorter,
    SHORTER_BY = sizeof shorter_by / sizeof *shorter_by
};

static size_t every_shorter(const struct space *s)
{
    (void)s;
    return SHORTER * SHORTER_BY;
}

static bool stored_shorter(struct candidate *x, const struct space *s, int kind)
{
    x->through = &formats[shorter[kind / SHORTER_BY]];
    x->through_by = &roundings[shorter_by[kind % SHORTER_BY]];
    return s->format == &formats[FORMAT_F32];
}

static void describe_shorter(char *text, size_t size, const struct candidate *x,
                             const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "the result was rounded to %s (%s) before it was stored",
             x->through->name, x->through_by->name);
}

/* --- alpha, beta and C ------------------------------------------------------------ */

static uint32_t alpha_of(const struct candidate *x) { return x->gemm.alpha; }
static uint32_t beta_of(const struct candidate *x) { return x->gemm.beta; }
static uint32_t negated(uint32_t x) { return x ^ 0x80000000u; }

/* The epilogue of a correct kernel. */
static uint32_t right(const struct candidate *x, uint32_t v, uint32_t c)
{
    const uint32_t t = f32_multiply(alpha_of(x), v);
    return gemm_reads_c(&x->gemm) ? f32_fma(beta_of(x), c, t) : t;
}

static uint32_t without_alpha(const struct candidate *x, uint32_t v, uint32_t c)
{
    return gemm_reads_c(&x->gemm) ? f32_fma(beta_of(x), c, v) : v;
}

static uint32_t alpha_again(const struct candidate *x, uint32_t v, uint32_t c)
{
    return right(x, f32_multiply(alpha_of(x), v), c);
}

static uint32_t alpha_of_both(const struct candidate *x, uint32_t v, uint32_t c)
{
    return f32_multiply(alpha_of(x), without_alpha(x, v, c));
}

static uint32_t without_beta(const struct candidate *x, uint32_t v, uint32_t c)
{
    return f32_add(f32_multiply(alpha_of(x), v), c);
}

static uint32_t without_c(const struct candidate *x, uint32_t v, uint32_t c)
{
    (void)c;
    return f32_multiply(alpha_of(x), v);
}

static uint32_t c_again(const struct candidate *x, uint32_t v, uint32_t c)
{
    return f32_fma(beta_of(x), c, right(x, v, c));
}

static uint32_t c_less(const struct candidate *x, uint32_t v, uint32_t c)
{
    return right(x, v, negated(c));
}

static uint32_t factors_swapped(const struct candidate *x, uint32_t v, uint32_t c)
{
    return f32_fma(alpha_of(x), c, f32_multiply(beta_of(x), v));
}

static uint32_t c_alone(const struct candidate *x, uint32_t v, uint32_t c)
{
    (void)v;
    return right(x, c, c);
}

/* fma(a, b, c) toward zero. */
static uint32_t truncated(uint32_t a, uint32_t b, uint32_t c)
{
    return (uint32_t)fma_round(&formats[FORMAT_F32], &roundings[ROUND_RZ], F32_NAN, a, b,
                               c);
}

static uint32_t toward_zero(const struct candidate *x, uint32_t v, uint32_t c)
{
    const uint32_t t = truncated(alpha_of(x), v, 0);
    return gemm_reads_c(&x->gemm) ? truncated(beta_of(x), c, t) : t;
}

static uint32_t twice(const struct candidate *x, uint32_t v, uint32_t c)
{
    const uint32_t d = right(x, v, c);
    return f32_add(d, d);
}

static uint32_t opposite(const struct candidate *x, uint32_t v, uint32_t c)
{
    return negated(right(x, v, c));
}

/* x->by[0]: the encoding of the factor. */
static uint32_t multiplied(const struct candidate *x, uint32_t v, uint32_t c)
{
    return f32_multiply((uint32_t)x->by[0], right(x, v, c));
}

/* The conditions under which an epilogue differs from the correct one. */
enum { NEEDS_ALPHA = 1, NEEDS_BETA = 2, NEEDS_C = 4, NEEDS_ALPHA_OR_C = 8 };

static bool has(const struct space *s, int needs)
{
    const bool alpha = s->alpha != F32_ONE;
    return !((needs & NEEDS_ALPHA && !alpha) ||
             (needs & NEEDS_BETA && s->beta == F32_ONE) ||
             (needs & NEEDS_C && !s->reads_c) ||
             (needs & NEEDS_ALPHA_OR_C && !alpha && !s->reads_c));
}

#define FINISH(name, needs)                                                              \
    static bool finish_##name(struct candidate *x, const struct space *s, int kind)      \
    {                                                                                    \
        (void)kind;                                                                      \
        x->finish = name;                                                                \
        return has(s, needs);                                                            \
    }

FINISH(without_alpha, NEEDS_ALPHA)
FINISH(alpha_again, NEEDS_ALPHA)
FINISH(alpha_of_both, NEEDS_ALPHA | NEEDS_C)
FINISH(without_beta, NEEDS_BETA | NEEDS_C)
FINISH(without_c, NEEDS_C)
FINISH(c_again, NEEDS_C)
FINISH(c_less, NEEDS_C)
FINISH(factors_swapped, NEEDS_C)
FINISH(c_alone, NEEDS_C)
FINISH(toward_zero, NEEDS_ALPHA_OR_C)
FINISH(twice, 0)
FINISH(opposite, 0)

static bool finish_multiplied(struct candidate *x, const struct space *s, int kind)
{
    (void)kind;
    x->finish = multiplied;
    x->by[0] = (int)s->larger;
    return s->larger;
}

static void describe_multiplied(char *text, size_t size, const struct candidate *x,
                                const struct space *s, int kind)
{
    (void)s, (void)kind;
    snprintf(text, size, "results are 1 + %.3g times the right ones",
             value_of_float((uint32_t)x->by[0]) - 1);
}

static bool c_by_columns(struct candidate *x, const struct space *s, int kind)
{
    (void)kind;
    return x->c_by_columns = s->reads_c;
}

/* --- activation ------------------------------------------------------------------- */

/* max(D, 0), the common fused activation. */
static bool clipped(struct candidate *x, const struct space *s, int kind)
{
    (void)kind;
    return x->clipped = !s->negative;
}

/* --- the table -------------------------------------------------------------------- */

const struct kernel_fault kernel_faults_epilogue[] = {
    { .name = "alpha ignored",
      .exact = true,
      .what = "alpha is taken as 1",
      .alter = finish_without_alpha },
    { .name = "alpha twice",
      .exact = true,
      .what = "the product is multiplied by alpha twice",
      .alter = finish_alpha_again },
    { .name = "C times alpha",
      .exact = true,
      .what = "beta C is multiplied by alpha as well",
      .alter = finish_alpha_of_both },
    { .name = "beta ignored",
      .exact = true,
      .what = "beta is taken as 1",
      .alter = finish_without_beta },
    { .name = "C ignored",
      .exact = true,
      .what = "beta C is not added",
      .alter = finish_without_c },
    { .name = "C twice",
      .exact = true,
      .what = "beta C is added twice",
      .alter = finish_c_again },
    { .name = "C subtracted",
      .exact = true,
      .what = "beta C is subtracted",
      .alter = finish_c_less },
    { .name = "C instead of the product",
      .exact = true,
      .what = "C is stored in place of the product",
      .alter = finish_c_alone },
    { .name = "C column-major",
      .exact = true,
      .what = "C is read as if it were column-major",
      .alter = c_by_columns },
    { .name = "alpha and beta swapped",
      .exact = true,
      .what = "the product is multiplied by beta, and C by alpha",
      .alter = finish_factors_swapped },
    { .name = "result twice",
      .exact = true,
      .what = "the result is added to itself",
      .alter = finish_twice },
    { .name = "result negated",
      .exact = true,
      .what = "the result has the wrong sign",
      .alter = finish_opposite },
    { .name = "result scaled",
      .exact = true,
      .of_residual = true,
      .what = "results are multiplied by a number near 1",
      .alter = finish_multiplied,
      .describe = describe_multiplied },
    { .name = "epilogue truncated",
      .fine = true,
      .what = "alpha and beta C are applied with rounding toward zero",
      .alter = finish_toward_zero },
    { .name = "ReLU",
      .what = "outputs that would be negative are zero (ReLU)",
      .of_store = true,
      .alter = clipped },
    { .name = "store truncated",
      .what = "the result is stored rounded toward zero",
      .of_store = true,
      .alter = stored_truncated },
    { .name = "store short",
      .what = "the result is rounded to a shorter format before it is stored",
      .of_store = true,
      .kinds = every_shorter,
      .alter = stored_shorter,
      .describe = describe_shorter },
    { 0 }
};
