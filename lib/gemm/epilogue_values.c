/* SPDX-License-Identifier: BSD-3-Clause */
/* What the epilogue and the scaling of a GEMM read, gathered. */
#include "lib/gemm/view.h"
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
    epilogue_of(all, g);
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
                   uint32_t nan, int threads)
{
    *x = (struct epilogue_values){ .start = g->start,
                                   .scaling = g->scaling,
                                   .alpha = g->alpha,
                                   .beta = g->beta,
                                   .scale_d = g->scale_d,
                                   .clamp_low = g->clamp_low,
                                   .clamp_high = g->clamp_high,
                                   .nan = nan,
                                   .result = matrix_format(&g->d),
                                   .ldc = g->n,
                                   .bias_rows = g->bias_rows,
                                   .amax = g->amax ? g->amax + i : NULL };
    const bool all =
        (!gemm_reads_c(g) || gather(&x->c, &g->c, i, g->m, g->n, false, threads)) &&
        (!gemm_has_bias(g) || gather(&x->bias, &g->bias, i, 1, g->bias_rows ? g->m : g->n,
                                     false, threads)) &&
        gather_factors(&x->a, &g->scale_a, i, g->m, g->k, false, threads) &&
        gather_factors(&x->b, &g->scale_b, i, g->n, g->k, true, threads);
    add_steps(x->step, x, g);
    return all;
}

void epilogue_clear(struct epilogue_values *x)
{
    free(x->c);
    free(x->bias);
    free(x->a.at);
    free(x->b.at);
}
