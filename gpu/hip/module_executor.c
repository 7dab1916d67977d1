/* SPDX-License-Identifier: BSD-3-Clause */
/* bitcut-executor.so: the code of AMD GPUs, executed by bitcut's model of the GPU, which
   is a library in the same folder with the same calls as the HIP runtime. */
#include "gpu/hip/hip_tables.h"

static int counts(struct gpu_count to[GPU_COUNTS_MAX])
{
    int (*count)(const char **names, uint64_t *values, int most) = NULL;
    const char *name[GPU_COUNTS_MAX];
    uint64_t value[GPU_COUNTS_MAX];
    if (!hip_library_find(&count, "hipStandInCounts")) return 0;
    const int n = count(name, value, GPU_COUNTS_MAX);
    for (int i = 0; i < n; i++) to[i] = (struct gpu_count){ name[i], value[i] };
    return n;
}

HIP_MODULE("executor", "AMD GPUs' own code, executed by a model of the GPU", counts);
