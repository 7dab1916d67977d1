/* SPDX-License-Identifier: BSD-3-Clause */
/* Bits of digits, and which sums of their products the unit gives exactly. */
#include "emu/fp64/scheme.h"

#include "emu/fast/fast_integer.h"
#include "emu/summation.h"
#include "lib/base/size.h"
#include "lib/number/hostfp.h"

#include <math.h>

/* Bits of the integers that an accumulator represents without gaps. */
static int sum_bits(const struct bitcut_unit *u)
{
    return format_is_integer(u->c) ? u->c->fraction_bits : u->c->fraction_bits + 1;
}

/* The largest digit that a format of parts represents without gaps has so many bits. */
static int digit_bits(const struct bitcut_format *part)
{
    return format_is_integer(part) ? part->fraction_bits : part->fraction_bits + 1;
}

size_t fp64_group(const struct fp64_job *job, const int width[2])
{
    const int left = sum_bits(job->unit) - width[0] - width[1] - ceil_log2(job->k);
    const size_t window = job->scheme->window;
    const size_t k =
        job->shortest ? job->shortest : divide_up(job->k, FP64_TILE_K) * FP64_TILE_K;
    if (window && k) return larger(window / k, 1);
    if (job->scheme->levels) return (size_t)job->parts;
    return job->scheme->groups && left > 0 ? (size_t)1 << left : 1;
}

size_t fp64_additions(const struct fp64_job *job, const int width[2])
{
    const size_t group = fp64_group(job, width);
    size_t count = 0;
    for (size_t level = 1; level <= (size_t)job->parts; level++)
        count += divide_up(level, group);
    return count;
}

bool fp64_sums_are_exact(const struct fp64_job *job, const int width[2])
{
    const struct bitcut_unit *const u = job->unit;
    const bool cuts = u->summation->reads & READS_FRACTION;
    const int bits = width[0] + width[1] + ceil_log2(job->k);
    /* A scheme with `levels` adds that many products of a weight in s32, whatever k. */
    const size_t products = smaller(fp64_group(job, width), (size_t)job->parts);
    if (job->scheme->levels &&
        (double)job->k * (double)products >= ldexp(1, 33 - width[0] - width[1]))
        return false;
    return format_is_integer(u->c) ? fast_integer_sums(u)
                                   : bits <= sum_bits(u) && (!cuts || !u->fraction ||
                                                             u->fraction >= bits - 1);
}

enum bitcut_status fp64_widths(int width[2], const struct fp64_job *job, struct fault *f)
{
    struct hostfp saved;
    hostfp_enter(&saved);
    job->scheme->cut->widths(width, job->k, digit_bits(job->scheme->part),
                             sum_bits(job->unit));
    hostfp_leave(&saved);
    if (width[0] >= 1 && width[1] >= 1) return BITCUT_OK;
    return fault_set(f, BITCUT_BAD_ARGUMENT,
                     "k = %zu is too large for slices of %s whose sums are %s", job->k,
                     job->scheme->part->name, job->unit->c->name);
}
