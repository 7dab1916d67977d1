/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/run/blas_product.h"

#include "lib/base/size.h"
#include "lib/gemm/plan.h"

#include <stdlib.h>
#include <string.h>

double product_count(const struct product *p)
{
    const struct bitcut_gemm *const g = &p->gemm;
    return (double)g->count * (double)g->m * (double)g->n * (double)g->k;
}

struct product product_nth(const struct product *p, size_t i)
{
    struct product one = *p;
    one.gemm = gemm_nth(&p->gemm, i);
    return one;
}

/* An FP32 product has the initial alpha_f64 and beta_f64, and an FP64 product the initial
   alpha and beta. */
bool product_is_scaled(const struct bitcut_gemm *g)
{
    return g->alpha != 0x3f800000 || g->alpha_f64 != 1;
}

bool product_reads_c(const struct bitcut_gemm *g)
{
    return !f32_is_zero(g->beta) || g->beta_f64 != 0;
}

struct bitcut_gemm product_configured(const struct bitcut_gemm *configuration,
                                      const struct bitcut_gemm *of)
{
    struct bitcut_gemm g = *configuration;
    g.count = of->count;
    g.m = of->m, g.n = of->n, g.k = of->k;
    g.alpha = of->alpha, g.beta = of->beta;
    g.alpha_f64 = of->alpha_f64, g.beta_f64 = of->beta_f64;
    g.a = of->a, g.b = of->b, g.c = of->c, g.d = of->d;
    return g;
}

/* --- elements --------------------------------------------------------------------- */

size_t product_bytes(const struct bitcut_matrix *x)
{
    return (size_t)format_bytes(matrix_format(x));
}

void *product_place(const struct bitcut_matrix *x, size_t rows, size_t cols, size_t i,
                    size_t j)
{
    const size_t ld = matrix_ld(x, rows, cols);
    return (char *)x->to +
           product_bytes(x) * (x->layout == BITCUT_ROW_MAJOR ? i * ld + j : j * ld + i);
}

/* The place of an element of a matrix that has one half stored. */
static const void *stored(const struct bitcut_matrix *x, size_t rows, size_t cols,
                          size_t i, size_t j, enum half half)
{
    return half_has(half, i, j) ? product_place(x, rows, cols, i, j)
                                : product_place(x, rows, cols, j, i);
}

uint64_t product_element(const struct bitcut_matrix *x, size_t rows, size_t cols,
                         size_t i, size_t j, enum half half)
{
    const void *const at = stored(x, rows, cols, i, j, half);
    return product_bytes(x) == sizeof(uint32_t) ? *(const uint32_t *)at
                                                : *(const uint64_t *)at;
}

void *product_copy(const struct bitcut_matrix *x, size_t rows, size_t cols,
                   enum half half)
{
    const size_t bytes = product_bytes(x);
    size_t count;
    char *const to =
        size_multiply(&count, rows, cols) ? memory_allocate(count, bytes) : NULL;
    for (size_t i = 0; to && i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            memcpy(to + (i * cols + j) * bytes, stored(x, rows, cols, i, j, half), bytes);
    return to;
}

/* --- a half of D ------------------------------------------------------------------ */

/* Compute some rows of D at a time, in the columns that the half has there.  A scheme
   computes all of D: its results may depend on all rows and columns (gemmul8). */
enum { ROWS = 256 };

/* Rows and columns of D, and the corresponding ones of A, B and C. */
struct block {
    size_t i, j, rows, cols;
};

/* The same matrix from (i, j) on. */
static struct bitcut_matrix moved(struct bitcut_matrix x, size_t rows, size_t cols,
                                  size_t i, size_t j)
{
    x.ld = matrix_ld(&x, rows, cols);
    x.at = product_place(&x, rows, cols, i, j);
    return x;
}

/* Copy the stored part of a block of C to `own`, or of `own` to D. */
static void copy_block(char *own, const struct product *p, const struct block *x,
                       bool back)
{
    const struct bitcut_gemm *const g = &p->gemm;
    const size_t bytes = product_bytes(&g->d);
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++) {
            char *const at = own + (i * x->cols + j) * bytes;
            const size_t row = x->i + i, col = x->j + j;
            if (!half_has(p->d, row, col)) memset(at, 0, bytes);
            else if (back) memcpy(product_place(&g->d, g->m, g->n, row, col), at, bytes);
            else memcpy(at, product_place(&g->c, g->m, g->n, row, col), bytes);
        }
}

static enum bitcut_status compute_block(char *own, const struct product *p,
                                        const struct bitcut_gemm *g,
                                        const struct block *x,
                                        const struct gemm_options *o, char *why)
{
    struct bitcut_gemm part = *g;
    const bool reads = gemm_reads_c(g);
    if (reads) copy_block(own, p, x, false);
    part.m = x->rows;
    part.n = x->cols;
    part.a = moved(g->a, g->m, g->k, x->i, 0);
    part.b = moved(g->b, g->k, g->n, 0, x->j);
    part.c = part.d = (struct bitcut_matrix){ .to = own, .format = g->d.format };
    const enum bitcut_status status = gemm_call(NULL, &part, o, why);
    if (status == BITCUT_OK) copy_block(own, p, x, true);
    return status;
}

static enum bitcut_status compute_half(const struct product *p,
                                       const struct bitcut_gemm *g,
                                       const struct gemm_options *o, char *why)
{
    enum bitcut_status status = BITCUT_OK;
    const size_t step = g->scheme ? g->m : smaller(g->m, ROWS);
    size_t most;
    char *const own = size_multiply(&most, step, g->n)
                          ? memory_allocate(most, product_bytes(&g->d))
                          : NULL;
    if (!own) return BITCUT_NO_MEMORY;
    for (size_t i = 0; i < g->m && status == BITCUT_OK; i += step) {
        const size_t rows = smaller(g->m - i, step);
        const size_t from = p->d == HALF_UPPER ? i : 0,
                     to = p->d == HALF_UPPER ? g->n : i + rows;
        const struct block x = { i, from, rows, to - from };
        status = compute_block(own, p, g, &x, o, why);
    }
    free(own);
    return status;
}

/* --- the whole -------------------------------------------------------------------- */

/* Replace a half-stored operand by a whole copy, which the caller frees.  Returns false
   if memory runs out. */
static bool complete(void **own, struct bitcut_matrix *x, size_t rows, size_t cols,
                     enum half half)
{
    *own = NULL;
    if (half == HALF_BOTH) return true;
    *own = product_copy(x, rows, cols, half);
    *x = (struct bitcut_matrix){ .at = *own, .format = x->format };
    return *own != NULL;
}

/* OpenMP ends the process if it has no memory for a team of threads. */
static bool team_fits(void)
{
    enum { TEAM_BYTES = 1 << 18 };
    void *volatile room = malloc(TEAM_BYTES); /* not to be optimised away */
    free(room);
    return room != NULL;
}

enum bitcut_status product_compute(const struct product *p,
                                   const struct bitcut_gemm *configuration,
                                   const struct gemm_options *o, struct fault *f)
{
    struct bitcut_gemm g = product_configured(configuration, &p->gemm);
    char why[BITCUT_TEXT_MAX] = "not enough memory";
    void *a = NULL, *b = NULL;
    enum bitcut_status status = BITCUT_NO_MEMORY;
    if ((o->threads == 1 || team_fits()) && complete(&a, &g.a, g.m, g.k, p->a) &&
        complete(&b, &g.b, g.k, g.n, p->b))
        status =
            p->d == HALF_BOTH ? gemm_call(NULL, &g, o, why) : compute_half(p, &g, o, why);
    free(a);
    free(b);
    return status == BITCUT_OK ? status : fault_set(f, status, "%s", why);
}
