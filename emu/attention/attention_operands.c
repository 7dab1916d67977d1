/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/attention/attention_operands.h"

#include "lib/base/size.h"
#include "lib/base/threads.h"
#include "lib/gemm/view.h"
#include "lib/number/bits.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <stdlib.h>
#include <string.h>

/* --- reading --------------------------------------------------------------------------
 */

/* Copy matrix i of rows x cols as floats, each row `ld` apart. */
static void read_matrix(uint32_t *to, const struct bitcut_matrix *x, size_t i,
                        size_t rows, size_t cols, size_t ld)
{
    const struct view v = view_of(x, i, rows, cols, false);
    for (size_t row = 0; row < rows; row++)
        for (size_t p = 0; p < cols; p++) to[row * ld + p] = view_get(&v, row, p);
}

static float value(uint32_t x) { return float_of_bits(x); }

/* x = factor x, each product rounded. */
static void multiply_all(uint32_t *x, size_t count, float factor)
{
    for (size_t i = 0; i < count; i++) x[i] = bits_of_float(value(x[i]) * factor);
}

/* --- quantization ---------------------------------------------------------------------
 */

/* Subtract from each column of K its mean over the keys: FP32 sums, keys ascending, and
   the mean rounded to the format of K (SageAttention, section 4.2). */
static void smooth(uint32_t *k, size_t keys, size_t dim,
                   const struct bitcut_format *format)
{
    for (size_t p = 0; p < dim; p++) {
        float sum = 0;
        for (size_t i = 0; i < keys; i++) sum += value(k[i * dim + p]);
        const uint32_t mean =
            f32_through(format, &roundings[ROUND_RN], bits_of_float(sum / (float)keys));
        for (size_t i = 0; i < keys; i++) {
            uint32_t *const x = &k[i * dim + p];
            *x = f32_through(format, &roundings[ROUND_RN],
                             bits_of_float(value(*x) - value(mean)));
        }
    }
}

static float largest(const uint32_t *x, size_t count)
{
    float most = 0;
    for (size_t i = 0; i < count; i++)
        if (fabsf(value(x[i])) > most) most = fabsf(value(x[i]));
    return most;
}

/* x / scale, half away from zero: Triton's conversion of x + 0.5 with the sign of x.  NaN
   gives 0, as cvt does (PTX ISA). */
static uint32_t integer_of(uint32_t x, float scale)
{
    const float quotient = value(x) / scale;
    const float shifted = quotient + (quotient >= 0 ? 0.5f : -0.5f);
    return shifted != shifted ? 0 : bits_of_float(truncf(shifted));
}

/* Quantize blocks of `block` rows to INT8, and set the factor of each row. */
static void quantize_rows(uint32_t *x, float *factor, size_t rows, size_t dim,
                          size_t block)
{
    for (size_t from = 0; from < rows; from += block) {
        const size_t count = smaller(block, rows - from);
        uint32_t *const at = x + from * dim;
        const float scale = largest(at, count * dim) / 127;
        for (size_t i = 0; i < count * dim; i++)
            at[i] = scale > 0 ? integer_of(at[i], scale) : 0;
        for (size_t i = 0; i < count; i++) factor[from + i] = scale;
    }
}

/* Scale the columns of V so that the largest value of each is that of a format. */
static void quantize_columns(uint32_t *v, float *factor, size_t keys, size_t dim,
                             const struct bitcut_format *format)
{
    const float most = (float)format_largest_value(format);
    for (size_t p = 0; p < dim; p++) {
        float top = 0;
        for (size_t i = 0; i < keys; i++)
            if (fabsf(value(v[i * dim + p])) > top) top = fabsf(value(v[i * dim + p]));
        factor[p] = top / most;
        for (size_t i = 0; i < keys && top > 0; i++)
            v[i * dim + p] = bits_of_float(value(v[i * dim + p]) / factor[p]);
    }
}

/* --- heads ----------------------------------------------------------------------------
 */

static void make_queries(struct attention_operands *x, const struct attention_plan *plan,
                         size_t head)
{
    const struct bitcut_attention *const a = &plan->a;
    const struct bitcut_attention_row *const r = &plan->row;
    const size_t count = a->queries * a->head_dim;
    uint32_t *const q = x->q + head * count;
    read_matrix(q, &a->q, head, a->queries, a->head_dim, a->head_dim);
    if (r->scaling == SCALED_QUERIES) multiply_all(q, count, plan->t);
    if (r->scaling == SCALED_OPERANDS)
        multiply_all(q, count, (float)sqrt((double)plan->t));
    if (r->q_block)
        quantize_rows(q, x->q_factor + head * a->queries, a->queries, a->head_dim,
                      (size_t)r->q_block);
}

/* K of a kv head, by way of `rows`, which has room for it. */
static void make_keys(struct attention_operands *x, const struct attention_plan *plan,
                      size_t head, uint32_t *rows)
{
    const struct bitcut_attention *const a = &plan->a;
    const struct bitcut_attention_row *const r = &plan->row;
    const size_t dim = a->head_dim;
    uint32_t *const kt = x->kt + head * dim * x->padded;
    read_matrix(rows, &a->k, head, a->keys, dim, dim);
    if (r->smooth_k) smooth(rows, a->keys, dim, matrix_format(&a->k));
    if (r->scaling == SCALED_OPERANDS)
        multiply_all(rows, a->keys * dim, (float)sqrt((double)plan->t));
    if (r->q_block)
        quantize_rows(rows, x->k_factor + head * x->padded, a->keys, dim,
                      (size_t)r->k_block);
    memset(kt, 0, dim * x->padded * sizeof *kt);
    for (size_t i = 0; i < a->keys; i++)
        for (size_t p = 0; p < dim; p++) kt[p * x->padded + i] = rows[i * dim + p];
}

static void make_values(struct attention_operands *x, const struct attention_plan *plan,
                        size_t head)
{
    const struct bitcut_attention *const a = &plan->a;
    const size_t dim = a->value_dim;
    uint32_t *const v = x->v + head * x->padded * dim;
    memset(v, 0, x->padded * dim * sizeof *v);
    read_matrix(v, &a->v, head, a->keys, dim, dim);
    if (plan->row.v_channels)
        quantize_columns(v, x->v_factor + head * dim, a->keys, dim, plan->pv.unit->b);
}

/* --- all of them ----------------------------------------------------------------------
 */

void attention_operands_clear(struct attention_operands *x)
{
    free(x->q);
    free(x->kt);
    free(x->v);
    free(x->q_factor);
    free(x->k_factor);
    free(x->v_factor);
    *x = (struct attention_operands){ 0 };
}

/* An array of heads x rows x cols elements of 4 bytes, or NULL. */
static void *allocate(size_t heads, size_t rows, size_t cols)
{
    size_t count;
    if (!size_multiply(&count, heads, rows) || !size_multiply(&count, count, cols))
        return NULL;
    return memory_allocate(count, sizeof(uint32_t));
}

static bool allocate_all(struct attention_operands *x, const struct attention_plan *plan,
                         size_t padded)
{
    const struct bitcut_attention *const a = &plan->a;
    x->padded = larger(padded, plan->tiles * plan->block_n);
    x->q = allocate(a->heads, a->queries, a->head_dim);
    x->kt = allocate(a->kv_heads, a->head_dim, x->padded);
    x->v = allocate(a->kv_heads, x->padded, a->value_dim);
    if (plan->row.q_block) {
        x->q_factor = allocate(a->heads, a->queries, 1);
        x->k_factor = allocate(a->kv_heads, x->padded, 1);
        if (!x->q_factor || !x->k_factor) return false;
    }
    if (plan->row.v_channels && !(x->v_factor = allocate(a->kv_heads, a->value_dim, 1)))
        return false;
    return x->q && x->kt && x->v;
}

/* A kv head, by one thread.  False: no memory. */
static bool make_kv(struct attention_operands *x, const struct attention_plan *plan,
                    size_t head)
{
    uint32_t *const rows = allocate(1, plan->a.keys, plan->a.head_dim);
    struct hostfp saved;
    if (!rows) return false;
    hostfp_enter(&saved);
    if (x->k_factor)
        memset(x->k_factor + head * x->padded, 0, x->padded * sizeof *x->k_factor);
    make_keys(x, plan, head, rows);
    make_values(x, plan, head);
    hostfp_leave(&saved);
    free(rows);
    return true;
}

enum bitcut_status attention_operands_make(struct attention_operands *x,
                                           const struct attention_plan *plan,
                                           size_t padded, int threads)
{
    const struct bitcut_attention *const a = &plan->a;
    *x = (struct attention_operands){ 0 };
    bool done = allocate_all(x, plan, padded);
    const size_t work = done ? a->heads + a->kv_heads : 0;
    const int team = threads_for(threads, work);
#pragma omp parallel for schedule(dynamic) num_threads(team)
    for (size_t i = 0; i < work; i++) {
        if (i < a->kv_heads) {
            const bool made = make_kv(x, plan, i);
#pragma omp atomic
            done &= made;
        } else {
            struct hostfp saved;
            hostfp_enter(&saved);
            make_queries(x, plan, i - a->kv_heads);
            hostfp_leave(&saved);
        }
    }
    if (done) return BITCUT_OK;
    attention_operands_clear(x);
    return BITCUT_NO_MEMORY;
}
