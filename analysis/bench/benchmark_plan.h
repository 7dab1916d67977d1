/* SPDX-License-Identifier: BSD-3-Clause */
/* What is raced: kernels and shapes, by name. */
#ifndef BITCUT_ANALYSIS_BENCH_BENCHMARK_PLAN_H
#define BITCUT_ANALYSIS_BENCH_BENCHMARK_PLAN_H

#include "analysis/verify/kernel_trial.h"

enum { SHAPES_MAX = 6, SELECTIONS_MAX = 6, SLICES_MAX = 8, COUNTS_MAX = 4 };

/* A row of the table of sets of shapes. */
struct shape_set {
    const char *name, *what;
    bool scaled;       /* times n, for every n                                    */
    const char *input; /* the family of its A and B; NULL: what bench takes       */
    struct kernel_shape shape[SHAPES_MAX]; /* ended by zeros                     */
};

extern const struct shape_set shape_sets[]; /* ended by a row without a name */

/* The name of the first set that has m x n x k; NULL: none has. */
const char *shape_set_of(size_t m, size_t n, size_t k);

/* A row of the table of studies: which kernels, on which shapes, in how many slices, how
   many GEMMs at a time. */
struct bench_study {
    const char *name, *what;
    int matrices; /* FORMAT_...: of A, B and D of its kernels and peers.  f32: large
                     ones, from words; f16: small ones, read as they are             */
    const char *kernels[SELECTIONS_MAX]; /* names or how they begin; none: of every
                                             recipe the one that gpu/api/choose.h takes,
                                             or those for the smallest sizes */
    const char *shapes;
    int slices[SLICES_MAX];     /* ended by 0                          */
    size_t batches[COUNTS_MAX]; /* ended by 0; none: single GEMMs      */
};

extern const struct bench_study bench_studies[]; /* ended likewise; the default first */

/* What of a study's kernels is wanted. */
struct bench_filter {
    const char *kernel; /* these instead: a name or how it begins; or NULL   */
    int tile[3];        /* m, n and k; 0: of any                             */
};

bool bench_has_tile(const struct gpu_kernel *kernel, const struct bench_filter *filter);

/* Whether the device is asked to run the kernel; of the GEMM count, m, n, k and slices
   are read. */
bool bench_wants(const struct gpu_kernel *kernel, const struct recorder *r,
                 const struct bench_study *study, const struct bench_filter *filter,
                 const struct bitcut_gemm *gemm);

#endif
