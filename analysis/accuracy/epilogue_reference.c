/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/accuracy/epilogue_reference.h"

#include "lib/base/size.h"
#include "lib/gemm/view.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The factors of A or B as numbers: [line block][block of k]. */
struct factors {
    double *at; /* NULL: all are 1 */
    size_t lines, depth, blocks;
};

/* What the epilogue reads, as numbers; NULL where there is nothing. */
struct operands {
    const struct bitcut_gemm *g;
    size_t n;
    double *bias, *c;
    struct factors a, b;
    double alpha, beta, scale_d, low, high, most; /* most: the largest value of D */
    unsigned char step[EPILOGUE_STEPS_MAX];
};

static double number_of(uint32_t encoding) { return value_of_float(encoding); }

/* All elements of a matrix as numbers; false: no memory. */
static bool gather(double **to, bool read, const struct bitcut_matrix *x, size_t i,
                   size_t rows, size_t cols, bool by_columns, int threads)
{
    struct matrix m;
    if (!read) return true;
    if (!view_matrix(&m, x, i, rows, cols, threads)) return false;
    const size_t count = rows * cols;
    *to = memory_allocate(count, sizeof **to);
    for (size_t p = 0; *to && p < count; p++) {
        const size_t row = p / cols, col = p % cols;
        (*to)[by_columns ? col * rows + row : p] = number_of(m.at[p]);
    }
    matrix_clear(&m);
    return *to;
}

static bool gather_factors(struct factors *to, const struct bitcut_scales *x, size_t i,
                           size_t lines, size_t k, bool by_columns, int threads)
{
    const size_t across = factor_lines(x, lines), along = factor_blocks(x, k);
    *to = (struct factors){ .lines = x->lines ? x->lines : SIZE_MAX,
                            .depth = x->depth ? x->depth : SIZE_MAX,
                            .blocks = along };
    return gather(&to->at, x->at.at || x->at.each, &x->at, i, by_columns ? along : across,
                  by_columns ? across : along, by_columns, threads);
}

static bool operands_make(struct operands *to, const struct bitcut_gemm *g, size_t i,
                          int threads)
{
    const struct bitcut_format *const d = matrix_format(&g->d);
    *to = (struct operands){ .g = g,
                             .n = g->n,
                             .alpha = number_of(g->alpha),
                             .beta = number_of(g->beta),
                             .scale_d = number_of(g->scale_d),
                             .low = number_of(g->clamp_low),
                             .high = number_of(g->clamp_high),
                             .most = format_to_double(d, format_largest(d, false)) };
    epilogue_of(to->step, g);
    return gather(&to->bias, gemm_has_bias(g), &g->bias, i, 1, g->bias_rows ? g->m : g->n,
                  false, threads) &&
           gather(&to->c, gemm_reads_c(g), &g->c, i, g->m, g->n, false, threads) &&
           gather_factors(&to->a, &g->scale_a, i, g->m, g->k, false, threads) &&
           gather_factors(&to->b, &g->scale_b, i, g->n, g->k, true, threads);
}

static void operands_clear(struct operands *x)
{
    free(x->bias);
    free(x->c);
    free(x->a.at);
    free(x->b.at);
}

static double factor_at(const struct factors *x, size_t line, size_t k)
{
    return x->at ? x->at[line / x->lines * x->blocks + k / x->depth] : 1;
}

/* Whether the factors of a block of k multiply its sums; otherwise steps of the epilogue
   do it. */
static bool multiplies_sums(const struct operands *x)
{
    return x->g->scaling != BITCUT_SCALING_EPILOGUE;
}

/* --- the steps -------------------------------------------------------------------- */

/* An output: its exact value and its magnitude. */
struct value {
    double value, magnitude;
};

static struct value times(struct value v, double x)
{
    return (struct value){ v.value * x, v.magnitude * fabs(x) };
}

static struct value plus(struct value v, double x)
{
    return (struct value){ v.value + x, v.magnitude + fabs(x) };
}

static struct value limited(struct value v, double low, double high)
{
    if (v.value < low) v.value = low;
    if (v.value > high) v.value = high;
    return v;
}

static double bias_at(const struct operands *x, size_t i, size_t j)
{
    return x->bias[x->g->bias_rows ? i : j];
}

static double c_at(const struct operands *x, size_t i, size_t j)
{
    return x->c ? x->beta * x->c[i * x->n + j] : 0;
}

static struct value apply(const struct operands *x, int step, struct value v, size_t i,
                          size_t j)
{
    const double a = factor_at(&x->a, i, 0), b = factor_at(&x->b, j, 0);
    switch (step) {
    case BITCUT_STEP_ALPHA: return times(v, x->alpha);
    case BITCUT_STEP_ALPHA_C: return plus(times(v, x->alpha), c_at(x, i, j));
    case BITCUT_STEP_SCALES_C:
        return plus(times(times(times(v, x->alpha), a), b), c_at(x, i, j));
    case BITCUT_STEP_C:
    case BITCUT_STEP_C_APART:
    case BITCUT_STEP_C_SHORT: return plus(v, c_at(x, i, j));
    case BITCUT_STEP_BIAS: return plus(v, bias_at(x, i, j));
    case BITCUT_STEP_SCALES: return times(times(v, a), b);
    case BITCUT_STEP_SCALE_A: return times(v, a);
    case BITCUT_STEP_SCALE_B: return times(v, b);
    case BITCUT_STEP_SCALE_D: return times(v, x->scale_d);
    case BITCUT_STEP_RELU: return limited(v, 0, INFINITY);
    case BITCUT_STEP_CLAMP: return limited(v, x->low, x->high);
    case BITCUT_STEP_SATURATE: return limited(v, -x->most, x->most);
    default: return v;
    }
}

static struct value finished(const struct operands *x, struct value v, size_t i, size_t j)
{
    const enum bitcut_start start = x->g->start;
    if (start == BITCUT_START_C || start == BITCUT_START_SLICE_C)
        v = plus(v, c_at(x, i, j));
    if (start == BITCUT_START_BIAS || start == BITCUT_START_SLICE_BIAS)
        v = plus(v, bias_at(x, i, j));
    for (const unsigned char *s = x->step; *s; s++) v = apply(x, *s, v, i, j);
    return v;
}

/* --- sums of blocks of k ---------------------------------------------------------- */

/* The first k after `from` at which a factor changes, at most k. */
static size_t block_end(const struct operands *x, size_t from, size_t k)
{
    size_t end = k;
    const size_t depth[] = { x->a.at ? x->a.depth : SIZE_MAX,
                             x->b.at ? x->b.depth : SIZE_MAX };
    for (int side = 0; side < 2; side++)
        if (depth[side] != SIZE_MAX)
            end = smaller(end, (from / depth[side] + 1) * depth[side]);
    return end;
}

/* Add the sums of the block of k that begins with `from`, and their magnitudes. */
static void add_sums(struct value *all, const struct operands *x,
                     const struct comparison *p, size_t from, const uint64_t *sum,
                     const double *size)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    for (size_t at = 0; at < p->m * p->n; at++) {
        const double factor = multiplies_sums(x) ? factor_at(&x->a, at / p->n, from) *
                                                       factor_at(&x->b, at % p->n, from)
                                                 : 1;
        all[at].value += double_of_bits(sum[at]) * factor;
        all[at].magnitude += size[at] * fabs(factor);
    }
    hostfp_leave(&saved);
}

/* Add the products of k from `from` to `to` to all values, with their factors. */
static enum bitcut_status add_block(struct value *all, const struct operands *x,
                                    const struct comparison *p, size_t from, size_t to,
                                    const struct gemm_options *o, struct fault *f)
{
    const size_t k = to - from, count = p->m * p->n;
    uint32_t *const a = memory_allocate(p->m * k, sizeof *a);
    uint32_t *const b = memory_allocate(k * p->n, sizeof *b);
    uint64_t *const c64 = memory_allocate(count, sizeof *c64);
    double *const size = memory_allocate(count, sizeof *size);
    struct exact_counts counts;
    const struct exact_options options = { .threads = o->threads,
                                           .progress = o->progress };
    enum bitcut_status status = BITCUT_OK;
    if (!a || !b || !c64 || !size)
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the reference");
    for (size_t i = 0; status == BITCUT_OK && i < p->m; i++)
        memcpy(a + i * k, p->a + i * p->k + from, k * sizeof *a);
    if (status == BITCUT_OK) {
        memcpy(b, p->b + from * p->n, k * p->n * sizeof *b);
        status = exact_gemm(NULL, c64, size, &counts, &options, p->m, p->n, k, a, b, f);
    }
    if (status == BITCUT_OK) add_sums(all, x, p, from, c64, size);
    free(a);
    free(b);
    free(c64);
    free(size);
    return status;
}

/* The norms of lines with their factors. */
static void norms_make(double *row, double *col, const struct operands *x,
                       const struct comparison *p)
{
    for (size_t i = 0; i < p->m; i++) {
        double all = 0;
        for (size_t k = 0; k < p->k; k++) {
            const double y = number_of(p->a[i * p->k + k]) * factor_at(&x->a, i, k);
            if (isfinite(y)) all += y * y;
        }
        row[i] = sqrt(all);
    }
    for (size_t j = 0; j < p->n; j++) {
        double all = 0;
        for (size_t k = 0; k < p->k; k++) {
            const double y = number_of(p->b[k * p->n + j]) * factor_at(&x->b, j, k);
            if (isfinite(y)) all += y * y;
        }
        col[j] = sqrt(all);
    }
}

/* Write the values as the reference. */
static void store(struct comparison *p, const struct value *all, const struct operands *x)
{
    const struct bitcut_format *const f32 = &formats[FORMAT_F32],
                                      *const f64 = &formats[FORMAT_F64];
    uint32_t *const to32 = (uint32_t *)(uintptr_t)p->reference32;
    uint64_t *const to64 = (uint64_t *)(uintptr_t)p->reference64;
    double *const size = (double *)(uintptr_t)p->magnitude;
    for (size_t at = 0; at < p->m * p->n; at++) {
        const struct value v = finished(x, all[at], at / p->n, at % p->n);
        to64[at] = bits_of_double(v.value);
        to32[at] =
            (uint32_t)bitcut_format_convert(f32, &roundings[ROUND_RN], f64, to64[at]);
        size[at] = v.magnitude;
    }
    norms_make((double *)(uintptr_t)p->row_norm, (double *)(uintptr_t)p->col_norm, x, p);
}

enum bitcut_status judge_extend(struct judge *j, const struct bitcut_gemm *g, size_t i,
                                const struct gemm_options *options, struct fault *f)
{
    struct comparison *const p = &j->comparison;
    struct operands x;
    const size_t count = p->m * p->n;
    struct value *const all = calloc(count ? count : 1, sizeof *all);
    enum bitcut_status status = BITCUT_OK;
    if (!operands_make(&x, g, i, options->threads) || !all)
        status = fault_set(f, BITCUT_NO_MEMORY, "not enough memory for the reference");
    for (size_t from = 0, to; status == BITCUT_OK && count && from < p->k; from = to) {
        to = block_end(&x, from, p->k);
        status = add_block(all, &x, p, from, to, options, f);
    }
    if (status == BITCUT_OK && count) {
        struct hostfp saved;
        hostfp_enter(&saved);
        store(p, all, &x);
        hostfp_leave(&saved);
    }
    operands_clear(&x);
    free(all);
    return status;
}
