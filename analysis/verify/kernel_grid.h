/* SPDX-License-Identifier: BSD-3-Clause */
/* The grid of a trial: which GEMMs a kernel is tried on. */
#ifndef BITCUT_ANALYSIS_VERIFY_KERNEL_GRID_H
#define BITCUT_ANALYSIS_VERIFY_KERNEL_GRID_H

#include "analysis/verify/kernel_trial.h"

/* Values of matrices: a family of inputs for f32, or elements of f16. */
struct values {
    const char *name;
    uint32_t (*element)(uint32_t w);
};

/* How matrices lie in memory: elements between lines and between matrices, and before the
   first.  With pointers they are in no order, and pointer i is i % move elements further.
   Whether all share A, B or C, which D is not then; and whether matrices of D lie side by
   side, so that a line in memory is one of each. */
struct room {
    const char *name;
    size_t count; /* of GEMMs; 0: the shape's */
    size_t gap, apart, before;
    bool pointers;
    size_t move;
    bool one_a, one_b, one_c, beside;
};

/* FP32 encodings; C is not read where beta is a zero. */
struct scalars {
    uint32_t alpha, beta;
};

/* One of the grid. */
struct configuration {
    struct kernel_shape shape;
    size_t count;
    const struct values *values;
    const struct room *room;
    bool down_a, down_b, down_c, down_d; /* column-major */
    bool in_place;                       /* D is C       */
    struct scalars scalars;
    uint64_t seed;
};

/* How many GEMMs and batches the kernel of a trial is tried on, and the one at i. */
size_t kernel_grid_size(const struct kernel_trial *trial);
struct configuration kernel_grid_at(const struct kernel_trial *trial, size_t i);

/* Whether one of the grid of another kernel, which is like the trial's but for its sizes,
   is one of this trial too. */
bool kernel_grid_has(const struct kernel_trial *trial, const struct configuration *one);

#endif
