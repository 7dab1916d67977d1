/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting the split pass; its code is in gpu/hip/split.hip. */
#include "gpu/hip/arguments.h"
#include "gpu/hip/hip_tables.h"
#include "lib/base/size.h"

#include <math.h>

enum { BLOCKS_MAX = 65535 }; /* largest number of blocks along y; with more, blocks loop */

static struct hip_rounding rounding_of(const struct bitcut_rounding *r)
{
    return (struct hip_rounding){ r->direction, r->bit, r->overflow, r->flush };
}

static bool is_nearest(const struct bitcut_rounding *r)
{
    return r->direction == TO_NEAREST_EVEN && r->overflow == OVERFLOW_IEEE && !r->flush;
}

static const char *kernel_of(const struct bitcut_split *s)
{
    switch (format_of(s->part[0].format)) {
    case FORMAT_F16:
        return is_nearest(s->part[0].rounding) && is_nearest(split_low(s))
                   ? "split_f16_nearest"
                   : "split_f16";
    case FORMAT_BF16: return "split_bf16";
    case FORMAT_E4M3FNUZ: return "split_e4m3fnuz";
    case FORMAT_E5M2FNUZ: return "split_e5m2fnuz";
    default: return "split_tf32";
    }
}

static rt_error start(void *parts, const struct operand *o, size_t matrices,
                      rt_stream stream)
{
    const size_t runs = divide_up(o->k, SPLIT_K);
    const uint32_t *largest = parts_largest(parts, o);
    const struct hip_split x = {
        .parts = parts,
        .from = o->matrix->at,
        .prepared_stride = prepared_stride(o),
        .stride = o->matrix->stride,
        .lines = o->lines,
        .k = o->k,
        .ld = o->matrix->ld,
        .largest = largest != NULL,
        .largest_at = largest ? (uint64_t)((const char *)largest - (char *)parts) : 0,
        .blocks = largest ? 1 : (uint32_t)smaller(runs, BLOCKS_MAX),
        .across = o->across,
        .target = o->target,
        .count = o->split->parts,
        .scale = ldexpf(1, o->split->scale),
        .high = rounding_of(o->split->part[0].rounding),
        .low = rounding_of(split_low(o->split)),
    };
    const struct hip_launch launch = { (unsigned)divide_up(o->lines, SPLIT_LINES),
                                       x.blocks, (unsigned)matrices, SPLIT_THREADS,
                                       stream };
    if (!launch.x || !launch.y || !launch.z) return RT_SUCCESS;
    return hip_code_start(kernel_of(o->split), &launch, &x, sizeof x);
}

rt_error split_launch(const struct to_split *of, int count, rt_stream stream)
{
    rt_error status = RT_SUCCESS;
    for (int i = 0; i < count && status == RT_SUCCESS; i++)
        status = start(of[i].parts, &of[i].operand, of[i].count, stream);
    return status;
}
