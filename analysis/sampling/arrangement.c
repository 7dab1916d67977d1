/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/sampling/arrangement.h"

#include "lib/base/size.h"
#include "lib/number/bits.h"

#include <math.h>
#include <stdlib.h>

/* A product of every output. */
struct product {
    double share;
    size_t at;
};

/* The matrices: FP32 encodings, or FP64 values. */
struct operands {
    size_t m, n, k;
    const uint32_t *a, *b;
    const double *a64, *b64;
};

static double size_of(const uint32_t *x, const double *x64, size_t i)
{
    const double size = fabs(x64 ? x64[i] : value_of_float(x[i]));
    return isfinite(size) ? size : 0;
}

/* Add to each product its part of the sums of magnitudes of rows of A. */
static void add_rows(double *share, const struct operands *x)
{
    for (size_t i = 0; i < x->m; i++) {
        double sum = 0;
        for (size_t p = 0; p < x->k; p++) sum += size_of(x->a, x->a64, i * x->k + p);
        for (size_t p = 0; p < x->k && sum > 0; p++)
            share[p] += size_of(x->a, x->a64, i * x->k + p) / sum;
    }
}

/* The same of columns of B. */
static void add_columns(double *share, const struct operands *x)
{
    for (size_t j = 0; j < x->n; j++) {
        double sum = 0;
        for (size_t p = 0; p < x->k; p++) sum += size_of(x->b, x->b64, p * x->n + j);
        for (size_t p = 0; p < x->k && sum > 0; p++)
            share[p] += size_of(x->b, x->b64, p * x->n + j) / sum;
    }
}

static int compare(const void *x, const void *y)
{
    const struct product *const a = x, *const b = y;
    if (a->share != b->share) return a->share < b->share ? 1 : -1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Descending. */
static enum bitcut_status sort(size_t *at, const struct operands *x, struct fault *f)
{
    const size_t k = x->k;
    struct product *const product = memory_allocate(k, sizeof *product);
    double *const share = calloc(k ? k : 1, 2 * sizeof *share);
    const bool enough = product && share;
    if (enough) {
        add_rows(share, x);
        add_columns(share + k, x);
        for (size_t i = 0; i < k; i++)
            product[i] = (struct product){ share[i] * share[k + i], i };
        qsort(product, k, sizeof *product, compare);
        for (size_t i = 0; i < k; i++) at[i] = product[i].at;
    }
    free(product);
    free(share);
    return enough ? BITCUT_OK
                  : fault_set(f, BITCUT_NO_MEMORY, "not enough memory for an order of k");
}

static enum bitcut_status arrange_any(size_t *at, const struct operands *x,
                                      enum arrangement which, struct fault *f)
{
    const size_t k = x->k;
    for (size_t i = 0; i < k; i++) at[i] = i;
    if (which == DESCENDING || which == ASCENDING) {
        const enum bitcut_status status = sort(at, x, f);
        if (status != BITCUT_OK) return status;
    }
    for (size_t i = 0; (which == REVERSED || which == ASCENDING) && i < k / 2; i++) {
        const size_t other = at[i];
        at[i] = at[k - 1 - i];
        at[k - 1 - i] = other;
    }
    return BITCUT_OK;
}

enum bitcut_status arrange(size_t *at, const struct gemm_data *p, enum arrangement which,
                           struct fault *f)
{
    const struct operands x = {
        .m = p->a.rows, .n = p->b.cols, .k = p->a.cols, .a = p->a.at, .b = p->b.at
    };
    return arrange_any(at, &x, which, f);
}

enum bitcut_status arrange64(size_t *at, const struct dense *p, enum arrangement which,
                             struct fault *f)
{
    const struct operands x = {
        .m = p->m, .n = p->n, .k = p->k, .a64 = p->a, .b64 = p->b
    };
    return arrange_any(at, &x, which, f);
}
