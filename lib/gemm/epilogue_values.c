/* SPDX-License-Identifier: BSD-3-Clause */
/* What the epilogue and the scaling of a GEMM read, gathered. */
#include "lib/base/size.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <stdlib.h>

/* Gather a matrix of rows x cols, its rows or its columns one after the other. */
static bool gather(uint32_t **to, const struct bitcut_matrix *x, size_t i, size_t rows,
                   size_t cols, bool columns, int threads)
{
    const struct view v = view_of(x, i, rows, cols, columns);
    const size_t lines = columns ? cols : rows, length = columns ? rows : cols;
    *to = view_gather(&v, &(struct gathering){ lines, length, length, NULL, false },
                      threads);
    return *to;
}

/* Gather a matrix of integers of rows x cols as s32 encodings. */
static bool gather_integers(uint32_t **to, const struct bitcut_matrix *x, size_t i,
                            size_t rows, size_t cols)
{
    const struct view v = view_of(x, i, rows, cols, false);
    size_t count;
    *to = size_multiply(&count, rows, cols) ? memory_allocate(count, sizeof **to) : NULL;
    for (size_t p = 0; *to && p < count; p++)
        (*to)[p] = (uint32_t)view_integer(&v, p / cols, p % cols);
    return *to;
}

/* Whether steps before BITCUT_STEP_FLOAT, or the start of the sums, read this. */
static bool integers_read(const struct epilogue_values *x, const unsigned char *steps,
                          unsigned what, bool begins)
{
    bool any = begins;
    for (; *steps && *steps != BITCUT_STEP_FLOAT; steps++)
        any |= (epilogue_steps[*steps].reads & what) != 0;
    return x->integer && any;
}

static bool gather_factors(struct scale_factors *to, const struct bitcut_scales *from, size_t i,
                           size_t lines, size_t k, bool columns, int threads)
{
    const size_t across = factor_lines(from, lines), along = factor_blocks(from, k);
    *to = (struct scale_factors){ .lines = from->lines ? from->lines : SIZE_MAX,
                            .depth = from->depth ? from->depth : SIZE_MAX,
                            .blocks = along };
    return (!from->at.at && !from->at.each) || !across || !along ||
           gather(&to->at, &from->at, i, columns ? along : across,
                  columns ? across : along, columns, threads);
}

/* Append the steps that change a value. */
static void add_steps(unsigned char *to, const struct epilogue_values *x,
                      const struct bitcut_gemm *g)
{
    unsigned char all[EPILOGUE_STEPS_MAX];
    (x->integer ? epilogue_of_integers : epilogue_of)(all, g);
    for (const unsigned char *s = all; *s; s++) {
        const bool none = *s == BITCUT_STEP_ALPHA ? x->alpha == F32_ONE
                          : *s == BITCUT_STEP_C || *s == BITCUT_STEP_C_APART ||
                                  *s == BITCUT_STEP_C_SHORT
                              ? !x->c
                              : false;
        if (!none) *to++ = *s;
    }
    *to = BITCUT_STEP_END;
}

bool epilogue_make(struct epilogue_values *x, const struct bitcut_gemm *g, size_t i,
                   uint32_t nan, bool integer, int threads)
{
    unsigned char steps[EPILOGUE_STEPS_MAX];
    *x = (struct epilogue_values){ .start = g->start,
                                   .scaling = g->scaling,
                                   .alpha = g->alpha,
                                   .beta = g->beta,
                                   .scale_d = g->scale_d,
                                   .clamp_low = g->clamp_low,
                                   .clamp_high = g->clamp_high,
                                   .nan = nan,
                                   .integer = integer,
                                   .result = matrix_format(&g->d),
                                   .ldc = g->n,
                                   .bias_rows = g->bias_rows,
                                   .zero_d = g->zero_d,
                                   .amax = g->amax ? g->amax + i : NULL };
    const size_t biases = g->bias_rows ? g->m : g->n;
    epilogue_of_integers(steps, g);
    const bool c = integers_read(x, steps, READS_C, start_is_c(g->start)),
               bias = integers_read(x, steps, NEEDS_BIAS,
                                    start_is_bias(g->start));
    if (integers_read(x, steps, READS_ALPHA, false))
        x->integer_alpha = (int32_t)value_of_float(g->alpha);
    if (c) x->integer_beta = (int32_t)value_of_float(g->beta);
    const bool all =
        (!gemm_reads_c(g) || (c ? gather_integers(&x->c, &g->c, i, g->m, g->n)
                                : gather(&x->c, &g->c, i, g->m, g->n, false, threads))) &&
        (!gemm_has_bias(g) ||
         (bias ? gather_integers(&x->bias, &g->bias, i, 1, biases)
               : gather(&x->bias, &g->bias, i, 1, biases, false, threads))) &&
        gather_factors(&x->a, &g->scale_a, i, g->m, g->k, false, threads) &&
        gather_factors(&x->b, &g->scale_b, i, g->n, g->k, true, threads);
    add_steps(x->step, x, g);
    return all;
}

/* The sum of each line of an operand that is rounded to the format of its part, modulo
   2^32; NULL: no memory. */
static uint32_t *line_sums(const struct bitcut_matrix *x, size_t rows, size_t cols,
                           bool columns, const struct split_part *part, int threads)
{
    const size_t lines = columns ? cols : rows, length = columns ? rows : cols;
    uint32_t *all = NULL, *const sum = memory_allocate(lines, sizeof *sum);
    const bool good = sum && gather(&all, x, 0, rows, cols, columns, threads);
    for (size_t i = 0; good && i < lines; i++) {
        sum[i] = 0;
        for (size_t p = 0; p < length; p++)
            sum[i] += (uint32_t)(int32_t)value_of_float(
                f32_through(part->format, part->rounding, all[i * length + p]));
    }
    free(all);
    if (good) return sum;
    free(sum);
    return NULL;
}

bool epilogue_take_zeros(struct epilogue_values *x, const struct bitcut_gemm *g,
                         const struct split_part *a, const struct split_part *b,
                         int threads)
{
    const uint32_t zero_a = (uint32_t)g->zero_a, zero_b = (uint32_t)g->zero_b;
    if (!gemm_has_zeros(g)) return true;
    x->zero_rows = line_sums(&g->a, g->m, g->k, false, a, threads);
    x->zero_cols = line_sums(&g->b, g->k, g->n, true, b, threads);
    if (!x->zero_rows || !x->zero_cols) return false;
    for (size_t i = 0; i < g->m; i++)
        x->zero_rows[i] = (uint32_t)g->k * zero_a * zero_b - zero_b * x->zero_rows[i];
    for (size_t j = 0; j < g->n; j++) x->zero_cols[j] *= 0 - zero_a;
    return true;
}

void epilogue_clear(struct epilogue_values *x)
{
    free(x->c);
    free(x->bias);
    free(x->a.at);
    free(x->b.at);
    free(x->zero_rows);
    free(x->zero_cols);
}
