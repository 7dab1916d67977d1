#include "emu/job.h"

#include "lib/bits.h"
#include "lib/equilibrate.h"
#include "lib/fma.h"
#include "lib/hostfp.h"

#include <assert.h>
#include <string.h>

/* a b is exact in binary64; its sum with c, rounded to odd there, is rounded once to
   binary32 (Boldo and Melquiond 2008).  The error of the sum is TwoSum's. */
uint32_t job_fma(const struct plan *p, uint32_t a, uint32_t b, uint32_t c)
{
    const double product = (double)float_of_bits(a) * (double)float_of_bits(b),
                 z = float_of_bits(c);
    double sum = product + z;
    const double back = sum - product;
    const double error = (product - (sum - back)) + (z - back);
    if (!(error - error == 0)) /* NaN and Inf */
        return (uint32_t)fma_round(&formats[FORMAT_F32], &roundings[ROUND_RN], p->nan, a,
                                   b, c);
    uint64_t bits = bits_of_double(sum);
    if (error != 0 && !(bits & 1)) bits += (error > 0) == (sum > 0) ? 1 : UINT64_MAX;
    sum = double_of_bits(bits);
    return bits_of_float((float)sum);
}

void job_finish(const struct job *job, size_t i, size_t j, const float *total,
                size_t count)
{
    assert(hostfp_entered());
    const uint32_t alpha = job->alpha, nan = job->plan.nan;
    uint32_t *d = job->d + i * job->ldd + j;
    memcpy(d, total, count * sizeof *d);
    for (size_t p = 0; job->g->equilibrate && p < count; p++)
        d[p] = equilibrate_scale(d[p], -job->a.exponents[i] - job->b.exponents[j + p]);
    for (size_t p = 0; p < count; p++)
        if ((d[p] & 0x7fffffff) > 0x7f800000) d[p] = nan;
    for (size_t p = 0; alpha != F32_ONE && p < count; p++)
        d[p] = job_fma(&job->plan, alpha, d[p], (alpha ^ d[p]) & 0x80000000u);
    for (size_t p = 0; job->c && p < count; p++)
        d[p] = job_fma(&job->plan, job->beta, job->c[i * job->ldc + j + p], d[p]);
}
