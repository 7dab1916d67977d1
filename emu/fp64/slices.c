/* SPDX-License-Identifier: BSD-3-Clause */
/* A B by products of slices: slice i of A and slice j of B, counted from 1, for i + j up
   to the number of slices plus 1, in the order of i + j and then of i. */
#include "emu/fp64/scheme.h"

#include "lib/base/threads.h"
#include "lib/number/hostfp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A run of products. */
struct run {
    const struct fp64_job *job;
    struct slices a, b;
    double *sum; /* exact sum of the products of one weight so far; NULL: no groups */
    double *product;
    size_t most; /* products of one weight that are added before the sum in FP64     */
};

/* Add products of slices i and j, counted from 0, to the FP64 sums in job->d. */
static void add_products(const struct run *r, const double *product, int i, int j)
{
    const struct fp64_job *const job = r->job;
    const struct cut *const cut = job->scheme->cut;
    const double weight = cut->weight(i + j, r->a.width),
                 alpha = job->scheme->backward ? job->alpha : 1;
#pragma omp parallel num_threads(threads_for(job->options->threads, job->m))
    {
        struct hostfp saved;
        hostfp_enter(&saved);
#pragma omp for schedule(static)
        for (size_t row = 0; row < job->m; row++)
            for (size_t col = 0; col < job->n; col++) {
                const size_t at = row * job->n + col;
                job->d[at] =
                    cut->add(&(struct weighing){ .sum = job->d[at],
                                                 .product = product[at],
                                                 .a = slices_scale(&r->a, cut, i, row),
                                                 .b = slices_scale(&r->b, cut, j, col),
                                                 .weight = weight,
                                                 .alpha = alpha });
            }
        hostfp_leave(&saved);
    }
}

/* An integer modulo 2^32, as s32. */
static double wrapped(double x) { return (double)(int32_t)(uint32_t)(int64_t)x; }

int fp64_slice_of(const struct bitcut_scheme *s, int level, int index)
{
    return s->window && level % 2 == 0 ? level - index : index;
}

/* The products whose i + j is `level`.  Sums of groups are integers in s32. */
static enum bitcut_status add_level(const struct run *r, int level, struct fault *f)
{
    const size_t count = r->job->m * r->job->n;
    enum bitcut_status status = BITCUT_OK;
    size_t held = 0;
    for (int index = 0; index <= level && status == BITCUT_OK; index++) {
        const int i = fp64_slice_of(r->job->scheme, level, index);
        status = fp64_multiply(r->product, r->job, slices_digits(&r->a, i),
                               slices_digits(&r->b, level - i), f);
        if (status != BITCUT_OK) return status;
        const double *product = r->product;
        if (r->sum) {
            for (size_t p = 0; p < count; p++)
                r->sum[p] = wrapped(held ? r->sum[p] + product[p] : product[p]);
            product = r->sum;
        }
        if (++held < r->most && index < level) continue;
        add_products(r, product, i, level - i);
        held = 0;
    }
    return status;
}

static enum bitcut_status make(struct run *r, const struct fp64_job *job, struct fault *f)
{
    int width[2];
    enum bitcut_status status = fp64_widths(width, job, f);
    if (status != BITCUT_OK) return status;
    r->job = job;
    r->most = fp64_group(job, width);
    const int threads = job->options->threads;
    const size_t count = job->m * job->n;
    status = slices_make(&r->a, job->scheme->cut, job->parts, width[0], job->a, job->m,
                         job->k, threads);
    if (status == BITCUT_OK)
        status = slices_make(&r->b, job->scheme->cut, job->parts, width[1], job->b,
                             job->n, job->k, threads);
    r->product = memory_allocate(count, sizeof *r->product);
    if (r->most > 1) r->sum = memory_allocate(count, sizeof *r->sum);
    if (status == BITCUT_OK && (!r->product || (r->most > 1 && !r->sum)))
        status = BITCUT_NO_MEMORY;
    return status == BITCUT_OK
               ? status
               : fault_set(f, status, "not enough memory for the slices of A and B");
}

static void end(const struct run *r)
{
    const struct fp64_job *const job = r->job;
    const struct cut *const cut = job->scheme->cut;
    struct hostfp saved;
    hostfp_enter(&saved);
    for (size_t row = 0; row < job->m; row++)
        for (size_t col = 0; col < job->n; col++) {
            double *const d = &job->d[row * job->n + col];
            *d = cut->end(*d, slices_scale(&r->a, cut, 0, row),
                          slices_scale(&r->b, cut, 0, col));
        }
    hostfp_leave(&saved);
}

bool fp64_all_finite(const double *x, size_t count)
{
    size_t i = 0;
    while (i < count && isfinite(x[i])) i++;
    return i == count;
}

/* The value to which products are added: 0, or beta C. */
static void start(const struct fp64_job *job)
{
    const size_t count = job->m * job->n;
    struct hostfp saved;
    memset(job->d, 0, count * sizeof *job->d);
    if (!job->scheme->backward || !job->c) return;
    hostfp_enter(&saved);
    for (size_t i = 0; i < count; i++) job->d[i] = fp64_product(job->beta, job->c[i]);
    hostfp_leave(&saved);
}

enum bitcut_status fp64_run_slices(const struct fp64_job *job, struct fault *f)
{
    if (job->scheme->finite && !(fp64_all_finite(job->a, job->m * job->k) &&
                                 fp64_all_finite(job->b, job->n * job->k)))
        return fp64_run_chain(job, f);
    struct run r = { .job = NULL };
    enum bitcut_status status = make(&r, job, f);
    if (status == BITCUT_OK) start(job);
    for (int i = 0; i < job->parts && status == BITCUT_OK; i++) {
        status = add_level(&r, job->scheme->backward ? job->parts - 1 - i : i, f);
        progress_report(job->options->progress, (size_t)i + 1, (size_t)job->parts);
    }
    if (status == BITCUT_OK) end(&r);
    slices_clear(&r.a);
    slices_clear(&r.b);
    free(r.product);
    free(r.sum);
    return status;
}
