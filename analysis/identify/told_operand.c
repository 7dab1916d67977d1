/* SPDX-License-Identifier: BSD-3-Clause */
/* What was given of a GEMM in addition to A, B and C: bias, factors, start and steps. */
#include "analysis/identify/problem.h"

#include "emu/unit.h"
#include "lib/base/size.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the problem ------------------------------------------------------------------ */

static bool has_limits(const struct bitcut_gemm *g)
{
    return isfinite(value_of_float(g->clamp_low)) ||
           isfinite(value_of_float(g->clamp_high));
}

/* The usual steps of a GEMM whose steps are open. */
static void add_usual(struct bitcut_gemm *g)
{
    unsigned char *to = g->epilogue;
    *to++ = BITCUT_STEP_FUSED;
    if (has_limits(g)) *to++ = BITCUT_STEP_CLAMP;
    if (g->scale_d != F32_ONE) *to++ = BITCUT_STEP_SCALE_D;
    *to = BITCUT_STEP_END;
}

enum bitcut_status problem_tell(struct problem *q, const struct bitcut_gemm *g,
                                struct fault *f)
{
    const bool scaled = has_limits(g) || g->scale_d != F32_ONE;
    struct bitcut_gemm told = *g;
    if (gemm_has_zeros(g) || g->zero_d)
        return fault_set(
            f, BITCUT_BAD_ARGUMENT,
            "explain takes no zero point of D, and zero points of A and B if "
            "both have formats of integers");
    if (!gemm_is_extended(g) && !scaled) return epilogue_check_operands(g, f);
    q->steps_told = *g->epilogue || g->start;
    q->scaling_told = g->scaling != BITCUT_SCALING_EPILOGUE;
    if (!*g->epilogue && scaled) add_usual(&told);
    if (!q->scaling_told && (factor_depth(&g->scale_a) || factor_depth(&g->scale_b)))
        told.scaling =
            q->unit && q->unit->scale ? BITCUT_SCALING_UNIT : BITCUT_SCALING_PROMOTED;
    const enum bitcut_status status = gemm_check_operands(&told, f);
    if (status != BITCUT_OK) return status;
    epilogue_leave_amax(&told);
    told.a = told.b = told.c = told.d = told.positions =
        (struct bitcut_matrix){ .at = NULL };
    told.sparsity = BITCUT_DENSE; /* q->a has the positions */
    q->told = told;
    return BITCUT_OK;
}

enum bitcut_status problem_set_zeros(struct problem *q, int32_t zero_a, int32_t zero_b,
                                     struct fault *f)
{
    const int32_t zero[] = { zero_a, zero_b };
    const enum bitcut_status status = matrix_subtract_both(&q->a, &q->b, zero, f);
    if (status == BITCUT_OK) memcpy(q->zero, zero, sizeof zero);
    return status;
}

void problem_leave_steps(struct problem *q)
{
    struct bitcut_gemm *const told = &q->told;
    memset(told->epilogue, 0, sizeof told->epilogue);
    told->start = BITCUT_START_ZERO;
    if (has_limits(told) || told->scale_d != F32_ONE) add_usual(told);
    if (!gemm_is_extended(told)) *told = (struct bitcut_gemm){ .size = 0 };
    q->steps_told = false;
}

/* --- blocks ----------------------------------------------------------------------- */

/* The factors of the rows of A, or of the columns of B, one for each line and block of k:
   [line][block], or [block][line] with `columns`. */
static bool take_factors(uint32_t **to, struct bitcut_scales *factors,
                         const struct bitcut_scales *from, const size_t *line,
                         size_t lines, size_t all, size_t k, bool columns)
{
    const size_t across = factor_lines(from, all), along = factor_blocks(from, k);
    struct matrix m;
    if (!from->at.at && !from->at.each) return true;
    if (!view_matrix(&m, &from->at, 0, columns ? along : across, columns ? across : along,
                     1))
        return false;
    uint32_t *const x = *to = memory_allocate(lines, along * sizeof *x);
    for (size_t i = 0; x && i < lines; i++)
        for (size_t p = 0; p < along; p++) {
            const size_t of = from->lines ? line[i] / from->lines : 0;
            if (columns) x[p * lines + i] = m.at[p * across + of];
            else x[i * along + p] = m.at[of * along + p];
        }
    matrix_clear(&m);
    *factors = (struct bitcut_scales){ { .at = x }, 1, from->depth };
    return x;
}

static bool take_bias(uint32_t **to, struct bitcut_gemm *g,
                      const struct bitcut_gemm *from, const struct block *b)
{
    const size_t count = from->bias_rows ? b->rows : b->cols, *const line =
                                                                  from->bias_rows
                                                                      ? b->row
                                                                      : b->col;
    struct matrix m;
    if (!gemm_has_bias(from)) return true;
    if (!view_matrix(&m, &from->bias, 0, 1, from->bias_rows ? from->m : from->n, 1))
        return false;
    uint32_t *const x = *to = memory_allocate(count, sizeof *x);
    for (size_t i = 0; x && i < count; i++) x[i] = m.at[line[i]];
    matrix_clear(&m);
    g->bias = (struct bitcut_matrix){ .at = x };
    return x;
}

bool block_operands_take(struct block *b)
{
    const struct bitcut_gemm *const told = &b->q->told;
    struct block_operands *const x = b->own = calloc(1, sizeof *x);
    if (!x) return false;
    x->gemm = *told;
    if (!take_bias(&x->bias, &x->gemm, told, b) ||
        !take_factors(&x->scale_a, &x->gemm.scale_a, &told->scale_a, b->row, b->rows,
                      told->m, b->k, false) ||
        !take_factors(&x->scale_b, &x->gemm.scale_b, &told->scale_b, b->col, b->cols,
                      told->n, b->k, true))
        return false;
    gemm_set_dense(&x->gemm, b->d, b->rows, b->cols, b->k, b->a, b->b, b->c);
    x->gemm.alpha = b->q->alpha;
    x->gemm.beta = b->c ? b->q->beta : 0;
    x->gemm.d.format = b->q->format;
    b->extra = &x->gemm;
    return epilogue_make(&x->values, &x->gemm, 0, F32_NAN, false, 1);
}

void block_operands_clear(struct block_operands *x)
{
    if (!x) return;
    epilogue_clear(&x->values);
    free(x->bias);
    free(x->scale_a);
    free(x->scale_b);
    free(x);
}

/* --- exact values ----------------------------------------------------------------- */

bool block_has_factors(const struct block *b)
{
    const struct epilogue_values *const v = b->own ? &b->own->values : NULL;
    return v && v->scaling != BITCUT_SCALING_EPILOGUE && (v->a.at || v->b.at);
}

double block_factor(const struct block *b, enum bitcut_operand operand, size_t line,
                    size_t k)
{
    if (!block_has_factors(b) || k >= b->k) return 1;
    const struct epilogue_values *const v = &b->own->values;
    return value_of_float(scale_factor(operand == BITCUT_A ? &v->a : &v->b, line, k));
}

struct exact_output block_finish(const struct block *b, struct exact_output v, size_t i,
                                 size_t j)
{
    return epilogue_exact(&b->own->values, v, i, j);
}

struct exact_output block_exact(const struct block *b, size_t i, size_t j)
{
    struct exact_output sum = { 0, 0 };
    for (size_t p = 0; p < b->k; p++) {
        const double x =
            value_of_float(b->a[i * b->k + p]) * value_of_float(b->b[p * b->cols + j]) *
            (block_factor(b, BITCUT_A, i, p) * block_factor(b, BITCUT_B, j, p));
        sum.value += x;
        sum.magnitude += fabs(x);
    }
    return block_finish(b, sum, i, j);
}
