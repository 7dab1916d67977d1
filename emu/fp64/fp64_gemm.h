/* SPDX-License-Identifier: BSD-3-Clause */
/* FP64 GEMMs by a scheme, as lib/bitcut.h describes ("FP64"). */
#ifndef BITCUT_EMU_FP64_FP64_GEMM_H
#define BITCUT_EMU_FP64_FP64_GEMM_H

#include "emu/fp64/scheme.h"

/* Check that nothing is set in g, which has a scheme, that only FP32 GEMMs have, and that
   its unit multiplies the parts.  Set *parts to their number.  BITCUT_BAD_ARGUMENT says
   what does not fit. */
enum bitcut_status fp64_plan(int *parts, const struct bitcut_gemm *g, struct fault *f);

/* How a GEMM, or a batch, is computed. */
struct fp64_choice {
    int parts;     /* of each element; of a batch, the most             */
    size_t slices; /* of k; 1: it is not cut                            */
    int bits;      /* that the data need; of a batch, the most; -1: the scheme does not
                      ask, or an element is infinite or NaN                          */
    bool in_f64;   /* whether fp64 computes it, since an element is infinite or NaN or the
                      scheme has not as many bits; of a batch, all GEMMs             */
    bool some_f64; /* whether fp64 computes a GEMM of the batch                      */
};

/* Find it, from the sizes and the data of a valid GEMM.  D is not read.
   BITCUT_BAD_ARGUMENT: as fp64_plan(); BITCUT_NO_MEMORY. */
enum bitcut_status fp64_settle(struct fp64_choice *to, const struct bitcut_gemm *g,
                               int threads, struct fault *f);

/* Run a GEMM with a scheme, or a batch.  *by says how; NULL: not wanted.  Errors are
   those of bitcut_gemm(). */
enum bitcut_status fp64_gemm_run(struct fp64_choice *by, const struct bitcut_gemm *g,
                                 const struct gemm_options *options, struct fault *f);

/* Some k: `count` of them, from `first` on. */
struct fp64_range {
    size_t first, count;
};

/* Slice i of `slices` of k: blocks of 128 k, divided evenly; the last slices have one
   block more.  The first slice may be empty; after the last one, all are. */
struct fp64_range fp64_k_slice(size_t k, size_t slices, size_t i);

/* Some k of a matrix as FP64 values, line by line: the rows of A, or the columns of B.
   NULL: no memory.  free() releases it. */
double *fp64_lines(const struct bitcut_matrix *x, size_t rows, size_t cols, bool columns,
                   struct fp64_range k, int threads);

/* The job of one GEMM that is computed as `by` says, without its matrices.  Its scheme is
   fp64 if `by` says so. */
struct fp64_job fp64_job_of(const struct bitcut_gemm *g, const struct fp64_choice *by,
                            const struct gemm_options *options);

/* Parse what follows SCHEME@ in the line of such a GEMM, and write the line. */
enum bitcut_status fp64_line_read(struct bitcut_gemm *to,
                                  const struct bitcut_scheme *scheme, const char *unit,
                                  const char *list, struct fault *f);
void fp64_line_write(char *line, size_t size, const struct bitcut_gemm *g);

/* The first unit of a chip that multiplies parts of the scheme, or the unit of this name.
   NULL: there is none. */
const struct bitcut_unit *fp64_unit_find(const struct bitcut_scheme *scheme,
                                         const char *name);

#endif
