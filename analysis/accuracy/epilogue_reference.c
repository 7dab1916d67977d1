/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/epilogue_reference.h"

#include "lib/base/size.h"
#include "lib/gemm/epilogue.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first k after `from` at which a factor changes, at most k. */
static size_t block_end(const struct epilogue_values *x, size_t from, size_t k)
{
    const struct scale_factors *const sides[] = { &x->a, &x->b };
    size_t end = k;
    for (int i = 0; i < 2; i++)
        if (sides[i]->at && sides[i]->depth != SIZE_MAX)
            end = smaller(end, (from / sides[i]->depth + 1) * sides[i]->depth);
    return end;
}

/* The exact sums of a block of k, and their magnitudes. */
struct block_sums {
    uint64_t *sum;
    double *size;
};

static enum bitcut_status sum_block(struct block_sums *to, const struct judge *j,
                                    size_t from, size_t end, const struct gemm_options *o,
                                    struct fault *f)
{
    const struct comparison *const p = &j->comparison;
    const size_t k = end - from;
    const struct exact_options options = { .layers = j->reference->layers,
                                           .threads = o->threads,
                                           .progress = o->progress,
                                           .sums = offload_sums(o->offload) };
    struct exact_counts counts;
    uint32_t *const a = memory_allocate(p->m * k, sizeof *a);
    uint32_t *const b = memory_allocate(k * p->n, sizeof *b);
    enum bitcut_status status = BITCUT_OK;
    if (!a || !b)
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the reference");
    for (size_t i = 0; status == BITCUT_OK && i < p->m; i++)
        memcpy(a + i * k, p->a + i * p->k + from, k * sizeof *a);
    if (status == BITCUT_OK) {
        memcpy(b, p->b + from * p->n, k * p->n * sizeof *b);
        status = exact_gemm(NULL, to->sum, to->size, &counts, &options, p->m, p->n, k, a,
                            b, f);
    }
    free(a);
    free(b);
    return status;
}

/* Add the sums of the block of k that begins with `from`.  Steps of the epilogue multiply
   the sums of all k; otherwise factors of the block do. */
static void add_sums(struct exact_output *all, const struct epilogue_values *x,
                     const struct comparison *p, bool by_steps, size_t from,
                     const struct block_sums *sums)
{
    for (size_t at = 0; at < p->m * p->n; at++) {
        const double factor =
            by_steps ? 1
                     : value_of_float(scale_factor(&x->a, at / p->n, from)) *
                           value_of_float(scale_factor(&x->b, at % p->n, from));
        all[at].value += double_of_bits(sums->sum[at]) * factor;
        all[at].magnitude += sums->size[at] * fabs(factor);
    }
}

/* The norm of a line whose elements are `stride` apart, with its factors; special values
   count as 0. */
static double norm_of(const uint32_t *at, size_t stride, size_t k,
                      const struct scale_factors *factors, size_t line)
{
    double all = 0;
    for (size_t p = 0; p < k; p++) {
        const double y = value_of_float(at[p * stride]) *
                         value_of_float(scale_factor(factors, line, p));
        if (isfinite(y)) all += y * y;
    }
    return sqrt(all);
}

/* Write the values as the reference, and the sums and their magnitudes. */
static void store(struct comparison *p, double *product, const struct exact_output *all,
                  const struct epilogue_values *x)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32];
    const struct bitcut_format *const f64 = &formats[FORMAT_F64];
    uint32_t *const to32 = (uint32_t *)(uintptr_t)p->reference32;
    uint64_t *const to64 = (uint64_t *)(uintptr_t)p->reference64;
    double *const size = (double *)(uintptr_t)p->magnitude,
                  *const row = (double *)(uintptr_t)p->row_norm,
                  *const col = (double *)(uintptr_t)p->col_norm;
    const size_t count = p->m * p->n;
    for (size_t at = 0; at < count; at++) {
        const struct exact_output v = epilogue_exact(x, all[at], at / p->n, at % p->n);
        product[at] = all[at].value;
        product[count + at] = all[at].magnitude;
        to64[at] = bits_of_double(v.value);
        to32[at] =
            (uint32_t)bitcut_format_convert(f32, &roundings[ROUND_RN], f64, to64[at]);
        size[at] = v.magnitude;
    }
    for (size_t i = 0; i < p->m; i++)
        row[i] = norm_of(p->a + i * p->k, 1, p->k, &x->a, i);
    for (size_t j = 0; j < p->n; j++) col[j] = norm_of(p->b + j, p->n, p->k, &x->b, j);
}

/* The elements of A or B times their factors, rounded, as a kernel that multiplies before
   the split has them; the elements themselves without factors.  NULL: no memory. */
static const uint32_t *multiply(const uint32_t *at, const struct scale_factors *factors,
                                size_t rows, size_t cols, bool by_columns)
{
    if (!factors->at) return at;
    uint32_t *const to = memory_allocate(rows, cols * sizeof *to);
    struct hostfp saved;
    hostfp_enter(&saved);
    for (size_t i = 0; to && i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            to[i * cols + j] =
                f32_multiply(at[i * cols + j], by_columns ? scale_factor(factors, j, i)
                                                          : scale_factor(factors, i, j));
    hostfp_leave(&saved);
    return to;
}

/* Add all blocks of k; the sums of a single block are those that the judge has. */
static enum bitcut_status add_blocks(struct exact_output *all,
                                     const struct epilogue_values *x,
                                     const struct judge *j, bool by_steps,
                                     struct block_sums *own,
                                     const struct gemm_options *options, struct fault *f)
{
    const struct comparison *const p = &j->comparison;
    const struct block_sums whole = { (uint64_t *)(uintptr_t)p->reference64,
                                      (double *)(uintptr_t)p->magnitude };
    for (size_t from = 0, end; from < p->k; from = end) {
        struct hostfp saved;
        end = block_end(x, from, p->k);
        const bool single = from == 0 && end == p->k;
        const enum bitcut_status status =
            single ? BITCUT_OK : sum_block(own, j, from, end, options, f);
        if (status != BITCUT_OK) return status;
        hostfp_enter(&saved);
        add_sums(all, x, p, by_steps, from, single ? &whole : own);
        hostfp_leave(&saved);
    }
    return BITCUT_OK;
}

/* The arrays of a comparison for a GEMM with steps, which judge_clear() frees. */
static bool extend(struct comparison *p, const struct bitcut_gemm *g, size_t i,
                   int threads)
{
    struct epilogue_values *const x = calloc(1, sizeof *x);
    const bool operands = g->scaling == BITCUT_SCALING_OPERAND;
    p->extra = x;
    p->product = memory_allocate(p->m, 2 * p->n * sizeof *p->product);
    p->multiplied_a = p->a, p->multiplied_b = p->b;
    if (!x || !p->product || !epilogue_make(x, g, i, F32_NAN, false, threads)) return false;
    p->product_magnitude = p->product + p->m * p->n;
    if (operands) p->multiplied_a = multiply(p->a, &x->a, p->m, p->k, false);
    if (operands) p->multiplied_b = multiply(p->b, &x->b, p->k, p->n, true);
    return p->multiplied_a && p->multiplied_b;
}

enum bitcut_status judge_extend(struct judge *j, const struct bitcut_gemm *g, size_t i,
                                const struct gemm_options *options, struct fault *f)
{
    struct comparison *const p = &j->comparison;
    const size_t count = p->m * p->n;
    struct exact_output *const all = calloc(count ? count : 1, sizeof *all);
    struct block_sums own = { memory_allocate(count, sizeof *own.sum),
                              memory_allocate(count, sizeof *own.size) };
    enum bitcut_status status = BITCUT_OK;
    if (!extend(p, g, i, options->threads) || !all || !own.sum || !own.size)
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the reference");
    if (status == BITCUT_OK && count)
        status = add_blocks(all, p->extra, j, g->scaling == BITCUT_SCALING_EPILOGUE, &own,
                            options, f);
    if (status == BITCUT_OK && count) {
        struct hostfp saved;
        hostfp_enter(&saved);
        store(p, (double *)(uintptr_t)p->product, all, p->extra);
        hostfp_leave(&saved);
    }
    free(own.sum);
    free(own.size);
    free(all);
    return status;
}
