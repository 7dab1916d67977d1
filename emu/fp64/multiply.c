/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of parts on the unit of a scheme. */
#include "emu/fp64/scheme.h"

#include "emu/fast/fast_integer.h"
#include "emu/fast/simd.h"
#include "lib/number/bits.h"

#include <stdlib.h>

/* By the emulator of the unit: parts and sums are FP32 values, or integers. */
static enum bitcut_status by_unit(double *to, const struct fp64_job *job,
                                  const int16_t *a, const int16_t *b, struct fault *f)
{
    const size_t of_a = job->m * job->k, of_b = job->n * job->k, count = job->m * job->n;
    const bool integers = format_is_integer(job->unit->c);
    uint32_t *const values = memory_allocate(of_a + of_b, sizeof *values),
                    *const d = memory_allocate(count, sizeof *d);
    struct bitcut_gemm g = gemm_of(&recipes[RECIPE_PLAIN], job->unit);
    enum bitcut_status status = BITCUT_NO_MEMORY;
    if (values && d) {
        for (size_t i = 0; i < of_a; i++) values[i] = bits_of_float(a[i]);
        for (size_t i = 0; i < of_b; i++) values[of_a + i] = bits_of_float(b[i]);
        gemm_set_dense(&g, d, job->m, job->n, job->k, values, values + of_a, NULL);
        g.b.layout = BITCUT_COLUMN_MAJOR;
        if (integers) g.d.format = &formats[FORMAT_S32];
        status = gemm_run(&g, job->options, f);
    } else fault_set(f, status, "not enough memory for products of parts");
    for (size_t i = 0; i < count && status == BITCUT_OK; i++)
        to[i] = integers ? (double)(int32_t)d[i] : value_of_float(d[i]);
    free(values);
    free(d);
    return status;
}

/* Whether the sums are those of integers modulo 2^32: on a unit of integers, and of
   digits whose sums in FP32 are exact, in a format that represents all integers of 8
   bits, which are the digits of a line with an element from 2^970 on. */
static bool sums_are_exact(const struct fp64_job *job)
{
    enum { BYTE_FRACTION = 7 };
    int width[2];
    if (format_is_integer(job->unit->c)) return fast_integer_sums(job->unit);
    return job->scheme->cut && job->scheme->part->fraction_bits >= BYTE_FRACTION &&
           fp64_widths(width, job, NULL) == BITCUT_OK && fp64_sums_are_exact(job, width);
}

enum bitcut_status fp64_multiply(double *to, const struct fp64_job *job, const int16_t *a,
                                 const int16_t *b, struct fault *f)
{
    if (!sums_are_exact(job)) return by_unit(to, job, a, b, f);
    const struct simd_level *level = job->options->simd;
    const enum bitcut_status status = level ? BITCUT_OK : simd_choose(&level, f);
    if (status != BITCUT_OK) return status;
    fast_integer_products(to, level->kernels, a, job->m, b, job->n, job->k,
                          job->options->threads, job->options->progress);
    return progress_end(BITCUT_OK, job->options->progress, f);
}
