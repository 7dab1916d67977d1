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

static double size_of(uint32_t x)
{
    const double size = fabs(value_of_float(x));
    return isfinite(size) ? size : 0;
}

/* Add to each product its part of the sums of magnitudes of rows of A or columns of B. */
static void add_shares(double *share, const uint32_t *x, size_t lines, size_t k,
                       size_t across, size_t along)
{
    for (size_t i = 0; i < lines; i++) {
        double sum = 0;
        for (size_t p = 0; p < k; p++) sum += size_of(x[i * across + p * along]);
        for (size_t p = 0; p < k && sum > 0; p++)
            share[p] += size_of(x[i * across + p * along]) / sum;
    }
}

static int compare(const void *x, const void *y)
{
    const struct product *const a = x, *const b = y;
    if (a->share != b->share) return a->share < b->share ? 1 : -1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Descending. */
static enum bitcut_status sort(size_t *at, const struct gemm_data *p, struct fault *f)
{
    const size_t k = p->a.cols;
    struct product *const product = memory_allocate(k, sizeof *product);
    double *const share = calloc(k ? k : 1, 2 * sizeof *share);
    const bool enough = product && share;
    if (enough) {
        add_shares(share, p->a.at, p->a.rows, k, k, 1);
        add_shares(share + k, p->b.at, p->b.cols, k, 1, p->b.cols);
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

enum bitcut_status arrange(size_t *at, const struct gemm_data *p, enum arrangement which,
                           struct fault *f)
{
    const size_t k = p->a.cols;
    for (size_t i = 0; i < k; i++) at[i] = i;
    if (which == DESCENDING || which == ASCENDING) {
        const enum bitcut_status status = sort(at, p, f);
        if (status != BITCUT_OK) return status;
    }
    for (size_t i = 0; (which == REVERSED || which == ASCENDING) && i < k / 2; i++) {
        const size_t other = at[i];
        at[i] = at[k - 1 - i];
        at[k - 1 - i] = other;
    }
    return BITCUT_OK;
}
