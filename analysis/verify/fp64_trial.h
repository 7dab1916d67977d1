/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel for FP64 GEMMs on a device compared with its scheme, bit for bit. */
#ifndef BITCUT_ANALYSIS_VERIFY_FP64_TRIAL_H
#define BITCUT_ANALYSIS_VERIFY_FP64_TRIAL_H

#include "analysis/verify/kernel_trial.h"
#include "gpu/api/fp64.h"

struct fp64_trial {
    const struct recorder *recorder;
    const struct gpu_fp64_kernel *kernel;
    int threads;                      /* 0: all processors */
    const struct kernel_shape *shape; /* NULL: a grid of small shapes */
    int parts;                        /* 0: several numbers of parts  */
    uint64_t seed;
    struct shard shard; /* of these GEMMs */
};

/* The number of GEMMs on which the kernel is tried. */
size_t fp64_trial_size(const struct fp64_trial *trial);

/* Run the kernel on all GEMMs of the trial, and compare all outputs; of a large D those
   of some rows and columns.  Of the result `counts` and `failure` are not set.  Statuses
   as for gpu_fp64_run() and bitcut_gemm(). */
enum bitcut_status fp64_trial_run(struct kernel_result *r, const struct fp64_trial *trial,
                                  const struct progress *progress, struct fault *f);

#endif
