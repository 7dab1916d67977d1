/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels and shapes of benchmarks, by name. */
#ifndef BITCUT_ANALYSIS_BENCH_BENCHMARK_PLAN_H
#define BITCUT_ANALYSIS_BENCH_BENCHMARK_PLAN_H

#include "analysis/verify/kernel_trial.h"

enum { SHAPES_MAX = 6, SELECTIONS_MAX = 6, SLICES_MAX = 8, COUNTS_MAX = 4 };

/* A row of the table of sets of shapes. */
struct shape_set {
    const char *name, *what;
    bool scaled;       /* the sides are multiplied by n, for every n */
    const char *input; /* input family of A and B; NULL: the family of the command */
    struct kernel_shape shape[SHAPES_MAX]; /* ended by zeros                     */
};

extern const struct shape_set shape_sets[]; /* ended by a row without a name */

/* The name of the first set that contains m x n x k; NULL if none does. */
const char *shape_set_of(size_t m, size_t n, size_t k);

/* A row of the table of studies: its kernels, shapes, numbers of slices and sizes of
   batches. */
struct bench_study {
    const char *name, *what;
    int matrices; /* format of A, B and D of its kernels and peers, FORMAT_...; f32: large
                     GEMMs, computed from parts; f16: small GEMMs, read as they are */
    /* names of kernels or their beginnings; none: for every recipe the kernel that
       gpu/api/choose.h selects, or the kernels for the smallest sizes */
    const char *kernels[SELECTIONS_MAX];
    const char *shapes;
    int slices[SLICES_MAX];     /* ended by 0                          */
    size_t batches[COUNTS_MAX]; /* ended by 0; none: single GEMMs */
};

extern const struct bench_study
    bench_studies[]; /* ended by a row without a name; the default is first */

/* A selection among the kernels of a study. */
struct bench_filter {
    const char *kernel; /* name of a kernel or its beginning, in place of the study's
                           kernels; or NULL */
    int tile[3];        /* m, n and k; 0: any */
};

bool bench_has_tile(const struct gpu_kernel *kernel, const struct bench_filter *filter);

/* Whether the kernel is to run on the device. count, m, n, k and slices of the GEMM are
   read. */
bool bench_wants(const struct gpu_kernel *kernel, const struct recorder *r,
                 const struct bench_study *study, const struct bench_filter *filter,
                 const struct bitcut_gemm *gemm);

#endif
