/* SPDX-License-Identifier: BSD-3-Clause */
/* A B by FP64 multiply-adds, k ascending from +0. */
#include "emu/fp64/scheme.h"

#include "lib/base/threads.h"
#include "lib/number/hostfp.h"

#include <math.h>

/* The sum of an output, and its NaN by the rule of the unit. */
static double dot(const struct fp64_job *job, size_t i, size_t j)
{
    const double *const a = job->a + i * job->k, *const b = job->b + j * job->k;
    double sum = 0;
    for (size_t p = 0; p < job->k; p++) sum = fma(a[p], b[p], sum);
    if (!isnan(sum)) return sum;
    sum = 0;
    for (size_t p = 0; p < job->k; p++) sum = fp64_fma(a[p], b[p], sum);
    return sum;
}

enum bitcut_status fp64_run_chain(const struct fp64_job *job, struct fault *f)
{
    const struct progress *const progress = job->options->progress;
#pragma omp parallel num_threads(threads_for(job->options->threads, job->m))
    {
        struct hostfp saved;
        hostfp_enter(&saved);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < job->m; i++)
            for (size_t j = 0; j < job->n && !progress_stopped(progress); j++)
                job->d[i * job->n + j] = dot(job, i, j);
        hostfp_leave(&saved);
    }
    return progress_end(BITCUT_OK, progress, f);
}
