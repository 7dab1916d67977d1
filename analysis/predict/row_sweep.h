/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions for a range of m: where the computation of a row changes with the number of
   rows, so that a result is not batch-invariant, and by how much. */
#ifndef BITCUT_ANALYSIS_PREDICT_ROW_SWEEP_H
#define BITCUT_ANALYSIS_PREDICT_ROW_SWEEP_H

#include "analysis/predict/predict.h"
#include "lib/base/progress.h"

enum { SWEEP_ROWS_MAX = 1 << 14, SWEEP_COMPUTATIONS_MAX = 64 };

/* Consecutive m for which no row that both have is computed differently. */
struct sweep_range {
    size_t first, last;
    const struct row_sweep *of;
    size_t n, k; /* those of the sweep */
    int computation[BITCUT_PREDICTED_MAX]; /* those at m = first; positions in the sweep */
    size_t computations;                   /* 0: refused                               */
    size_t outputs; /* outputs of first - 1 rows that are computed otherwise than at m =
                       first - 1; 0: the sweep starts here, or the one before is refused */
    double difference; /* root mean square of |D - D'| at these outputs, u |A||B|, for the
                          pair of computations that most of them have; NaN: none         */
    char refused[BITCUT_TEXT_MAX]; /* why no prediction is made, or ""               */
};

/* The answer. */
struct row_sweep {
    const struct prediction *chosen; /* library, chip, types, threads                */
    struct bitcut_gemm call;         /* m is not read                                 */
    size_t first, last;
    struct bitcut_gemm *computation; /* all different ones: [SWEEP_COMPUTATIONS_MAX]  */
    int computations;
    struct sweep_range *range;
    size_t ranges, room;
};

extern const struct record_field sweep_range_fields[];
extern const struct record_line row_sweep_lines[]; /* about struct row_sweep */

/* Predict g, whose m is not read, for m = first to last, at most SWEEP_ROWS_MAX numbers.
   `chosen` is what predict_choose() chose.  The difference is computed by the emulator at 16
   x 16 outputs with elements of urand(-1,1) and this seed.  BITCUT_NO_MEMORY;
   BITCUT_UNSUPPORTED: asked to stop. */
enum bitcut_status row_sweep_find(struct row_sweep *to, const struct prediction *chosen,
                              const struct bitcut_gemm *g, size_t first, size_t last,
                              uint64_t seed, const struct progress *progress,
                              struct fault *f);
void row_sweep_clear(struct row_sweep *x);

#endif
