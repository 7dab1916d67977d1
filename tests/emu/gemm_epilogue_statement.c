/* SPDX-License-Identifier: BSD-3-Clause */
/* What follows the sum of an output, stated again from the prose of lib/bitcut.h. */
#include "tests/emu/gemm_problem.h"
#include "tests/test.h"

static bool is_nan(uint32_t x) { return (x & 0x7fffffff) > INFINITE; }

static uint32_t factor(const struct asked_factors *x, const uint32_t *at, size_t line,
                       size_t k, size_t across, size_t along)
{
    const size_t l = x->lines ? line / x->lines : 0, b = x->depth ? k / x->depth : 0;
    return x->there ? at[l * across + b * along] : (uint32_t)ONE;
}

static size_t parts_of(size_t count, size_t size)
{
    return size ? (count + size - 1) / size : 1;
}

uint32_t statement_factor_a(const struct asked *g, const struct problem *p, size_t i,
                            size_t k)
{
    return factor(&g->scale_a, p->factor_a, i, k, parts_of(p->k, g->scale_a.depth), 1);
}

uint32_t statement_factor_b(const struct asked *g, const struct problem *p, size_t j,
                            size_t k)
{
    return factor(&g->scale_b, p->factor_b, j, k, 1, parts_of(p->n, g->scale_b.lines));
}

static bool starts_from_c(const struct asked *g)
{
    return g->start == BITCUT_START_C || g->start == BITCUT_START_SLICE_C;
}

static uint32_t beta_c(const struct asked *g, const struct problem *p, size_t i, size_t j)
{
    return statement_multiply(g, g->beta, p->c[i * p->ldc + j]);
}

static uint32_t bias_of(const struct asked *g, const struct problem *p, size_t i,
                        size_t j)
{
    return p->bias[g->bias_rows ? i : j];
}

uint32_t statement_start(const struct asked *g, const struct problem *p, size_t i,
                         size_t j)
{
    if (!starts_from_c(g)) return bias_of(g, p, i, j);
    return is_zero(g->beta) ? 0 : beta_c(g, p, i, j);
}

/* v in the format of D and back. */
static uint32_t shortened(const struct asked *g, uint32_t v)
{
    if (!g->result || is_nan(v)) return v;
    const uint64_t there = statement_convert(g->result, F32, v);
    const uint32_t back = (uint32_t)statement_convert(F32, g->result, there);
    return is_nan(back) ? statement_multiply(g, A_NAN, ONE) : back;
}

static uint32_t limited(uint32_t v, uint32_t low, uint32_t high)
{
    const double x = format_to_double(F32, v);
    if (is_nan(v)) return v;
    /* -0 is below +0 */
    if (x < format_to_double(F32, low) || (x == 0 && low == 0)) v = low;
    if (format_to_double(F32, v) > format_to_double(F32, high) ||
        (is_zero(v) && high == 0x80000000u))
        v = high;
    return v;
}

static uint32_t saturated(const struct asked *g, uint32_t v)
{
    const struct bitcut_format *f = g->result ? g->result : F32;
    const uint32_t most =
        (uint32_t)statement_convert(F32, f, format_largest(f, false));
    if (is_nan(v) || (v & 0x7fffffff) <= most) return v;
    return most | (v & 0x80000000u);
}

static uint32_t fused(const struct asked *g, const struct problem *p, uint32_t v,
                      size_t i, size_t j);

static uint32_t step(const struct asked *g, const struct problem *p, int which,
                     uint32_t v, size_t i, size_t j)
{
    const uint32_t a = statement_factor_a(g, p, i, 0), b = statement_factor_b(g, p, j, 0);
    switch (which) {
    case BITCUT_STEP_FUSED: return fused(g, p, v, i, j);
    case BITCUT_STEP_ALPHA: return statement_multiply(g, g->alpha, v);
    case BITCUT_STEP_C:
        return is_zero(g->beta)
                   ? v
                   : statement_multiply_add(g, g->beta, p->c[i * p->ldc + j], v);
    case BITCUT_STEP_ALPHA_C:
    case BITCUT_STEP_SCALES_C: {
        const uint32_t t = is_zero(g->beta) ? 0 : beta_c(g, p, i, j);
        uint32_t f = g->alpha;
        if (which == BITCUT_STEP_SCALES_C)
            f = statement_multiply(g, statement_multiply(g, f, a), b);
        return statement_multiply_add(g, f, v, t);
    }
    case BITCUT_STEP_C_APART:
        return is_zero(g->beta) ? v : statement_add(g, v, beta_c(g, p, i, j));
    case BITCUT_STEP_C_SHORT:
        return is_zero(g->beta) ? v
                                : statement_add(g, v, shortened(g, beta_c(g, p, i, j)));
    case BITCUT_STEP_BIAS: return statement_add(g, v, bias_of(g, p, i, j));
    case BITCUT_STEP_SCALES: return statement_multiply(g, v, statement_multiply(g, a, b));
    case BITCUT_STEP_SCALE_A: return statement_multiply(g, v, a);
    case BITCUT_STEP_SCALE_B: return statement_multiply(g, v, b);
    case BITCUT_STEP_SCALE_D: return statement_multiply(g, v, g->scale_d);
    case BITCUT_STEP_RELU: return is_nan(v) || !(v >> 31) ? v : 0;
    case BITCUT_STEP_CLAMP: return limited(v, g->clamp_low, g->clamp_high);
    case BITCUT_STEP_ROUND: return shortened(g, v);
    case BITCUT_STEP_SATURATE: return saturated(g, v);
    default: return v;
    }
}

static uint32_t fused(const struct asked *g, const struct problem *p, uint32_t v,
                      size_t i, size_t j)
{
    const bool from_bias =
        g->start == BITCUT_START_BIAS || g->start == BITCUT_START_SLICE_BIAS;
    if ((g->scale_a.there || g->scale_b.there) && g->scaling == BITCUT_SCALING_EPILOGUE)
        v = step(g, p, BITCUT_STEP_SCALES, v, i, j);
    v = step(g, p, BITCUT_STEP_ALPHA, v, i, j);
    if (!starts_from_c(g)) v = step(g, p, BITCUT_STEP_C, v, i, j);
    return g->has_bias && !from_bias ? step(g, p, BITCUT_STEP_BIAS, v, i, j) : v;
}

uint32_t statement_finish(const struct asked *g, const struct problem *p, uint32_t v,
                          size_t i, size_t j)
{
    if (!*g->epilogue) return fused(g, p, v, i, j);
    for (const unsigned char *s = g->epilogue; *s; s++) v = step(g, p, *s, v, i, j);
    return v;
}

uint32_t statement_result(const struct asked *g, uint32_t v)
{
    const struct bitcut_format *f = g->result;
    if (!f || f == F32) return v;
    if (!is_nan(v)) return (uint32_t)statement_convert(f, F32, v);
    if (f == &formats[FORMAT_F16]) return (v >> 16 & 0x8000) | 0x7c00 | (v >> 13 & 0x3ff);
    if (f == &formats[FORMAT_BF16]) return v >> 16;
    if (f->special != SPECIAL_IEEE) return (uint32_t)f->nan;
    return (uint32_t)(v >> 24 & 0x80) | 0x7c | (v >> 21 & 3); /* e5m2 */
}
