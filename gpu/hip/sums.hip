/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a GEMM with split-K: D from the sums of its slices (struct hip_sums). */
#include "gpu/hip/device.h"

KERNEL(SUMS_THREADS) add_sums(struct hip_sums x)
{
    const uint64_t j = block_x() * (uint64_t)SUMS_THREADS + thread_x();
    const uint64_t matrix = block_z(), outputs = x.m * x.n;
    if (j >= x.n) return;
    for (uint64_t i = block_y(); i < x.m; i += x.rows) {
        const float *at = x.partial + matrix * x.slices * outputs + i * x.n + j;
        float total = *at;
        for (uint32_t s = 1; s < x.slices; s++) total = total + at[s * outputs];
        output_store(x.output, total, matrix, i, j);
    }
}
