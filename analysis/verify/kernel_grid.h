/* SPDX-License-Identifier: BSD-3-Clause */
/* The grid of a trial: the GEMMs on which a kernel is tried. */
#ifndef BITCUT_ANALYSIS_VERIFY_KERNEL_GRID_H
#define BITCUT_ANALYSIS_VERIFY_KERNEL_GRID_H

#include "analysis/verify/kernel_trial.h"

/* Values of matrices: an input family for f32, or elements for f16. */
struct values {
    const char *name;
    uint32_t (*element)(uint32_t w);
};

/* The layout of matrices in memory: gaps between rows or columns and between matrices,
   and before the first.  With pointers matrices are in no order, and pointer i is moved
   by i % move elements.  Whether all GEMMs share A, B or C (then D is not C), and whether
   matrices of D lie side by side, so that a row in memory has a row of each. */
struct room {
    const char *name;
    size_t count; /* number of GEMMs; 0: as in the shape */
    size_t gap, apart, before;
    bool pointers;
    size_t move;
    bool one_a, one_b, one_c, beside;
};

/* FP32 encodings; C is not read if beta is a zero */
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

/* The number of GEMMs and batches on which the kernel of a trial is tried, and the one
   with index i. */
size_t kernel_grid_size(const struct kernel_trial *trial);
struct configuration kernel_grid_at(const struct kernel_trial *trial, size_t i);

/* Whether an entry of another kernel's grid, equal to the trial's kernel except for its
   sizes, also belongs to this trial. */
bool kernel_grid_has(const struct kernel_trial *trial, const struct configuration *one);

#endif
