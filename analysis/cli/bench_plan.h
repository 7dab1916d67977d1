/* What `bitcut bench gpu` runs: shapes and kernels, by name. */
#ifndef BITCUT_ANALYSIS_CLI_BENCH_PLAN_H
#define BITCUT_ANALYSIS_CLI_BENCH_PLAN_H

#include "analysis/device/kernel_trial.h"
#include "analysis/cli/option.h"

enum { SHAPES_MOST = 6, SELECTIONS_MOST = 6, SLICES_MOST = 8 };

/* A row of the table of sets of shapes. */
struct shape_set {
    const char *name, *what;
    bool scaled;       /* times n, for every n                                    */
    const char *input; /* the family of its A and B; NULL: what bench takes       */
    struct kernel_shape shape[SHAPES_MOST]; /* ended by zeros                     */
};

extern const struct shape_set shape_sets[]; /* ended by a row without a name */

/* The name of the first set that has m x n x k; NULL: none has. */
const char *shape_set_of(size_t m, size_t n, size_t k);

/* A row of the table of studies: which kernels, on which shapes, in how many slices, how
   many GEMMs at a time. */
struct bench_study {
    const char *name, *what;
    const char *kernels[SELECTIONS_MOST]; /* names or how they begin; none: of every
                                             recipe the one that gpu/choose.h takes */
    const char *shapes;
    int slices[SLICES_MOST];      /* ended by 0                                  */
    struct option_counts batches; /* none: single GEMMs                          */
    bool small;                   /* small f16 GEMMs, of analysis/cli/bench_batch.h  */
};

extern const struct bench_study bench_studies[]; /* ended likewise; the default first */

/* The sizes n unless the command line has others. */
extern const struct option_counts bench_sizes;

/* What of a study's kernels the command line wants. */
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
