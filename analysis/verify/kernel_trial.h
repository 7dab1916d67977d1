/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel on a device beside its model: whole GEMMs, bit for bit. */
#ifndef BITCUT_ANALYSIS_VERIFY_KERNEL_TRIAL_H
#define BITCUT_ANALYSIS_VERIFY_KERNEL_TRIAL_H

#include "analysis/evidence/recorder.h"
#include "emu/gemm.h"
#include "lib/gemm/matrix.h"
#include "lib/number/apart.h"

struct kernel_shape {
    size_t m, n, k;
};

struct kernel_trial {
    const struct recorder *recorder;
    const struct gpu_kernel *kernel;
    struct bitcut_gemm gemm;          /* that of kernel_gemm(), or another split, slices,
                                         equilibrated                                    */
    int threads;                      /* 0: all processors */
    const struct kernel_shape *shape; /* NULL: a grid of small ones */
    uint64_t seed;
};

/* The first mismatch: the batch, and where in it. */
struct kernel_mismatch {
    struct kernel_shape shape;
    const char *room, *input; /* how matrices lie; the family of values                  */
    char transposes[3], outputs[3]; /* n or t of A and B, and of C and D: t is
                                       column-major                                      */
    bool in_place;                  /* D is C                                            */
    double alpha, beta;
    size_t count, gemm, at[2]; /* GEMMs; which of them, from 0; row and column           */
    bool is_output;            /* else it is memory of D that is none, and has no place  */
    struct apart bits;
    size_t step; /* of k, after which the outputs differ, counted from 1, found by running
                    the kernel on the first steps alone; 0: they differ without any      */
    bool has_step; /* not with split-K, nor of what is no output                         */
};

/* The GEMM of the first mismatch, one of its batch, as its elements' numbers in FP32;
   what the kernel made of it is D.  d.at is NULL: there is none, or the mismatch is no
   output. */
struct kernel_failure {
    struct matrix a, b, c, d;
    uint32_t alpha, beta;
    const struct bitcut_format *format; /* of the matrices */
};

struct kernel_result {
    size_t configurations, compared, mismatches; /* compared: outputs */
    struct kernel_mismatch first;                /* if there is one   */
    int counts;                                  /* what the device counted of its runs */
    struct gpu_count count[GPU_COUNTS_MAX];
    struct kernel_failure failure;
};

/* Whether `name` is that of the kernel, the beginning of it before a '.', or "all". */
bool kernel_is_called(const char *kernel, const char *name);

/* The GEMM that the kernel computes on the recorder's device: its recipe with its terms
   and promotion, on the unit of its instruction, without sizes and matrices.
   BITCUT_UNSUPPORTED: the device cannot run it, or the tables do not have what it names.
 */
enum bitcut_status kernel_gemm(struct bitcut_gemm *gemm, const struct recorder *r,
                               const struct gpu_kernel *kernel, struct fault *f);

/* Whether the kernels have one model, so that they can be tried together. */
bool kernel_trials_alike(const struct kernel_trial *x, const struct kernel_trial *y);

/* How many GEMMs and batches the kernel is tried on. */
size_t kernel_trial_size(const struct kernel_trial *trial);

/* Run `count` kernels, all alike, of the same shape, seed and recorder, on the device and
   their model on the host, and compare every bit of D's memory, what lies between and
   around its matrices included.  The operands of each GEMM and batch are made, and it is
   emulated, once for all that take it, several at a time by as many threads.  What each
   finds is what it finds alone.  Of a kernel that splits:
   of each small shape all classes of inputs, all layouts of A and B and all scalars, and
   in turn those of C and D, D in the place of C, and single GEMMs and batches of two and
   three, some of which share A, B or C, or have D side by side; of a larger shape each
   class; of one with more than 2^22 products some whole rows and columns.  Of one for
   small GEMMs every class in every room (at strides or by pointers, aligned or not, with
   gaps or not, one B for all), and all else in turn.  The caller clears
   `failure`.  Another status than BITCUT_OK is that of kernel
   *failed; no result is set then.  BITCUT_UNSUPPORTED, BITCUT_BAD_ARGUMENT: as
   gpu_work_run(), or asked to stop; BITCUT_NO_MEMORY. */
enum bitcut_status kernel_trials_run(struct kernel_result *results, size_t *failed,
                                     const struct kernel_trial *trials, size_t count,
                                     const struct progress *progress, struct fault *f);

#endif
