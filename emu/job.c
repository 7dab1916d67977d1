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

uint32_t job_start(const struct job *job, size_t i, size_t j)
{
    return epilogue_start(&job->epilogue, i, j);
}

uint32_t job_add_integers(const struct job *job, uint32_t a, uint32_t b)
{
    const int64_t sum = (int64_t)(int32_t)a + (int32_t)b;
    if (job->unit->rounding.overflow == OVERFLOW_WRAP) return a + b;
    return sum > INT32_MAX   ? (uint32_t)INT32_MAX
           : sum < INT32_MIN ? (uint32_t)INT32_MIN
                             : (uint32_t)sum;
}

uint32_t job_sum(const struct job *job, size_t sequence, int added, uint32_t sum)
{
    const uint8_t *const stored = job->parts.stored;
    return f32_is_nan(sum) || job->plan->integer ||
                   (stored && stored[sequence] != added + 1)
               ? sum
               : f32_through(job->plan->order.partial_format, &roundings[ROUND_RN], sum);
}

struct promotion job_promotion(const struct job *job, uint32_t sum, size_t i, size_t j,
                               size_t k)
{
    const struct schedule *const s = &job->schedule;
    const uint32_t zero = 0x80000000u; /* x y + -0 is x y, rounded */
    const enum bitcut_scaling scaling = job->plan->scaling;
    if (scaling < BITCUT_SCALING_PROMOTED)
        return (struct promotion){ F32_ONE, sum, F32_ONE, F32_ONE };
    const uint32_t a = scale_factor(&job->epilogue.a, i, k),
                   b = scale_factor(&job->epilogue.b, j, k);
    if (scaling == BITCUT_SCALING_PROMOTED_TURNS)
        return (struct promotion){ b, job_fma(s, sum, a, zero), a, b };
    if (scaling == BITCUT_SCALING_PROMOTED_TURNS_B)
        return (struct promotion){ a, job_fma(s, sum, b, zero), a, b };
    const uint32_t both = job_fma(s, a, b, zero);
    return scaling == BITCUT_SCALING_PROMOTED
               ? (struct promotion){ both, sum, a, b }
               : (struct promotion){ F32_ONE, job_fma(s, both, sum, zero), a, b };
}

uint32_t job_promote(const struct job *job, uint32_t sum, uint32_t reg, size_t i,
                     size_t j, size_t k)
{
    const struct promotion p = job_promotion(job, sum, i, j, k);
    return job_fma(&job->schedule, p.value, p.factor, reg);
}

void job_finish(const struct job *job, size_t i, size_t j, const float *total,
                size_t count)
{
    assert(hostfp_entered());
    uint32_t *d = job->d + i * job->ldd + j;
    memcpy(d, total, count * sizeof *d);
    for (size_t p = 0; job->plan->equilibrate && p < count; p++)
        d[p] = equilibrate_scale(d[p], -job->a.exponents[i] - job->b.exponents[j + p]);
    for (size_t p = 0; p < count; p++)
        if (f32_is_nan(d[p]) && !job->plan->integer) d[p] = job->schedule.nan;
    epilogue_run(&job->epilogue, d, i, j, count);
}
