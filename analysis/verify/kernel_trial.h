/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel on a device compared with its model: whole GEMMs, bit for bit. */
#ifndef BITCUT_ANALYSIS_VERIFY_KERNEL_TRIAL_H
#define BITCUT_ANALYSIS_VERIFY_KERNEL_TRIAL_H

#include "analysis/evidence/recorder.h"
#include "emu/gemm.h"
#include "lib/base/shard.h"
#include "lib/gemm/matrix.h"
#include "lib/number/apart.h"

struct kernel_shape {
    size_t m, n, k;
};

struct kernel_trial {
    const struct recorder *recorder;
    const struct gpu_kernel *kernel;
    struct bitcut_gemm gemm; /* from kernel_gemm(), possibly with another split, slices,
                                or equilibration */
    int threads;                      /* 0: all processors */
    const struct kernel_shape *shape; /* NULL: a grid of small shapes */
    uint64_t seed;
    struct shard shard; /* of the grid's GEMMs and batches */
};

/* The first mismatch: its batch and its position. */
struct kernel_mismatch {
    struct kernel_shape shape;
    const char *room, *input; /* layout of the matrices; input family */
    char transposes[3],
        outputs[3]; /* n or t for A and B, and for C and D: t is column-major */
    bool in_place;                  /* D is C                                            */
    double alpha, beta;
    size_t count, gemm, at[2]; /* number of GEMMs; index of the GEMM; row and column */
    bool is_output; /* false: it is memory of D outside the outputs, without a position */
    struct apart bits;
    /* step of k, counted from 1, after which the outputs differ, found by running the
       kernel on the first steps alone; 0: they differ even with k = 0 */
    size_t step;
    bool has_step; /* false for split-K, and outside the outputs */
};

/* The GEMM of the first mismatch, one of its batch, with elements as FP32 numbers; D is
   the kernel's result. d.at is NULL: there is none, or the mismatch is no output. */
struct kernel_failure {
    struct matrix a, b, c, d;
    uint32_t alpha, beta;
    const struct bitcut_format *format; /* of the matrices */
};

struct kernel_result {
    size_t configurations, compared, mismatches; /* compared: outputs */
    struct kernel_mismatch first;                /* if there is one   */
    int counts;                                  /* what the device counts in its runs */
    struct gpu_count count[GPU_COUNTS_MAX];
    struct kernel_failure failure;
};

/* Whether `name` is the name of the kernel, its beginning up to a '.', or "all". */
bool kernel_is_called(const char *kernel, const char *name);

/* The GEMM that the kernel computes on the recorder's device: its recipe with its terms
   and promotion, on the unit of its instruction, without sizes and matrices.  Returns
   BITCUT_UNSUPPORTED if the device cannot run it, or a table does not have its recipe or
   unit. */
enum bitcut_status kernel_gemm(struct bitcut_gemm *gemm, const struct recorder *r,
                               const struct gpu_kernel *kernel, struct fault *f);

/* Whether the kernels have the same model, so that they can be tried together. */
bool kernel_trials_alike(const struct kernel_trial *x, const struct kernel_trial *y);

/* The number of GEMMs and batches on which the kernel is tried. */
size_t kernel_trial_size(const struct kernel_trial *trial);

/* Run `count` kernels of the same kind, with the same shape, seed, shard and recorder, on
   the device, and their model on the CPU, and compare every bit of the memory of D,
   including the gaps between and around its matrices.  The operands of each GEMM and
   batch are made, and emulated, once for all kernels that use them, several at a time on
   as many threads.  The result of a kernel is the same as if it were tried alone.

   Kernels with a split are tried on each small shape with all classes of inputs, all
   layouts of A and B and all scalars.  The layouts of C and D, D in the place of C,
   single GEMMs, and batches of two and three, some of which share A, B or C or have D
   side by side, are varied in turn.  Larger shapes are tried with each class; shapes with
   more than 2^22 products are compared in some whole rows and columns.  Kernels for small
   GEMMs are tried with every class in every layout (by strides or by pointers, aligned or
   not, with gaps or not, one B for all), and everything else varied in turn.

   The caller clears `failure`.  A status other than BITCUT_OK belongs to kernel `failed`;
   no result is set then.  Returns BITCUT_UNSUPPORTED and BITCUT_BAD_ARGUMENT as
   gpu_work_run() does, or if asked to stop; BITCUT_NO_MEMORY. */
enum bitcut_status kernel_trials_run(struct kernel_result *results, size_t *failed,
                                     const struct kernel_trial *trials, size_t count,
                                     const struct progress *progress, struct fault *f);

#endif
