/* SPDX-License-Identifier: BSD-3-Clause */
#include "emu/job.h"

#include "lib/base/size.h"
#include "lib/number/bits.h"
#include "lib/number/equilibrate.h"
#include "lib/number/fma.h"
#include "lib/number/hostfp.h"

#include <assert.h>
#include <string.h>

/* Smallest magnitudes that are cleared, by enum recipe_zeroed. */
static const uint32_t zeroed_from[] = {
    [RECIPE_ZEROES_NOTHING] = 0x80000000,
    [RECIPE_ZEROES_NAN] = 0x7f800001,
    [RECIPE_ZEROES_NOT_FINITE] = 0x7f800000,
};

struct schedule schedule_make(const struct gemm_plan *p, const struct bitcut_unit *u,
                              size_t steps)
{
    struct schedule s = {
        .together = p->tile_k ? 1 : p->terms,
        .tile = p->tile_k ? divide_up((size_t)p->tile_k, (size_t)p->k_step) : steps,
        .promotes = p->promote || p->tile_k,
        .zeroed_from = zeroed_from[p->recipe->zeroed],
        .nan = u->c == &formats[FORMAT_F32] ? (uint32_t)u->nan : F32_NAN,
    };
    for (int i = 0; i < p->accumulators; i++) s.sum[i] = accumulator_format(p, i);
    return s;
}

uint32_t job_fma(const struct schedule *s, uint32_t a, uint32_t b, uint32_t c)
{
    return f32_fused(s->nan, a, b, c);
}

uint32_t job_sum(const struct job *job, uint32_t sum)
{
    return f32_is_nan(sum)
               ? sum
               : f32_through(job->plan->order.partial_format, &roundings[ROUND_RN], sum);
}

void job_finish(const struct job *job, size_t i, size_t j, const float *total,
                size_t count)
{
    assert(hostfp_entered());
    const uint32_t alpha = job->alpha, nan = job->schedule.nan;
    uint32_t *d = job->d + i * job->ldd + j;
    memcpy(d, total, count * sizeof *d);
    for (size_t p = 0; job->plan->equilibrate && p < count; p++)
        d[p] = equilibrate_scale(d[p], -job->a.exponents[i] - job->b.exponents[j + p]);
    for (size_t p = 0; p < count; p++)
        if (f32_is_nan(d[p])) d[p] = nan;
    for (size_t p = 0; alpha != F32_ONE && p < count; p++)
        d[p] = job_fma(&job->schedule, alpha, d[p], (alpha ^ d[p]) & 0x80000000u);
    for (size_t p = 0; job->c && p < count; p++)
        d[p] = job_fma(&job->schedule, job->beta, job->c[i * job->ldc + j + p], d[p]);
}
